"""Header columns that are implied by another one, or constant, until a row differs.

On plain streams Os = Vs, Oe = FOREVER, Rt = Vs (R10): such columns take no room and no time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cedr.runtime.values.growable import Growable, Rows


class Derived:
    """A column that equals ``implied``, another column or a value, for as long as all its rows do."""

    __slots__ = ("_constant", "_implied", "_length", "_own", "_type")

    def __init__(self, implied: Growable | int, dtype: npt.DTypeLike) -> None:
        self._implied = implied
        self._type = np.dtype(dtype)
        self._own: Growable | None = None
        self._length = 0
        self._constant = b"" if isinstance(implied, Growable) else self._type.type(implied).tobytes()

    def __len__(self) -> int:
        return self._length

    @property
    def implicit(self) -> bool:
        """Whether no row differs."""
        return self._own is None

    @property
    def view(self) -> npt.NDArray[Any]:
        """What is held; valid until the next change."""
        if self._own is not None:
            return self._own.view
        if isinstance(self._implied, Growable):
            return self._implied.view[: self._length]
        return np.ndarray((self._length,), self._type, self._constant, 0, (0,))

    @property
    def nbytes(self) -> int:
        """Bytes taken, room included."""
        return 0 if self._own is None else self._own.nbytes

    def lend(self, n: int) -> npt.NDArray[Any]:
        """Room for values to be appended next."""
        return np.empty(n, self._type) if self._own is None else self._own.lend(n)

    def extend(self, values: npt.NDArray[Any], beside: npt.NDArray[Any]) -> None:
        """Append values; ``beside`` are those appended to the column that implies this one."""
        if self._own is None and not self._same(values, beside):
            self._materialise()
        self._length += len(values)
        if self._own is not None:
            self._own.extend(values)

    def _same(self, values: npt.NDArray[Any], beside: npt.NDArray[Any]) -> bool:
        if isinstance(self._implied, Growable):
            return values is beside or bool(np.array_equal(values, beside))
        if values.strides == (0,) or not len(values):
            return not len(values) or values[0] == self._implied
        return bool((values == self._implied).all())

    def _materialise(self) -> None:
        own = Growable(self._type)
        own.extend(self.view)
        self._own = own

    def keep(self, rows: Rows) -> None:
        """Only these rows remain, in this order; called after the column that implies it was kept."""
        if self._own is not None:
            self._own.keep(rows)
        self._length = len(rows)

    def truncate(self, n: int) -> None:
        """Only the first ``n`` values remain; with none left nothing differs."""
        self._length = min(n, self._length)
        if self._own is not None:
            self._own.truncate(n)
            if not n:
                self._own = None
