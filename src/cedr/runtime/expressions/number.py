"""Arithmetic and comparison of whole vectors.

Reading: R1, R20.  The same values as ``cedr.expression.arithmetic`` and ``values.COMPARISONS`` give one by one: 64 bits
and NULL beyond for numbers, saturation and an absorbing ``FOREVER`` for times, no infinity, exact comparison of
integers with floats.  A function that cannot be exact for the vectors it gets gives None; they are then taken row by
row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, FOREVER
from cedr.runtime.expressions.vector import (
    FLOATS,
    INTEGERS,
    NULLS,
    NUMBERS,
    OBJECTS,
    OPAQUE,
    TEXTS,
    Mask,
    both,
    from_arrow_truths,
    kind_of,
    not_null,
)
from cedr.runtime.values.arrow_arrays import arrow, arrow_texts, numpy_of
from cedr.runtime.values.vector import Vector

Operation = Callable[[Vector, Vector], Vector | None]
Integers = NDArray[np.int64]

_EXACT: Final = 2**53
"""Integers up to this are floats too."""
_MOST_TEXT: Final = 2**31 - 1
"""Bytes in a text array."""


def _extent(vector: Vector) -> tuple[int, int]:
    """The smallest and the largest of the integers that are not NULL; what is under a NULL only widens it slightly."""
    values: NDArray[Any] = vector.values
    if not len(values):
        return 0, 0
    low, high = int(values.min()), int(values.max())
    if vector.valid is None or (low >= -_EXACT and high <= _EXACT):
        return low, high
    kept = values[vector.valid]
    return (int(kept.min()), int(kept.max())) if len(kept) else (0, 0)


def _exact(vector: Vector) -> bool:
    """Whether all numbers are floats without loss."""
    if kind_of(vector) == FLOATS:
        return True
    low, high = _extent(vector)
    return low >= -_EXACT and high <= _EXACT


def _wrapped(sign: str, left: Vector, right: Vector) -> tuple[Integers, Mask | None]:
    """Sum or difference modulo 2**64, and where it left the range, None where nowhere."""
    first, second = left.values, right.values
    (low, high), (least, most) = _extent(left), _extent(right)
    if sign == "+":
        result, low, high = first + second, low + least, high + most
    else:
        result, low, high = first - second, low - most, high - least
    if low >= BEGINNING and high <= FOREVER:
        return result, None
    other = second if sign == "+" else ~second
    return result, ((first ^ result) & (other ^ result)) < 0


def _kept(result: NDArray[Any], left: Vector, right: Vector, wrong: Mask | None = None) -> Vector:
    """A result that is NULL where an operand is, and where it is wrong."""
    valid = both(left.valid, right.valid)
    if wrong is not None and wrong.any():
        valid = both(valid, ~wrong)
    return Vector(result, valid if valid is None else np.broadcast_to(valid, result.shape))


def _integer_sum(sign: str) -> Operation:
    def apply(left: Vector, right: Vector) -> Vector | None:
        result, over = _wrapped(sign, left, right)
        return _kept(result, left, right, over)

    return apply


def _integer_product(left: Vector, right: Vector) -> Vector | None:
    corners = [first * second for first in _extent(left) for second in _extent(right)]
    if min(corners) < BEGINNING or max(corners) > FOREVER:
        return None
    return _kept(left.values * right.values, left, right)


def _integer_quotient(left: Vector, right: Vector) -> Vector | None:
    if not (_exact(left) and _exact(right)):
        return None
    return _float_result(left.values / right.values, left, right)


def _floor_quotient(left: Vector, right: Vector) -> Vector | None:
    divisor = right.values
    over = (left.values == BEGINNING) & (divisor == -1)
    return _kept(left.values // np.where(divisor == 0, 1, divisor), left, right, over | (divisor == 0))


def _remainder(left: Vector, right: Vector) -> Vector | None:
    divisor = right.values
    safe = np.where((divisor == 0) | (divisor == -1), 1, divisor)
    return _kept(np.fmod(left.values, safe), left, right, divisor == 0)


def _float_result(result: NDArray[np.float64], left: Vector, right: Vector) -> Vector:
    return _kept(result, left, right, ~np.isfinite(result))


_ON_INTEGERS: Final[Mapping[str, Operation]] = {
    "+": _integer_sum("+"),
    "-": _integer_sum("-"),
    "*": _integer_product,
    "/": _integer_quotient,
    "%": _remainder,
    "DIV": _floor_quotient,
}
_ON_FLOATS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": np.fmod,
}


def _on_numbers(sign: str) -> Operation:
    integers, floats = _ON_INTEGERS[sign], _ON_FLOATS.get(sign)

    def apply(left: Vector, right: Vector) -> Vector | None:
        kinds = {kind_of(left), kind_of(right)}
        if kinds & OPAQUE:
            return None
        if kinds == {INTEGERS}:
            return integers(left, right)
        if not kinds <= NUMBERS:
            return NULLS
        if floats is None:
            return None
        return _float_result(floats(left.values.astype(np.float64), right.values.astype(np.float64)), left, right)

    return apply


def _saturated(sign: str, left: Vector, right: Vector) -> Integers:
    """Sum or difference, held at the ends of time."""
    result, over = _wrapped(sign, left, right)
    if over is not None:
        np.copyto(result, FOREVER, where=over)
        np.copyto(result, BEGINNING, where=over & (left.values < 0))
    return result


def _add_times(left: Vector, right: Vector) -> Vector:
    result = _saturated("+", left, right)
    for part in (left, right):
        if _extent(part)[1] == FOREVER:
            np.copyto(result, FOREVER, where=part.values == FOREVER)
    return _kept(result, left, right)


def _subtract_times(left: Vector, right: Vector) -> Vector:
    result, (least, most) = _saturated("-", left, right), _extent(right)
    if least <= -FOREVER:
        np.copyto(result, FOREVER, where=right.values == -FOREVER)
    if most == FOREVER:
        np.copyto(result, BEGINNING, where=right.values == FOREVER)
    if _extent(left)[1] == FOREVER:
        np.copyto(result, FOREVER, where=left.values == FOREVER)
    return _kept(result, left, right)


def _floor_quotient_of_times(left: Vector, right: Vector) -> Vector | None:
    found = _floor_quotient(left, right)
    absorbed = (left.values == FOREVER) & (right.values > 0)
    return found if found is None else Vector(np.where(absorbed, FOREVER, found.values), found.valid)


def _remainder_of_times(left: Vector, right: Vector) -> Vector | None:
    found = _remainder(left, right)
    return found if found is None else _kept(found.values, found, found, left.values == FOREVER)


_ON_TIMES: Final[Mapping[str, Operation]] = {
    "+": _add_times,
    "-": _subtract_times,
    "DIV": _floor_quotient_of_times,
    "%": _remainder_of_times,
}


def _on_times(sign: str) -> Operation:
    """Ticks and ticks; + and - of anything else are NULL."""
    times, strict = _ON_TIMES[sign], sign in ("+", "-")

    def apply(left: Vector, right: Vector) -> Vector | None:
        kinds = {kind_of(left), kind_of(right)}
        if kinds == {INTEGERS}:
            return times(left, right)
        return NULLS if not kinds & OPAQUE and (strict or not kinds <= NUMBERS) else None

    return apply


def _scaled(left: Vector, right: Vector) -> Vector | None:
    """A duration times a whole number, where neither is FOREVER."""
    if {kind_of(left), kind_of(right)} != {INTEGERS} or FOREVER in (_extent(left)[1], _extent(right)[1]):
        return None
    return _integer_product(left, right)


def _joined(left: Vector, right: Vector) -> Vector | None:
    """``||``."""
    kinds = {kind_of(left), kind_of(right)}
    if kinds & OPAQUE:
        return None
    if kinds != {TEXTS}:
        return NULLS
    if max(len(left.values), len(right.values)) * 2 + left.values.nbytes + right.values.nbytes > _MOST_TEXT:
        return None
    first, second = aligned(left.values, right.values)
    return Vector(pc.binary_join_element_wise(first.cast(pa.string()), second.cast(pa.string()), arrow_texts([""])[0]))


def aligned(left: pa.Array, right: pa.Array) -> tuple[Any, Any]:
    """Two text arrays for a function of Arrow's: one that stands for every instance as a single text."""
    if len(left) == len(right):
        return left, right
    return (left[0], right) if len(left) == 1 else (left, right[0])


