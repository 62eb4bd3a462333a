"""A NumPy array that grows at its end.

The capacity doubles, so that appending costs, over all, time linear in what is appended.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
"""Row numbers."""


_LARGE = 1 << 25
"""Bytes of room that are not worth giving back."""


_WORTH = 1 << 16
"""Fewer values than this are copied as well."""


class Growable:
    """An array with room at its end: of values, or of rows of ``width`` values each.

    >>> numbers = Growable(np.int64)
    >>> numbers.extend([3, 4, 5])
    >>> numbers.keep(np.array([2, 0]))
    >>> numbers.view
    array([5, 3])
    """

    __slots__ = ("_array", "_length", "_lent")

    def __init__(self, dtype: npt.DTypeLike, capacity: int = 16, width: int | None = None) -> None:
        self._array: npt.NDArray[Any] = np.empty(capacity if width is None else (capacity, width), dtype)
        self._length = 0
        self._lent: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        return self._length

    @property
    def view(self) -> npt.NDArray[Any]:
        """What is held; valid until the next change."""
        return self._array[: self._length]

    @property
    def nbytes(self) -> int:
        """Bytes taken, room included."""
        return int(self._array.nbytes)

    @property
    def storage(self) -> npt.NDArray[Any]:
        """What is held and the room behind it; valid until the next change."""
        return self._array

    def reserve(self, n: int) -> None:
        """Makes room for ``n`` more values."""
        if self._length + n > len(self._array):
            larger = self._empty(max(self._length + n, 2 * len(self._array)))
            larger[: self._length] = self.view
            self._array = larger

    def grow(self, n: int) -> npt.NDArray[Any]:
        """``n`` more places at the end, with no values yet."""
        self.reserve(n)
        start = self._length
        self._length = start + n
        return self._array[start : self._length]

    def lend(self, n: int) -> npt.NDArray[Any]:
        """Room behind what is held, to be written to and appended next: then nothing is copied."""
        self.reserve(n)
        self._lent = self._array[self._length : self._length + n]
        return self._lent

    def extend(self, values: npt.ArrayLike) -> None:
        """Append values."""
        lent, self._lent = self._lent, None
        if lent is not None and values is lent:
            self._length += len(lent)
            return
        array = np.asarray(values, self._array.dtype)
        self.grow(len(array))[:] = array

    def adopt(self, array: npt.NDArray[Any]) -> None:
        """Append values of an array that nobody else will change: where nothing is held yet, it is not copied."""
        if (
            self._lent is not None
            or self._length
            or len(array) < _WORTH
            or array.dtype != self._array.dtype
            or not array.flags.c_contiguous
        ):
            self.extend(array)
        elif len(array) > len(self._array):
            self._array, self._length = array, len(array)
        else:
            self.extend(array)

    def fill(self, n: int, value: Any) -> None:
        """Append one value ``n`` times."""
        self.grow(n)[:] = value

    def keep(self, rows: Rows) -> None:
        """Only these rows remain, in this order; room that is large and far too large is given back.

        Room that the next step will need again is not: memory that is touched for the first time is dear.
        """
        kept = self.view[rows]
        if len(kept) > len(self._array) or (self._array.nbytes > _LARGE and len(self._array) > 16 * len(kept)):
            self._array = self._empty(max(16, 4 * len(kept)))
        self._array[: len(kept)] = kept
        self._length = len(kept)

    def _empty(self, capacity: int) -> npt.NDArray[Any]:
        return np.empty((capacity, *self._array.shape[1:]), self._array.dtype)

    def truncate(self, n: int) -> None:
        """Only the first ``n`` values remain."""
        self._length = min(n, self._length)
