"""The rows of one input by group: by their start, and by their end.

Paper: Section 6.  Readings: R9, R29, R30.  An operator on interval streams follows a group through time: at each start
a row comes in, at each end one leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.operators.mechanism.groups import Groups
from cedr.runtime.operators.mechanism.inputs import Digest, Input
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.segments import Segments, in_order
from cedr.runtime.store.table import Delta, Mask, Rows


class Changes(NamedTuple):
    """Rows that came or went, their groups and lifetimes."""

    groups: Rows
    start: Rows
    end: Rows
    rows: Rows
    came: Mask

    def take(self, chosen: Rows | Mask) -> Changes:
        """Some of them."""
        groups, start, end, rows = (column[chosen] for column in self[:4])
        return Changes(groups, start, end, rows, self.came[chosen])


class Ranges(NamedTuple):
    """In some groups, each once and in order, the range of valid time that is affected: low and high included."""

    groups: Rows
    low: Rows
    high: Rows


class Points(NamedTuple):
    """Starts and ends of rows in some intervals, in the order of intervals and time."""

    owner: Rows
    times: Rows
    rows: Rows
    comes: Mask


class Members:
    """The rows of one input."""

    def __init__(self, relation: Relation, groups: Groups, *, searched: bool = False) -> None:
        """``searched``: somebody asks which rows are alive in a range."""
        self.relation = relation
        reader = groups.reader(relation)
        self.input = Input(relation, reader)
        self.ends = Segments(relation.table)
        """The rows that end, by their end."""
        reader.register(self.ends)
        self._lasting = Segments(relation.table) if searched else None
        """The rows that do not end, by their start."""
        if self._lasting is not None:
            reader.register(self._lasting)
        self.input.taken()

    def __len__(self) -> int:
        return len(self.input.store) + len(self.ends)

    def groups(self, rows: Rows) -> Rows:
        """The groups of some rows."""
        return self.input.groups(rows)

    def apply(self, delta: Delta) -> tuple[Changes, set[Digest]]:
        """Take in a change: what came and went, and which events with several versions it concerns."""
        _, concerned = self.input.apply(delta)
        ve, parts = self.relation.table.ve.view, []
        for part in self.input.taken():
            ends = ve[part.rows]
            lively = ends > part.times
            ending = np.flatnonzero(lively & (ends < FOREVER))
            if len(ending):
                change = self.ends.add if part.added else self.ends.remove
                change(*in_order(part.groups[ending], ends[ending], part.rows[ending]))
            lasting = np.flatnonzero(ends == FOREVER)
            if self._lasting is not None and len(lasting):
                change = self._lasting.add if part.added else self._lasting.remove
                change(part.groups[lasting], part.times[lasting], part.rows[lasting])
            came = np.full(len(ends), part.added)
            parts.append(Changes(part.groups, part.times, ends, part.rows, came))
        if not parts:
            return Changes(NONE, NONE, NONE, NONE, np.empty(0, np.bool_)), concerned
        return Changes(*(np.concatenate(columns) for columns in zip(*parts, strict=True))), concerned

    def points(self, groups: Rows, low: Rows, high: Rows) -> Points:
        """The starts and ends with low <= time <= high in each group; rows with empty lifetimes have none."""
        found = []
        for store, comes in ((self.input.store, True), (self.ends, False)):
            places = store.sorted.locate(groups, low, high)
            owner, place = places.expand()
            times, rows = store.sorted.times[place], store.sorted.rows[place]
            if comes:
                lively = self.relation.table.ve.view[rows] > times
                owner, times, rows = owner[lively], times[lively], rows[lively]
            found.append(Points(owner, times, rows, np.full(len(rows), comes)))
        owner, times, rows, which = (np.concatenate(columns) for columns in zip(*found, strict=True))
        order = np.lexsort((times, owner))
        return Points(owner[order], times[order], rows[order], which[order])

    def from_start(self, group: int, floor: Time) -> Rows:
        """The rows of a group with Vs after a floor."""
        low = floor if floor == BEGINNING else floor + 1
        bounds = (np.array([value], np.int64) for value in (group, low, FOREVER))
        places = self.input.store.sorted.locate(*bounds)
        found: Rows = self.input.store.sorted.rows[places.expand()[1]]
        return found

    def alive(self, group: int, low: Time, high: Time) -> Rows:
        """The rows of a group that begin up to ``high`` and end from ``low`` on."""
        assert self._lasting is not None
        vs, found = self.relation.table.vs.view, []
        searches = ((self.input.store, low, high), (self.ends, low, FOREVER), (self._lasting, BEGINNING, low))
        for store, first, last in searches:
            places = store.sorted.locate(*(np.array([value], np.int64) for value in (group, first, last)))
            rows = store.sorted.rows[places.expand()[1]]
            found.append(rows if store is self.input.store else rows[vs[rows] < low])
        return np.concatenate(found)

    def fold(self, line: Time, apart: Rows) -> None:
        """Drop what happens up to a line, but for some groups: who follows a group knows what is alive there."""
        table = self.relation.table
        for store, times in ((self.input.store, table.vs.view), (self.ends, table.ve.view)):
            rows = store.held()
            rows = rows[times[rows] <= line]
            groups = self.groups(rows)
            gone = ~np.isin(groups, apart)
            if gone.any():
                store.remove(*in_order(groups[gone], times[rows[gone]], rows[gone]))

    def sizes(self) -> Rows:
        """How many rows are known of each group."""
        return added_up(self.input.store.sorted.sizes, self.ends.sorted.sizes)

    @property
    def empty(self) -> bool:
        """Whether there is no row."""
        return self.input.store.empty and self.ends.empty

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.input.nbytes + self.ends.nbytes


def added_up(*columns: Rows) -> Rows:
    """Sums of columns of different lengths, place by place."""
    total = np.zeros(max(map(len, columns)), np.int64)
    for column in columns:
        total[: len(column)] += column
    return total


def ranges_of(changes: Changes, anew: Rows) -> Ranges:
    """Of each group the range from the smallest to the largest end that changed; some groups as a whole."""
    groups = np.concatenate([changes.groups, anew])
    low = np.concatenate([changes.start, np.full(len(anew), BEGINNING)])
    high = np.concatenate([changes.end, np.full(len(anew), FOREVER)])
    order = np.argsort(groups, kind="stable")
    each, first = np.unique(groups[order], return_index=True)
    if not len(each):
        return Ranges(NONE, NONE, NONE)
    return Ranges(each, np.minimum.reduceat(low[order], first), np.maximum.reduceat(high[order], first))
