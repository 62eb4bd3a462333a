"""Drives the naive level engine with messages written as text, and writes down what it says."""

from __future__ import annotations

from dataclasses import replace

from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventType, EventTypes
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract, insert
from cedr.model.time import FOREVER
from cedr.plan.compile import CompiledQuery, compile_text
from cedr.plan.logical import Source, walk
from cedr.semantics.levels import Reference
from tests.semantics.running import event, ids


def message(line: str) -> Message:
    """An event line of ``running`` with ``K=…`` for its key, ``retract K [oe=t|ve=t]``, or ``guarantee t``."""
    word, *rest = line.split()
    if word == "guarantee":
        return Guarantee(int(rest[0]), *rest[1:])
    if word == "retract":
        ends = dict(part.split("=") for part in rest[1:])
        return Retract(rest[0], *(int(ends[n]) if n in ends else None for n in ("oe", "ve")))
    key = next((p.removeprefix("K=") for p in line.split() if p.startswith("K=")), None)
    return insert(event(" ".join(p for p in line.split() if not p.startswith("K="))), key)


def engine(query: str, level: ConsistencyLevel, revisable: int = FOREVER) -> Reference:
    """The engine of the last query of a text; its types may be revised."""
    types = _types(compile_text(query, EventTypes(open=True)).queries)
    catalog = EventTypes({t.name: replace(t, revisable=revisable) for t in types}, open=True)
    return Reference(list(compile_text(query, catalog).queries.values())[-1].plan, level, catalog)


def _types(queries: dict[str, CompiledQuery]) -> list[EventType]:
    return [n.type for q in queries.values() for n in walk(q.plan) if isinstance(n, Source)]


def say(change: Change) -> str:
    """``+`` an insert, ``-`` a removal, ``~`` a shortening, ``!`` a guarantee."""
    said, row = change.message, change.event
    if isinstance(said, Guarantee):
        return f"!{said.time}"
    assert row is not None
    name = ids(row) or ",".join(str(v) for v in row.payload.values())
    if isinstance(said, Insert):
        return f"+{name} [{row.valid_start},{_end(row.valid_end)})"
    if said.removes:
        return f"-{name}"
    ends = [f"{n}={t}" for n, t in (("Oe", said.occurrence_end), ("Ve", said.valid_end)) if t is not None]
    return f"~{name} {' '.join(ends)}"


def _end(time: int) -> str:
    return "∞" if time == FOREVER else str(time)


def transcript(query: str, level: ConsistencyLevel, text: str, revisable: int = FOREVER) -> list[str]:
    """What is said at each step, one message a step."""
    running = engine(query, level, revisable)
    return steps(running, text)


def steps(running: Reference, text: str, start: int = 1) -> list[str]:
    """What is said at each further step."""
    lines = [line.strip() for line in text.strip().splitlines()]
    return [" ".join(map(say, running.step([message(line)], t))) for t, line in enumerate(lines, start)]
