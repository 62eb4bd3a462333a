"""Structs, lists and maps as Arrow has them: kept as they came, and read by Arrow's own kernels.

Reading: R1 (instants and durations are microseconds), R2 (what a payload holds), R20.  What is inside becomes Python
values only where somebody asks for a whole struct or list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.model.event import Payload, Value, freeze
from cedr.runtime.values.growable import Rows

_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def is_nested(of: pa.DataType) -> bool:
    """Whether values of an Arrow type are structs, lists or maps."""
    return bool(pa.types.is_struct(of) or pa.types.is_map(of) or _is_list(of))


def _is_list(of: pa.DataType) -> bool:
    return bool(pa.types.is_list(of) or pa.types.is_large_list(of) or pa.types.is_fixed_size_list(of))


class Nested:
    """An append-only list of structs, lists or maps of one Arrow type.

    The arrays that came are kept; of two neighbours that are about as long one is made, so that there are few.

    >>> nested = Nested(pa.list_(pa.int64()))
    >>> nested.extend(pa.array([[1, 2], None]))
    >>> nested.take(np.array([-1, 0])).to_pylist()
    [None, [1, 2]]
    """

    __slots__ = ("_chunks", "_length", "type")

    def __init__(self, of: pa.DataType) -> None:
        self.type = of
        self._chunks: list[pa.Array] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        """Bytes taken."""
        return sum(chunk.nbytes for chunk in self._chunks)

    def extend(self, array: pa.Array) -> None:
        """Append an array of the type; of a small part of a large one a copy, so that the rest can go."""
        if not len(array):
            return
        if array.get_total_buffer_size() > 2 * array.nbytes:
            array = array.take(pa.array(np.arange(len(array))))
        self._length += len(array)
        self._chunks.append(array)
        while len(self._chunks) > 1 and len(self._chunks[-2]) <= 2 * len(self._chunks[-1]):
            last = self._chunks.pop()
            self._chunks[-1] = pa.concat_arrays([self._chunks[-1], last])

    def extend_empty(self, n: int) -> None:
        """Append ``n`` NULLs."""
        self.extend(pa.nulls(n, self.type))

    def extend_rows(self, rows: Rows) -> None:
        """Append copies of own rows; of row -1 NULL."""
        self.extend(self.take(rows))

    def keep(self, rows: Rows) -> None:
        """Only these rows remain, in this order."""
        kept = self.take(rows)
        self._chunks, self._length = [kept] if len(kept) else [], len(kept)

    def take(self, rows: Rows) -> pa.Array:
        """These rows as an Arrow array; row -1 is NULL."""
        if not len(rows) or not self._chunks:
            return pa.nulls(len(rows), self.type)
        ends = np.cumsum([len(chunk) for chunk in self._chunks])
        of = np.searchsorted(ends, rows, side="right")
        of[rows < 0] = -1
        chunks = np.unique(of[of >= 0]).tolist()
        if len(chunks) <= 1:
            which = chunks[0] if chunks else 0
            return _taken(self._chunks[which], rows, int(ends[which]) - len(self._chunks[which]))
        order = np.argsort(of, kind="stable")
        parts = [pa.nulls(int((of < 0).sum()), self.type)]
        parts += [_taken(self._chunks[n], rows[of == n], int(ends[n]) - len(self._chunks[n])) for n in chunks]
        back = np.empty(len(rows), np.int64)
        back[order] = np.arange(len(rows))
        return pa.concat_arrays(parts).take(pa.array(back))


def _taken(chunk: pa.Array, rows: Rows, start: int) -> pa.Array:
    missing = rows < 0
    return chunk.take(pa.array(rows - start, mask=missing if missing.any() else None))


# -- what is inside ---------------------------------------------------------------------------------------------------


def field_array(array: pa.Array, name: str) -> pa.Array | None:
    """A field of each struct, or what a map has under a key; None where there can be none."""
    of = array.type
    if pa.types.is_struct(of):
        place = of.get_field_index(name)
        return None if place < 0 else pc.struct_field(array, [place])
    if pa.types.is_map(of) and _is_text(of.key_type):
        return pc.map_lookup(array, pa.scalar(name, of.key_type), "last")
    return None


def item_array(array: pa.Array, numbers: Rows) -> pa.Array | None:
    """The n-th element of each list, counted from 1, or from the end where n is negative; None of what is no list."""
    of = array.type
    if not _is_list(of):
        return None
    if pa.types.is_fixed_size_list(of):
        array = array.cast(pa.list_(of.value_type))
    offsets = array.offsets.to_numpy().astype(np.int64, copy=False)
    starts, sizes = offsets[:-1], np.diff(offsets)
    places = np.where(numbers > 0, numbers - 1, sizes + numbers)
    there = (numbers != 0) & (places >= 0) & (places < sizes)
    if array.null_count:
        there &= np.asarray(array.is_valid())
    return array.values.take(pa.array(np.where(there, starts + places, 0), mask=~there))


# -- as Python values -------------------------------------------------------------------------------------------------


def nested_values(array: pa.Array) -> list[Value]:
    """Structs and maps as payloads, lists as tuples; instants and durations inside as microseconds."""
    of = array.type
    raw = array.cast(_without_times(of)) if _has_times(of) else array
    read = _reader(of)
    return [read(value) for value in raw.to_pylist()]


def _has_times(of: pa.DataType) -> bool:
    return _is_time(of) or any(_has_times(of.field(place).type) for place in range(of.num_fields))


def _is_time(of: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(of) or pa.types.is_duration(of))


def _is_text(of: pa.DataType) -> bool:
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of))


def _without_times(of: pa.DataType) -> pa.DataType:
    """The type with whole numbers in place of times: Python has none for nanoseconds."""
    if _is_time(of):
        return pa.int64()
    if pa.types.is_struct(of):
        return pa.struct([field.with_type(_without_times(field.type)) for field in of])
    if pa.types.is_map(of):
        return pa.map_(_without_times(of.key_type), _without_times(of.item_type))
    if pa.types.is_fixed_size_list(of):
        return pa.list_(_without_times(of.value_type), of.list_size)
    if pa.types.is_list(of) or pa.types.is_large_list(of):
        make = pa.list_ if pa.types.is_list(of) else pa.large_list
        return make(of.value_field.with_type(_without_times(of.value_type)))
    return of


def _reader(of: pa.DataType) -> Callable[[Any], Value]:
    """What makes a value of a payload of what Arrow gives."""
    if _is_time(of):
        per_second = _PER_SECOND[of.unit]
        return lambda value: None if value is None else value * 1_000_000 // per_second
    if pa.types.is_struct(of):
        readers = {field.name: _reader(field.type) for field in of}
        return lambda value: None if value is None else Payload({n: readers[n](part) for n, part in value.items()})
    if pa.types.is_map(of):
        key, item = _reader(of.key_type), _reader(of.item_type)
        if _is_text(of.key_type):
            return lambda value: None if value is None else Payload((name, item(part)) for name, part in value)
        return lambda value: None if value is None else tuple((key(name), item(part)) for name, part in value)
    if _is_list(of):
        inside = _reader(of.value_type)
        return lambda value: None if value is None else tuple(map(inside, value))
    return freeze
