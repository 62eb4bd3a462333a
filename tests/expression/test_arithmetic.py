"""Arithmetic by hand: numbers, dates, times, and NULL where there is no answer.  R1, R20."""

from __future__ import annotations

from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from cedr.expression.arithmetic import half_away
from cedr.expression.tree import Expression, Unary
from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, FOREVER, HOUR
from tests.expression.building import attribute, binary, duration, lit, of, time, value
from tests.expression.strategies import integers

NUMBERS: list[tuple[Any, str, Any, Any]] = [
    (2, "+", 3, 5),
    (2, "-", 3, -1),
    (2, "*", 3, 6),
    (7, "/", 2, 3.5),
    (6, "/", 2, 3.0),
    (7, "%", 3, 1),
    (-7, "%", 3, -1),
    (7, "%", -3, 1),
    (-7.5, "%", 2, -1.5),
    (Decimal("-7.5"), "%", 2, Decimal("-1.5")),
    (7, "DIV", 2, 3),
    (-7, "DIV", 2, -4),
    (-7.5, "DIV", 2, -4),
    (Decimal("-7.5"), "DIV", Decimal(2), -4),
    (1.0, "DIV", 0.1, 9),
    (1, "+", 0.5, 1.5),
    (Decimal("1.10"), "+", 1, Decimal("2.10")),
    (Decimal("1.5"), "+", 0.5, 2.0),
    (Decimal(1), "/", 3, Decimal("0." + "3" * 38)),
    (1, "/", 0, None),
    (1.0, "/", 0, None),
    (Decimal(1), "/", 0, None),
    (0, "/", 0, None),
    (1, "%", 0, None),
    (1.0, "%", 0.0, None),
    (Decimal(1), "%", Decimal(0), None),
    (1, "DIV", 0, None),
    (1.0, "DIV", 0, None),
    (FOREVER, "+", 1, None),
    (BEGINNING, "-", 1, None),
    (BEGINNING, "DIV", -1, None),
    (2**40, "*", 2**40, None),
    (1e308, "*", 10, None),
    (1e308, "DIV", 1e-10, None),
    (Decimal("9E+6144"), "*", 10, None),
    (Decimal("1E-6144"), "*", Decimal("0.1"), None),
    ("a", "+", 1, None),
    (True, "+", 1, None),
    (1, "*", "a", None),
    ("a", "||", "b", "ab"),
    (b"a", "||", b"b", b"ab"),
    ("a", "||", b"b", None),
    ("a", "||", 1, None),
]


@pytest.mark.parametrize(("left", "sign", "right", "expected"), NUMBERS)
def test_numbers(left: Any, sign: str, right: Any, expected: Any) -> None:
    result = of(left, sign, right)
    assert result == expected
    assert type(result) is type(expected)


JANUARY = date(2026, 1, 31)
DATES: list[tuple[Any, str, Any, Any]] = [
    (JANUARY, "+", 1, date(2026, 2, 1)),
    (1, "+", JANUARY, date(2026, 2, 1)),
    (JANUARY, "-", 31, date(2025, 12, 31)),
    (JANUARY, "-", date(2026, 1, 1), 30),
    (JANUARY, "-", 1.5, None),
    (JANUARY, "+", 1.5, None),
    (JANUARY, "+", JANUARY, None),
    (1, "-", JANUARY, None),
    (date.max, "+", 1, None),
    (date.min, "-", FOREVER, None),
]


@pytest.mark.parametrize(("left", "sign", "right", "expected"), DATES)
def test_dates(left: Any, sign: str, right: Any, expected: Any) -> None:
    assert of(left, sign, right) == expected


