"""Aggregates over a bag of values, and those that users add.

Readings: R23, R30, R45.  NULLs are left out, as in SQL; COUNT of nothing is 0, everything else of nothing is NULL.
Results are exact before one last rounding, so they do not depend on the order in which events came.  Values that do not
go together (texts with numbers, say) have no sum and no smallest: NULL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from cedr.diagnostics.span import Span
from cedr.expression import lattice
from cedr.expression.arithmetic import EXACT
from cedr.expression.lattice import ANY, BOOLEAN, DECIMAL, DURATION, FLOAT, INTEGER, LIST, NULL
from cedr.expression.tree import Aggregate, Expression
from cedr.expression.values import DECIMALS, OPAQUE, canonical_order, fit, kind, plain
from cedr.model.event import Value
from cedr.model.schema import DataType

Computation = Callable[..., Value]
"""From the values that are not NULL, or as ``AggregateFunction`` says, to the result."""


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate: what it computes from values that are not NULL, and of which type it is.

    ``result`` gives the type for the arguments' common type, or None where it does not work on that type.  ``example``
    is a list of arguments and what comes of them.  With ``ordered`` the values come sorted.  With ``parameter`` the
    first argument is a constant, which ``compute`` gets behind the values; with ``timed`` it gets pairs of the Vs of a
    row and its value.
    """

    name: str
    compute: Computation
    result: Callable[[DataType], DataType | None]
    document: str
    example: tuple[tuple[Value, ...], Value] | None = None
    expects: str = "any values"
    ordered: bool = False
    parameter: str = ""
    timed: bool = False

    @property
    def form(self) -> str:
        """How it is called."""
        return f"{self.name}({self.parameter}, x, …)" if self.parameter else f"{self.name}(x, …)"


def aggregate(
    function: str,
    values: Iterable[Value],
    distinct: bool = False,  # noqa: FBT001, FBT002 - as in SQL
    *,
    parameter: Value = None,
    starts: Iterable[Value] = (),
) -> Value:
    """The aggregate of some values, by the aggregate's name; ``starts`` are the Vs of their rows, where it asks.

    >>> aggregate("SUM", [1, None, 2]), aggregate("COUNT", [None]), aggregate("MAX", [])
    (3, 0, None)
    >>> aggregate("QUANTILE", [7, 1, 9, 3], parameter=0.75), aggregate("LAST", ["a", "b"], starts=[5, 2])
    (7, 'a')
    """
    return aggregate_of(AGGREGATES[function.upper()], values, distinct, parameter=parameter, starts=starts)


def aggregate_of(
    found: AggregateFunction,
    values: Iterable[Value],
    distinct: bool = False,  # noqa: FBT001, FBT002 - as in SQL
    *,
    parameter: Value = None,
    starts: Iterable[Value] = (),
) -> Value:
    """The same, by the aggregate itself."""
    if found.timed:
        pairs = ((start, plain(value)) for start, value in zip(starts, values, strict=False))  # none where unresolved
        return plain(found.compute([(start, value) for start, value in pairs if value is not None]))
    present: list[Value] = [value for value in map(plain, values) if value is not None]
    if distinct or found.ordered:
        present.sort(key=canonical_order)
    given = _distinct(present) if distinct else present
    return plain(found.compute(given, parameter) if found.parameter else found.compute(given))


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


def as_float(value: Fraction) -> float | None:
    """The nearest float; None where it would be infinite."""
    try:
        return float(value)
    except OverflowError:
        return None


def _sum(values: list[Value]) -> Value:
    types = {type(value) for value in values}
    if not _numbers(values):
        return None
    if float in types:
        return as_float(_exact_sum(values))
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
    return as_float(_exact_sum(values) / len(values))


def _spread(values: list[Value]) -> Fraction | None:
    """The sample variance, exactly."""
    if not _numbers(values) or len(values) < 2:
        return None
    mean = _exact_sum(values) / len(values)
    squares = sum(((Fraction(value) - mean) ** 2 for value in values), Fraction())  # type: ignore[arg-type]
    return squares / (len(values) - 1)


def _variance(values: list[Value]) -> Value:
    spread = _spread(values)
    return None if spread is None else as_float(spread)


def _deviation(values: list[Value]) -> Value:
    """The sample standard deviation."""
    spread = _spread(values)
    return None if spread is None else square_root(spread)


