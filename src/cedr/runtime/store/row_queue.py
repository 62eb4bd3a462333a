"""Row numbers that wait for a time: admission by Sync, forgetting by Vs.

Readings: R33, R37.  Rows lie in chunks, the chunks in a heap by their first time.  A chunk that is taken bit by bit is
sorted, so that taking what is due costs time linear in what is taken, whatever waits.  Rows that follow each other and
are in the order of their times need no chunk of their own: their times stand in the table.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from cedr.model.time import FOREVER, Time
from cedr.runtime.values.growable import Growable

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

    def __len__(self) -> int:
        return len(self.rows)

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


class _Span:
    """Rows that follow each other, in the order of their times."""

    __slots__ = ("_column", "end", "since", "start")

    def __init__(self, column: Growable, start: int, end: int, since: Time) -> None:
        self._column, self.start, self.end, self.since = column, start, end, since

    def __len__(self) -> int:
        return self.end - self.start

    @property
    def rows(self) -> Rows:
        return np.arange(self.start, self.end, dtype=np.int64)

    @property
    def first(self) -> Time:
        """The smallest time."""
        return int(self._column.view[self.start])

    def take(self, limit: Time) -> Rows:
        """The rows that are due; the others remain."""
        start = self.start
        self.start += int(np.searchsorted(self._column.view[start : self.end], limit, side="right"))
        return np.arange(start, self.start, dtype=np.int64)

    def renumber(self, old_to_new: Rows) -> None:
        """The rows have new numbers, in the old order."""
        new = old_to_new[self.start : self.end]
        if len(new) and (new[0] < 0 or new[-1] < 0):
            new = new[new >= 0]
        self.start, self.end = (int(new[0]), int(new[-1]) + 1) if len(new) else (0, 0)


class RowQueue:
    """Rows with the times at which they are due, and the CEDR time since which they wait.

    >>> queue = RowQueue()
    >>> queue.add(np.array([5, 3, 9]), np.array([0, 1, 2]), since=1)
    >>> sorted(queue.take(5).tolist()), len(queue)
    ([0, 1], 1)
    """

    __slots__ = ("_buffer", "_buffer_first", "_buffer_since", "_buffer_times", "_chunks", "_count", "_last", "_length")

    def __init__(self) -> None:
        self._chunks: list[tuple[Time, int, _Chunk | _Span]] = []
        self._last: _Span | None = None
        self._buffer_times, self._buffer = Growable(np.int64), Growable(np.int64)
        self._buffer_first, self._buffer_since = FOREVER, FOREVER
        self._count = 0
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def first(self) -> Time:
        """The smallest time, or one before it; FOREVER where nothing waits."""
        return min(self._chunks[0][0], self._buffer_first) if self._chunks else self._buffer_first

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        chunks = sum(16 * len(chunk) for _, _, chunk in self._chunks if isinstance(chunk, _Chunk))
        return chunks + self._buffer.nbytes + self._buffer_times.nbytes

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

    def add_span(self, column: Growable, start: int, end: int, since: Time = 0) -> None:
        """All rows from one to before another, which are due when the column says, in that order."""
        last, times = self._last, column.view
        if last is not None and last.end == start and times[start - 1] <= times[start]:
            last.end, last.since = end, min(last.since, since)
            self._length += end - start
        elif end - start < _SMALL:
            self.add(times[start:end].copy(), np.arange(start, end, dtype=np.int64), since)
        else:
            self._last = _Span(column, start, end, since)
            self._length += end - start
            self._push(self._last)

    def take(self, limit: Time) -> Rows:
        """The rows with times up to the limit; they wait no longer."""
        if not self._length:
            return _NONE
        taken: list[Rows] = []
        small: list[_Chunk] = []
        while self._chunks and self._chunks[0][0] <= limit:
            chunk = heappop(self._chunks)[2]
            taken.append(chunk.take(limit))
            if isinstance(chunk, _Chunk) and len(chunk) < _SMALL // 16:
                small.append(chunk)
            elif len(chunk):
                self._push(chunk)
            elif chunk is self._last:
                self._last = None
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
        spans = [chunk for _, _, chunk in self._chunks if isinstance(chunk, _Span)]
        chunks = [chunk for _, _, chunk in self._chunks if isinstance(chunk, _Chunk)]
        chunks.append(_Chunk(self._buffer_times.view.copy(), self._buffer.view.copy(), self._buffer_since))
        self._chunks, self._length, self._last = [], 0, None
        self._empty_buffer()
        for span in spans:
            span.renumber(old_to_new)
            if len(span):
                self._length += len(span)
                self._last = span if self._last is None or span.end > self._last.end else self._last
                self._push(span)
        for chunk in chunks:
            rows = old_to_new[chunk.rows]
            kept = rows >= 0
            self.add(chunk.times[kept], rows[kept], chunk.since)

    def _push(self, chunk: _Chunk | _Span) -> None:
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
