"""Aggregates that need not look at all values again when one has come or gone, as long as the values are of one type.

Paper: Section 6.  Readings: R30, R45.  A group with many rows that are alive changes with each of them: to look at all
of them each time would cost the square of their number.  Where values of several types meet, all are looked at, as
``Bag`` does it: 1 and 1.0 and 1.00 are equal, and which of them is shown is a matter of all of them.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Self

from cedr.expression.aggregate import as_float, square_root
from cedr.expression.evaluate import parameter_of
from cedr.expression.tree import Aggregate
from cedr.expression.values import fit
from cedr.model.event import Value
from cedr.runtime.operators.mechanism.bag import Bag, timed

IN_ORDER: Final = frozenset({int, str, float})
"""Types whose values are ordered, and equal only where they are written alike, but for the zeros of floats."""
_EXACT: Final = frozenset({int, float})
"""Types whose sums are kept as exact fractions."""


class _Typed(Bag):
    """A bag that knows of which types its values are."""

    __slots__ = ("_types",)

    def __init__(self, call: Aggregate) -> None:
        super().__init__(call)
        self._types: dict[type, int] = {}

    def add(self, value: Any) -> None:
        """A value more."""
        super().add(value)
        of = type(value[1]) if timed(self._call) else type(value)
        self._types[of] = self._types.get(of, 0) + 1

    def remove(self, value: Any) -> None:
        """A value less."""
        super().remove(value)
        of = type(value[1]) if timed(self._call) else type(value)
        self._types[of] -= 1
        if not self._types[of]:
            del self._types[of]

    def copy(self) -> Self:
        """The same values."""
        other = super().copy()
        other._types = dict(self._types)
        return other

    @property
    def alike(self) -> bool:
        """Whether all values are of one type that has an order."""
        return len(self._types) == 1 and self._types.keys() <= IN_ORDER


class DistinctCount(_Typed):
    """COUNT(DISTINCT)."""

    __slots__ = ()

    def value(self) -> Value:
        """How many different values there are."""
        if self.alike and float not in self._types:
            return len(self._counts)
        return super().value()


class Ordered(_Typed):
    """MEDIAN, QUANTILE, FIRST and LAST: the values in order."""

    __slots__ = ("_ordered", "_share")

    def __init__(self, call: Aggregate) -> None:
        super().__init__(call)
        self._ordered: list[Any] | None = []
        """None: values of several types have met."""
        share = 0.5 if call.function.upper() == "MEDIAN" else parameter_of(call)
        self._share = _share(share)

    def add(self, value: Any) -> None:
        """A value more."""
        super().add(value)
        if self._ordered is not None and self.alike:
            insort(self._ordered, value)
        else:
            self._ordered = None

    def remove(self, value: Any) -> None:
        """A value less."""
        super().remove(value)
        if self._ordered is not None:
            del self._ordered[bisect_left(self._ordered, value)]
        elif not self._counts:
            self._ordered = []

    def value(self) -> Value:
        """One of the values."""
        if not self._ordered:
            return super().value()
        found = self._chosen(self._ordered)
        return super().value() if found is None or found == 0.0 else found

    def _chosen(self, ordered: list[Any]) -> Value:
        """The value by its place; None where all must be looked at."""
        found: Value
        match self._call.function.upper():
            case "FIRST":
                found = ordered[0][1]
            case "LAST":
                found = ordered[bisect_left(ordered, (ordered[-1][0],))][1]
            case _ if self._share is None:
                found = None
            case _:
                found = ordered[max(math.ceil(self._share * len(ordered)), 1) - 1]
        return found

    def copy(self) -> Self:
        """The same values."""
        other = super().copy()
        other._ordered = None if self._ordered is None else list(self._ordered)
        return other


def _share(share: Value) -> Fraction | None:
    """The share as it is written; None where it is none."""
    if isinstance(share, bool) or not isinstance(share, int | float | Decimal) or not 0 <= share <= 1:
        return None
    return Fraction(repr(share) if isinstance(share, float) else share)


class Moments(_Typed):
    """SUM, AVG, VARIANCE and STDDEV: sums of the values and of their squares, exactly."""

    __slots__ = ("_squares", "_sums")

    def __init__(self, call: Aggregate) -> None:
        super().__init__(call)
        self._sums: dict[int, int] = {}
        """By denominator, as floats have few of them."""
        self._squares: dict[int, int] | None = {} if call.function.upper() in ("VARIANCE", "STDDEV") else None

    def add(self, value: Any) -> None:
        """A value more."""
        super().add(value)
        if type(value) in _EXACT:
            self._take(value, 1)

    def remove(self, value: Any) -> None:
        """A value less."""
        super().remove(value)
        if type(value) in _EXACT:
            self._take(value, -1)

    def _take(self, value: float, sign: int) -> None:
        top, bottom = value.as_integer_ratio()
        self._sums[bottom] = self._sums.get(bottom, 0) + sign * top
        if self._squares is not None:
            self._squares[bottom * bottom] = self._squares.get(bottom * bottom, 0) + sign * top * top

    def value(self) -> Value:
        """What the sums amount to."""
        if not self._types or not self._types.keys() <= _EXACT:
            return super().value()
        count, total = sum(self._types.values()), _total(self._sums)
        function = self._call.function.upper()
        if function == "SUM":
            return as_float(total) if float in self._types else fit(int(total))
        if function == "AVG":
            return as_float(total / count)
        if count < 2 or self._squares is None:
            return None
        spread = (_total(self._squares) - total * total / count) / (count - 1)
        return as_float(spread) if function == "VARIANCE" else square_root(spread)

    def copy(self) -> Self:
        """The same values."""
        other = super().copy()
        other._sums = dict(self._sums)
        other._squares = None if self._squares is None else dict(self._squares)
        return other


def _total(tops: dict[int, int]) -> Fraction:
    return sum((Fraction(top, bottom) for bottom, top in tops.items()), Fraction())


def bag_for(call: Aggregate) -> Bag:
    """What keeps the values of an aggregate that is neither a plain count nor an extreme."""
    function = call.function.upper()
    if call.own is not None:
        return Bag(call)
    if call.distinct:
        return DistinctCount(call) if function == "COUNT" else Bag(call)
    if function in ("MEDIAN", "QUANTILE", "FIRST", "LAST"):
        return Ordered(call)
    return Moments(call) if function in ("SUM", "AVG", "VARIANCE", "STDDEV") else Bag(call)
