"""Rows dealt out by small numbers: each column is read once, from front to back, and written to all places at once.

To take the rows of one number after those of another reads a column as often as there are numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.spark.map_task import partition_rows_kernels as kernels

Numbers = NDArray[Any]
_WIDTHS = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}


def dealt_out(rows: pa.Table, numbers: Numbers, count: int) -> tuple[pa.RecordBatch, list[int]]:
    """The rows in the order of numbers below a count, otherwise as they were, and where each number ends.

    Rows with a number below 0 are left out.

    >>> rows, ends = dealt_out(pa.table({"x": [1, 2, 3, 4], "y": ["a", "b", "c", "d"]}), np.array([1, 0, -1, 1]), 3)
    >>> rows.to_pydict(), ends
    ({'x': [2, 1, 4], 'y': ['b', 'a', 'd']}, [1, 3, 3])
    """
    ends = np.cumsum(np.bincount(numbers + 1, minlength=count + 1)[1:])
    places = np.empty(len(numbers), np.int64)
    kernels.places(numbers, np.append(0, ends[:-1]), places)
    total = int(ends[-1])
    columns, order = [], None
    for column in rows.columns:
        width = _width(column)
        if width is None:
            order = _inverse(places, total) if order is None else order
            taken = pc.take(column, order, boundscheck=False)
            columns.append(taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken)
        else:
            columns.append(_put(column, width, places, total))
    schema = rows.schema
    return pa.RecordBatch.from_arrays(columns, names=schema.names, metadata=schema.metadata), ends.tolist()


def _width(column: pa.ChunkedArray) -> int | None:
    """The bits of a value that is there in all rows; None where they differ, or some are missing."""
    kind = column.type
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)
    return kind.bit_width if plain and not column.null_count and kind.bit_width in _WIDTHS else None


def _put(column: pa.ChunkedArray, width: int, places: Numbers, total: int) -> pa.Array:
    found = np.empty(total, _WIDTHS[width])
    start = 0
    for chunk in column.chunks:
        values = np.frombuffer(chunk.buffers()[1], found.dtype)[chunk.offset : chunk.offset + len(chunk)]
        kernels.put(values, places[start : start + len(chunk)], found)
        start += len(chunk)
    return pa.Array.from_buffers(column.type, total, [None, pa.py_buffer(found)])


def _inverse(places: Numbers, total: int) -> pa.Array:
    """Which row comes to each place."""
    order = np.empty(total, np.int64)
    kernels.put(np.arange(len(places)), places, order)
    return pa.array(order)
