"""The queries of a job while they run: one standing pipeline for each, behind one small face.

Readings: R33 (whom a query waits for), R43 (each query reads the meaning of others), R48 (change rows).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from cedr.consistency.batch import EventBatch
from cedr.consistency.emission.changes import Changes
from cedr.consistency.measures import Measures
from cedr.consistency.pipeline import Pipeline
from cedr.model.dead_letter import DeadLetter
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, Message
from cedr.model.time import Time
from cedr.plan.analyses.reads import types_read
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

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Go on from all segments that were kept."""


class Separate:
    """A pipeline for each query, by itself."""

    def __init__(self, asked: Iterable[Asked], types: EventTypes) -> None:
        self._asked = list(asked)
        self._pipelines = [
            Pipeline(each.query.plan, each.levels, types, each.providers, all_streams=False) for each in self._asked
        ]
        self._reads = [frozenset(types_read(each.query.plan)) for each in self._asked]

    def step(self, given: Mapping[str, Given], cedr_time: Time) -> list[Emission]:
        """Each query takes what its sources gave."""
        emitted = []
        for asked, reads, pipeline in zip(self._asked, self._reads, self._pipelines, strict=True):
            own = [
                message
                for source, messages in given.items()
                if source in asked.sources
                for message in messages
                if _stream_of(message) in reads or not isinstance(message, Insert | EventBatch)
            ]
            said = pipeline.step(own, cedr_time)
            emitted += [Emission(asked.query.name, place, each) for place, each in enumerate(said)]
        return emitted

    def switch(self, query: str, place: int, level: ConsistencyLevel) -> None:
        """With the next batch."""
        for asked, pipeline in zip(self._asked, self._pipelines, strict=True):
            if asked.query.name == query and pipeline.levels[place] != level:
                pipeline.switch(level, of=place)

    def take_dead_letters(self) -> list[DeadLetter]:
        """Of all queries; one that several refuse is told once."""
        found: dict[tuple[str, Message], DeadLetter] = {}
        for pipeline in self._pipelines:
            found.update(((letter.code, letter.message), letter) for letter in pipeline.take_dead_letters())
        return list(found.values())

    def measures(self) -> list[QueryMeasures]:
        """For each query and level."""
        return [
            QueryMeasures(asked.query.name, measures, guarantee)
            for asked, pipeline in zip(self._asked, self._pipelines, strict=True)
            for measures, guarantee in zip(pipeline.measures(), pipeline.guarantee, strict=True)
        ]

    def state(self) -> dict[str, bytes | None]:
        """The segments of all, by the names of the queries."""
        return {
            f"{asked.query.name}/{name}": segment
            for asked, pipeline in zip(self._asked, self._pipelines, strict=True)
            for name, segment in pipeline.state().items()
        }

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Each query takes its own; one that has none begins anew."""
        for asked, pipeline in zip(self._asked, self._pipelines, strict=True):
            start = f"{asked.query.name}/"
            own = {name[len(start) :]: each for name, each in segments.items() if name.startswith(start)}
            if own:
                pipeline.restore(own)


def _stream_of(message: Message | EventBatch) -> str | None:
    if isinstance(message, EventBatch):
        return message.stream
    return message.event.stream if isinstance(message, Insert) else None


def last_guarantee(given: Iterable[Message | EventBatch]) -> dict[str | None, Time]:
    """The largest guarantee of each provider among some messages."""
    found: dict[str | None, Time] = {}
    for message in given:
        if isinstance(message, Guarantee):
            found[message.provider] = max(message.time, found.get(message.provider, message.time))
    return found