def square_root(square: Fraction) -> float | None:
    """The square root of a fraction that may be too large or too small for a float itself."""
    top, bottom = square.as_integer_ratio()
    shift = max(0, 64 + (bottom.bit_length() - top.bit_length()) // 2 + 1)
    return as_float(Fraction(math.isqrt((top << 2 * shift) // bottom), 1 << shift))


def _extreme(choose: Callable[[list[Any]], Value]) -> Computation:
    def compute(values: list[Value]) -> Value:
        kinds = {kind(value) for value in values}
        if len(kinds) != 1 or kinds & OPAQUE:
            return None
        best = choose(values)
        return min((value for value in values if value == best), key=repr)  # 1.0 or 1.00: the same whatever came first

    return compute


def _quantile(values: list[Any], share: Value) -> Value:
    """The smallest value v such that at least a share of the values is <= v.  Reading: R45.

    The share is the number as it is written: 0.1 of ten values is one of them, whatever the nearest float is.
    """
    kinds = {kind(value) for value in values}
    if len(kinds) != 1 or kinds & OPAQUE or not (isinstance(share, int | float | Decimal) and 0 <= share <= 1):
        return None
    ordered = sorted(values, key=canonical_order)
    least = math.ceil(Fraction(repr(share) if isinstance(share, float) else share) * len(ordered))
    return _extreme(min)([value for value in ordered if value == ordered[max(least, 1) - 1]])


def _median(values: list[Value]) -> Value:
    return _quantile(values, 0.5)


def _list(values: list[Value]) -> Value:
    return tuple(values) or None


def _by_time(choose: Callable[[Iterable[Any]], Any]) -> Computation:
    """The value of the rows with the smallest or largest Vs; of several the smallest.  Reading: R45."""

    def compute(pairs: list[tuple[Any, Value]]) -> Value:
        timed = [(start, value) for start, value in pairs if start is not None]
        if not timed:
            return None
        at = choose(start for start, _ in timed)
        return min((value for start, value in timed if start == at), key=canonical_order)

    return compute


def _every(choose: Callable[[list[Any]], bool]) -> Computation:
    def compute(values: list[Value]) -> Value:
        return choose(values) if values and all(kind(value) == "boolean" for value in values) else None

    return compute


def _truth(of: DataType) -> DataType | None:
    return BOOLEAN if of in (BOOLEAN, *lattice.UNKNOWN) else None


def _ordered_type(of: DataType) -> DataType | None:
    return of if of in lattice.ORDERED else None


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
        _ordered_type,
        "The smallest value.",
        (("b", "a"), "a"),
        "values that have an order",
    ),
    AggregateFunction(
        "MAX",
        _extreme(max),
        _ordered_type,
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
    AggregateFunction(
        "VARIANCE",
        _variance,
        lambda of: FLOAT if _same_number(of) else None,
        "The sample variance, FLOAT; NULL for fewer than two values.",
        ((1, 3, 5), 4.0),
        "numbers or durations",
    ),
    AggregateFunction(
        "QUANTILE",
        _quantile,
        _ordered_type,
        "The smallest value v such that at least the share p of the values is <= v; p is a number from 0 to 1.",
        ((0.75, 7, 1, 9, 3), 7),
        "values that have an order",
        parameter="p",
    ),
    AggregateFunction(
        "MEDIAN",
        _median,
        _ordered_type,
        "`QUANTILE(0.5, x)`: of an even number of values the lower one in the middle.",
        ((7, 1, 9, 3), 3),
        "values that have an order",
    ),
    AggregateFunction(
        "LIST",
        _list,
        lambda _: LIST,
        "The values in order, a LIST.",
        None,
        ordered=True,
    ),
    AggregateFunction(
        "FIRST",
        _by_time(min),
        lambda of: of,
        "The value of the event with the smallest Vs, of several the smallest; it reads Vs, so it is not view update "
        "compliant (Definition 11).",
        timed=True,
    ),
    AggregateFunction(
        "LAST",
        _by_time(max),
        lambda of: of,
        "The value of the event with the largest Vs, of several the smallest; like FIRST not view update compliant.",
        timed=True,
    ),
    AggregateFunction(
        "BOOL_AND", _every(all), _truth, "Whether all values are TRUE.", ((True, None, False), False), "BOOLEAN"
    ),
    AggregateFunction(
        "BOOL_OR", _every(any), _truth, "Whether some value is TRUE.", ((True, None, False), True), "BOOLEAN"
    ),
)

AGGREGATES: dict[str, AggregateFunction] = {function.name: function for function in _BUILT_IN}
"""The aggregates by their upper-case names, registered ones included."""


def aggregate_call(
    function: str, arguments: tuple[Expression, ...], *, distinct: bool = False, span: Span | None = None
) -> Aggregate:
    """The call of an aggregate with its arguments as they are written, the parameter among them."""
    found = AGGREGATES.get(function)
    if found is None or not found.parameter or not arguments:
        return Aggregate(function, arguments, distinct=distinct, span=span)
    return Aggregate(function, arguments[1:], distinct=distinct, parameter=arguments[0], span=span)


def aggregate_names() -> frozenset[str]:
    """The upper-case names of all aggregates, for a parser that must tell them from scalar functions."""
    return frozenset(AGGREGATES)
