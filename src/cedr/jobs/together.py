"""The queries of a job in shared pipelines: those that wait for the same sources are in one.

Readings: R33 (a query waits for the sources that may have what it reads, and for no other), R43 (each query at its own
levels), R44 (queries come and go between two runs).  One pipeline has one guarantee, so queries that wait for other
sources are in another one; what queries of one pipeline have in common is one operator.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from cedr.consistency.batch import EventBatch
from cedr.consistency.emitter import Output
from cedr.consistency.encoding import as_bytes
from cedr.consistency.pipeline import Pipeline
from cedr.jobs.compiling import Needed
from cedr.jobs.queries import Asked, Emission, Given, QueryMeasures
from cedr.language.check import uses_of
from cedr.language.render import render
from cedr.language.syntax import File, Query
from cedr.model.dead_letter import DeadLetter
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, Message
from cedr.model.time import Time
from cedr.plan.analyses.reads import types_read

SEGMENT = "queries"
"""The segment of the state that says which queries run, since when, and in which pipeline."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The queries that a job file asks for, and what is to be known of them."""

    text: str
    """All statements."""
    meanings: Mapping[str, tuple[str, ...]]
    """For each query that runs its own text, then those of the queries that it reads."""
    asked: Sequence[Asked]
    types: EventTypes
    needed: Needed
    """What is read of each type."""
    retained: bool = False
    """Whether a query that comes later begins with what is still known.  Reading: R44."""

    @property
    def mark(self) -> str:
        """What tells these queries from others."""
        told = json.dumps([{name: list(each) for name, each in self.meanings.items()}, self.retained], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()


@dataclass(slots=True)
class Group:
    """Queries that wait for the same sources, in one pipeline."""

    sources: frozenset[str]
    pipeline: Pipeline
    outputs: list[Output]
    promised: Sequence[Guarantee] = ()
    """What was promised before the pipeline began."""
    segments: set[str] = field(default_factory=set)
    """What the checkpoint has of it."""
    reads: frozenset[str] = frozenset()

    def note_reads(self) -> None:
        """Which types its queries read."""
        self.reads = frozenset(name for output in self.outputs for name in types_read(output.plan))


class Together:
    """All queries of a job."""

    def __init__(self, asking: Asking) -> None:
        """Queries that begin now."""
        self.asking = asking
        self.groups: dict[int, Group] = {}
        self.known = {name: sorted(attributes) for name, attributes in asking.needed.items()}
        """The types and attributes that were read ever since: of others older events know nothing."""
        self.leaving: set[str] = set()
        """Queries that leave with the next step."""
        self.changed = False
        self._unsaved = True
        by_sources: dict[frozenset[str], list[Asked]] = {}
        for each in asking.asked:
            by_sources.setdefault(each.sources, []).append(each)
        for number, (sources, asked) in enumerate(by_sources.items()):
            outputs = [output for each in asked for output in outputs_of(each)]
            self.groups[number] = new_group(sources, outputs, asking.types, asked)

    @property
    def mark(self) -> str:
        """What tells these queries from others."""
        return self.asking.mark

    def step(self, given: Mapping[str, Given], cedr_time: Time) -> list[Emission]:
        """Each pipeline takes what its sources gave."""
        emitted = []
        for group in self.groups.values():
            own: list[Message | EventBatch] = [*group.promised]
            for source, messages in given.items():
                if source in group.sources:
                    own += [each for each in messages if _stream_of(each) in (None, *group.reads)]
            said = group.pipeline.step(own, cedr_time)
            emitted += [Emission(*place_of(o.name), each) for o, each in zip(group.outputs, said, strict=True)]
            group.promised = ()
        self._unsaved |= self.changed
        self.changed = False
        if self.leaving:
            for group in self.groups.values():
                group.outputs = [each for each in group.outputs if place_of(each.name)[0] not in self.leaving]
                group.note_reads()
            self.leaving.clear()
        return emitted

    def levels(self, query: str) -> tuple[ConsistencyLevel, ...]:
        """The present levels of a query."""
        return tuple(
            level
            for group in self.groups.values()
            for output, level in zip(group.outputs, group.pipeline.levels, strict=True)
            if place_of(output.name)[0] == query
        )

    def switch(self, query: str, place: int, level: ConsistencyLevel) -> None:
        """With the next batch."""
        for group in self.groups.values():
            for number, output in enumerate(group.outputs):
                if place_of(output.name) == (query, place) and group.pipeline.levels[number] != level:
                    group.pipeline.switch(level, of=number)

    def take_dead_letters(self) -> list[DeadLetter]:
        """Of all queries; one that several pipelines refuse is told once."""
        found: dict[tuple[str, Message], DeadLetter] = {}
        for group in self.groups.values():
            found.update(((letter.code, letter.message), letter) for letter in group.pipeline.take_dead_letters())
        return list(found.values())

    def measures(self) -> list[QueryMeasures]:
        """For each query and level."""
        return [
            QueryMeasures(place_of(output.name)[0], measures, guarantee)
            for group in self.groups.values()
            for output, measures, guarantee in zip(
                group.outputs, group.pipeline.measures(), group.pipeline.guarantee, strict=True
            )
        ]

    def state(self) -> dict[str, bytes | None]:
        """The segments of all pipelines by their numbers, and our own when it has changed."""
        found: dict[str, bytes | None] = {}
        for number, group in list(self.groups.items()):
            if not group.outputs:
                found.update(dict.fromkeys(group.segments))
                del self.groups[number]
                continue
            own = {f"{number}/{name}": segment for name, segment in group.pipeline.state().items()}
            group.segments.update(own)
            found.update(own)
        if self._unsaved:
            found[SEGMENT] = as_bytes(self._own())
            self._unsaved = False
        return found

    def _own(self) -> dict[str, object]:
        asking = self.asking
        return {
            "text": asking.text,
            "meanings": {name: list(each) for name, each in asking.meanings.items()},
            "groups": {str(number): _written(group) for number, group in self.groups.items()},
            "read": {
                name: [asking.types.types[name].revisable, {each: of.name for each, of in attributes.items()}]
                for name, attributes in asking.needed.items()
                if name in asking.types.types
            },
            "known": self.known,
        }


def new_group(
    sources: frozenset[str],
    outputs: list[Output],
    types: EventTypes,
    asked: Iterable[Asked],
    promised: Sequence[Guarantee] = (),
) -> Group:
    """A pipeline that begins now."""
    providers = dict.fromkeys(name for each in asked for name in each.providers)
    group = Group(sources, Pipeline(outputs, (), types, providers), outputs, promised)
    group.note_reads()
    return group


def outputs_of(asked: Asked) -> list[Output]:
    """An output for each level of a query that begins with the job."""
    return [Output(name_of(asked.query.name, place), asked.query.plan, each) for place, each in enumerate(asked.levels)]


def name_of(query: str, place: int) -> str:
    """What an output is called in the state."""
    return f"{quote(query, safe='')}/{place}"


def place_of(name: str) -> tuple[str, int]:
    """The query of an output, and which of its levels it is."""
    query, _, place = name.rpartition("/")
    return unquote(query), int(place)


def _written(group: Group) -> dict[str, object]:
    """A group as plain data; the levels are in the state of the pipeline."""
    outputs = [[each.name, *each.birth, each.start] for each in group.outputs]
    return {"sources": sorted(group.sources), "outputs": outputs}


def meanings_of(file: File, running: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each query that runs its own text, then those of the queries that it reads, directly or not."""
    queries = {each.name: each for each in file.statements if isinstance(each, Query)}

    def below(name: str, found: dict[str, str]) -> dict[str, str]:
        if name in queries and name not in found:
            found[name] = render(queries[name])
            for each in sorted(uses_of(queries[name])):
                below(each, found)
        return found

    return {name: tuple(below(name, {}).values()) for name in running}


def _stream_of(message: Message | EventBatch) -> str | None:
    if isinstance(message, EventBatch):
        return message.stream
    return message.event.stream if isinstance(message, Insert) else None
