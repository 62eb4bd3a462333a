"""An arrangement: the rows of an input by group and time, so that "alive during" is a search of ranges.

Paper: Section 6, Definition 9.  Rows are kept apart by how long they live, in powers of two: of those that live shorter
than 2^k, the ones alive at an instant began less than 2^k before it.  So one row that never ends makes no search for
the others longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.runtime.kernels import intervals as kernels
from cedr.runtime.kernels import segments
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.segments import Segments
from cedr.runtime.store.table import Mask, Rows, Table
from cedr.runtime.store.times import earlier, until

ROOM = 1 << 18
"""So many pairs are looked at at once."""
_ENDLESS = 63
"""No lifetime is as long as this power of two."""


class Probes(NamedTuple):
    """Rows with groups and lifetimes; those in group -1 meet nothing."""

    rows: Rows
    groups: Rows
    vs: Rows
    ve: Rows

    def take(self, chosen: Rows) -> Probes:
        """Some of them."""
        return Probes(*(column[chosen] for column in self))


class Pairs(NamedTuple):
    """Probes and rows that are alive together: from when to when, and since when one of them is."""

    probes: Rows
    rows: Rows
    vs: Rows
    ve: Rows
    since: Rows

    def take(self, chosen: Mask) -> Pairs:
        """Some of them."""
        return Pairs(*(column[chosen] for column in self))

    @classmethod
    def together(cls, parts: Sequence[Pairs]) -> Pairs:
        """Several lists as one."""
        some = [part for part in parts if len(part.rows)]
        if len(some) == 1:
            return some[0]
        return cls(*(np.concatenate([NONE, *columns]) for columns in zip(*some, strict=True))) if some else _NOTHING


_NOTHING = Pairs(*[NONE] * 5)


class Arrangement(Segments):
    """Rows that are alive for a while; those with an empty lifetime meet nothing and are not kept."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._table = table
        self._parts: dict[int, Segments] = {}
        table.hold(self)

    def __len__(self) -> int:
        return sum(map(len, self._parts.values()))

    def alive(self, probes: Probes, room: int = ROOM) -> Iterator[Pairs]:
        """The rows that are alive together with each probe, in parts of limited size."""
        ends = self._table.ve.view
        for magnitude, part in list(self._parts.items()):
            if not len(part):
                continue
            longest = FOREVER if magnitude == _ENDLESS else 1 << magnitude
            state = np.array([0, -1])
            while state[0] < len(probes.groups):
                found = Pairs(*(np.empty(room, np.int64) for _ in Pairs._fields))
                count = kernels.alive(tuple(part.sorted), ends, tuple(probes), longest, state, tuple(found))
                if count:
                    yield Pairs(*(column[:count] for column in found))

    def count(self, probes: Probes) -> Rows:
        """How many rows are looked at for each probe at most."""
        total = np.zeros(len(probes.rows), np.int64)
        begin, end = np.empty_like(total), np.empty_like(total)
        for magnitude, part in self._parts.items():
            since = earlier(probes.vs, FOREVER if magnitude == _ENDLESS else 1 << magnitude)
            segments.locate(*part.sorted, probes.groups, since, until(probes.ve), begin, end)
            total += end - begin
        return total

    # -- a store of rows ----------------------------------------------------------------------------------------------

    def add(self, groups: Rows, times: Rows, rows: Rows) -> None:
        """Merge rows into their groups; they come in the order of (group, time)."""
        for magnitude, chosen in self._by_magnitude(rows):
            part = self._parts.setdefault(magnitude, Segments())
            part.add(groups[chosen], times[chosen], rows[chosen])

    def remove(self, groups: Rows, times: Rows, rows: Rows) -> None:
        """Take rows out of their groups; they come in the order of (group, time)."""
        for magnitude, chosen in self._by_magnitude(rows):
            if magnitude in self._parts:
                self._parts[magnitude].remove(groups[chosen], times[chosen], rows[chosen])

    def _by_magnitude(self, rows: Rows) -> list[tuple[int, Rows | slice]]:
        """The rows whose lifetimes are shorter than 2^k and not shorter than half of it."""
        vs, ve = self._table.vs.view[rows], self._table.ve.view[rows]
        _, powers = np.frexp((ve - vs).view(np.uint64).astype(np.float64))
        powers = np.where(ve == FOREVER, _ENDLESS, np.minimum(powers, _ENDLESS))
        powers[ve <= vs] = -1
        if len(powers) and powers[0] >= 0 and (powers == powers[0]).all():
            return [(int(powers[0]), slice(None))]
        return [
            (magnitude, np.flatnonzero(powers == magnitude)) for magnitude in np.unique(powers[powers >= 0]).tolist()
        ]

    def forget(self, line: Time) -> None:
        """Drop rows of which it is certain that Ve <= line."""
        for magnitude, part in self._parts.items():
            if magnitude < _ENDLESS and line > BEGINNING:
                part.forget(plus(line, -(1 << magnitude)))

    def earliest_alive_after(self, line: Time) -> Time:
        """The smallest Vs of a row with a Ve after a line; FOREVER where there is none."""
        rows = self.held()
        rows = rows[self._table.ve.view[rows] > line]
        return int(self._table.vs.view[rows].min()) if len(rows) else FOREVER

    @property
    def empty(self) -> bool:
        """Whether there is no row."""
        return all(part.empty for part in self._parts.values())

    def held(self) -> Rows:
        """The rows of all groups."""
        return np.concatenate([NONE, *(part.held() for part in self._parts.values())])

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers of the rows."""
        for part in self._parts.values():
            part.renumber(new)

    def clear(self) -> None:
        """Hold no row."""
        for part in self._parts.values():
            part.clear()

    def regroup(self, new: Rows) -> None:
        """Take over the new numbers of the groups."""
        for part in self._parts.values():
            part.regroup(new)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(part.nbytes for part in self._parts.values())
