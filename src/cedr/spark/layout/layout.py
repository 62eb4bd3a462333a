"""How messages lie in the columns that travel: what workers need to know, without Spark.

Readings: R8 (identity), R22 (keys).  A *slot* is a payload column of one Spark type that several event types may share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cedr.model.level import ConsistencyLevel
from cedr.model.schema import Catalog
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan.compile import CompiledQuery
from cedr.plan.logical import Made
from cedr.spark.layout.tokens import tokens

UNREAD = -1
"""The code of a type that the query does not read: its events count for h alone.  Reading: R33."""
UNKNOWN = -2
"""The code of a type that was not declared."""

TOO_FINE, BAD_TIME = BEGINNING + 1, BEGINNING + 2
"""In place of a time that lies between two microseconds, and of what is no time.  Reading: R50."""

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
    """What is declared of one DataFrame."""

    provider: str | None
    disorder: int | None
    idle: int | None


@dataclass(frozen=True, slots=True)
class Slices:
    """Time cut into slices, one for each bucket; events at its edges are in the neighbours too."""

    first: Time
    width: int
    count: int
    back: int
    ahead: int

    def of(self, bucket: int) -> tuple[Time, Time]:
        """The Vs of the rows that are a bucket's own: from, and up to but without."""
        low = BEGINNING if bucket == 0 else self.first + bucket * self.width
        return low, FOREVER if bucket == self.count - 1 else self.first + (bucket + 1) * self.width


@dataclass(frozen=True, slots=True)
class FileForm:
    """Files that workers read themselves."""

    name: str
    separator: str
    head: bool | None
    """Whether the first line has the names of the columns; None: where it has those of the header."""
    zone: str
    """In which times are that do not say so."""
    types: Mapping[str, str]
    """All columns, in order, with their Spark types."""
    header: Mapping[str, str]
    """The columns of the header, by the names under which they travel."""
    base: str = ""
    """The path that was given."""
    type: str | None = None
    """The event type of all rows, where no column tells it."""
    unit: str | None = None
    """The unit of times that are whole numbers."""
    format: str | None = None
    """How times in texts are written."""
    local: str | None = None
    """The zone of times of a type that has none."""
    truncate: bool = False
    """Whether nanoseconds are cut to microseconds."""

    def partitioned(self, path: str) -> str | None:
        """A column that the folder of a file tells, as in ``day=5/``; Spark takes it from there."""
        _, _, below = path.partition(self.base.rstrip("/") + "/") if self.base else ("", "", "")
        names = (folder.partition("=")[0] for folder in below.split("/")[:-1] if "=" in folder)
        return next((name for name in names if name in self.types), None)


@dataclass(frozen=True, slots=True)
class Onward:
    """Where the rows of a stage go: to the buckets of a later one, which takes them in as events."""

    stage: int
    made: Made
    key: str
    """The attribute by which they are split there."""
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Later:
    """What of the input goes to a later stage: the codes of the types that it reads, and its buckets."""

    codes: frozenset[int]
    tokens: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """A query, and the form in which its messages reach the buckets."""

    query: CompiledQuery
    catalog: Catalog
    levels: tuple[ConsistencyLevel, ...]
    types: tuple[TypeLayout, ...]
    sources: tuple[SourceLayout, ...]
    providers: tuple[str, ...]
    tokens: tuple[int, ...]
    """The grouping key of each share of a bucket; as a rule a bucket is one share."""
    schema: Any
    """The Arrow schema of the result."""
    names: tuple[str, ...]
    """The attributes of the query's output, in order."""
    shown: tuple[str, ...]
    """Their names in the result."""
    instants: bool = False
    recorded: bool = False
    """Whether a column tells the CEDR time of each message."""
    changes: bool = True
    """Whether the result is a change stream; otherwise it is a table."""
    labelled: bool = False
    letters: bool = False
    key: str = ""
    """By what the input is split, or why it is not."""
    slices: Slices | None = None
    """How bounded input without a key is split by time."""
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    """What a checkpoint must agree with."""
    stage: int = 1
    """Its number, where the query is run in several."""
    codes: frozenset[int] | None = None
    """The types of the input that this stage reads; None: all of them."""
    taken: Mapping[int, Made] = field(default_factory=dict)
    """What it takes in from stages before, by their numbers."""
    onward: Onward | None = None
    """Where its rows go; None where they are the result."""
    later: tuple[Later, ...] = ()
    """The stages after this one."""
    shares: int = 1
    """Into how many shares the keys of each bucket are dealt, to be worked on one after the other."""
    follows: bool = False
    """Whether a stream has a bucket for each partition of its state, however many the checkpoint says there are."""

    @property
    def buckets(self) -> int:
        """Into how many parts the input is split: each is one task's."""
        return len(self.tokens) // self.shares

    @property
    def at_once(self) -> bool:
        """Whether all that a bucket hears of is one batch, after which nothing comes: the result, in one stage."""
        return not (self.changes or self.recorded or self.later)

    def bucket(self, share: int) -> int:
        """The bucket of a share: what the keys of a share hash to goes to it."""
        return share % self.buckets

    def over(self, buckets: int) -> Layout:
        """The same for another number of buckets."""
        if buckets == self.buckets:
            return self
        keys = tokens(buckets)
        before = {provider_of(stage, each, self.buckets) for stage in self.taken for each in range(self.buckets)}
        now = (provider_of(stage, each, buckets) for stage in self.taken for each in range(buckets))
        return replace(
            self,
            tokens=keys,
            providers=(*now, *(name for name in self.providers if name not in before)),
            fingerprint={**self.fingerprint, BUCKETS: str(buckets)},
            onward=None if self.onward is None else replace(self.onward, tokens=keys),
            later=tuple(replace(each, tokens=keys) for each in self.later),
        )


BUCKETS = "the number of buckets"
"""Its name among what a checkpoint must agree with."""


def provider_of(stage: int, number: int, buckets: int) -> str:
    """The name of a bucket as a provider of the next stage."""
    return f"stage {stage}, bucket {number + 1}/{buckets}"
