"""Which row an event is in: an index from the digest of its ID to a row number.

Reading: R4 (IDs are unique within their stream), R8 (digests: 128 bits, which no two IDs share).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cedr.runtime import index_kernels as kernels
from cedr.runtime.growable import Rows

Words = npt.NDArray[np.uint64]
Kinds = npt.NDArray[np.int8]
Known = Words
"""The digests of all rows: of each the higher and the lower half, and what else goes with them."""
_SMALLEST = 1024


class EventIndex:
    """A mapping from digests to row numbers of 0 and more; the digests themselves stand with the rows.

    Nothing is removed: a row whose kind is 0 is gone, and what knew it is dropped as the index grows or is rebuilt.

    >>> index = EventIndex()
    >>> known, kinds = np.array([[7, 1], [8, 1], [7, 1]], np.uint64), np.ones(3, np.int8)
    >>> index.insert_new(known, kinds, np.arange(3)), index.find(known, kinds, known)
    (array([ True,  True, False]), array([0, 1, 0]))
    """

    __slots__ = ("_table", "_taken")

    def __init__(self) -> None:
        self._table = np.zeros(_SMALLEST, np.uint64)
        self._taken = 0

    @property
    def nbytes(self) -> int:
        """Bytes taken."""
        return self._table.nbytes

    def find(self, known: Known, kinds: Kinds, wanted: Words) -> Rows:
        """The rows of digests, -1 where there is none or it is gone."""
        rows = np.empty(len(wanted), np.int64)
        kernels.find(self._table, known, wanted, rows)
        rows[rows >= 0] = np.where(kinds[rows[rows >= 0]] != 0, rows[rows >= 0], -1)
        return rows

    def insert_new(self, known: Known, kinds: Kinds, rows: Rows) -> npt.NDArray[np.bool_]:
        """Put in rows whose digests are not there yet, and say which those are; of equal ones the first."""
        self._reserve(known, kinds, len(rows))
        new = np.empty(len(rows), np.bool_)
        self._taken += kernels.insert_new(self._table, known, kinds, rows, new)[0]
        return new

    def rebuild(self, known: Known, kinds: Kinds, rows: Rows) -> None:
        """Forget everything and put in these rows, as after the rows of a table were moved; of equal ones the first."""
        places = _places(2 * len(rows))
        if places <= len(self._table) <= 4 * places:
            self._table[:] = 0
        else:
            self._table = np.zeros(places, np.uint64)
        self._taken = kernels.insert_new(self._table, known, kinds, rows, np.empty(len(rows), np.bool_))[0]

    def _reserve(self, known: Known, kinds: Kinds, n: int) -> None:
        """Room for ``n`` more, at most two thirds of the places taken."""
        if 3 * (self._taken + n) <= 2 * len(self._table):
            return
        live = np.zeros(len(kinds), np.bool_)
        live[(self._table[self._table != 0] & np.uint64((1 << kernels.ROW_BITS) - 1)).astype(np.int64) - 1] = True
        rows = np.flatnonzero(live & (kinds != 0))
        self._table = np.zeros(_places(2 * len(rows) + n), np.uint64)
        self._taken = kernels.insert_new(self._table, known, kinds, rows, np.empty(len(rows), np.bool_))[0]


def _places(count: int) -> int:
    """A power of two, at least half as many again."""
    return max(_SMALLEST, 1 << (3 * count // 2).bit_length())
