"""Vectors of values: their kinds, their NULLs, and the way from and to Python values and Arrow.

Reading: R20.  Inside an expression a vector of length 1 stands for one value at every instance, as NumPy broadcasts
it.  What lies under a NULL of a vector of numbers or truth values has no meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.model.event import Value
from cedr.model.schema import DataType
from cedr.runtime.values.arrow_arrays import arrow, arrow_texts
from cedr.runtime.values.nested import is_nested, nested_values
from cedr.runtime.values.vector import Vector

Mask = NDArray[np.bool_]

INTEGERS: Final = "i"
FLOATS: Final = "f"
TRUTHS: Final = "b"
OBJECTS: Final = "O"
TEXTS: Final = "t"
NESTED: Final = "n"
NUMBERS: Final = frozenset({INTEGERS, FLOATS})
OPAQUE: Final = frozenset({OBJECTS, NESTED})
"""What operators cannot compute in whole columns."""

NULLS: Final = Vector(np.zeros(1, np.bool_), np.zeros(1, np.bool_))
"""NULL at every instance."""

_DTYPES: Final[dict[type, Any]] = {int: np.int64, float: np.float64, bool: np.bool_}
_ARROW: Final = {
    DataType.INTEGER: pa.int64(),
    DataType.TIMESTAMP: pa.int64(),
    DataType.DURATION: pa.int64(),
    DataType.FLOAT: pa.float64(),
    DataType.BOOLEAN: pa.bool_(),
    DataType.STRING: pa.string(),
    DataType.DATE: pa.date32(),
    DataType.BINARY: pa.binary(),
}


def kind_of(vector: Vector) -> str:
    """What a vector holds: one of the letters above."""
    if isinstance(vector.values, np.ndarray):
        return str(vector.values.dtype.kind)
    return NESTED if is_nested(vector.values.type) else TEXTS


def both(left: Mask | None, right: Mask | None) -> Mask | None:
    """Where neither is NULL."""
    if left is None or right is None:
        return right if left is None else left
    return left & right


def not_null(vector: Vector) -> Mask:
    """Where a vector is not NULL, whatever it holds."""
    if not isinstance(vector.values, np.ndarray):
        return from_arrow_truths(vector.values.is_valid()).values
    if kind_of(vector) == OBJECTS:
        return np.fromiter((value is not None for value in vector.values), np.bool_, len(vector.values))
    return np.ones(len(vector.values), np.bool_) if vector.valid is None else vector.valid


def always_null(vector: Vector) -> bool:
    """Whether no value is there at all."""
    if not isinstance(vector.values, np.ndarray):
        return bool(vector.values.null_count == len(vector.values))
    return vector.valid is not None and not vector.valid.any()


def masked(vector: Vector, keep: Mask | None) -> Vector:
    """The vector with NULL where it is not kept."""
    if keep is None or keep.all():
        return vector
    if kind_of(vector) == NESTED:
        return Vector(vector.values.take(pa.array(np.arange(len(keep)), mask=~keep)))
    if not isinstance(vector.values, np.ndarray):
        return Vector(pc.if_else(arrow(keep), vector.values, pa.nulls(1, vector.values.type)[0]))
    if kind_of(vector) == OBJECTS:
        kept = vector.values.copy()
        kept[~keep] = None
        return Vector(kept)
    return Vector(vector.values, both(vector.valid, keep))


def from_arrow_truths(truths: pa.Array) -> Vector:
    """An Arrow array of truth values as a vector."""
    valid, values = truths.buffers()
    return Vector(_bits(values, truths), _bits(valid, truths) if truths.null_count else None)


def _bits(buffer: pa.Buffer | None, of: pa.Array) -> Mask:
    """The bits that an array has in one of its buffers."""
    if buffer is None:  # nothing there at all
        return np.zeros(len(of), np.bool_)
    end = of.offset + len(of)
    return np.unpackbits(np.frombuffer(buffer, np.uint8), count=end, bitorder="little")[of.offset :].view(np.bool_)


def of_values(values: Sequence[Value]) -> Vector:
    """Python values as the narrowest vector that holds exactly them.

    >>> of_values([1, None]).values.dtype, of_values([1, 1.0]).values.dtype
    (dtype('int64'), dtype('O'))
    """
    types = set(map(type, values))
    nulls = type(None) in types
    types.discard(type(None))
    if not types:
        return Vector(np.zeros(len(values), np.bool_), np.zeros(len(values), np.bool_))
    only = types.pop() if len(types) == 1 else object
    try:
        if only is str:
            return Vector(arrow_texts(cast("Sequence[str | None]", values)))
        if only in _DTYPES:
            filled = [only() if value is None else value for value in values] if nulls else values
            valid = np.array([value is not None for value in values], np.bool_) if nulls else None
            return Vector(np.array(filled, _DTYPES[only]), valid)
    except (OverflowError, UnicodeEncodeError, pa.ArrowException):  # beyond 64 bits; half a surrogate pair
        pass
    return Vector(np.fromiter(values, np.object_, len(values)))


def taken(vector: Vector, places: NDArray[np.int64]) -> Vector:
    """The values at some places."""
    if not isinstance(vector.values, np.ndarray):
        return Vector(vector.values.take(arrow(places)))
    return Vector(vector.values[places], None if vector.valid is None else vector.valid[places])


def spread(vector: Vector, size: int) -> Vector:
    """A vector of full length out of one that may stand for every instance; no mask where nothing is NULL."""
    if len(vector.values) != size:
        vector = taken(vector, np.zeros(size, np.int64))
    everywhere = vector.valid is not None and bool(vector.valid.all())
    return Vector(vector.values) if everywhere else vector


def to_values(vector: Vector) -> list[Value]:
    """The Python values, NULL as None.

    >>> to_values(Vector(np.array([1, 2]), np.array([True, False])))
    [1, None]
    """
    if kind_of(vector) == NESTED:
        return nested_values(vector.values)
    if not isinstance(vector.values, np.ndarray):
        return cast("list[Value]", vector.values.to_pylist())
    values = vector.values
    if vector.valid is not None and kind_of(vector) != OBJECTS:
        values = values.astype(np.object_)
        values[~vector.valid] = None
    return cast("list[Value]", values.tolist())


def to_arrow(vector: Vector, data_type: DataType) -> pa.Array | list[Value]:
    """The vector as an Arrow array that gives back exactly its values; where there is none, the values themselves.

    Times and durations are integers.  The type matters only where every value is NULL.
    """
    if not isinstance(vector.values, np.ndarray):
        return vector.values
    if kind_of(vector) == OBJECTS:
        return _objects_to_arrow(to_values(vector), data_type)
    if always_null(vector):
        return pa.nulls(len(vector.values), _ARROW.get(data_type, pa.null()))
    return arrow(vector.values, None if vector.valid is None else ~vector.valid)


def _objects_to_arrow(values: list[Value], data_type: DataType) -> pa.Array | list[Value]:
    if not any(value is not None for value in values):
        return pa.nulls(len(values), _ARROW.get(data_type, pa.null()))
    if len({type(value) for value in values if value is not None}) != 1:
        return values
    try:
        found = pa.array(values)
    except (OverflowError, ValueError, TypeError, pa.ArrowException):
        return values
    exact = isinstance(found, pa.Array) and list(map(repr, found.to_pylist())) == list(map(repr, values))
    return found if exact else values
