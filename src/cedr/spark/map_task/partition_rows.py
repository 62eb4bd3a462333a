"""Partitions rows by small numbers, with one pass over each column.

Taking the rows of one number after those of another would read each column as often as there are numbers.
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


def partition_rows(rows: pa.Table, numbers: Numbers, count: int) -> tuple[pa.RecordBatch, list[int]]:
    """Sort rows by their numbers, which are below ``count``; rows of one number keep their order.

    Gives the rows, and for each number the place after its last row.  A number below 0 leaves its row out.

    >>> table = pa.table({"x": [1, 2, 3, 4], "y": ["a", "b", "c", "d"]})
    >>> rows, ends = partition_rows(table, np.array([1, 0, -1, 1]), 3)
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
    """The bits of each value; None for types without a fixed width, and for columns with NULL."""
    kind = column.type
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)
    return kind.bit_width if plain and not column.null_count and kind.bit_width in _WIDTHS else None


def _put(column: pa.ChunkedArray, width: int, places: Numbers, total: int) -> pa.Array:
    values = np.empty(total, _WIDTHS[width])
    start = 0
    for chunk in column.chunks:
        own = np.frombuffer(chunk.buffers()[1], values.dtype)[chunk.offset : chunk.offset + len(chunk)]
        kernels.put(own, places[start : start + len(chunk)], values)
        start += len(chunk)
    return pa.Array.from_buffers(column.type, total, [None, pa.py_buffer(values)])


def _inverse(places: Numbers, total: int) -> pa.Array:
    """The row that goes to each place."""
    order = np.empty(total, np.int64)
    kernels.put(np.arange(len(places)), places, order)
    return pa.array(order)
