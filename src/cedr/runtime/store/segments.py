"""Sorted stores: rows by group and time.

The arrays hold one piece for each group, sorted by time, with room to grow.  What arrives in order is appended to its
piece; what is late is merged from the end; nothing is ever sorted again.  The cost of a batch follows the batch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cedr.runtime.kernels import segments as kernels
from cedr.runtime.store.table import Rows, Table

_FAR, _FEW = 1 << 44, 512
"""Further apart than this, or fewer than this, times are sorted by comparison."""
_MANY = 4
"""Up to so many groups for each row, rows are sorted by counting."""
_SMALL = 4096
"""Below so many rows, forgetting looks at all of them every time."""


_AT_LEAST = 1 << 20
"""So much room does not matter."""
_SPARSE = 16
"""So many times the room that is needed is too much."""


class Sorted(NamedTuple):
    """Rows sorted by (group, time), as the searches take them."""

    pieces: Rows
    entries: Rows

    @property
    def times(self) -> Rows:
        """The time of each place."""
        return self.entries[:, kernels.TIME]

    @property
    def rows(self) -> Rows:
        """The row of each place."""
        return self.entries[:, kernels.ROW]

    @property
    def start(self) -> Rows:
        """The first place of each group."""
        return self.pieces[:, kernels.START]

    @property
    def sizes(self) -> Rows:
        """How many rows each group has."""
        return self.pieces[:, kernels.SIZE]

    @classmethod
    def of(cls, sizes: Rows, times: Rows, rows: Rows) -> Sorted:
        """Groups of given sizes, one after another."""
        start = np.cumsum(sizes) - sizes
        pieces = np.stack([start, sizes, sizes, start], axis=1)
        return cls(pieces, np.stack([times, rows], axis=1))

    def locate(self, groups: Rows, low: Rows, high: Rows) -> Places:
        """The places with low <= time <= high in each group."""
        begin, end = np.empty_like(groups), np.empty_like(groups)
        total = kernels.locate(self.pieces, self.entries, groups, low, high, begin, end)
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
    if not kernels.is_sorted(times):
        order = by_time(times)
        groups, times, rows = groups[order], times[order], rows[order]
    largest = int(groups.max())
    if largest > _MANY * len(groups):  # too many to count, for so few rows
        order = kernels.stable_order(groups, np.arange(len(groups), dtype=np.int64))
        return groups[order], times[order], rows[order]
    out = tuple(np.empty_like(groups) for _ in range(3))
    kernels.counted(groups, times, rows, largest + 1, out)
    return out[0], out[1], out[2]


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

    def __init__(self, table: Table | None = None) -> None:
        """``table``: the one whose rows these are; the store is a holder of it."""
        if table is not None:
            table.hold(self)
        self._pieces = np.zeros((0, 4), dtype=np.int64)
        self._entries = np.zeros((0, 2), dtype=np.int64)
        self._end = 0
        self._held = 0
        self._fresh = 0

    def __len__(self) -> int:
        return self._held

    @property
    def sorted(self) -> Sorted:
        """The rows as they stand."""
        return Sorted(self._pieces, self._entries)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self._pieces.nbytes + self._entries.nbytes)

    def add(self, groups: Rows, times: Rows, rows: Rows) -> None:
        """Merge rows into their groups; they come in the order of (group, time)."""
        if not len(rows):
            return
        self._widen(int(groups[-1]) + 1)
        if self._end + kernels.room_needed(self._pieces, groups, False) > len(self._entries):  # noqa: FBT003 - a kernel
            self._make_room(groups)
        self._end, _ = kernels.put_in(self._pieces, self._entries, self._end, groups, times, rows)
        assert self._end <= len(self._entries)
        self._held += len(rows)
        self._fresh += len(rows)

    def remove(self, groups: Rows, times: Rows, rows: Rows) -> None:
        """Take rows out of their groups; they come in the order of (group, time)."""
        if len(rows):
            self._held -= kernels.take_out(self._pieces, self._entries, groups, times, rows)

    def forget(self, line: int) -> None:
        """Drop rows with time <= line; not each time all of them, so that the cost follows what arrives."""
        if self._held <= _SMALL or self._fresh * 4 >= self._held:
            needed, self._fresh = self._held + self._fresh, 0
            self._held -= kernels.forget(self._pieces, self._entries, line)
            if len(self._entries) > _AT_LEAST + _SPARSE * needed:
                self._make_room(np.empty(0, dtype=np.int64))

    @property
    def empty(self) -> bool:
        """Whether there is no row."""
        return not self._held

    def held(self) -> Rows:
        """The rows of all groups."""
        rows = np.empty(self._held, dtype=np.int64)
        kernels.all_rows(self._pieces, self._entries, rows)
        return rows

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers of the rows."""
        kernels.renumber(self._pieces, self._entries, new)

    def clear(self) -> None:
        """Hold no row; the groups stay."""
        assert not self._held, "a table was cleared whose rows are held"

    def regroup(self, new: Rows) -> None:
        """Take over the new numbers of the groups; a group of -1 holds nothing any more."""
        kept = np.full(len(self._pieces), -1)
        known = min(len(kept), len(new))
        kept[:known] = new[:known]
        used = np.flatnonzero(kept >= 0)
        pieces = np.zeros((int(kept.max(initial=-1)) + 1, 4), dtype=np.int64)
        pieces[kept[used]] = self._pieces[used]
        self._pieces = pieces

    def _widen(self, groups: int) -> None:
        if groups > len(self._pieces):
            more = max(groups, 2 * len(self._pieces)) - len(self._pieces)
            self._pieces = np.concatenate([self._pieces, np.zeros((more, 4), dtype=np.int64)])

    def _make_room(self, groups: Rows) -> None:
        """Move everything to other arrays, with room for a batch: what was forgotten takes none any longer.

        Some pieces have less room then than before, so that the batch may need more than it would have.
        """
        more = kernels.room_needed(self._pieces, groups, True)  # noqa: FBT003 - a kernel
        room = kernels.room_side_by_side(self._pieces) + more
        # where rows come and go, other groups have some each time: it should not be full at once
        entries = np.empty((64 + room + max(room // 2, min(8 * len(self._pieces), _AT_LEAST)), 2), dtype=np.int64)
        self._end = kernels.moved(self._pieces, self._entries, entries)
        self._entries = entries
