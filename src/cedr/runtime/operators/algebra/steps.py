"""What each group amounts to over time, as steps, and the rows that some steps in a row belong to.

Paper: Section 6 (group-by).  Reading: R30.  The cost of a change follows the steps that it changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cedr.model.time import FOREVER, Time
from cedr.runtime.kernels import steps as kernels
from cedr.runtime.store.table import Rows
from cedr.runtime.values.growable import Growable

_SPARE = 4096
"""So much of the pool more than four times what is used is let grow."""


class Touched(NamedTuple):
    """Steps that may belong to other rows than before, in the order of groups and times, and the rows they were of."""

    steps: Rows
    groups: Rows
    start: Rows
    end: Rows
    first: Rows
    """The first of these steps of each group, as places in these columns."""
    rows: Rows
    """The rows, each once."""


class Steps:
    """The steps of all groups, in one pool."""

    def __init__(self, width: int) -> None:
        self._first, self._count, self._capacity = (Growable(np.int64) for _ in range(3))
        self._times, self._rows = np.empty(64, np.int64), np.empty(64, np.int64)
        self._sums = np.empty((64, width), np.int64)
        self._used = 0

    # -- changes ------------------------------------------------------------------------------------------------------

    def change(self, groups: Rows, times: Rows, changes: Rows) -> Touched:
        """Add to what some groups amount to from some instants on; given in the order of groups and times."""
        known = int(groups[-1]) + 1 - len(self._first)
        if known > 0:
            for column in (self._first, self._count, self._capacity):
                column.fill(known, 0)
        self._make_room(groups)
        starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
        spans = np.empty((len(starts), 3), np.int64)
        gone = np.empty(int(self._count.view[groups[starts]].sum()), np.int64)
        steps = (self._first.view, self._count.view)
        found, lost = kernels.change(groups, times, changes, steps, self._pool, spans, gone)
        return self._touched(spans[:found], gone[:lost])

    def _touched(self, spans: Rows, gone: Rows) -> Touched:
        group, begin, end = spans.T
        sizes = end - begin
        first = np.cumsum(sizes) - sizes
        steps = np.repeat(begin - first, sizes) + np.arange(int(sizes.sum()))
        groups = np.repeat(group, sizes)
        start = self._times[steps]
        last = self._first.view[groups] + self._count.view[groups] - 1 == steps
        behind = np.minimum(steps + 1, len(self._times) - 1)
        return Touched(steps, groups, start, np.where(last, FOREVER, self._times[behind]), first[sizes > 0], gone)

    def sums(self, steps: Rows) -> Rows:
        """What some steps amount to."""
        found: Rows = self._sums[steps]
        return found

    def rows(self, steps: Rows) -> Rows:
        """The rows that some steps belong to; -1 where there is none."""
        found: Rows = self._rows[steps]
        return found

    def belong(self, steps: Rows, rows: Rows) -> None:
        """From now on some steps belong to some rows."""
        self._rows[steps] = rows

    def begin(self, steps: Rows, times: Rows) -> None:
        """Some steps began earlier than was known, and still after those before them."""
        self._times[steps] = times

    def alive(self) -> Rows:
        """All steps that there are."""
        sizes = self._count.view
        first = np.cumsum(sizes) - sizes
        return np.repeat(self._first.view - first, sizes) + np.arange(int(sizes.sum()))

    def widen(self, sums: Rows) -> None:
        """What all steps amount to, written in another way: one row for each place of the pool."""
        self._sums = sums

    @property
    def pool_sums(self) -> Rows:
        """What all places of the pool amount to."""
        return self._sums

    # -- room ---------------------------------------------------------------------------------------------------------

    @property
    def _pool(self) -> kernels.Pool:
        return self._times, self._sums, self._rows

    def _make_room(self, groups: Rows) -> None:
        if self._used > 4 * int(self._count.view.sum()) + _SPARE:
            self._pack()
        moves = np.empty((len(groups) + 1, 3), np.int64)
        places = (self._first.view, self._count.view, self._capacity.view)
        found = kernels.room(groups, *places, self._used, moves)
        if not found:
            return
        used = int(moves[-1, 0])
        if used > len(self._times):
            room = max(2 * len(self._times), used)
            self._times, self._rows = (np.resize(column, room) for column in (self._times, self._rows))
            sums = np.empty((room, self._sums.shape[1]), np.int64)
            sums[: self._used] = self._sums[: self._used]
            self._sums = sums
        self._used = used
        kernels.moved(moves, found, self._count.view, self._times, self._sums, self._rows)

    def _pack(self) -> None:
        into = tuple(np.empty_like(column) for column in self._pool)
        places = (self._first.view, self._count.view, self._capacity.view)
        self._used = kernels.packed(*places, self._pool, into)  # type: ignore[arg-type]
        self._times, self._sums, self._rows = into

    # -- what is forgotten, and what is held --------------------------------------------------------------------------

    def forget(self, line: Time) -> None:
        """Drop the steps that end up to an instant; of a row that is alive there its start and what is behind stay."""
        if len(self._first):
            places = (self._first.view, self._count.view, self._capacity.view)
            kernels.drop_before(*places, self._times, self._rows, line)

    def groups(self) -> Rows:
        """The groups that have steps."""
        return np.flatnonzero(self._count.view)

    def regroup(self, new: Rows) -> None:
        """The groups got other numbers; those with -1 have no steps."""
        known = np.flatnonzero(new[: len(self._first)] >= 0)
        for column in (self._first, self._count, self._capacity):
            values = np.zeros(int(new.max(initial=-1)) + 1, np.int64)
            values[new[known]] = column.view[known]
            column.truncate(0)
            column.extend(values)

    def held(self) -> Rows:
        """The rows that steps belong to, some of them several times."""
        rows = self._rows[self.alive()]
        found: Rows = rows[rows >= 0]
        return found

    def renumber(self, new: Rows) -> None:
        """The rows got other numbers."""
        steps = self.alive()
        rows = self._rows[steps]
        self._rows[steps] = np.where(rows >= 0, new[np.maximum(rows, 0)], kernels.NO_ROW)

    def __len__(self) -> int:
        return int(self._count.view.sum())

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self._times.nbytes + self._rows.nbytes + self._sums.nbytes + 3 * self._first.nbytes)
