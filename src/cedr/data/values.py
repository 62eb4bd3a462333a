"""Columns as values of one type: texts are read, types are inferred, and what does not fit is told row by row.

Readings: R1 (times are microseconds), R20 (kinds of values).  A column has the type that at least nine in ten of its
values have: one "abc" among numbers is a fault of its row, not of the column.  Digits that begin with a zero are names,
not numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cedr.data.instants import TIMESTAMP, instants, mask
from cedr.model.schema import DataType, Shape

Array = Any
Mask = npt.NDArray[np.bool_]

ENOUGH: Final = 0.9
"""The share of its values that must be of a type for a column to be."""
_SAMPLE: Final = 1_000
NULLS: Final = ("", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan")
"""How a missing value is spelt where a number, a time or a truth value should stand."""
_INTEGER: Final = r"^[+-]?\d{1,18}$"
_FLOAT: Final = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_BOOLEAN: Final = r"^(?i:true|false)$"
_DATE: Final = r"^\d{4}-\d{2}-\d{2}$"
_LEADING_ZERO: Final = r"^[+-]?0[0-9xX]"
_PATTERNS: Final = {
    DataType.INTEGER: _INTEGER,
    DataType.FLOAT: _FLOAT,
    DataType.BOOLEAN: _BOOLEAN,
    DataType.DATE: _DATE,
    DataType.TIMESTAMP: TIMESTAMP,
}
ARROW: Final = {
    DataType.INTEGER: pa.int64(),
    DataType.FLOAT: pa.float64(),
    DataType.STRING: pa.string(),
    DataType.BOOLEAN: pa.bool_(),
    DataType.DATE: pa.date32(),
    DataType.TIMESTAMP: pa.timestamp("us", "UTC"),
    DataType.DURATION: pa.int64(),
    DataType.DECIMAL: pa.decimal128(38, 18),
    DataType.BINARY: pa.binary(),
}


class Fitted(NamedTuple):
    """A column in its type, and which rows had a value that is not of it; None where all were."""

    column: Array
    misfits: Mask | None = None


def type_of(of: pa.DataType) -> DataType:
    """Our type for the values of an Arrow column."""
    if pa.types.is_dictionary(of):
        return type_of(of.value_type)
    return next((ours for test, ours in _KINDS if test(of)), DataType.ANY)


def shape_of(of: pa.DataType) -> Shape:
    """The same with what is inside of structs and lists."""
    kind = type_of(of)
    if pa.types.is_struct(of):
        return Shape(kind, {field.name: shape_of(field.type) for field in of})
    if pa.types.is_map(of):
        return Shape(kind, element=shape_of(of.item_type)) if is_text(of.key_type) else Shape(kind)
    return Shape(kind, element=shape_of(of.value_type)) if kind is DataType.LIST else Shape(kind)


def is_text(of: pa.DataType) -> bool:
    """Whether a column holds texts."""
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of))


_KINDS: Final[tuple[tuple[Callable[[pa.DataType], bool], DataType], ...]] = (
    (pa.types.is_integer, DataType.INTEGER),
    (pa.types.is_floating, DataType.FLOAT),
    (is_text, DataType.STRING),
    (pa.types.is_boolean, DataType.BOOLEAN),
    (pa.types.is_timestamp, DataType.TIMESTAMP),
    (pa.types.is_date, DataType.DATE),
    (pa.types.is_decimal, DataType.DECIMAL),
    (pa.types.is_duration, DataType.DURATION),
    (pa.types.is_struct, DataType.STRUCT),
    (pa.types.is_map, DataType.STRUCT),
    (pa.types.is_list, DataType.LIST),
    (pa.types.is_large_list, DataType.LIST),
    (pa.types.is_fixed_size_list, DataType.LIST),
    (pa.types.is_binary, DataType.BINARY),
    (pa.types.is_large_binary, DataType.BINARY),
    (pa.types.is_null, DataType.ANY),
)


def plain(column: Array) -> Array:
    """A column in one piece, its dictionary and its wide or foreign texts as plain ones."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else _joined(column)
    if pa.types.is_dictionary(column.type) and not is_text(column.type.value_type):
        column = column.dictionary_decode()
    if pa.types.is_string_view(column.type) or (pa.types.is_large_string(column.type) and _small(column)):
        return column.cast(pa.string())
    return column


def _joined(column: pa.ChunkedArray) -> Array:
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no chunk at all, or texts of more than two gigabytes
        whole = whole.cast(pa.large_string()).combine_chunks() if whole.num_chunks else pa.array([], whole.type)
    return whole


def _small(column: Array) -> bool:
    return bool(column.nbytes < 1 << 31)