_COMPARED: Final[Mapping[str, tuple[Callable[[Any, Any], Any], str]]] = {
    "=": (np.equal, "equal"),
    "<>": (np.not_equal, "not_equal"),
    "<": (np.less, "less"),
    "<=": (np.less_equal, "less_equal"),
    ">": (np.greater, "greater"),
    ">=": (np.greater_equal, "greater_equal"),
}


def comparison(sign: str) -> Operation:
    """A comparison: NULL between values of different kinds."""
    compare, name = _COMPARED[sign]

    def apply(left: Vector, right: Vector) -> Vector | None:
        kinds = {kind_of(left), kind_of(right)}
        if kinds & OPAQUE:
            return None
        if kinds == {TEXTS}:
            return from_arrow_truths(pc.call_function(name, [*aligned(left.values, right.values)]))
        if kinds == NUMBERS and not (_exact(left) and _exact(right)):
            return None
        if len(kinds) == 1 or kinds == NUMBERS:
            return _kept(compare(left.values, right.values), left, right)
        return NULLS

    return apply


def binary_operation(sign: str, left: DataType, right: DataType) -> Operation:
    """What an operator other than AND and OR does with vectors, as ``arithmetic.binary_operation`` chooses it."""
    if sign in _COMPARED:
        return comparison(sign)
    if sign == "||":
        return _joined
    types = {left, right}
    if DataType.DURATION in types and (sign == "*" or (sign == "/" and right is not DataType.DURATION)):
        return _scaled if sign == "*" else _unknown
    if sign in _ON_TIMES and types & {DataType.TIMESTAMP, DataType.DURATION}:
        return _on_times(sign)
    return _on_numbers(sign)


