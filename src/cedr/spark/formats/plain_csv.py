"""Lines of CSV that are plain: nothing in quotes, values as they are written most often.

Reading: R2.  Arrow's reader takes several times as long; it reads all that is not plain, and of what is gives the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cedr.runtime.texts import bitmap
from cedr.spark.formats import plain_csv_kernels as kernels
from cedr.spark.formats.plain_csv_kernels import CODE, DAY, MOST_CODES, REAL, SKIPPED, TEXT, TIME, WHOLE

_KINDS: Final = {
    "string": TEXT,
    "tinyint": WHOLE,
    "smallint": WHOLE,
    "int": WHOLE,
    "bigint": WHOLE,
    "double": REAL,
    "date": DAY,
    "timestamp": TIME,
    "timestamp_ntz": TIME,
}
_LINE_END: Final = np.uint8(ord("\n"))
_SEPARATORS: Final = (",", ";", "\t", "|")
"""None of them may be part of a value that is no text."""


class Slot(NamedTuple):
    """What was found in a column."""

    values: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int32]

    @property
    def missing(self) -> npt.NDArray[np.bool_] | None:
        """Where there is nothing; None where there is something in all rows."""
        return self.sizes < 0 if self.sizes.min(initial=0) < 0 else None


class PlainCsv:
    """Reads some columns of files whose columns have these names."""

    def __init__(
        self, types: Mapping[str, str], arrow: Mapping[str, pa.DataType], names: Sequence[str], separator: str
    ) -> None:
        self._types, self._arrow = types, arrow
        self._separator = np.uint8(ord(separator))
        found = [name for name in names if name in types]
        self._slots = {name: slot for slot, name in enumerate(found)}
        self._places = np.array([self._slots.get(name, 0) for name in names], np.int32)
        self._kinds = np.array([_KINDS[types[name]] if name in types else SKIPPED for name in names], np.int32)

    @classmethod
    def fitting(
        cls,
        types: Mapping[str, str],
        arrow: Mapping[str, pa.DataType],
        names: Sequence[str],
        separator: str,
        coded: str | None = None,
    ) -> PlainCsv | None:
        """A reader of such columns, if there is one; of a column of few different texts it gives a dictionary."""
        if separator not in _SEPARATORS or len(set(names)) < len(names) or not set(types.values()) <= _KINDS.keys():
            return None
        own = cls(types, arrow, names, separator)
        if coded in own._slots and types[coded] == "string":
            own._kinds[list(names).index(coded)] = CODE
        return own

    def read(self, lines: bytes) -> Mapping[str, Any] | None:
        """The columns of whole lines, times without a zone; None where there is something that is not plain."""
        data = np.frombuffer(lines if lines.endswith(b"\n") else lines + b"\n", np.uint8)
        room = (len(self._slots), int(np.count_nonzero(data == _LINE_END)))
        cells, sizes, codes = np.empty(room, np.int64), np.zeros(room, np.int32), np.empty((2, MOST_CODES), np.uint64)
        outcome = kernels.parsed(
            data, self._separator, self._kinds, self._places, cells, cells.view(np.float64), sizes, codes
        )
        count, known = (int(number) for number in outcome)
        if count < 0:
            return None
        texts = [bytes(data[first : first + size]).decode() for first, size in codes[:, :known].T.tolist()]
        slots = {name: Slot(cells[slot, :count], sizes[slot, :count]) for name, slot in self._slots.items()}
        kinds = dict(zip(self._slots, self._kinds[self._kinds != SKIPPED].tolist(), strict=True))
        try:
            return {
                name: _column(kinds[name], slots[name], of, data, texts) if name in slots else pa.nulls(count, of)
                for name, of in self._arrow.items()
            }
        except pa.ArrowInvalid:  # a number is too large for its column
            return None


def _column(kind: int, slot: Slot, of: pa.DataType, data: npt.NDArray[np.uint8], codes: Sequence[str]) -> Any:
    match kind:
        case kernels.TEXT:
            return _texts(slot, data)
        case kernels.CODE:
            indices = pa.array(slot.values.astype(np.int32), mask=slot.missing)
            return pa.DictionaryArray.from_arrays(indices, pa.array(codes, pa.string()))
        case kernels.REAL:
            return pa.array(slot.values.view(np.float64), mask=slot.missing)
        case kernels.DAY:
            return pa.array(slot.values.astype(np.int32), mask=slot.missing).view(of)
        case _:
            return pa.array(slot.values, mask=slot.missing).cast(of)


def _texts(slot: Slot, data: npt.NDArray[np.uint8]) -> pa.StringArray:
    ends = np.empty(len(slot.values) + 1, np.int32)
    out = np.empty(len(data), np.uint8)
    size = kernels.put_together(data, slot.values, slot.sizes, ends, out)
    nulls = None if slot.missing is None else bitmap(~slot.missing)
    return pa.StringArray.from_buffers(len(slot.values), pa.py_buffer(ends), pa.py_buffer(out[: int(size)]), nulls)
