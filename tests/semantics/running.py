"""Runs a query text on a handful of events written as text, and gives rows that read well in assertions."""

from __future__ import annotations

from cedr.model.event import Event, primitive, primitive_contributors
from cedr.model.schema import EventTypes
from cedr.model.time import FOREVER, parse_timestamp
from cedr.plan.compile import compile_text
from cedr.semantics.evaluate import evaluate, latest

INF = FOREVER


def value(text: str) -> object:
    """A number where it looks like one, NULL for ``null``, else text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None if text == "null" else text


def time(text: str) -> int:
    """Ticks, ∞, or a clock time ``12:30[:15]`` of 1 January 2026."""
    if text in ("", "∞"):
        return FOREVER
    if ":" in text:
        return parse_timestamp(f"2026-01-01T{text if text.count(':') > 1 else text + ':00'}Z")
    return int(text)


def event(line: str) -> Event:
    """``TYPE id Vs[..Ve] [@Os[..Oe]] [attribute=value …]``."""
    stream, identity, valid, *rest = line.split()
    start, _, end = valid.partition("..")
    occurrence = next((r[1:] for r in rest if r.startswith("@")), None)
    payload = {k: value(v) for k, _, v in (r.partition("=") for r in rest if "=" in r)}
    begin, _, close = (occurrence or "").partition("..")
    return primitive(
        stream,
        identity,
        time(start),
        time(end),
        occurrence_start=time(begin) if begin else None,
        occurrence_end=time(close),
        payload=payload,
    )


def tables(text: str) -> dict[str, list[Event]]:
    """The events of some lines, by type."""
    found: dict[str, list[Event]] = {}
    for line in text.strip().splitlines():
        row = event(line)
        found.setdefault(row.stream, []).append(row)
    return found


def bitemporal(query: str, events: str, name: str | None = None) -> list[Event]:
    """The bitemporal table of a query of the text, by default the last one."""
    program = compile_text(query, EventTypes(open=True))
    chosen = program.queries[name or list(program.queries)[-1]]
    return sorted(evaluate(chosen.plan, tables(events)), key=lambda e: (e.occurrence_start, e.valid_start, e.id))


def result(query: str, events: str, name: str | None = None) -> list[Event]:
    """The latest belief."""
    return latest(bitemporal(query, events, name))


def matches(query: str, events: str) -> set[str]:
    """The contributors of each row of the latest belief, as ``a1 b1``."""
    return {ids(row) for row in result(query, events)}


def ids(row: Event) -> str:
    """The primitive contributors of a row, in pattern order."""
    return " ".join(e.id for e in primitive_contributors(row)) if row.contributors else ""


def lifetimes(rows: list[Event]) -> list[tuple[str, int, int]]:
    """Contributors, Vs and Ve of each row."""
    return sorted((ids(r), r.valid_start, r.valid_end) for r in rows)


def beliefs(rows: list[Event]) -> list[tuple[str, int, int, int, int]]:
    """Contributors, Vs, Ve, Os, Oe of each row."""
    return sorted((ids(r), r.valid_start, r.valid_end, r.occurrence_start, r.occurrence_end) for r in rows)


def values(rows: list[Event]) -> list[dict[str, object]]:
    """The payloads in the order of (Vs, contributors)."""
    return [dict(r.payload) for r in sorted(rows, key=lambda r: (r.valid_start, ids(r)))]


def timeline(rows: list[Event], *names: str) -> list[tuple[object, ...]]:
    """Vs, Ve and some payload attributes of each row, in order."""
    return sorted((r.valid_start, r.valid_end, *(r.payload[n] for n in names)) for r in rows)
