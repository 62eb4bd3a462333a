"""What every query has, pattern or algebra: a name, a level, slices; and how it becomes a file of the language."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from cedr.language.render import render
from cedr.language.syntax import AlgebraBody, File, PatternBody, Query
from cedr.model.level import ConsistencyLevel
from cedr.model.time import FOREVER, Time

Q = TypeVar("Q", bound="Standing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A query under construction.  Every method gives a new one; nothing is changed in place."""

    name: str = "Query"
    level: ConsistencyLevel | None = None
    occurrence_slice: tuple[Time, Time] | None = None
    valid_slice: tuple[Time, Time] | None = None
    cedr_slice: Time | None = None
    uses: tuple[Standing, ...] = ()

    def body(self) -> PatternBody | AlgebraBody:
        """The body of the query in the language's tree."""
        raise NotImplementedError

    def named(self: Q, name: str) -> Q:
        """The name under which other queries use the output (R32)."""
        return replace(self, name=name)

    def consistency(self: Q, level: ConsistencyLevel) -> Q:
        """``CONSISTENCY level``: STRONG, MIDDLE, WEAK, or a point of your own (R33 to R35)."""
        return replace(self, level=level)

    def at(self: Q, start: Time, end: Time = FOREVER) -> Q:
        """``@ [start, end]``: the bitemporal table in a slice of occurrence time (R24)."""
        return replace(self, occurrence_slice=(start, end))

    def during(self: Q, start: Time, end: Time = FOREVER) -> Q:
        """``# [start, end]``: rows valid in a slice of valid time (R24)."""
        return replace(self, valid_slice=(start, end))

    def as_of(self: Q, cedr_time: Time) -> Q:
        """``AS OF cedr_time``: what the stream said then (R24)."""
        return replace(self, cedr_slice=cedr_time)

    def to_query(self) -> Query:
        """This query as a statement of the language's tree."""
        return Query(self.name, self.body(), self.level, self.occurrence_slice, self.valid_slice, self.cedr_slice)

    def to_file(self) -> File:
        """This query, after those whose output it uses, as a file of the language."""
        ordered: dict[str, Standing] = {}
        _collect(self, ordered)
        return File(tuple(query.to_query() for query in ordered.values()))

    def to_text(self) -> str:
        """The same as text: what one would have written by hand."""
        return render(self.to_file())

    def __str__(self) -> str:
        return self.to_text()


def _collect(query: Standing, found: dict[str, Standing]) -> None:
    for used in query.uses:
        _collect(used, found)
    found[query.name] = query
