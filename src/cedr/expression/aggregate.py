"""Aggregates over a bag of values: COUNT, SUM, MIN, MAX, AVG, STDDEV, and those that users add.

Reading: R23, R30.  NULLs are left out, as in SQL; COUNT of nothing is 0, everything else of nothing is NULL.  Results
are exact before one last rounding, so they do not depend on the order in which events came.  Values that do not go
together (texts with numbers, say) have no sum and no smallest: NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from cedr.expression import lattice
from cedr.expression.arithmetic import EXACT
from cedr.expression.lattice import ANY, DECIMAL, DURATION, FLOAT, INTEGER, NULL
from cedr.expression.values import DECIMALS, OPAQUE, canonical_order, fit, kind, plain
from cedr.model.event import Value
from cedr.model.schema import DataType

Computation = Callable[[list[Value]], Value]


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate: what it computes from values that are not NULL, and of which type it is.

    ``result`` gives the type for the arguments' common type, or None where it does not work on that type.  ``example``
    is a list of arguments and what comes of them.  With ``ordered`` the values come sorted.
    """

    name: str
    compute: Computation
    result: Callable[[DataType], DataType | None]
    document: str
    example: tuple[tuple[Value, ...], Value] | None = None
    expects: str = "any values"
    ordered: bool = False


def aggregate(function: str, values: Iterable[Value], distinct: bool = False) -> Value:  # noqa: FBT001, FBT002 - as in SQL
    """The aggregate of some values, by the aggregate's name.

    >>> aggregate("SUM", [1, None, 2]), aggregate("COUNT", [None]), aggregate("MAX", [])
    (3, 0, None)
    """
    found = AGGREGATES[function.upper()]
    present: list[Value] = [value for value in map(plain, values) if value is not None]
    if distinct or found.ordered:
        present.sort(key=canonical_order)
    return plain(found.compute(_distinct(present) if distinct else present))


def _distinct(ordered: list[Value]) -> list[Value]:
    kept: list[Value] = []
    for value in ordered:
        if not kept or kind(kept[-1]) != kind(value) or kept[-1] != value:
            kept.append(value)
    return kept


def _numbers(values: list[Value]) -> bool:
    return bool(values) and all(kind(value) == "number" for value in values)


def _exact_sum(values: Iterable[Any]) -> Fraction:
    """The sum as a fraction; floats and decimals are fractions too."""
    numerators: dict[int, int] = {}
    for value in values:
        top, bottom = value.as_integer_ratio()
        numerators[bottom] = numerators.get(bottom, 0) + top
    return sum((Fraction(top, bottom) for bottom, top in numerators.items()), Fraction())


def _float(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def _sum(values: list[Value]) -> Value:
    types = {type(value) for value in values}
    if not _numbers(values):
        return None
    if float in types:
        return _float(_exact_sum(values))
    if Decimal in types:
        return fit(DECIMALS.plus(_decimal_sum(values)))
    return fit(sum(values))  # type: ignore[arg-type]  # integers by now


def _decimal_sum(values: list[Any]) -> Decimal:
    total = Decimal(0)
    for value in values:
        total = EXACT.add(total, Decimal(value))
    return total


def _average(values: list[Value]) -> Value:
    if not _numbers(values):
        return None
    types = {type(value) for value in values}
    if Decimal in types and float not in types:
        return fit(DECIMALS.divide(_decimal_sum(values), Decimal(len(values))))
    return _float(_exact_sum(values) / len(values))


def _deviation(values: list[Value]) -> Value:
    """The sample standard deviation."""
    if not _numbers(values) or len(values) < 2:
        return None
    mean = _exact_sum(values) / len(values)
    squares = sum(((Fraction(value) - mean) ** 2 for value in values), Fraction())  # type: ignore[arg-type]
    return _root(squares / (len(values) - 1))


def _root(square: Fraction) -> float | None:
    """The square root of a fraction that may be too large or too small for a float itself."""
    top, bottom = square.as_integer_ratio()
    shift = max(0, 64 + (bottom.bit_length() - top.bit_length()) // 2 + 1)
    return _float(Fraction(math.isqrt((top << 2 * shift) // bottom), 1 << shift))


def _extreme(choose: Callable[[list[Any]], Value]) -> Computation:
    def compute(values: list[Value]) -> Value:
        kinds = {kind(value) for value in values}
        if len(kinds) != 1 or kinds & OPAQUE:
            return None
        best = choose(values)
        return min((value for value in values if value == best), key=repr)  # 1.0 or 1.00: the same whatever came first

    return compute


def _same_number(of: DataType) -> DataType | None:
    if of in lattice.UNKNOWN:
        return ANY
    return of if of in (*lattice.NUMBERS, DURATION) else None


def _mean_type(of: DataType) -> DataType | None:
    if of in (DECIMAL, ANY):
        return of
    return FLOAT if of in (*lattice.NUMBERS, DURATION, NULL) else None


_BUILT_IN: Final = (
    AggregateFunction(
        "COUNT",
        len,
        lambda _: INTEGER,
        "How many values are not NULL; `COUNT(*)` how many events.",
        ((7, None, 9), 2),
    ),
    AggregateFunction(
        "SUM",
        _sum,
        _same_number,
        "The sum, of the type of its argument; NULL of nothing and beyond 64 bits.",
        ((1, 2, None), 3),
        "numbers or durations",
    ),
    AggregateFunction(
        "MIN",
        _extreme(min),
        lambda of: of if of in lattice.ORDERED else None,
        "The smallest value.",
        (("b", "a"), "a"),
        "values that have an order",
    ),
    AggregateFunction(
        "MAX",
        _extreme(max),
        lambda of: of if of in lattice.ORDERED else None,
        "The largest value.",
        ((3, 11, None), 11),
        "values that have an order",
    ),
    AggregateFunction(
        "AVG",
        _average,
        _mean_type,
        "The mean: FLOAT, for DECIMAL arguments DECIMAL.",
        ((1, 2), 1.5),
        "numbers or durations",
    ),
    AggregateFunction(
        "STDDEV",
        _deviation,
        lambda of: FLOAT if _same_number(of) else None,
        "The sample standard deviation, FLOAT; NULL for fewer than two values.",
        ((1, 3, 5), 2.0),
        "numbers or durations",
    ),
)

AGGREGATES: dict[str, AggregateFunction] = {function.name: function for function in _BUILT_IN}
"""The aggregates by their upper-case names, registered ones included."""


def aggregate_names() -> frozenset[str]:
    """The upper-case names of all aggregates, for a parser that must tell them from scalar functions."""
    return frozenset(AGGREGATES)


def register_aggregate(name: str, function: Computation, result: DataType, document: str = "") -> None:
    """Add an aggregate of one's own.  Reading: R30.

    The function gets the values of a group that are not NULL, sorted, so that the order of events cannot matter; it
    must give the same result for the same values.  An aggregate of the name that was registered before is replaced; the
    names that SQL gives a meaning cannot be.
    """
    upper = name.upper()
    if not upper.isidentifier() or any(upper == function.name for function in _BUILT_IN):
        message = f"an aggregate cannot be named {name!r}: it must be an identifier and none of SQL's own"
        raise ValueError(message)
    AGGREGATES[upper] = AggregateFunction(upper, function, lambda _: result, document, ordered=True)
