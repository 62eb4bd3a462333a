"""The measure *ties*: events that share Vs and key with another event of the parameters of one operator.

Reading: R49.  The order of the paper is strict, so that such events never follow each other: the measure tells how many
there are.  It is a function of the events alone, whatever their order and batches: what a change adds to it, or takes
from it, is read off the sorted stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cedr.model.time import BEGINNING, Time
from cedr.runtime.kernels.ties import meet
from cedr.runtime.operators.mechanism.inputs import Applied, Input
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Mask, Rows


class _Entries(NamedTuple):
    """Rows of an input, each with the number of the cluster of equal group and Vs that it is in."""

    relation: Relation
    clusters: Rows
    rows: Rows


class TieCount:
    """Counts the ties of an operator as its inputs change."""

    def __init__(self, inputs: Sequence[Input]) -> None:
        self._inputs = list(inputs)
        for source in self._inputs:
            source.taken()  # from now on it keeps what it takes in
        self._tables = {id(source.relation.table): number for number, source in enumerate(self._inputs)}
        self._apart = len(self._tables) == len(self._inputs)
        """Whether no two inputs are of one table, so that no event is in two of them."""
        self.count = 0
        self._newest: Time = BEGINNING
        """No row with a larger Vs has come."""

    def take_in(self) -> None:
        """Count what the inputs have taken in last."""
        applied = [source.taken() for source in self._inputs]
        changes = [part for each in applied for part in each if len(part.times)]
        if not changes:
            return
        least = min(int(part.times.min()) for part in changes)
        follows = least > self._newest and all(part.added for part in changes)
        self._newest = max(self._newest, *(int(part.times.max()) for part in changes))
        if follows:
            self.count += self._of_new([next(iter(each), None) for each in applied])
        else:
            self.count += self._of_changed(applied)

    def _of_new(self, come: Sequence[Applied | None]) -> int:
        """Ties among rows that come after all that is known."""
        parts = [(source.relation, part) for source, part in zip(self._inputs, come, strict=True) if part is not None]
        met = [_repeated(part) for _, part in parts]
        for i, j in combinations(range(len(parts)), 2):
            (one, these), (other, those) = parts[i], parts[j]
            meet(these[:3], those[:3], one.table is other.table, met[i], met[j])
        found = [(relation, part, np.flatnonzero(which)) for (relation, part), which in zip(parts, met, strict=True)]
        count = sum(len(at) for *_, at in found)
        if not count or (self._apart and all(relation.table.plain.implicit for relation, _ in parts)):
            return count
        _, numbers = _numbered([(part.groups[at], part.times[at]) for _, part, at in found])
        entries = zip(found, numbers, strict=True)
        return _tied([_Entries(relation, number, part.rows[at]) for (relation, part, at), number in entries])

    def _of_changed(self, applied: Sequence[Sequence[Applied]]) -> int:
        """Ties after a change without those before it, at the times that it touches."""
        changes = [
            (source.relation, self._near(part))
            for source, parts in zip(self._inputs, applied, strict=True)
            for part in parts
        ]
        if not any(len(part.rows) for _, part in changes):
            return 0
        (groups, times), numbers = _numbered([(part.groups, part.times) for _, part in changes])
        after, before = [], []
        for source, parts in zip(self._inputs, applied, strict=True):
            store = source.store.sorted
            clusters, places = store.locate(groups, times, times).expand()
            now = _Entries(source.relation, clusters, store.rows[places])
            after.append(now)
            came = [part.rows for part in parts if part.added]
            stayed = ~np.isin(now.rows, np.concatenate(came)) if came else np.ones(len(now.rows), dtype=np.bool_)
            before.append(_Entries(source.relation, now.clusters[stayed], now.rows[stayed]))
        for (relation, part), number in zip(changes, numbers, strict=True):
            if not part.added:
                before.append(_Entries(relation, number, part.rows))
        return _tied(after) - _tied(before)

    def _near(self, part: Applied) -> Applied:
        """Of rows that came those with another row at their time; rows that went are all of interest."""
        if not part.added:
            return part
        near = np.zeros(len(part.rows), dtype=np.bool_)
        table, row = np.full(len(part.rows), -1), np.full(len(part.rows), -1)
        for source in self._inputs:
            store = source.store.sorted
            places = store.locate(part.groups, part.times, part.times)
            here = np.flatnonzero(places.counts > 0)
            first, number = store.rows[places.begin[here]], self._tables[id(source.relation.table)]
            other = (row[here] >= 0) & ((row[here] != first) | (table[here] != number))
            near[here] |= other | (places.counts[here] > 1)
            table[here], row[here] = number, first
        return Applied(part.groups[near], part.times[near], part.rows[near], part.added)


def _repeated(part: Applied) -> Mask:
    """Which rows share group and time with a neighbour."""
    found = np.zeros(len(part.rows), dtype=np.bool_)
    same = (part.groups[1:] == part.groups[:-1]) & (part.times[1:] == part.times[:-1])
    found[1:] = same
    found[:-1] |= same
    return found


def _numbered(parts: Sequence[tuple[Rows, Rows]]) -> tuple[tuple[Rows, Rows], list[Rows]]:
    """The different (group, time) of some rows, and for each part the number of each of its rows' one."""
    groups, times = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    numbers, first = _dense(groups, times)
    ends = np.cumsum([len(own) for own, _ in parts])
    return (groups[first], times[first]), np.split(numbers, ends[:-1])


def _dense(*columns: Rows) -> tuple[Rows, Rows]:
    """Numbers from 0 in the order of some columns, equal ones for equal rows; and the first row of each number."""
    order = np.lexsort(columns[::-1])
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = np.logical_or.reduce([column[order][1:] != column[order][:-1] for column in columns])
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(new) - 1
    return numbers, order[new]


def _tied(parts: Sequence[_Entries]) -> int:
    """How many different events are in clusters of more than one."""
    filled = [part for part in parts if len(part.rows)]
    if not filled:
        return 0
    tables = {id(part.relation.table): number for number, part in enumerate(filled)}
    columns = [
        (part.clusters, np.full(len(part.rows), tables[id(part.relation.table)]), *_event(part)) for part in filled
    ]
    stacked = [np.concatenate(column) for column in zip(*columns, strict=True)]
    _, first = _dense(*stacked)
    sizes = np.bincount(stacked[0][first])
    return int(sizes[sizes > 1].sum())


def _event(part: _Entries) -> tuple[Rows, Rows]:
    """Two numbers by which an event is known in its stream: of plain rows the row, else the digest of its ID."""
    if part.relation.table.plain.implicit:
        return part.rows, np.zeros(len(part.rows), dtype=np.int64)
    high, low = part.relation.digests(part.rows)
    return high.view(np.int64), low.view(np.int64)
