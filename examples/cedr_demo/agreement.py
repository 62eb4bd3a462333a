"""Whether levels agree with each other and with the oracle, as far as each has promised.

Paper: Definitions 3 to 5.  Readings: R5 (tables to t and at t), R6 (what is compared), R35 (what a level promises):
with M = FOREVER the table *to* t is that of the oracle; with any other M the table *at* t, what was alive then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import combinations

from cedr.model.equivalence import projected
from cedr.model.history import HistoryTable
from cedr.model.level import ConsistencyLevel
from cedr.model.time import FOREVER, Time

Bag = Counter[Hashable]


@dataclass(frozen=True, slots=True)
class Difference:
    """How a bag of rows differs from what it should be."""

    rows: int
    missing: int
    wrong: int

    @classmethod
    def between(cls, said: Bag, meant: Bag) -> Difference:
        """What is missing in what was said, and what is too much."""
        return cls(said.total(), (meant - said).total(), (said - meant).total())

    @property
    def none(self) -> bool:
        """Whether the two are equal."""
        return not (self.missing or self.wrong)


@dataclass(frozen=True, slots=True)
class Kept:
    """A level beside the oracle, to and at an instant."""

    level: ConsistencyLevel
    to: Difference
    at: Difference

    @property
    def promise(self) -> bool:
        """Whether the level has kept its promise.  Reading: R35."""
        return self.at.none and (self.to.none or self.level.memory.duration < FOREVER)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Levels beside the oracle and beside each other at a sync point."""

    time: Time
    levels: tuple[Kept, ...]
    meant_to: int
    """So many rows the oracle has to the instant,"""
    meant_at: int
    """and so many of them are alive at it."""
    apart: tuple[tuple[str, str], ...]
    """Pairs of levels that differ at the instant."""

    @property
    def holds(self) -> bool:
        """Whether every level has kept its promise and all are equal at the instant."""
        return not self.apart and all(kept.promise for kept in self.levels)


def agreement(said: Mapping[ConsistencyLevel, HistoryTable], meant: HistoryTable, time: Time) -> Agreement:
    """Compare what was said at each level with what is meant, to and at an instant."""
    tables = {level: (_to(table, time), _at(table, time)) for level, table in said.items()}
    to, at = _to(meant, time), _at(meant, time)
    kept = tuple(
        Kept(level, Difference.between(own_to, to), Difference.between(own_at, at))
        for level, (own_to, own_at) in tables.items()
    )
    pairs = combinations(tables.items(), 2)
    apart = tuple((one.name, other.name) for (one, (_, left)), (other, (_, right)) in pairs if left != right)
    return Agreement(time, kept, to.total(), at.total(), apart)


def _to(table: HistoryTable, time: Time) -> Bag:
    return projected(table.canonical_to(time, valid_too=True))


def _at(table: HistoryTable, time: Time) -> Bag:
    return projected(table.canonical_at(time, valid_too=True))
