"""Whole numbers in few bytes: most columns count up, or lie close together.

What is written is the distance of each number from the one before it, or from the least of them, whichever is small.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.consistency.encoding import as_bytes, from_bytes
from cedr.runtime.kernels import narrowing as kernels

Numbers = NDArray[np.int64]
Told = tuple[str, int] | tuple[str, int, list[list[int]]]
"""How a column was written: as steps from a number, with the leaps in between; or as what is above a number."""

_NARROW: Final = b"narrow"
_STEPS, _ABOVE = "steps", "above"
_KINDS: Final[tuple[type[np.unsignedinteger[Any]], ...]] = (np.uint8, np.uint16, np.uint32)
_MOST: Final = np.array([np.iinfo(kind).max for kind in _KINDS], np.int64)
_SAFE: Final = 1 << 62
"""Numbers that are not larger have a distance that can be told."""


def narrowed_columns(rows: pa.RecordBatch, leaps: int = 0) -> pa.RecordBatch:
    """Rows with each column in as few bytes as it needs; their metadata tell how to read them.

    A column that counts up may leap so many times, far or back, as it does where such columns are set one after the
    other.

    >>> rows = narrowed_columns(pa.record_batch({"x": [700, 701, 705], "y": ["a", "b", "c"]}))
    >>> rows.column("x").to_pylist(), widened_columns(pa.table(rows)).column("x").to_pylist()
    ([0, 1, 4], [700, 701, 705])
    """
    columns, told = list(rows.columns), {}
    for place, column in enumerate(columns):
        found = narrowed(column, leaps)
        if found is not None:
            columns[place], told[str(place)] = found
    metadata = {**(rows.schema.metadata or {}), _NARROW: as_bytes(told)}
    return pa.RecordBatch.from_arrays(columns, names=rows.schema.names, metadata=metadata)


def widened_columns(table: pa.Table) -> pa.Table:
    """The rows that were given; also those of a program that did not narrow them."""
    for place, told in from_bytes((table.schema.metadata or {}).get(_NARROW, b"{}")).items():
        at = int(place)
        numbers = widened(table.column(at).to_numpy(), told)
        table = table.set_column(at, table.column_names[at], pa.array(numbers))
    return table


def narrowed(column: pa.Array, leaps: int = 0) -> tuple[pa.Array, Told] | None:
    """A column of whole numbers in fewer bytes, and what tells how; None where that cannot be.

    >>> narrowed(pa.array([700, 701, 705]))[0].to_pylist()
    [0, 1, 4]
    >>> column, told = narrowed(pa.array([700, 701, 300, 305]), leaps=1)
    >>> column.to_pylist(), told
    ([0, 1, 0, 5], ('steps', 700, [[2, -401]]))
    """
    if column.type != pa.int64() or column.null_count or not len(column):
        return None
    numbers = column.to_numpy()
    odd = np.zeros(len(_KINDS), np.int64)
    least, most = map(int, kernels.surveyed(numbers, _MOST, odd))
    if not -_SAFE < least <= most < _SAFE:
        return None
    for kind, limit, count in zip(_KINDS, _MOST.tolist(), odd.tolist(), strict=True):
        if count <= leaps:
            return _stepped(numbers, kind, limit, count)
    above = _fitted(numbers - least, most - least)
    return None if above is None else (above, (_ABOVE, least))


def _stepped(numbers: Numbers, kind: type[np.unsignedinteger[Any]], most: int, odd: int) -> tuple[pa.Array, Told]:
    """As steps of a kind, for which so many of them are too large, or negative: they are told apart."""
    steps, places = np.empty(len(numbers), kind), np.empty(odd, np.int64)
    kernels.stepped(numbers, most, steps, places)
    start = int(numbers[0])
    if not odd:
        return pa.array(steps), (_STEPS, start)
    leaps = [[place, int(numbers[place] - numbers[place - 1])] for place in places.tolist()]
    return pa.array(steps), (_STEPS, start, leaps)


def widened(column: NDArray[Any], told: Told) -> Numbers:
    """The numbers that were written."""
    how, start, *leaps = told
    numbers = column.astype(np.int64)
    if how == _ABOVE:
        numbers += start
        return numbers
    for place, leap in leaps[0] if leaps else ():
        numbers[place] = leap
    numbers[:1] = start
    return np.cumsum(numbers, out=numbers)


def _fitted(numbers: Numbers, most: int) -> pa.Array | None:
    for kind in _KINDS:
        if most <= np.iinfo(kind).max:
            return pa.array(numbers.astype(kind))
    return None
