"""Arithmetic on numbers, dates, times and durations; NULL wherever there is no answer.

Reading: R1, R20.  INTEGER has 64 bits, DECIMAL 38 digits.  Nothing here raises: a division by zero, an overflow or a
value of the wrong kind is NULL.  ``FOREVER`` absorbs, as ``cedr.model.time.plus`` says.  Which form an operator takes
(numbers or ticks of time) follows from the types in the tree: ``binary_operation``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any, Final

from cedr.expression.values import COMPARISONS, DECIMALS, fit
from cedr.model.event import Value
from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, FOREVER, plus

Operation = Callable[[Value, Value], Value]

EXACT: Final = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, rounding=ROUND_HALF_UP, traps=[])
"""For sums, remainders and rounding of decimals, which need no more digits than their operands."""

_NUMBERS: Final = frozenset({int, float, Decimal})
_TIMES: Final = frozenset({DataType.TIMESTAMP, DataType.DURATION})


def numeric(
    integers: Callable[[int, int], Value],
    floats: Callable[[float, float], Value],
    decimals: Callable[[Decimal, Decimal], Value],
) -> Operation:
    """An operation on two numbers, carried out in the wider of their types: INTEGER < DECIMAL < FLOAT."""

    def apply(left: Any, right: Any) -> Value:
        first, second = type(left), type(right)
        if first not in _NUMBERS or second not in _NUMBERS:
            return None
        try:
            if first is int and second is int:
                return fit(integers(left, right))
            if float in (first, second):
                return fit(floats(float(left), float(right)))
            return fit(decimals(Decimal(left), Decimal(right)))
        except (ArithmeticError, ValueError):
            return None

    return apply


def _integer_remainder(left: int, right: int) -> int:
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def _decimal_remainder(left: Decimal, right: Decimal) -> Decimal:
    return DECIMALS.plus(EXACT.remainder(left, right))


def _floor_quotient(left: float | Decimal, right: float | Decimal) -> int:
    return math.floor(Fraction(left) / Fraction(right))


_add_numbers = numeric(operator.add, operator.add, DECIMALS.add)
_subtract_numbers = numeric(operator.sub, operator.sub, DECIMALS.subtract)
multiply = numeric(operator.mul, operator.mul, DECIMALS.multiply)
divide = numeric(operator.truediv, operator.truediv, DECIMALS.divide)
floor_divide = numeric(operator.floordiv, _floor_quotient, _floor_quotient)
modulo = numeric(_integer_remainder, math.fmod, _decimal_remainder)


def add(left: Value, right: Value) -> Value:
    """Numbers, or a date and days in either order."""
    if type(left) is date:
        return _shifted(left, right)
    if type(right) is date:
        return _shifted(right, left)
    return _add_numbers(left, right)


def subtract(left: Value, right: Value) -> Value:
    """Numbers, a date less days, or the days between two dates."""
    if type(left) is date:
        if type(right) is date:
            return (left - right).days
        return _shifted(left, -right) if type(right) is int else None
    return _subtract_numbers(left, right)


def _shifted(day: date, days: Value) -> Value:
    if type(days) is not int:
        return None
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def add_time(left: Value, right: Value) -> Value:
    """Ticks and ticks, with ``FOREVER`` absorbing."""
    return plus(left, right) if type(left) is int and type(right) is int else None


def subtract_time(left: Value, right: Value) -> Value:
    """Ticks less ticks; ``FOREVER`` absorbs on the left, and taken away leaves the beginning of time."""
    if type(left) is not int or type(right) is not int:
        return None
    if left == FOREVER:
        return FOREVER
    return BEGINNING if right == FOREVER else plus(left, -right)


def scale(duration: Value, factor: Value) -> Value:
    """A duration times a number, to the nearest tick, a half away from zero."""
    return _scaled(duration, factor, inverse=False)


def shrink(duration: Value, divisor: Value) -> Value:
    """A duration divided by a number, to the nearest tick, a half away from zero."""
    return _scaled(duration, divisor, inverse=True)


def _scaled(duration: Value, number: Any, *, inverse: bool) -> Value:
    if type(duration) is not int or type(number) not in _NUMBERS or (inverse and number == 0):
        return None
    if duration == FOREVER:
        return None if number == 0 else (FOREVER if number > 0 else BEGINNING)
    factor = 1 / Fraction(number) if inverse else Fraction(number)
    return max(BEGINNING, min(FOREVER, half_away(duration * factor)))


def half_away(value: Fraction) -> int:
    """The nearest integer, a half away from zero.

    >>> half_away(Fraction(5, 2)), half_away(Fraction(-5, 2)), half_away(Fraction(7, 3))
    (3, -3, 2)
    """
    whole = math.floor(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


def floor_divide_time(left: Value, right: Value) -> Value:
    """Floor division of ticks; FOREVER divided by something positive stays FOREVER."""
    if type(right) in _NUMBERS and left == FOREVER and right > 0:  # type: ignore[operator]  # a number
        return FOREVER
    return floor_divide(left, right)


def modulo_time(left: Value, right: Value) -> Value:
    """Remainder of ticks; FOREVER has none."""
    return None if left == FOREVER else modulo(left, right)


def negative(value: Value) -> Value:
    """Unary minus."""
    return _subtract_numbers(0, value) if type(value) is int else _negated(value)


def _negated(value: Value) -> Value:
    if type(value) is float:
        return 0.0 - value
    return DECIMALS.minus(value) if type(value) is Decimal else None


def negative_time(value: Value) -> Value:
    """Unary minus of a duration."""
    return subtract_time(0, value)


def concatenate(left: Value, right: Value) -> Value:
    """``||`` on two texts or two binaries."""
    if type(left) is str and type(right) is str:
        return left + right
    return left + right if type(left) is bytes and type(right) is bytes else None


_PLAIN: Final[Mapping[str, Operation]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": modulo,
    "DIV": floor_divide,
    "||": concatenate,
    **COMPARISONS,
}
_TIMED: Final[Mapping[str, Operation]] = {
    "+": add_time,
    "-": subtract_time,
    "DIV": floor_divide_time,
    "%": modulo_time,
}


def binary_operation(sign: str, left: DataType, right: DataType) -> Operation:
    """What an operator other than AND and OR does with operands of two types."""
    if DataType.DURATION in (left, right) and sign in ("*", "/"):
        return _scaling(sign, left, right)
    if sign in _TIMED and not _TIMES.isdisjoint((left, right)):
        return _TIMED[sign]
    return _PLAIN[sign]


def _scaling(sign: str, left: DataType, right: DataType) -> Operation:
    if sign == "/":
        return divide if right is DataType.DURATION else shrink
    return scale if left is DataType.DURATION else (lambda factor, duration: scale(duration, factor))
