"""Sorted stores: rows by group and time.

The arrays hold one piece for each group, sorted by time, with room to grow.  What arrives in order is appended to its
piece; what is late is merged from the end; nothing is ever sorted again.  The cost of a batch follows the batch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cedr.runtime import segment_kernels as kernels
from cedr.runtime.table import Rows

_FAR, _FEW = 1 << 44, 512
"""Further apart than this, or fewer than this, times are sorted by comparison."""
_SMALL = 4096
"""Below so many rows, forgetting looks at all of them every time."""


class Sorted(NamedTuple):
    """Rows sorted by (group, time), as the searches take them."""

    start: Rows
    size: Rows
    times: Rows
    rows: Rows

    def locate(self, groups: Rows, low: Rows, high: Rows) -> Places:
        """The places with low <= time <= high in each group."""
        begin, end = np.empty_like(groups), np.empty_like(groups)
        total = kernels.locate(self.start, self.size, self.times, groups, low, high, begin, end)
        return Places(begin, end, total)


class Places(NamedTuple):
    """Ranges of places in a sorted store, and how many places they hold together."""

    begin: Rows
    end: Rows
    total: int

    @property
    def counts(self) -> Rows:
        """How many places each range holds."""
        counts: Rows = self.end - self.begin
        return counts

    def expand(self) -> tuple[Rows, Rows]:
        """Every place with the number of its range: (range, place)."""
        return kernels.expand(self.begin, self.end, self.total)


def in_order(groups: Rows, times: Rows, rows: Rows) -> tuple[Rows, Rows, Rows]:
    """Groups, times and rows in the order of (group, time)."""
    if kernels.in_groups(groups, times):
        return groups, times, rows
    first = np.arange(len(times), dtype=np.int64) if kernels.is_sorted(times) else by_time(times)
    order = kernels.stable_order(groups, first)
    return groups[order], times[order], rows[order]


def by_time(times: Rows) -> Rows:
    """The order by time, stable: of times that lie close together a radix sort of a few rounds."""
    if not len(times):
        return np.arange(0, dtype=np.int64)
    least, most = int(times.min()), int(times.max())
    if most - least >= _FAR or len(times) < _FEW:
        return np.argsort(times, kind="stable")
    return kernels.stable_order(times - least, np.arange(len(times), dtype=np.int64))


class Segments:
    """A sorted store that changes."""

    def __init__(self) -> None:
        self._start, self._size, self._room, self._times, self._rows = (np.empty(0, np.int64) for _ in range(5))
        self._end = 0
        self._held = 0
        self._fresh = 0

    def __len__(self) -> int:
        return self._held

    @property
    def sorted(self) -> Sorted:
        """The rows as they stand."""
        return Sorted(self._start, self._size, self._times, self._rows)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(3 * self._start.nbytes + 2 * self._times.nbytes)

    def add(self, groups: Rows, times: Rows, rows: Rows) -> None:
        """Merge rows into their groups; they come in the order of (group, time)."""
        if not len(rows):
            return
        self._widen(int(groups[-1]) + 1)
        if self._end + kernels.room_needed(self._size, self._room, groups) > len(self._times):
            self._make_room(groups)
        self._end = kernels.put_in(
            self._start, self._size, self._room, self._times, self._rows, self._end, groups, times, rows
        )
        self._held += len(rows)
        self._fresh += len(rows)

    def remove(self, groups: Rows, times: Rows, rows: Rows) -> None:
        """Take rows out of their groups; they come in the order of (group, time)."""
        if len(rows):
            self._held -= kernels.take_out(self._start, self._size, self._times, self._rows, groups, times, rows)

    def forget(self, line: int) -> None:
        """Drop rows with time <= line; not each time all of them, so that the cost follows what arrives."""
        if self._held <= _SMALL or self._fresh * 4 >= self._held:
            self._held -= kernels.forget(self._start, self._size, self._room, self._times, line)
            self._fresh = 0

    def all_rows(self) -> Rows:
        """The rows of all groups."""
        times, rows = np.empty(self._held, dtype=np.int64), np.empty(self._held, dtype=np.int64)
        kernels.copied(self._start.copy(), self._size, self._times, self._rows, times, rows)
        return rows

    def renumber(self, new_rows: Rows, new_groups: Rows | None) -> None:
        """Rows, and groups unless None, got other numbers; a group of -1 holds nothing any more."""
        times, rows = np.empty(self._held, dtype=np.int64), np.empty(self._held, dtype=np.int64)
        kernels.copied(self._start, self._size, self._times, self._rows, times, rows)
        self._times, self._rows, self._end = times, new_rows[rows], self._held
        if new_groups is not None:
            kept = np.full(len(self._start), -1)
            known = min(len(kept), len(new_groups))
            kept[:known] = new_groups[:known]
            used = kept >= 0
            start, size = self._start[used], self._size[used]
            count = int(kept.max(initial=-1)) + 1
            self._start, self._size = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
            self._start[kept[used]], self._size[kept[used]] = start, size
        self._room = self._size.copy()

    def _widen(self, groups: int) -> None:
        if groups > len(self._start):
            more = max(groups, 2 * len(self._start)) - len(self._start)
            self._start, self._size, self._room = (
                np.concatenate([old, np.zeros(more, dtype=np.int64)]) for old in (self._start, self._size, self._room)
            )

    def _make_room(self, groups: Rows) -> None:
        """Move everything to larger arrays; the spare room of pieces is not copied."""
        self._room[:] = self._size
        spare = kernels.room_needed(self._size, self._room, groups)
        times, rows = (np.empty(64 + 2 * (self._held + spare), dtype=np.int64) for _ in range(2))
        kernels.copied(self._start, self._size, self._times, self._rows, times, rows)
        self._times, self._rows, self._end = times, rows, self._held
