"""Fields of structs and elements of lists, for many instances at once.

Reading: R20.  Of Arrow's structs and lists the inside is read by Arrow's kernels, and is a vector of its own kind; of
payloads and tuples one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.expression.values import plain
from cedr.model.event import Payload, Value
from cedr.model.time import BEGINNING, FOREVER
from cedr.runtime.expressions.vector import FLOATS, INTEGERS, NESTED, NULLS, OBJECTS, kind_of, masked, of_values
from cedr.runtime.values.arrow_values import portion_of_arrow
from cedr.runtime.values.nested import field_array, item_array
from cedr.runtime.values.vector import Vector


def field_of(vector: Vector, name: str) -> Vector:
    """``x.name``: NULL where there is no struct, or no such field in it."""
    kind = kind_of(vector)
    if kind == OBJECTS:
        return of_values([plain(v.get(name)) if isinstance(v, Payload) else None for v in vector.values])
    found = field_array(vector.values, name) if kind == NESTED else None
    return NULLS if found is None else usable(_of_arrow(found))


def item_of(vector: Vector, index: Vector) -> Vector:
    """``x[n]``: NULL where there is no list, or no such element in it."""
    numbers = _numbers(index)
    if numbers is None:
        return NULLS
    kind = kind_of(vector)
    if kind == OBJECTS:
        values, places = np.broadcast_arrays(vector.values, numbers)
        return of_values([_item(list_, n) for list_, n in zip(values, places.tolist(), strict=True)])
    found = item_array(vector.values, numbers) if kind == NESTED else None
    return NULLS if found is None else usable(_of_arrow(found))


def _item(values: Any, number: int) -> Value:
    if not isinstance(values, tuple) or not number:
        return None
    place = number - 1 if number > 0 else len(values) + number
    return plain(values[place]) if 0 <= place < len(values) else None


def _numbers(index: Vector) -> NDArray[np.int64] | None:
    """The numbers of elements, 0 where there is none; None where there are none at all."""
    kind = kind_of(index)
    if kind == INTEGERS:
        return index.values if index.valid is None else np.where(index.valid, index.values, 0)
    if kind != OBJECTS:
        return None
    whole = [n if type(n) is int and BEGINNING <= n <= FOREVER else 0 for n in index.values]
    return np.array(whole, np.int64)


def _of_arrow(array: pa.Array) -> Vector:
    """An array from inside a struct or list as expressions take it."""
    if array.null_count == len(array):
        return Vector(np.zeros(len(array), np.bool_), np.zeros(len(array), np.bool_))
    kind, values, valid, _ = portion_of_arrow(array)
    return Vector(values, None if kind in ("text", "nested", "object") else valid)


def usable(vector: Vector) -> Vector:
    """Values as expressions see them: no NaN, no infinity, only the types of ``KINDS``."""
    kind = kind_of(vector)
    if kind == FLOATS:
        return masked(vector, np.isfinite(vector.values))
    return of_values([plain(value) for value in vector.values]) if kind == OBJECTS else vector
