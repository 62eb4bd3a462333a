"""Columns of whole numbers that mostly go on as they began: counting up, or always the same.

What arrives in batches has its place, its number and its provider in runs; only where a run breaks is something kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import kernel
from cedr.runtime.values.growable import Growable, Rows


@kernel
def is_run(rows: Rows) -> bool:
    """Whether each row follows the one before."""
    wrong = 0
    for place in range(len(rows)):
        wrong |= rows[place] ^ (rows[0] + place)
    return wrong == 0


def together(rows: Rows) -> Rows | slice:
    """Rows as a slice where each follows the one before, which is faster to take."""
    if len(rows) and int(rows[-1]) - int(rows[0]) + 1 == len(rows) and rows[0] >= 0 and is_run(rows):
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


@kernel
def breaks(first: Rows, shift: Rows, rows: Rows, out_first: Rows, out_shift: Rows) -> int:
    """The runs of what is left when only some rows remain, in their order; how many."""
    count, run = 0, 0
    for new in range(len(rows)):
        row = rows[new]
        while run + 1 < len(first) and first[run + 1] <= row:
            run += 1
        moved = row + shift[run] - new
        if count == 0 or out_shift[count - 1] != moved:
            out_first[count], out_shift[count] = new, moved
            count += 1
    return count


class Runs:
    """A column of numbers that count up from row to row as long as a run lasts.

    >>> runs = Runs()
    >>> runs.extend(range(5, 8))
    >>> runs.extend(np.array([20, 21]))
    >>> runs.keep(np.array([1, 2, 4]))
    >>> runs.at(np.arange(3))
    array([ 6,  7, 21])
    """

    __slots__ = ("_first", "_length", "_shift")

    def __init__(self) -> None:
        self._first, self._shift = Growable(np.int64), Growable(np.int64)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._first.nbytes + self._shift.nbytes

    def extend(self, values: range | Rows | list[int]) -> None:
        """Append numbers."""
        if not len(values):
            return
        start = self._length
        self._length += len(values)
        last = int(self._shift.view[-1]) if len(self._shift) else None
        if isinstance(values, range):
            if values.start - start != last:
                self._first.extend([start])
                self._shift.extend([values.start - start])
            return
        shifts = np.asarray(values, np.int64) - np.arange(start, self._length)
        begins = np.flatnonzero(np.diff(shifts, prepend=shifts[0] - 1 if last is None else last))
        self._first.extend(begins + start)
        self._shift.extend(shifts[begins])

    def at(self, rows: Rows) -> Rows:
        """The numbers of some rows."""
        found: Rows = rows + self._shift.view[np.searchsorted(self._first.view, rows, side="right") - 1]
        return found

    def keep(self, rows: Rows) -> None:
        """Only these rows remain; they are in their order."""
        first, shift = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        count = breaks(self._first.view, self._shift.view, rows, first, shift)
        self._first.truncate(0)
        self._first.extend(first[:count])
        self._shift.truncate(0)
        self._shift.extend(shift[:count])
        self._length = len(rows)


class Uniform:
    """A column that has one value in all rows until another one comes.

    >>> column = Uniform(0, np.int32)
    >>> column.fill(3, 0)
    >>> column.everywhere, column.at(np.array([2]))
    (0, array([0], dtype=int32))
    """

    __slots__ = ("_dtype", "_length", "_value", "_values")

    def __init__(self, value: int, dtype: npt.DTypeLike) -> None:
        self._value = value
        self._values: Growable | None = None
        self._length = 0
        self._dtype = np.dtype(dtype)

    def __len__(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return 0 if self._values is None else self._values.nbytes

    @property
    def everywhere(self) -> int | None:
        """The value of all rows, None where they differ."""
        return self._value if self._values is None else None

    def fill(self, n: int, values: int | npt.NDArray[Any]) -> None:
        """Append one value, or one for each row."""
        if self._values is None:
            same = values == self._value if isinstance(values, int) else bool((values == self._value).all())
            if not same:
                self._expand()
        if self._values is not None:
            self._values.grow(n)[:] = values
        self._length += n

    def at(self, rows: Rows) -> npt.NDArray[Any]:
        """The values of some rows."""
        return np.full(len(rows), self._value, self._dtype) if self._values is None else self._values.view[rows]

    def put(self, rows: Rows, value: int) -> None:
        """Some rows have another value."""
        if self._values is None:
            self._expand()
        assert self._values is not None
        self._values.view[rows] = value

    def keep(self, rows: Rows) -> None:
        """Only these rows remain, in this order."""
        if self._values is not None:
            self._values.keep(rows)
        self._length = len(rows)

    def _expand(self) -> None:
        self._values = Growable(self._dtype)
        self._values.fill(self._length, self._value)