def _unknown(_left: Vector, _right: Vector) -> Vector | None:
    return None


def negative(vector: Vector) -> Vector | None:
    """Unary minus."""
    return _on_numbers("-")(_ZERO, vector)


def negative_time(vector: Vector) -> Vector | None:
    """Unary minus of a duration."""
    return _on_times("-")(_ZERO, vector)


_ZERO: Final = Vector(np.zeros(1, np.int64))


def _absolute(vector: Vector) -> Vector:
    over = vector.values == BEGINNING if kind_of(vector) == INTEGERS else None
    return _kept(np.abs(vector.values), vector, vector, over)


def _root(vector: Vector) -> Vector:
    return _float_result(np.sqrt(vector.values.astype(np.float64)), vector, vector)


def _whole(rounded: Callable[[Any], Any]) -> Callable[[Vector], Vector]:
    def apply(vector: Vector) -> Vector:
        if kind_of(vector) == INTEGERS:
            return vector
        return Vector(rounded(vector.values) + 0.0, vector.valid)  # a zero has no sign

    return apply


def _length(vector: Vector) -> Vector:
    lengths = pc.cast(pc.utf8_length(vector.values), pa.int64())
    valid = not_null(vector) if lengths.null_count else None
    return Vector(numpy_of(pc.fill_null(lengths, arrow(np.zeros(1, np.int64))[0])), valid)


_FUNCTIONS: Final[Mapping[str, tuple[Callable[[Vector], Vector], frozenset[str]]]] = {
    "ABS": (_absolute, NUMBERS),
    "CEIL": (_whole(np.ceil), NUMBERS),
    "FLOOR": (_whole(np.floor), NUMBERS),
    "LENGTH": (_length, frozenset({TEXTS})),
    "SQRT": (_root, NUMBERS),
}
"""Functions of one argument: how, and for which vectors; of others they are NULL."""


def function(name: str) -> Callable[[Vector], Vector | None] | None:
    """A function of one argument on whole vectors, where there is one."""
    if name not in _FUNCTIONS:
        return None
    call, kinds = _FUNCTIONS[name]

    def apply(vector: Vector) -> Vector | None:
        kind = kind_of(vector)
        return call(vector) if kind in kinds else None if kind == OBJECTS else NULLS

    return apply
