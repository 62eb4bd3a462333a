"""Row numbers that wait for a time: admission by Sync, forgetting by Vs.

Readings: R33, R37.  Rows lie in chunks, the chunks in a heap by their first time.  A chunk that is taken bit by bit is
sorted, so that taking what is due costs time linear in what is taken, whatever waits.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from cedr.model.time import FOREVER, Time
from cedr.runtime.growable import Growable

Rows = NDArray[np.int64]

_NONE: Rows = np.empty(0, dtype=np.int64)
_SMALL = 1024
"""Fewer rows than this go to the buffer, which is looked through as a whole."""


class _Chunk:
    """Rows with their times, sorted when it becomes clear that they are not taken all at once."""

    __slots__ = ("_sorted", "_touched", "rows", "since", "times")

    def __init__(self, times: Rows, rows: Rows, since: Time) -> None:
        self.times, self.rows, self.since = times, rows, since
        self._sorted = self._touched = False

    @property
    def first(self) -> Time:
        """The smallest time."""
        return int(self.times[0] if self._sorted else self.times.min())

    def take(self, limit: Time) -> Rows:
        """The rows that are due; the others remain."""
        if not self._touched:
            self._touched = True
            later = self.times > limit
            taken = self.rows[~later]
            self.times, self.rows = self.times[later], self.rows[later]
            return taken
        if not self._sorted:
            order = np.argsort(self.times, kind="stable")
            self.times, self.rows, self._sorted = self.times[order], self.rows[order], True
        end = int(np.searchsorted(self.times, limit, side="right"))
        taken = self.rows[:end]
        self.times, self.rows = self.times[end:], self.rows[end:]
        return taken


class RowQueue:
    """Rows with the times at which they are due, and the CEDR time since which they wait.

    >>> queue = RowQueue()
    >>> queue.add(np.array([5, 3, 9]), np.array([0, 1, 2]), since=1)
    >>> sorted(queue.take(5).tolist()), len(queue)
    ([0, 1], 1)
    """

    __slots__ = ("_buffer", "_buffer_first", "_buffer_since", "_buffer_times", "_chunks", "_count", "_length")

    def __init__(self) -> None:
        self._chunks: list[tuple[Time, int, _Chunk]] = []
        self._buffer_times, self._buffer = Growable(np.int64), Growable(np.int64)
        self._buffer_first, self._buffer_since = FOREVER, FOREVER
        self._count = 0
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return 16 * self._length + self._buffer.nbytes + self._buffer_times.nbytes

    @property
    def since(self) -> Time:
        """The CEDR time since which the oldest chunk waits; FOREVER where nothing does."""
        return min([self._buffer_since, *(chunk.since for _, _, chunk in self._chunks)])

    def add(self, times: Rows, rows: Rows, since: Time = 0) -> None:
        """Rows that are due at these times."""
        if not len(rows):
            return
        self._length += len(rows)
        if len(rows) >= _SMALL:
            self._push(_Chunk(times, rows, since))
            return
        self._buffer_times.extend(times)
        self._buffer.extend(rows)
        self._buffer_first = min(self._buffer_first, int(times.min()))
        self._buffer_since = min(self._buffer_since, since)
        if len(self._buffer) >= 4 * _SMALL:
            self._push(_Chunk(self._buffer_times.view.copy(), self._buffer.view.copy(), self._buffer_since))
            self._empty_buffer()

    def take(self, limit: Time) -> Rows:
        """The rows with times up to the limit; they wait no longer."""
        taken: list[Rows] = []
        small: list[_Chunk] = []
        while self._chunks and self._chunks[0][0] <= limit:
            chunk = heappop(self._chunks)[2]
            taken.append(chunk.take(limit))
            if len(chunk.rows) < _SMALL // 16:
                small.append(chunk)
            else:
                self._push(chunk)
        if self._buffer_first <= limit:
            taken.append(self._take_buffer(limit))
        found = np.concatenate(taken) if len(taken) > 1 else taken[0] if taken else _NONE
        self._length -= len(found)
        for chunk in small:
            self._length -= len(chunk.rows)
            self.add(chunk.times, chunk.rows, chunk.since)
        return found

    def waiting(self) -> Rows:
        """All rows that wait."""
        return np.concatenate([self._buffer.view, *(chunk.rows for _, _, chunk in self._chunks)])

    def renumber(self, old_to_new: Rows) -> None:
        """The rows have new numbers; those with -1 are gone."""
        chunks = [chunk for _, _, chunk in self._chunks]
        chunks.append(_Chunk(self._buffer_times.view.copy(), self._buffer.view.copy(), self._buffer_since))
        self._chunks, self._length = [], 0
        self._empty_buffer()
        for chunk in chunks:
            rows = old_to_new[chunk.rows]
            kept = rows >= 0
            self.add(chunk.times[kept], rows[kept], chunk.since)

    def _push(self, chunk: _Chunk) -> None:
        self._count += 1
        heappush(self._chunks, (chunk.first, self._count, chunk))

    def _take_buffer(self, limit: Time) -> Rows:
        times, rows = self._buffer_times.view, self._buffer.view
        due = times <= limit
        taken = rows[due]
        rest = np.flatnonzero(~due)
        self._buffer.keep(rest)
        self._buffer_times.keep(rest)
        if len(rest):
            self._buffer_first = int(self._buffer_times.view.min())
        else:
            self._empty_buffer()
        return taken

    def _empty_buffer(self) -> None:
        self._buffer.truncate(0)
        self._buffer_times.truncate(0)
        self._buffer_first, self._buffer_since = FOREVER, FOREVER
