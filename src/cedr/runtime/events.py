"""Which row an event is in: an index from the digest of its ID to a row number.

Reading: R4 (IDs are unique within their stream), R8 (digests: 128 bits, which no two IDs share).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cedr.runtime import index_kernels as kernels
from cedr.runtime.growable import Rows

Words = npt.NDArray[np.uint64]
_SMALLEST = 1024


class EventIndex:
    """A mapping from digests, given by their two halves, to row numbers of 0 and more.

    >>> index = EventIndex()
    >>> high, low = np.array([7, 8, 7], np.uint64), np.array([1, 1, 1], np.uint64)
    >>> index.insert_new(high, low, np.array([0, 1, 2])), index.find(high, low)
    (array([ True,  True, False]), array([0, 1, 0]))
    """

    __slots__ = ("_count", "_table")

    def __init__(self) -> None:
        self._table = _empty(_SMALLEST)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes taken."""
        return self._table.nbytes

    def find(self, high: Words, low: Words) -> Rows:
        """The rows of digests, -1 where there is none."""
        rows = np.empty(len(high), np.int64)
        kernels.find(self._table, _signed(high), _signed(low), rows)
        return rows

    def insert(self, high: Words, low: Words, rows: Rows) -> None:
        """Sets the rows of digests, new or known; of equal ones the last counts."""
        self._reserve(len(high))
        self._count += kernels.insert(self._table, _signed(high), _signed(low), rows)

    def insert_new(self, high: Words, low: Words, rows: Rows) -> npt.NDArray[np.bool_]:
        """Sets the rows of digests that are not there yet, and says which those are; of equal ones the first."""
        self._reserve(len(high))
        new = np.empty(len(high), np.bool_)
        kernels.insert_new(self._table, _signed(high), _signed(low), rows, new)
        self._count += int(new.sum())
        return new

    def replace(self, high: Words, low: Words, rows: Rows) -> None:
        """Sets the rows of digests that are there; others stay absent."""
        kernels.replace(self._table, _signed(high), _signed(low), rows)

    def remove(self, high: Words, low: Words) -> Rows:
        """Removes digests; the rows they had, -1 where they were not there."""
        rows = np.empty(len(high), np.int64)
        kernels.remove(self._table, _signed(high), _signed(low), rows)
        self._count -= int((rows >= 0).sum())
        return rows

    def rebuild(self, high: Words, low: Words, rows: Rows) -> None:
        """Forgets everything and sets these rows, as after the rows of a table were moved."""
        self._table = _empty(_places(len(high)))
        self._count = 0
        self.insert(high, low, rows)

    def _reserve(self, n: int) -> None:
        """Room for ``n`` more, at most two thirds of the places taken."""
        if 3 * (self._count + n) <= 2 * len(self._table):
            return
        old, self._table = self._table, _empty(_places(self._count + n))
        kernels.move(old, self._table)


def _empty(places: int) -> Rows:
    table = np.empty((places, 3), np.int64)
    table[:, 2] = -1
    return table


def _places(count: int) -> int:
    """A power of two, at least half as many again."""
    return max(_SMALLEST, 1 << (3 * count // 2).bit_length())


def _signed(words: Words) -> Rows:
    return np.ascontiguousarray(words, np.uint64).view(np.int64)
