"""The layout of a query: the columns in which messages reach the buckets, and all else that workers must know.

Readings: R8 (identity), R22 (keys).  It needs no Spark.  A *slot* is a payload column of one Spark type; several event
types may share it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan.compile import CompiledQuery
from cedr.plan.logical import Made
from cedr.spark.layout.tokens import tokens

UNREAD = -1
"""The code of a type that the query does not read: its events only move h.  Reading: R33."""
UNKNOWN = -2
"""The code of a type that was not declared."""

TOO_FINE, BAD_TIME = BEGINNING + 1, BEGINNING + 2
"""They replace a time between two microseconds, and a value that is no time.  Reading: R50."""

INSERT, RETRACT, GUARANTEE, CONTROL = range(4)
KINDS = {"insert": INSERT, "retract": RETRACT, "guarantee": GUARANTEE}


@dataclass(frozen=True, slots=True)
class TypeLayout:
    """An event type that the query reads: its attributes and the slots they lie in."""

    name: str
    slots: Mapping[str, str]
    revisable: int


@dataclass(frozen=True, slots=True)
class SourceLayout:
    """What the user declared about one DataFrame."""

    provider: str | None
    disorder: int | None
    idle: int | None


class Arriving(Protocol):
    """What must be known to read rows as events."""

    @property
    def types(self) -> tuple[TypeLayout, ...]:
        """The event types, by their codes."""

    @property
    def sources(self) -> tuple[SourceLayout, ...]:
        """What was declared about each DataFrame."""


class Shown(Protocol):
    """What must be known to make rows of a result."""

    @property
    def schema(self) -> Any:
        """The Arrow schema of the result."""

    @property
    def instants(self) -> bool:
        """Whether times are points in time."""

    @property
    def changes(self) -> bool:
        """Whether the result is a change stream."""


@dataclass(frozen=True, slots=True)
class Slices:
    """Slices of time, one for each bucket; an event near the edge of a slice is in its neighbour too."""

    first: Time
    width: int
    count: int
    back: int
    ahead: int

    def of(self, bucket: int) -> tuple[Time, Time]:
        """The range of Vs, half-open, of the rows that a bucket gives."""
        low = BEGINNING if bucket == 0 else self.first + bucket * self.width
        return low, FOREVER if bucket == self.count - 1 else self.first + (bucket + 1) * self.width


@dataclass(frozen=True, slots=True)
class FileForm:
    """The format of files that workers read without Spark."""

    name: str
    separator: str
    head: bool | None
    """Whether the first line has names of columns; None: if it has the names of the header."""
    zone: str
    """The zone of texts without one."""
    types: Mapping[str, str]
    """All columns, in order, with their Spark types."""
    header: Mapping[str, str]
    """The columns of the header, by their names in the layout."""
    base: str = ""
    """The path that the user gave."""
    type: str | None = None
    """The event type of all rows, if no column has it."""
    unit: str | None = None
    """The unit of times that are whole numbers."""
    format: str | None = None
    """The strptime format of times in texts."""
    local: str | None = None
    """The zone of timestamps and dates without one."""
    truncate: bool = False
    """Whether nanoseconds are truncated to microseconds."""

    def partitioned(self, path: str) -> str | None:
        """The column whose value is in the name of a folder, as in ``day=5/``; only Spark reads such files."""
        _, _, below = path.partition(self.base.rstrip("/") + "/") if self.base else ("", "", "")
        names = (folder.partition("=")[0] for folder in below.split("/")[:-1] if "=" in folder)
        return next((name for name in names if name in self.types), None)


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the changes of a stage go: to the buckets of the later stage that reads them as events."""

    stage: int
    """The number of that stage."""
    made: Made
    key: str
    """The attribute by which that stage is split."""
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LaterStage:
    """A later stage: the codes of the input types that it reads, and the tokens of its buckets."""

    codes: frozenset[int]
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """A query, and the columns in which its messages reach the buckets."""

    query: CompiledQuery
    catalog: EventTypes
    levels: tuple[ConsistencyLevel, ...]
    types: tuple[TypeLayout, ...]
    sources: tuple[SourceLayout, ...]
    providers: tuple[str, ...]
    tokens: tuple[int, ...]
    """The grouping key of each share of a bucket; in a stream a bucket is one share."""
    schema: Any
    """The Arrow schema of the result."""
    names: tuple[str, ...]
    """The attributes of the query's output, in order."""
    shown: tuple[str, ...]
    """Their names in the result."""
    instants: bool = False
    recorded: bool = False
    """Whether a column has the CEDR time of each message."""
    changes: bool = True
    """Whether the result is a change stream; otherwise it is a table."""
    labelled: bool = False
    letters: bool = False
    key: str = ""
    """The attributes by which the input is split, or why it is not split."""
    slices: Slices | None = None
    """The slices of time of bounded input without a key."""
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    """What must be the same for a checkpoint to be used; ``state.record`` compares it."""
    stage: int = 1
    """The number of this stage, from 1."""
    codes: frozenset[int] | None = None
    """The codes of the input types that this stage reads; None: all."""
    stage_inputs: Mapping[int, Made] = field(default_factory=dict)
    """The event types that it reads from earlier stages, by their numbers."""
    destination: Destination | None = None
    """Where its changes go; None for the last stage, whose changes are the result."""
    later: tuple[LaterStage, ...] = ()
    """The stages after this one."""
    shares: int = 1
    """How many shares the keys of each bucket have; the task of a bucket runs one after the other."""
    buckets_from_state: bool = False
    """Whether a stream has one bucket for each partition of its state; the checkpoint fixes their number."""

    @property
    def buckets(self) -> int:
        """The number of parts into which the input is split; one task evaluates each."""
        return len(self.tokens) // self.shares

    @property
    def is_one_batch(self) -> bool:
        """Whether a bucket gets all its input in one batch: a bounded result, in one stage."""
        return not (self.changes or self.recorded or self.later)

    def bucket(self, share: int) -> int:
        """The bucket of a share: the keys of the share hash to it."""
        return share % self.buckets

    def with_buckets(self, buckets: int) -> Layout:
        """The same layout for another number of buckets."""
        if buckets == self.buckets:
            return self
        keys = tokens(buckets)
        before = {provider_of(stage, each, self.buckets) for stage in self.stage_inputs for each in range(self.buckets)}
        now = (provider_of(stage, each, buckets) for stage in self.stage_inputs for each in range(buckets))
        return replace(
            self,
            tokens=keys,
            providers=(*now, *(name for name in self.providers if name not in before)),
            fingerprint={**self.fingerprint, BUCKETS: str(buckets)},
            destination=None if self.destination is None else replace(self.destination, tokens=keys),
            later=tuple(replace(each, tokens=keys) for each in self.later),
        )


BUCKETS = "the number of buckets"
"""The key of the number of buckets in a fingerprint."""

INPUT = "the input"
"""The provider of input without one, in the stages after the first: there the buckets of stages are providers too."""


def provider_of(stage: int, number: int, buckets: int) -> str:
    """The provider that a bucket is for the stage that reads it."""
    return f"stage {stage}, bucket {number + 1}/{buckets}"
