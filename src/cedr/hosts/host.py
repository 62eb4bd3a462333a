"""What a host is: who evaluates a query.  All hosts give the same rows.

Paper: Section 5, Figure 7.  Readings: R24, R33 to R40.  Every host evaluates a query on a finite input: it takes a
``Job`` and gives an ``Answer``.  A live host also runs a query on a stream: it starts a ``StandingQuery``, which takes
batches.  ``cedr.hosts.choice`` has the table of all hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from cedr.consistency.measures import Measures
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.result import Track
from cedr.model.event import Event
from cedr.model.intake import DeadLetter
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract
from cedr.model.sync import sync_of
from cedr.model.time import FOREVER, Time
from cedr.plan.compile import CompiledQuery
from cedr.plan.logical import Node

if TYPE_CHECKING:
    from cedr.consistency.batch import EventBatch

Levels = ConsistencyLevel | Sequence[ConsistencyLevel]


# -- on a finite input ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Job:
    """What a host is asked to do: one query, the messages in arrival order, the level, and the event types."""

    query: CompiledQuery
    messages: tuple[Message, ...]
    level: ConsistencyLevel
    types: EventTypes
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
    ties: int = 0
    """Events that share Vs and key with another event of the same operator (R49); on Spark the workers tell."""


@runtime_checkable
class Host(Protocol):
    """Evaluates a query on a finite input."""

    @property
    def name(self) -> str:
        """What it is asked for by."""

    def evaluate(self, job: Job) -> Answer:
        """What the query gives on all that was received; with ``AS OF c``, what was emitted by then.  Reading: R24."""


# -- on a stream ------------------------------------------------------------------------------------------------------


class Emitted(Protocol):
    """What one step emitted at one level, in the order of Sync.  Reading: R40."""

    @property
    def level(self) -> ConsistencyLevel:
        """The level at which it was emitted."""

    def __len__(self) -> int: ...

    def to_changes(self) -> list[Change]:
        """One object for each insert, retraction and guarantee."""


class StandingQuery(Protocol):
    """A query that runs on a stream at one or more levels: batches come in, changes go out."""

    @property
    def levels(self) -> Sequence[ConsistencyLevel]:
        """The level, for each of them, at which the next batch is taken."""

    @property
    def guarantee(self) -> Sequence[Time]:
        """g' for each level.  Reading: R36."""

    def step(self, messages: Sequence[Message | EventBatch], cedr_time: Time) -> Sequence[Emitted]:
        """Take a batch that has one CEDR time; what is emitted about it, for each level."""

    def switch(self, level: ConsistencyLevel, *, of: int = 0, at_sync_point: bool = False) -> None:
        """Go on at another level.  Reading: R38."""

    def at_sync_point(self, of: int = 0) -> bool:
        """Whether nothing is provisional.  Reading: R38."""

    def said(self, of: int = 0) -> list[Event]:
        """The rows emitted and not retracted."""

    def dead_letters(self, of: int = 0) -> list[DeadLetter]:
        """What could not be used."""

    def measures(self) -> Sequence[Measures]:
        """What each level has cost so far."""

    def state(self) -> dict[str, bytes | None]:
        """What has changed of the state since the last call, in segments; None: dropped."""

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Go on where another run of the same query was."""


Start = Callable[[Node, Levels, EventTypes, Iterable[str]], StandingQuery]
"""Starts a query: of its plan, its levels, the event types, and the providers that are known beforehand."""


@runtime_checkable
class LiveHost(Host, Protocol):
    """A host that also runs a query on a stream, in this process."""

    def start(self, plan: Node, levels: Levels, types: EventTypes, providers: Iterable[str] = (), /) -> StandingQuery:
        """Start a query."""


def stream_of(host: LiveHost, job: Job, track: Track[object]) -> Stream:
    """What a host emits at the level of a job, batch by batch: CEDR times 1, 2, 3 and so on."""
    running = host.start(job.query.plan, job.level, job.types)
    changes: list[Change] = []
    batches = [job.messages[low : low + job.batch] for low in range(0, len(job.messages), job.batch)]
    for cedr_time, batch in enumerate(track(batches, "change stream"), 1):
        (emitted,) = running.step(cast("Sequence[Message]", batch), cedr_time)
        if len(emitted):
            changes += in_order(emitted.to_changes())
    return Stream(changes, running.dead_letters(), running.measures()[0])


# -- what hosts share -------------------------------------------------------------------------------------------------


def in_order(changes: Iterable[Change]) -> list[Change]:
    """The changes of a step in one order, whichever host: that of Sync, and among equals a fixed one.  Reading: R40."""
    return sorted(changes, key=_order)


def _order(change: Change) -> tuple[Time, bool, Time, str]:
    row = change.event
    if row is None:
        return FOREVER, True, FOREVER, ""
    retraction = change.message if isinstance(change.message, Retract) else None
    return sync_of(row, retraction), retraction is None, row.valid_start, row.id


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


def sensible_batch(count: int) -> int:
    """How many messages make a step where nobody says: one by one for a few, a thousand steps for many.

    >>> sensible_batch(1_000), sensible_batch(200_000)
    (1, 200)
    """
    return 1 if count <= _STEPS else -(-count // _STEPS)


_STEPS = 1_000


def unknown_host(name: str, known: Iterable[str]) -> HostError:
    """The error for a host that does not exist."""
    return HostError(Diagnostic("unknown-host", f'there is no host "{name}"', detail=f"hosts: {', '.join(known)}"))
