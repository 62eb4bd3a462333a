"""Many texts in two buffers: their bytes in UTF-8, one behind the other, and where each begins.

This is Arrow's own layout, so that what is gathered becomes an Arrow array without a copy.  NULLs are not known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cedr.runtime.kernels.texts import SLACK, gather, total_size
from cedr.runtime.values.arrow_arrays import bitmap, present_in
from cedr.runtime.values.growable import Growable, Rows
from cedr.runtime.values.run_length import together

LARGEST_32 = 2**31 - 1
_LARGE = 1 << 20
"""So many bytes of room are held on to."""


class Texts:
    """An append-only list of texts."""

    __slots__ = ("_data", "_offsets")

    def __init__(self) -> None:
        self._data = Growable(np.uint8, 64)
        self._offsets = Growable(np.int64)
        self._offsets.fill(1, 0)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @property
    def nbytes(self) -> int:
        """Bytes taken, room included."""
        return self._data.nbytes + self._offsets.nbytes

    @property
    def data(self) -> npt.NDArray[np.uint8]:
        """The bytes of all texts, at least ``SLACK`` bytes longer than they are."""
        self._data.reserve(SLACK)
        return self._data.storage

    @property
    def words(self) -> npt.NDArray[np.uint64]:
        """The same bytes, eight at a time."""
        data = self.data
        return data[: len(data) // 8 * 8].view(np.uint64)

    @property
    def offsets(self) -> Rows:
        """Where each text begins, and where the last one ends."""
        return self._offsets.view

    def extend(self, array: pa.Array) -> None:
        """Append an Arrow array of strings; a NULL becomes the empty text."""
        offsets, data = text_buffers(array)
        if array.null_count:  # a NULL may hide bytes
            rows = np.where(present_in(array), np.arange(len(array)), -1)
            self.extend_from(_with_slack(data), offsets, rows)
            return
        first, last = (int(offsets[0]), int(offsets[-1])) if len(array) else (0, 0)
        start = len(self._data)
        self._data.extend(data[first:last])
        self._offsets.extend(offsets[1:] - (first - start) if len(array) else offsets[1:])

    def extend_encoded(self, texts: Sequence[bytes]) -> None:
        """Append texts given in UTF-8."""
        start = len(self._data)
        self._data.extend(np.frombuffer(b"".join(texts), np.uint8))
        self._offsets.extend(start + np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts))))

    def extend_empty(self, n: int) -> None:
        """Append ``n`` empty texts."""
        self._offsets.fill(n, len(self._data))

    def extend_rows(self, rows: Rows) -> None:
        """Append copies of own rows; of row -1 the empty text."""
        self.extend_from(self.data, self.offsets.copy(), rows)

    def extend_from(self, data: npt.NDArray[np.uint8], offsets: Rows, rows: Rows) -> None:
        """Append rows of other texts, whose data go on for ``SLACK`` bytes."""
        start = len(self._data)
        size = total_size(offsets, rows)
        self._data.reserve(size + SLACK)
        self._data.grow(size)
        last = len(self._offsets) - 1
        self._offsets.grow(len(rows))
        gather(data, offsets, rows, self._data.storage[start:], self._offsets.view[last:], start)

    def keep(self, rows: Rows) -> None:
        """Only these rows remain, in this order."""
        places = together(rows)
        if isinstance(places, slice) and self._data.nbytes <= max(
            _LARGE, 16 * len(self._data) * len(rows) // len(self)
        ):
            self._keep_run(places)
            return
        kept = Texts()
        kept.extend_from(self.data, self.offsets, rows)
        self._data, self._offsets = kept._data, kept._offsets

    def _keep_run(self, places: slice) -> None:
        """Only these texts remain, which stand one behind the other."""
        offsets = self.offsets[places.start : places.stop + 1]
        first, last = int(offsets[0]), int(offsets[-1])
        self._offsets.truncate(_moved(self._offsets.view, offsets - first))
        self._data.truncate(_moved(self._data.view, self._data.view[first:last]))

    def take(self, rows: Rows, present: npt.NDArray[np.bool_] | None = None) -> pa.Array:
        """The texts of these rows as an Arrow array: of strings, or of large ones where these need it.

        NULL are those not ``present``; a row -1 must be one of them.
        """
        size = total_size(self.offsets, rows)
        small = size <= LARGEST_32
        offsets = np.empty(len(rows) + 1, np.int32 if small else np.int64)
        out = np.empty(size + SLACK, np.uint8)
        gather(self.data, self.offsets, rows, out, offsets, 0)
        nulls = None if present is None else bitmap(present)
        kind = pa.StringArray if small else pa.LargeStringArray
        return kind.from_buffers(len(rows), pa.py_buffer(offsets), pa.py_buffer(out[:size]), nulls)

    def encoded(self, rows: Rows) -> list[bytes]:
        """The texts of these rows in UTF-8."""
        data, offsets = self.data, self.offsets
        return [data[offsets[row] : offsets[row + 1]].tobytes() for row in rows.tolist()]


def _moved(to: npt.NDArray[Any], values: npt.NDArray[Any]) -> int:
    to[: len(values)] = values
    return len(values)


def text_buffers(array: pa.Array) -> tuple[Rows, npt.NDArray[np.uint8]]:
    """The offsets, one more than texts, and bytes of an Arrow array of strings, of which it may be a slice."""
    dtype: Any = np.int32 if pa.types.is_string(array.type) else np.int64
    _, offsets, data = array.buffers()
    if not len(array):
        return np.zeros(1, np.int64), np.empty(0, np.uint8)
    where = np.frombuffer(offsets, dtype)[array.offset : array.offset + len(array) + 1].astype(np.int64, copy=False)
    return where, np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


def _with_slack(data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.concatenate([data, np.zeros(SLACK, np.uint8)])
