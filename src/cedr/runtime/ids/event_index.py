"""Which row an event is in: an index from the digest of its ID to a row number.

Reading: R4 (IDs are unique within their stream), R8 (digests: 128 bits, which no two IDs share).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels import index as kernels
from cedr.runtime.values.growable import Rows

Words = npt.NDArray[np.uint64]
Kinds = npt.NDArray[np.int8]
Known = Words
"""The digests of all rows: of each the higher and the lower half, and what else goes with them."""
_SMALLEST = 1024


class Recorded(Protocol):
    """IDs that tell their digests when asked."""

    @property
    def records(self) -> Known:
        """Of each row the higher and the lower half."""


class EventIndex:
    """A mapping from digests to row numbers of 0 and more; the digests themselves stand with the rows, in their IDs.

    Nothing is removed: a row whose kind is 0 is gone, and what knew it is dropped as the index grows or is rebuilt.
    Rows that are known to be new wait outside until somebody looks for one.

    >>> from cedr.runtime.ids.text_ids import TextIds
    >>> index, ids, kinds = EventIndex(), TextIds(), np.ones(4, np.int8)
    >>> ids.extend(["7", "8", "7", "9"])
    >>> index.insert_new(ids, kinds, np.arange(3))
    array([ True,  True, False])
    >>> index.insert_later(np.array([3]))
    >>> index.find(ids, kinds, ids.records)
    array([0, 1, 0, 3])
    """

    __slots__ = ("_table", "_taken", "_waiting")

    def __init__(self) -> None:
        self._table = np.zeros(_SMALLEST, np.uint64)
        self._taken = 0
        self._waiting: list[Rows] = []

    @property
    def nbytes(self) -> int:
        """Bytes taken."""
        return self._table.nbytes + sum(rows.nbytes for rows in self._waiting)

    def find(self, ids: Recorded, kinds: Kinds, wanted: Words) -> Rows:
        """The rows of digests, -1 where there is none or it is gone."""
        self._take_in(ids, kinds)
        rows = np.empty(len(wanted), np.int64)
        kernels.find(self._table, ids.records, wanted, rows)
        rows[rows >= 0] = np.where(kinds[rows[rows >= 0]] != 0, rows[rows >= 0], -1)
        return rows

    def insert_new(self, ids: Recorded, kinds: Kinds, rows: Rows) -> npt.NDArray[np.bool_]:
        """Put in rows whose digests are not there yet, and say which those are; of equal ones the first."""
        self._take_in(ids, kinds)
        return self._insert(ids.records, kinds, rows)

    def insert_later(self, rows: Rows) -> None:
        """Rows whose digests are not there: they are put in when somebody looks for one."""
        self._waiting.append(rows)

    def rebuild(self, ids: Recorded, kinds: Kinds, rows: Rows) -> None:
        """Forget everything and put in these rows, as after the rows of a table were moved; of equal ones the first."""
        self._waiting = []
        if not self._taken:
            self.insert_later(rows)
            return
        places = _places(2 * len(rows))
        if places <= len(self._table) <= 4 * places:
            self._table[:] = 0
        else:
            self._table = np.zeros(places, np.uint64)
        self._taken = 0
        self._insert(ids.records, kinds, rows)

    def _take_in(self, ids: Recorded, kinds: Kinds) -> None:
        """Those who wait."""
        if self._waiting:
            rows = np.concatenate(self._waiting)
            self._waiting = []
            self._insert(ids.records, kinds, rows[kinds[rows] != 0])

    def _insert(self, known: Known, kinds: Kinds, rows: Rows) -> npt.NDArray[np.bool_]:
        self._reserve(known, kinds, len(rows))
        new = np.empty(len(rows), np.bool_)
        self._taken += kernels.insert_new(self._table, known, kinds, rows, new)[0]
        return new

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
