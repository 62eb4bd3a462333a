"""Who evaluates.  A host takes a ``Job`` and gives an ``Answer``; all of them give the same rows.

The host ``oracle`` is the executable meaning of the language: slow, and right by definition.  The host ``local`` is the
columnar runtime in this process; ``spark`` is the same runtime, split by keys over the workers of a Spark session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import cast

from cedr.consistency.measures import Measures
from cedr.errors import Diagnostic
from cedr.hosts.engines import (
    Factory,
    fitting_engine,
    in_order,
    local_engine,
    oracle_engine,
    unknown_host,
)
from cedr.hosts.result import Track, untracked
from cedr.model.event import Event
from cedr.model.intake import DeadLetter, Intake
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.schema import Catalog
from cedr.model.stream import Change, Guarantee, Insert, Message
from cedr.model.time import FOREVER
from cedr.plan.compile import CompiledQuery
from cedr.semantics.evaluate import Oracle
from cedr.semantics.ties import tied


@dataclass(frozen=True, slots=True)
class Job:
    """What a host is asked to do: one query, the messages in arrival order, the level, and the event types."""

    query: CompiledQuery
    messages: tuple[Message, ...]
    level: ConsistencyLevel
    types: Catalog
    batch: int = 1
    """So many messages make a step of the change stream."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A change stream, what could not be used at its level, and what the level has cost."""

    changes: Sequence[Change] = ()
    dead_letters: Sequence[DeadLetter] = ()
    measures: Measures | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host gives: the bitemporal table, what it could not use, and on demand the change stream.

    The position of a dead letter is that of its message in the job, from 1.
    """

    rows: Sequence[Event]
    dead_letters: Sequence[DeadLetter]
    changes: Callable[[Track[object]], Stream]
    warnings: Sequence[Diagnostic] = field(default=())
    ties: int = 0
    """Events that share Vs and key with another event of the same operator (R49); on Spark the workers tell."""


Host = Callable[[Job], Answer]


def oracle(job: Job) -> Answer:
    """The meaning of the query on all that was received; with ``AS OF c``, what was said by then.  Reading: R24."""
    return _meant(job, lambda track: _stream(job, oracle_engine, track))


def local(job: Job) -> Answer:
    """The same by the columnar pipeline.  Raises ``HostError`` for a plan that it cannot run.

    The table is what is said at MIDDLE once nothing more can come: then every row and every end is due (R33).
    """
    engine = local_engine(job.query.plan, MIDDLE, job.types)
    batches = (job.messages, (Guarantee(FOREVER - 1),))
    said = [change for number, batch in enumerate(batches, 1) for change in engine.step(batch, number)[0].to_changes()]
    end = FOREVER
    if job.query.as_of is not None:
        said, end = list(_stream(job, local_engine, untracked).changes), job.query.as_of
    ties = engine.measures()[0].ties
    return Answer(said_by(said, end), engine.dead_letters(), lambda track: _stream(job, local_engine, track), ties=ties)


def unasked(job: Job) -> Answer:
    """Where no host is named: the columnar runtime; the oracle where that cannot run the query, with a warning."""
    if fitting_engine(job.query.plan, job.types) == "local":
        return local(job)
    return replace(oracle(job), warnings=(on_the_oracle(job.query),))


def on_the_oracle(query: CompiledQuery) -> Diagnostic:
    """What it costs that only the oracle runs a query."""
    primary = f'"{query.name}" uses the algebra, which the columnar runtime does not run: the oracle evaluates it'
    detail = "the oracle is slow: its time grows with the square of the events, and thousands of them take minutes"
    hint = 'host="oracle" (--host oracle) says that this is meant'
    return Diagnostic("on-the-oracle", primary, detail=detail, hint=hint, severity="warning")


def sensible_batch(count: int) -> int:
    """How many messages make a step where nobody says: one by one for a few, a thousand steps for many.

    >>> sensible_batch(1_000), sensible_batch(200_000)
    (1, 200)
    """
    return 1 if count <= _STEPS else -(-count // _STEPS)


_STEPS = 1_000


def _meant(job: Job, changes: Callable[[Track[object]], Stream]) -> Answer:
    intake = Intake(job.types)
    for number, message in enumerate(job.messages, 1):
        intake.receive(message, number)
    known = Oracle(intake.rows())
    if job.query.as_of is None:
        rows = known.table(job.query.plan)
    else:
        rows = said_by(changes(untracked).changes, job.query.as_of)
    return Answer(rows, intake.dead_letters(final=True), changes, ties=tied(job.query.plan, known))


def _stream(job: Job, factory: Factory, track: Track[object]) -> Stream:
    """What is emitted at the level of the job, batch by batch: CEDR times 1, 2, 3 and so on."""
    engine = factory(job.query.plan, job.level, job.types, ())
    emitted: list[Change] = []
    batches = [job.messages[low : low + job.batch] for low in range(0, len(job.messages), job.batch)]
    for cedr_time, batch in enumerate(track(batches, "change stream"), 1):
        (spoken,) = engine.step(cast("Sequence[Message]", batch), cedr_time)
        if len(spoken):
            emitted += in_order(spoken.to_changes())
    return Stream(emitted, engine.dead_letters(), engine.measures()[0])


def _spark(job: Job) -> Answer:
    """The same by Spark, which is loaded only for this."""
    host: Host = import_module("cedr.spark.api.host").spark  # by name: the hosts stand below Spark
    return host(job)


HOSTS: dict[str, Host] = {"oracle": oracle, "local": local, "spark": _spark}
"""Every host by its name."""


def host_named(name: str | None) -> Host:
    """The host of a name.  Raises ``HostError``."""
    if name is None:
        return unasked
    if name not in HOSTS:
        raise unknown_host(name, HOSTS)
    return HOSTS[name]


def said_by(changes: Iterable[Change], cedr_time: int) -> list[Event]:
    """The rows that a change stream amounts to at a CEDR time.  Reading: R24."""
    rows: dict[str, Event] = {}
    for change in changes:
        message = change.message
        if change.cedr_time > cedr_time or isinstance(message, Guarantee):
            continue
        if isinstance(message, Insert):
            rows[message.lineage_key] = message.event
            continue
        row = rows.pop(message.lineage_key)
        if not message.removes:
            oe, ve = message.occurrence_end, message.valid_end
            rows[message.lineage_key] = replace(
                row,
                occurrence_end=row.occurrence_end if oe is None else oe,
                valid_end=row.valid_end if ve is None else ve,
            )
    return list(rows.values())
