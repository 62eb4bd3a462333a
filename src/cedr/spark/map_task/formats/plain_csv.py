"""Reads plain lines of CSV: without quotes, and with values in their most common form.

Reading: R2.  Arrow's reader takes several times as long.  It gives the same for plain lines, and reads all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cedr.runtime.values.arrow_arrays import bitmap
from cedr.spark.map_task.formats import plain_csv_kernels as kernels

_KINDS: Final = {
    "string": kernels.TEXT,
    "tinyint": kernels.WHOLE,
    "smallint": kernels.WHOLE,
    "int": kernels.WHOLE,
    "bigint": kernels.WHOLE,
    "double": kernels.REAL,
    "date": kernels.DAY,
    "timestamp": kernels.TIME,
    "timestamp_ntz": kernels.TIME,
}
_LINE_END: Final = np.uint8(ord("\n"))
_SEPARATORS: Final = (",", ";", "\t", "|")
"""Separators that are never part of a number or a time."""


class Slot(NamedTuple):
    """The values of one column, as the kernel wrote them."""

    values: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int32]

    def missing(self) -> npt.NDArray[np.bool_] | None:
        """Which values are NULL; None if no value is."""
        return self.sizes < 0 if self.sizes.min(initial=0) < 0 else None


class PlainCsv:
    """Reads some columns of files; ``names`` are all columns of the files."""

    def __init__(
        self,
        types: Mapping[str, str],
        arrow: Mapping[str, pa.DataType],
        names: Sequence[str],
        separator: str,
        coded: str | None,
    ) -> None:
        self._arrow = arrow
        self._separator = np.uint8(ord(separator))
        self._found = {name: _KINDS[types[name]] for name in names if name in types}
        """The kind of each column that the files have."""
        if coded is not None and self._found.get(coded) == kernels.TEXT:
            self._found[coded] = kernels.CODE
        places = {name: place for place, name in enumerate(self._found)}
        self._places = np.array([places.get(name, 0) for name in names], np.int32)
        self._kinds = np.array([self._found.get(name, kernels.SKIPPED) for name in names], np.int32)

    @classmethod
    def fitting(
        cls,
        types: Mapping[str, str],
        arrow: Mapping[str, pa.DataType],
        names: Sequence[str],
        separator: str,
        coded: str | None = None,
    ) -> PlainCsv | None:
        """A reader for these columns, or None if they cannot be plain; the column ``coded`` becomes a dictionary."""
        if separator not in _SEPARATORS or len(set(names)) < len(names) or not set(types.values()) <= _KINDS.keys():
            return None
        return cls(types, arrow, names, separator, coded)

    def read(self, lines: bytes) -> Mapping[str, Any] | None:
        """Read whole lines; times have no zone.  None if a line is not plain."""
        data = np.frombuffer(lines if lines.endswith(b"\n") else lines + b"\n", np.uint8)
        room = (len(self._found), int(np.count_nonzero(data == _LINE_END)))
        cells, sizes = np.empty(room, np.int64), np.zeros(room, np.int32)
        codes = np.empty((2, kernels.MOST_CODES), np.uint64)
        outcome = kernels.parsed(
            data, self._separator, self._kinds, self._places, cells, cells.view(np.float64), sizes, codes
        )
        count, known = (int(number) for number in outcome)
        if count < 0:
            return None
        texts = [bytes(data[first : first + size]).decode() for first, size in codes[:, :known].T.tolist()]
        found = {name: pa.nulls(count, of) for name, of in self._arrow.items() if name not in self._found}
        try:
            for place, (name, kind) in enumerate(self._found.items()):
                slot = Slot(cells[place, :count], sizes[place, :count])
                found[name] = _column(kind, slot, self._arrow[name], data, texts)
        except pa.ArrowInvalid:  # a number does not fit into its column
            return None
        return found


def _column(kind: int, slot: Slot, of: pa.DataType, data: npt.NDArray[np.uint8], codes: Sequence[str]) -> Any:
    missing = slot.missing()
    match kind:
        case kernels.TEXT:
            return _texts(slot, data, None if missing is None else bitmap(~missing))
        case kernels.CODE:
            indices = pa.array(slot.values.astype(np.int32), mask=missing)
            return pa.DictionaryArray.from_arrays(indices, pa.array(codes, pa.string()))
        case kernels.REAL:
            return pa.array(slot.values.view(np.float64), mask=missing)
        case kernels.DAY:
            return pa.array(slot.values.astype(np.int32), mask=missing).view(of)
        case _:
            return pa.array(slot.values, mask=missing).cast(of)


def _texts(slot: Slot, data: npt.NDArray[np.uint8], present: pa.Buffer | None) -> pa.StringArray:
    ends = np.empty(len(slot.values) + 1, np.int32)
    out = np.empty(len(data), np.uint8)
    size = kernels.put_together(data, slot.values, slot.sizes, ends, out)
    return pa.StringArray.from_buffers(len(slot.values), pa.py_buffer(ends), pa.py_buffer(out[: int(size)]), present)
