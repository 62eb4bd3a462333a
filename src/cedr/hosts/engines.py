"""Engines: who runs a query step by step.  Two of them, behind one face.

Paper: Section 5, Figure 7.  Readings: R33 to R40.  ``local`` is the columnar pipeline, ``oracle`` the naive engine that
evaluates everything anew at each step: it runs every query, and slowly.  They say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from cedr.consistency.measures import Measures
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.model.event import Event
from cedr.model.intake import DeadLetter
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.schema import Catalog
from cedr.model.stream import Change, Message, Retract
from cedr.model.sync import sync_of
from cedr.model.time import FOREVER, Time
from cedr.plan.logical import Node

if TYPE_CHECKING:
    from cedr.consistency.batch import EventBatch

NOT_LIVE = "not-live"
"""The code of the error for a plan that the columnar runtime cannot run."""

Levels = ConsistencyLevel | Sequence[ConsistencyLevel]


class Spoken(Protocol):
    """What one step said at one level, in the order of Sync.  Reading: R40."""

    @property
    def level(self) -> ConsistencyLevel:
        """The level at which it was said."""

    def __len__(self) -> int: ...

    def to_changes(self) -> list[Change]:
        """One object for each insert, retraction and guarantee."""


class Engine(Protocol):
    """A standing query at one or more levels."""

    @property
    def levels(self) -> Sequence[ConsistencyLevel]:
        """The level, for each of them, at which the next batch is taken."""

    @property
    def guarantee(self) -> Sequence[Time]:
        """g' for each level.  Reading: R36."""

    def step(self, messages: Sequence[Message | EventBatch], cedr_time: Time) -> Sequence[Spoken]:
        """Take a batch that has one CEDR time; what is said about it, for each level."""

    def switch(self, level: ConsistencyLevel, *, of: int = 0, at_sync_point: bool = False) -> None:
        """Go on at another level.  Reading: R38."""

    def at_sync_point(self, of: int = 0) -> bool:
        """Whether nothing is provisional.  Reading: R38."""

    def said(self, of: int = 0) -> list[Event]:
        """The rows said and not taken back."""

    def dead_letters(self, of: int = 0) -> list[DeadLetter]:
        """What could not be used."""

    def measures(self) -> Sequence[Measures]:
        """What each level has cost so far."""

    def state(self) -> dict[str, bytes | None]:
        """What has changed of the state since the last call, in segments; None: dropped."""

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Go on where another engine of the same query was."""


def in_order(changes: Iterable[Change]) -> list[Change]:
    """What a step said in one order, whoever said it: that of Sync, and among equals a fixed one.  Reading: R40."""
    return sorted(changes, key=_order)


def _order(change: Change) -> tuple[Time, bool, Time, str]:
    row = change.event
    if row is None:
        return FOREVER, True, FOREVER, ""
    retraction = change.message if isinstance(change.message, Retract) else None
    return sync_of(row, retraction), retraction is None, row.valid_start, row.id


Factory = Callable[[Node, Levels, Catalog, Iterable[str]], Engine]
"""Makes an engine of a plan, its levels, the event types, and the providers that are known beforehand."""


def local_engine(plan: Node, levels: Levels, types: Catalog, providers: Iterable[str] = ()) -> Engine:
    """The columnar pipeline.  Raises ``HostError`` for a plan that it cannot run."""
    from cedr.consistency.pipeline import Pipeline

    return Pipeline(plan, levels, types, providers)


def oracle_engine(plan: Node, levels: Levels, types: Catalog, providers: Iterable[str] = ()) -> Engine:
    """The oracle's naive engine."""
    from cedr.hosts.naive import Naive

    return Naive(plan, levels, types, providers)


ENGINES: dict[str, Factory] = {"oracle": oracle_engine, "local": local_engine}
"""Every engine by the name of its host."""


def engine_named(name: str) -> Factory:
    """The engine of a host.  Raises ``HostError``."""
    if name not in ENGINES:
        raise unknown_host(name, ENGINES)
    return ENGINES[name]


def unknown_host(name: str, known: Iterable[str]) -> HostError:
    """The error for a host that does not exist."""
    return HostError(Diagnostic("unknown-host", f'there is no host "{name}"', detail=f"hosts: {', '.join(known)}"))


def fitting_engine(plan: Node, types: Catalog, providers: Iterable[str] = ()) -> str:
    """The host to take where none is asked for: ``local`` if it can run the plan, else ``oracle``."""
    try:
        local_engine(plan, MIDDLE, types, providers)
    except HostError as error:
        if all(diagnostic.code == NOT_LIVE for diagnostic in error.diagnostics):
            return "oracle"
        raise
    return "local"
