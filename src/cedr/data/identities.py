"""The IDs of rows: a column of them, or, where there is none, all that a row says.

Readings: R2, R8.  Two rows with equal values are one event that was sent twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.data.values import plain
from cedr.runtime.ids.text_ids import TextIds, made_texts

Column = Any
_BETWEEN, _NULL = "\x1f", "\x00"


def ids_of(column: Column) -> Column | None:
    """A column of IDs as texts or whole numbers; None where it is of another type.

    Whole numbers that came as floats, as pandas has them beside missing ones, are whole numbers.
    """
    of = column.type
    if pa.types.is_dictionary(of):
        return ids_of(column.dictionary_decode())
    if pa.types.is_integer(of) or pa.types.is_string(of) or pa.types.is_null(of):
        return column
    if pa.types.is_large_string(of) or pa.types.is_binary(of):
        return column.cast(pa.string())
    if pa.types.is_floating(of):
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return None
    return None


def content_ids(table: pa.Table) -> Column:
    """IDs made of all values of each row."""
    if not table.num_rows:
        return pa.array([], pa.string())
    columns = [_written(plain(column)) for column in table.columns]
    joined = pc.binary_join_element_wise(*columns, _BETWEEN, null_handling="replace", null_replacement=_NULL)
    ids = TextIds()
    ids.extend(joined)
    high, low = ids.digests(np.arange(len(joined), dtype=np.int64))
    return made_texts(np.ascontiguousarray(high), np.ascontiguousarray(low))


def _written(column: Column) -> Column:
    """Values as texts."""
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([None if value is None else repr(value) for value in column.to_pylist()], pa.string())
