"""The queries of a job while they run, behind one small face.

Readings: R33 (whom a query waits for), R43 (each query reads the meaning of others), R48 (change rows).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from cedr.consistency.batch import EventBatch
from cedr.consistency.emission.changes import Changes
from cedr.consistency.measures import Measures
from cedr.model.dead_letter import DeadLetter
from cedr.model.level import ConsistencyLevel
from cedr.model.stream import Message
from cedr.model.time import Time
from cedr.plan.compile import CompiledQuery

Given = Sequence[Message | EventBatch]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with the levels at which it is to be emitted, and who sends what it reads."""

    query: CompiledQuery
    levels: tuple[ConsistencyLevel, ...]
    sources: frozenset[str]
    """The sources that may have events that it reads."""
    providers: tuple[str, ...]
    """Those of them that are known beforehand."""


class Emission(NamedTuple):
    """What a query emitted in one step at one of its levels."""

    query: str
    place: int
    changes: Changes


class QueryMeasures(NamedTuple):
    """What a query has cost so far at one of its levels."""

    query: str
    measures: Measures
    guarantee: Time


class RunningQueries(Protocol):
    """All queries of a job."""

    def step(self, given: Mapping[str, Given], cedr_time: Time) -> list[Emission]:
        """Take what each source gave; what is emitted about it.  To be read before the next step."""

    def switch(self, query: str, place: int, level: ConsistencyLevel) -> None:
        """Go on at another level, if it is another.  Reading: R38."""

    def take_dead_letters(self) -> list[DeadLetter]:
        """What could not be used since the last call."""

    def measures(self) -> list[QueryMeasures]:
        """For each query and level."""

    def state(self) -> dict[str, bytes | None]:
        """What has changed of the state since the last call, in segments; None: dropped."""

    @property
    def mark(self) -> str:
        """What tells these queries from others: a batch that was begun with others is not theirs."""

    @property
    def changed(self) -> bool:
        """Whether queries come, change or go with the next step.  Reading: R44."""