TIMES: list[tuple[Expression, str, Expression, Any]] = [
    (time(5), "+", duration(3), 8),
    (duration(3), "+", time(5), 8),
    (time(5), "+", lit(3), 8),
    (time(5), "-", duration(7), -2),
    (time(9), "-", time(5), 4),
    (time(FOREVER), "+", duration(-5), FOREVER),
    (time(FOREVER), "-", duration(5), FOREVER),
    (time(FOREVER), "-", time(5), FOREVER),
    (time(FOREVER), "-", time(FOREVER), FOREVER),
    (time(5), "-", time(FOREVER), BEGINNING),
    (time(5), "+", duration(FOREVER), FOREVER),
    (time(FOREVER - 1), "+", duration(5), FOREVER),
    (time(5), "-", time(BEGINNING), FOREVER),
    (duration(10), "*", lit(3), 30),
    (lit(3), "*", duration(10), 30),
    (duration(10), "*", lit(0.25), 3),
    (duration(-10), "*", lit(0.25), -3),
    (duration(10), "*", lit(Decimal("0.1")), 1),
    (duration(10), "/", lit(4), 3),
    (duration(10), "/", lit(0), None),
    (duration(10), "/", lit("a"), None),
    (duration(10), "/", duration(4), 2.5),
    (duration(10), "DIV", duration(4), 2),
    (duration(-10), "DIV", lit(4), -3),
    (duration(10), "%", duration(4), 2),
    (duration(FOREVER), "*", lit(2), FOREVER),
    (duration(FOREVER), "*", lit(-2), BEGINNING),
    (duration(FOREVER), "*", lit(0), None),
    (duration(FOREVER), "/", lit(2), FOREVER),
    (duration(2**62), "*", lit(8), FOREVER),
    (time(17), "DIV", lit(10), 1),
    (time(-1), "DIV", lit(10), -1),
    (time(17), "%", lit(10), 7),
    (time(17), "DIV", lit(0), None),
    (time(FOREVER), "DIV", lit(10), FOREVER),
    (time(FOREVER), "DIV", lit(0), None),
    (time(FOREVER), "%", lit(10), None),
    (time(5), "+", lit("a"), None),
    (time(5), "-", lit("a"), None),
    (time(5), "<", lit(6), True),
    (duration(HOUR), ">", lit(0.5), True),
]


@pytest.mark.parametrize(("left", "sign", "right", "expected"), TIMES)
def test_times(left: Expression, sign: str, right: Expression, expected: Any) -> None:
    """R1: FOREVER absorbs."""
    result = of(left, sign, right)
    assert result == expected
    assert type(result) is type(expected)


def test_the_declared_type_makes_an_attribute_a_time() -> None:
    later = binary(attribute("t", DataType.TIMESTAMP), "+", 1)
    assert value(later, t=FOREVER) == FOREVER
    assert value(binary(attribute("t", DataType.INTEGER), "+", 1), t=FOREVER) is None


@pytest.mark.parametrize(
    ("operand", "expected"),
    [
        (lit(5), -5),
        (lit(BEGINNING), None),
        (lit(1.5), -1.5),
        (lit(Decimal("1.50")), Decimal("-1.50")),
        (duration(7), -7),
        (duration(FOREVER), BEGINNING),
        (lit("a"), None),
        (lit(None), None),
        (lit(True), None),
    ],
)
def test_minus(operand: Expression, expected: Any) -> None:
    assert value(Unary("-", operand)) == expected


def test_minus_zero_is_zero() -> None:
    assert repr(value(Unary("-", lit(0.0)))) == "0.0"


def test_chains_go_from_left_to_right() -> None:
    assert value(binary(binary(binary(10, "-", 4), "-", 3), "*", 2)) == 6
    assert value(binary(binary(time(FOREVER), "+", 1), "-", time(3))) == FOREVER


def test_the_callers_decimal_context_does_not_matter() -> None:
    with localcontext() as context:
        context.prec = 2
        assert of(Decimal("1.234"), "+", Decimal("1")) == Decimal("2.234")


@given(integers, integers)
def test_quotient_and_rest_make_the_whole(left: int, right: int) -> None:
    rest = of(left, "%", right)
    if right == 0:
        assert rest is None
    else:
        assert isinstance(rest, int)
        assert (left - rest) % right == 0
        assert abs(rest) < abs(right)
        assert rest == 0 or (rest < 0) == (left < 0)


def test_half_goes_away_from_zero() -> None:
    assert [half_away(Fraction(n, 2)) for n in (-3, -1, 0, 1, 3)] == [-2, -1, 0, 1, 2]
