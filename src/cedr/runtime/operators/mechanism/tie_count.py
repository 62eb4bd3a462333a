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
        if not any(len(at) for *_, at in found):
            return 0
        numbers = iter(_numbered([(part.groups[at], part.times[at]) for _, part, at in found])[1])
        return _tied([_Entries(relation, next(numbers), part.rows[at]) for relation, part, at in found])

    def _of_changed(self, applied: Sequence[Sequence[Applied]]) -> int:
        """Ties after a change without those before it, at the times that it touches."""
        changes = [part for each in applied for part in each]
        where, numbers = _numbered([(part.groups, part.times) for part in changes])
        number_of = dict(zip(map(id, changes), numbers, strict=True))
        after, before = [], []
        for source, parts in zip(self._inputs, applied, strict=True):
            store = source.store.sorted
            clusters, places = store.locate(where[:, 0].copy(), where[:, 1].copy(), where[:, 1].copy()).expand()
            now = _Entries(source.relation, clusters, store.rows[places])
            after.append(now)
            came = [part.rows for part in parts if part.added]
            stayed = ~np.isin(now.rows, np.concatenate(came)) if came else np.ones(len(now.rows), dtype=np.bool_)
            before.append(_Entries(source.relation, now.clusters[stayed], now.rows[stayed]))
            gone = [part for part in parts if not part.added]
            before += [_Entries(source.relation, number_of[id(part)], part.rows) for part in gone]
        return _tied(after) - _tied(before)


def _repeated(part: Applied) -> Mask:
    """Which rows share group and time with a neighbour."""
    found = np.zeros(len(part.rows), dtype=np.bool_)
    same = (part.groups[1:] == part.groups[:-1]) & (part.times[1:] == part.times[:-1])
    found[1:] = same
    found[:-1] |= same
    return found


def _numbered(parts: Sequence[tuple[Rows, Rows]]) -> tuple[Rows, list[Rows]]:
    """The different (group, time) of some rows, and for each part the number of each of its rows' one."""
    pairs = np.concatenate([np.stack(part, axis=1) for part in parts])
    where, inverse = np.unique(pairs, axis=0, return_inverse=True)
    ends = np.cumsum([len(groups) for groups, _ in parts])
    return where, np.split(inverse.reshape(-1), ends[:-1])


def _tied(parts: Sequence[_Entries]) -> int:
    """How many different events are in clusters of more than one."""
    filled = [part for part in parts if len(part.rows)]
    if not filled:
        return 0
    tables = {id(part.relation.table): number for number, part in enumerate(filled)}
    columns = [
        (part.clusters, np.full(len(part.rows), tables[id(part.relation.table)]), *_event(part)) for part in filled
    ]
    stacked = np.stack([np.concatenate(column) for column in zip(*columns, strict=True)], axis=1)
    clusters = np.unique(stacked, axis=0)[:, 0]
    sizes = np.unique(clusters, return_counts=True)[1]
    return int(sizes[sizes > 1].sum())


def _event(part: _Entries) -> tuple[Rows, Rows]:
    """Two numbers by which an event is known in its stream: of plain rows the row, else the digest of its ID."""
    if part.relation.table.plain.implicit:
        return part.rows, np.zeros(len(part.rows), dtype=np.int64)
    high, low = part.relation.digests(part.rows)
    return high.view(np.int64), low.view(np.int64)
