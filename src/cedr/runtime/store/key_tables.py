"""The two hash tables behind key codes: of integers, and of texts.

Codes are drawn from one sequence by several tables, so each call is told the next code and tells it back.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.hashing import SMALL, code_integers, code_texts, largest_small, recode_integers, recode_texts
from cedr.runtime.values.growable import Rows

_SMALLEST = 1024

Source = tuple[npt.NDArray[np.uint8], Rows]
"""Texts: their bytes, and where each begins and the last one ends."""


class IntegerCodes:
    """Codes of integers."""

    __slots__ = ("_codes", "_count", "_direct", "_keys")

    def __init__(self) -> None:
        self._direct = np.empty(0, np.int64)
        self._keys = np.zeros(_SMALLEST, np.int64)
        self._codes = np.full(_SMALLEST, -1, np.int64)
        self._count = 0

    @property
    def nbytes(self) -> int:
        """Bytes taken."""
        return self._direct.nbytes + self._keys.nbytes + self._codes.nbytes

    def assign(self, values: npt.NDArray[np.int64], out: Rows, following: int) -> int:
        """Puts codes where ``out`` is not -1; the code that follows then."""
        state = np.array([0, following, self._count], np.int64)
        self._reach(largest_small(values) + 1)
        while True:
            code_integers(self._direct, self._keys, self._codes, values, out, state)
            self._count = int(state[2])
            if state[0] == len(values):
                return int(state[1])
            self._rebuild(4 * len(self._keys), np.arange(state[1]))

    def _reach(self, places: int) -> None:
        """So many small values have a place."""
        if places > len(self._direct):
            longer = np.full(min(SMALL, max(places, 2 * len(self._direct))), -1, np.int64)
            longer[: len(self._direct)] = self._direct
            self._direct = longer

    def rename(self, renamed: Rows) -> None:
        """Codes get new names, -1 forgets them."""
        known = self._direct >= 0
        self._direct[known] = renamed[self._direct[known]]
        self._rebuild(_places(min(self._count, int((renamed >= 0).sum()))), renamed)

    def _rebuild(self, places: int, renamed: Rows) -> None:
        keys, codes = np.zeros(places, np.int64), np.full(places, -1, np.int64)
        self._count = recode_integers(self._keys, self._codes, renamed, keys, codes)
        self._keys, self._codes = keys, codes


class TextCodes:
    """Codes of texts."""

    __slots__ = ("_count", "_kept", "_table", "_used")

    def __init__(self) -> None:
        self._table = _empty(_SMALLEST)
        self._kept = np.zeros(16 * _SMALLEST, np.uint8)
        self._count = self._used = 0

    @property
    def nbytes(self) -> int:
        """Bytes taken."""
        return self._table.nbytes + self._kept.nbytes

    def assign(self, source: Source, rows: Rows, out: Rows, following: int) -> int:
        """Puts the codes of texts, -1 for row -1; the code that follows then."""
        state = np.array([0, following, self._count, self._used, 0], np.int64)
        while True:
            code_texts(self._table, self._kept, source, rows, out, state)
            self._count, self._used = int(state[2]), int(state[3])
            if state[0] == len(rows):
                return int(state[1])
            if 2 * self._count >= len(self._table):
                self._rebuild(2 * len(self._table), np.arange(state[1]))
            _, offsets = source
            row = rows[state[0]]
            more = int(offsets[row + 1] - offsets[row])
            if self._used + more > len(self._kept):
                larger = np.zeros(2 * (self._used + more), np.uint8)
                larger[: self._used] = self._kept[: self._used]
                self._kept = larger

    def rename(self, renamed: Rows) -> None:
        """Codes get new names, -1 forgets them."""
        self._rebuild(_places(min(self._count, int((renamed >= 0).sum()))), renamed)

    def _rebuild(self, places: int, renamed: Rows) -> None:
        table, kept = _empty(places), np.zeros(len(self._kept), np.uint8)
        state = np.zeros(4, np.int64)
        recode_texts((self._table, self._kept), renamed, table, kept, state)
        self._count, self._used = int(state[2]), int(state[3])
        self._table = table
        self._kept = kept if 4 * self._used > len(kept) else kept[: max(2 * self._used, 16 * _SMALLEST)].copy()


def _empty(places: int) -> Rows:
    table = np.zeros((places, 4), np.int64)
    table[:, 1] = -1
    return table


def _places(count: int) -> int:
    """A power of two, more than three times as many."""
    return max(_SMALLEST, 1 << (3 * count).bit_length())