def inferred(texts: Array) -> DataType:
    """The type that a column of texts has; ANY where there is no text at all.

    >>> print(inferred(pa.array(["1", "2.5", None])), inferred(pa.array(["007", "12"])))
    FLOAT STRING
    """
    given = texts.filter(pc.invert(_spelt_null(texts)))
    if not len(given):
        return DataType.ANY
    sample = given.slice(0, _SAMPLE)
    if _share(sample, _LEADING_ZERO) > 0 and _share(sample, _FLOAT) > ENOUGH:
        return DataType.STRING
    likely = [of for of, pattern in _PATTERNS.items() if _share(sample, pattern) > 0.5]
    shares = {of: _share(given, _PATTERNS[of]) for of in likely}
    whole = [of for of, share in shares.items() if share == 1.0]
    chosen = whole[0] if whole else max(shares, key=lambda of: shares[of], default=DataType.STRING)
    if shares.get(chosen, 0.0) < ENOUGH:
        return DataType.STRING
    if chosen in (DataType.INTEGER, DataType.FLOAT) and _share(given, _LEADING_ZERO) > 1 - ENOUGH:
        return DataType.STRING
    return chosen


def _share(texts: Array, pattern: str) -> float:
    if not len(texts):
        return 0.0
    found = pc.sum(pc.match_substring_regex(texts, pattern)).as_py() or 0
    return float(found / len(texts))


def _spelt_null(texts: Array) -> Array:
    return pc.is_in(texts, pa.array([None, *NULLS], texts.type))


def fitted(column: Array, of: DataType) -> Fitted:
    """A column as values of a type; a value that is none is NULL, and its row a misfit."""
    found = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if of is DataType.ANY or type_of(found) is of:
        return Fitted(column)
    if pa.types.is_null(found):
        return Fitted(pa.nulls(len(column), ARROW.get(of, pa.null())))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if is_text(found):
        return _of_texts(column, of)
    if of is DataType.STRING:
        return _cast(column, pa.string())
    if of is DataType.TIMESTAMP and pa.types.is_date(found):
        return _cast(column, ARROW[of])
    if type_of(found) in _NUMBERS and of in (*_NUMBERS, DataType.DURATION, DataType.TIMESTAMP):
        return _cast(column, pa.int64() if of is DataType.TIMESTAMP else ARROW[of])
    return Fitted(pa.nulls(len(column), ARROW.get(of, found)), mask(column.is_valid()))


_NUMBERS: Final = (DataType.INTEGER, DataType.FLOAT, DataType.DECIMAL)


def _of_texts(texts: Array, of: DataType) -> Fitted:
    trimmed = pc.utf8_trim_whitespace(texts)
    given = pc.if_else(_spelt_null(trimmed), pa.scalar(None, trimmed.type), trimmed)
    if of is DataType.TIMESTAMP:
        read = instants(given, "UTC")
        column = pa.array(read.times, mask=read.missing).cast(ARROW[of])
        return Fitted(column, None if read.missing is None else _or_none(read.missing & mask(given.is_valid())))
    if of is DataType.BOOLEAN:
        given = pc.utf8_lower(given)
    if of not in ARROW:
        return Fitted(texts)
    return _cast(given, ARROW[of], _PATTERNS.get(of))


def _cast(column: Array, of: pa.DataType, pattern: str | None = None) -> Fitted:
    """Cast as a whole; where a value does not fit, without those that do not look right; at last one by one."""
    try:
        return Fitted(column.cast(of))
    except pa.ArrowInvalid:
        pass
    valid = mask(column.is_valid())
    if pattern is not None:
        fits = mask(pc.match_substring_regex(column, pattern))
        digits = pc.utf8_ltrim(column, "+") if pa.types.is_integer(of) else column
        try:
            return Fitted(
                pc.if_else(pa.array(fits), digits, pa.scalar(None, column.type)).cast(of), _or_none(valid & ~fits)
            )
        except pa.ArrowInvalid:
            pass
    return _one_by_one(column, of, valid)


def _one_by_one(column: Array, of: pa.DataType, valid: Mask) -> Fitted:
    """By distinct values, which are few where there is hope; each is cast by itself."""
    coded = column.dictionary_encode()
    parts = []
    for value in coded.dictionary:
        try:
            parts.append(pa.array([value.as_py()], column.type).cast(of))
        except pa.ArrowInvalid:
            parts.append(pa.nulls(1, of))
    known = pa.concat_arrays(parts) if parts else pa.nulls(0, of)
    found = known.take(coded.indices)
    return Fitted(found, _or_none(valid & mask(found.is_null())))


def _or_none(mask: Mask) -> Mask | None:
    return mask if mask.any() else None
