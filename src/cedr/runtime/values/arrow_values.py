"""From Arrow arrays and Python values to what a column keeps.

Reading: R1 (instants and durations are microseconds), R20 (kinds of values).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cedr.model.event import Payload, Value, freeze
from cedr.runtime.values.arrow_arrays import arrow_texts, numpy_of, present_in
from cedr.runtime.values.nested import is_nested

DTYPES: Final[Mapping[str, Any]] = {"integer": np.int64, "float": np.float64, "boolean": np.bool_, "object": np.object_}
"""How values of a kind lie in an array; texts, structs and lists lie in Arrow arrays."""

SMALLEST, LARGEST = -(2**63), 2**63 - 1
_PER_SECOND: Final = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_NATURAL: Final = {int: "integer", float: "float", bool: "boolean", str: "text"}


class Portion(NamedTuple):
    """Values of one kind: an ndarray, or an Arrow array; which are not NULL; the Arrow type they came as."""

    kind: str
    values: Any
    valid: npt.NDArray[np.bool_] | None
    type: pa.DataType | None


def portion_of_arrow(array: pa.Array) -> Portion:
    """An Arrow array as a column keeps it."""
    valid = present_in(array) if array.null_count else None
    kind = _kind_of_type(array.type)
    if kind == "text":
        small = array if _is_plain_text(array.type) else array.cast(pa.large_string())
        return Portion(kind, small, valid, array.type)
    if kind == "integer" and not (pa.types.is_uint64(array.type) and _beyond(array)):
        return Portion(kind, _integers(array), valid, array.type)
    if kind == "float":
        return Portion(
            kind, _raw(array, array.type.to_pandas_dtype()).astype(np.float64, copy=False), valid, array.type
        )
    if kind == "boolean":
        truths = array if valid is None else pc.and_kleene(array, array.is_valid())  # NULL becomes false
        return Portion(kind, numpy_of(truths), valid, array.type)
    if kind == "nested":
        return Portion(kind, array, valid, array.type)
    return Portion("object", objects([freeze(value) for value in array.to_pylist()]), valid, array.type)


def _kind_of_type(of: pa.DataType) -> str:
    tests = pa.types
    if tests.is_integer(of) or tests.is_timestamp(of) or tests.is_duration(of):
        return "integer"
    if tests.is_floating(of):
        return "float"
    if tests.is_boolean(of):
        return "boolean"
    if is_nested(of):
        return "nested"
    texts = _is_plain_text(of) or tests.is_string_view(of) or (tests.is_dictionary(of) and is_text(of.value_type))
    return "text" if texts else "object"


def _is_plain_text(of: pa.DataType) -> bool:
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of))


def is_text(of: pa.DataType) -> bool:
    """Whether an Arrow type is one of strings, and not a dictionary of them."""
    return _is_plain_text(of) or bool(pa.types.is_string_view(of))


def _beyond(array: pa.Array) -> bool:
    return bool(len(array)) and bool(np.any(_raw(array, np.uint64) > np.uint64(LARGEST)))


def _integers(array: pa.Array) -> npt.NDArray[np.int64]:
    if not (pa.types.is_timestamp(array.type) or pa.types.is_duration(array.type)):
        return _raw(array, array.type.to_pandas_dtype()).astype(np.int64, copy=False)
    raw = _raw(array, np.int64)
    per_second = _PER_SECOND[array.type.unit]
    if per_second == 1_000_000:
        return raw
    return raw // 1_000 if per_second > 1_000_000 else raw * (1_000_000 // per_second)


def _raw(array: pa.Array, dtype: Any) -> npt.NDArray[Any]:
    """The values as they lie in memory, zero where they are NULL."""
    data = array.buffers()[1]
    if not len(array) or data is None:
        return np.zeros(len(array), dtype)
    values = np.frombuffer(data, dtype, len(array) + array.offset)[array.offset :]
    return np.where(present_in(array), values, np.zeros(1, dtype)) if array.null_count else values


def restored(values: npt.NDArray[np.int64], of: pa.DataType) -> npt.NDArray[Any]:
    """Integers as an Arrow type has them: microseconds in its unit, or in its width."""
    if not (pa.types.is_timestamp(of) or pa.types.is_duration(of)):
        return values.astype(of.to_pandas_dtype(), copy=False)
    per_second = _PER_SECOND[of.unit]
    if per_second == 1_000_000:
        return values
    return values * 1_000 if per_second > 1_000_000 else values // (1_000_000 // per_second)


def portion_of_values(values: Sequence[Value]) -> Portion | None:
    """Python values as a column keeps them; None where all are NULL."""
    types = set(map(type, values))
    nulls = type(None) in types
    types.discard(type(None))
    if not types:
        return None
    valid = np.fromiter((value is not None for value in values), np.bool_, len(values)) if nulls else None
    kind = _NATURAL.get(types.pop(), "object") if len(types) == 1 else "object"
    if kind == "text":
        try:
            return Portion(kind, arrow_texts(cast("Sequence[str | None]", values)), valid, None)
        except UnicodeEncodeError:  # half a surrogate pair
            kind = "object"
    if kind == "integer" and any(value is not None and not SMALLEST <= value <= LARGEST for value in values):  # type: ignore[operator]
        kind = "object"
    if kind == "object":
        return Portion(kind, objects(values), valid, None)
    filled = values if valid is None else [0 if value is None else value for value in values]
    return Portion(kind, np.array(filled, DTYPES[kind]), valid, None)


def objects(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    """Values in an array of objects, tuples and payloads as the single objects they are."""
    array = np.empty(len(values), np.object_)
    for index, value in enumerate(values):
        array[index] = value
    return array


def arrow_of_objects(values: Sequence[Value], of: pa.DataType | None) -> pa.Array:
    """Python values as an Arrow array of the type given, or of the one that suits them all.

    Raises:
        TypeError: There is none.
    """
    if not any(value is not None for value in values):
        return pa.nulls(len(values), of or pa.null())
    try:
        array = pa.array([_thawed(value) for value in values], of)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as fault:
        wanted = "one Arrow type" if of is None else f"Arrow's {of}"
        message = f"a column of mixed values does not fit {wanted}: {fault}"
        raise TypeError(message) from fault
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _thawed(value: Any) -> Any:
    if isinstance(value, Payload):
        return {name: _thawed(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [_thawed(item) for item in value]
    return value
