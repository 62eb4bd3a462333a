"""Every function: its example, its NULLs, its edges; none raises on anything.  R20."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.functions import FUNCTIONS
from cedr.expression.signature import Function, Parameter, literal
from cedr.expression.tree import Call
from cedr.expression.values import plain
from cedr.model.event import Payload
from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, FOREVER
from tests.expression.building import call, duration, kind_of, time, value
from tests.expression.strategies import typed, values

EVERY = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.name)

NAMES = """ABS FLOOR CEIL ROUND SQRT POWER LEAST GREATEST COALESCE NULLIF LENGTH UPPER LOWER TRIM SUBSTRING REPLACE
CONCAT REGEXP_LIKE EXTRACT DATE_TRUNC"""


def test_the_functions_are_those_of_the_language() -> None:
    assert list(FUNCTIONS) == NAMES.split()


@EVERY
def test_example(function: Function) -> None:
    arguments, expected = function.example
    result = value(Call(function.name, arguments))
    assert result == expected.value
    assert type(result) is type(expected.value)


@EVERY
def test_the_example_has_the_type_that_is_inferred(function: Function) -> None:
    arguments, expected = function.example
    found, faults = kind_of(Call(function.name, arguments))
    assert faults == []
    assert expected.type in (found, DataType.NULL)


LENIENT = {
    "LEAST": [2, 2, 3],
    "GREATEST": [2, 3, 3],
    "COALESCE": ["a", "b", "a"],
    "NULLIF": [None, 5],
    "CONCAT": ["b", "ab", "a"],
}


@EVERY
def test_null_in_every_position(function: Function) -> None:
    arguments, _ = function.example
    results = []
    for place in range(len(arguments)):
        some = [*arguments]
        some[place] = literal(None)
        results.append(value(Call(function.name, tuple(some))))
    assert results == LENIENT.get(function.name, [None] * len(arguments))
    assert function.strict is (function.name not in LENIENT)


@EVERY
def test_all_arguments_null(function: Function) -> None:
    nulls = tuple(literal(None) for _ in range(function.least))
    assert value(Call(function.name, nulls)) == ("" if function.name == "CONCAT" else None)


CASES: list[tuple[Call, Any]] = [
    (call("ABS", 1.5), 1.5),
    (call("ABS", Decimal("-1.50")), Decimal("1.50")),
    (call("ABS", BEGINNING), None),
    (call("ABS", duration(-5)), 5),
    (call("ABS", "a"), None),
    (call("ABS", True), None),
    (call("FLOOR", 7), 7),
    (call("FLOOR", Decimal("-1.5")), Decimal("-2")),
    (call("FLOOR", 1e300), 1e300),
    (call("CEIL", 7), 7),
    (call("CEIL", Decimal("1.2")), Decimal("2")),
    (call("ROUND", 7), 7),
    (call("ROUND", 2.5), 3.0),
    (call("ROUND", -2.5), -3.0),
    (call("ROUND", 0.285, 2), 0.29),
    (call("ROUND", 1e300, 2), 1e300),
    (call("ROUND", 1.5, 1_000_000), 1.5),
    (call("ROUND", 1.5, -1_000_000), 0.0),
    (call("ROUND", 15, -1), 20),
    (call("ROUND", -15, -1), -20),
    (call("ROUND", 15, -1_000_000), 0),
    (call("ROUND", FOREVER - 1, -1), None),
    (call("ROUND", duration(FOREVER), -3), FOREVER),
    (call("ROUND", Decimal("2.345"), 2), Decimal("2.35")),
    (call("ROUND", Decimal("2.3"), 5), Decimal("2.3")),
    (call("ROUND", Decimal("123.4"), -2), Decimal("100")),
    (call("ROUND", Decimal("123.4"), -100_000), Decimal("0")),
    (call("ROUND", Decimal("1" * 60 + ".5")), Decimal("1" * 59 + "2")),
    (call("ROUND", 2.5, 1.5), None),
    (call("SQRT", 4), 2.0),
    (call("SQRT", -1), None),
    (call("SQRT", Decimal("2.25")), 1.5),
    (call("POWER", -8, 0.5), None),
    (call("POWER", 0, -1), None),
    (call("POWER", 10, 1000), None),
    (call("POWER", Decimal("1.5"), 2), 2.25),
    (call("LEAST", 5), 5),
    (call("LEAST", 2, "a"), None),
    (call("LEAST", None, None), None),
    (call("GREATEST", "a", "b", None), "b"),
    (call("GREATEST", (1,), (2,)), None),
    (call("COALESCE", None, None), None),
    (call("COALESCE", (1,), None), (1,)),
    (call("NULLIF", 5, 6), 5),
    (call("NULLIF", None, 6), None),
    (call("NULLIF", 5, None), 5),
    (call("NULLIF", 5, "5"), 5),
    (call("LENGTH", b"abc"), 3),
    (call("LENGTH", ""), 0),
    (call("LENGTH", 5), None),
    (call("LENGTH", (1, 2)), None),
    (call("UPPER", "straße"), "STRASSE"),
    (call("UPPER", b"a"), None),
    (call("TRIM", "\ta "), "\ta"),
    (call("SUBSTRING", "abc", 2), "bc"),
    (call("SUBSTRING", "abc", 0, 2), "a"),
    (call("SUBSTRING", "abc", -5, 2), ""),
    (call("SUBSTRING", "abc", 9), ""),
    (call("SUBSTRING", "abc", 2, 0), ""),
    (call("SUBSTRING", "abc", 2, -1), None),
    (call("SUBSTRING", "abc", FOREVER, FOREVER), ""),
    (call("SUBSTRING", "abc", 1.5), None),
    (call("REPLACE", "abc", "", "x"), "abc"),
    (call("CONCAT", "a", 5), None),
    (call("REGEXP_LIKE", "abc", "^b"), False),
    (call("REGEXP_LIKE", "abc", "("), None),
    (call("REGEXP_LIKE", "a", "[[a]"), True),
    (call("REGEXP_LIKE", "a", "a{99999999999}"), None),
    (call("EXTRACT", "CENTURY", time(0)), None),
    (call("EXTRACT", "YEAR", "2026"), None),
    (call("DATE_TRUNC", "DOW", time(0)), None),
    (call("DATE_TRUNC", "day", 1.5), None),
]


@pytest.mark.parametrize(("expression", "expected"), CASES)
def test_edges(expression: Call, expected: Any) -> None:
    result = value(expression)
    assert result == expected
    assert type(result) is type(expected)


@st.composite
def calls(draw: st.DrawFn, *, fitting: bool) -> Call:
    function = draw(st.sampled_from(sorted(FUNCTIONS)).map(FUNCTIONS.__getitem__))
    most = len(function.parameters) + (2 if function.variadic else 0)
    count = draw(st.integers(function.least, most))
    some = typed if fitting else lambda _: values.map(literal)
    return Call(function.name, tuple(draw(some(function.parameter(place).types)) for place in range(count)))


@given(calls(fitting=True))
def test_no_function_raises_on_values_of_its_types(expression: Call) -> None:
    result = value(expression)
    assert plain(result) == result


@given(calls(fitting=False))
def test_no_function_raises_on_any_values(expression: Call) -> None:
    result = value(expression)
    assert plain(result) == result


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("ROUND", "ROUND(x[, digits])"),
        ("LEAST", "LEAST(x, …)"),
        ("EXTRACT", "EXTRACT(unit FROM t)"),
        ("SUBSTRING", "SUBSTRING(text, from[, length])"),
    ],
)
def test_form(name: str, form: str) -> None:
    assert FUNCTIONS[name].form == form


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, DataType.NULL),
        (True, DataType.BOOLEAN),
        (1, DataType.INTEGER),
        (1.0, DataType.FLOAT),
        (Decimal(1), DataType.DECIMAL),
        ("a", DataType.STRING),
        (b"a", DataType.BINARY),
        (date(2026, 1, 31), DataType.DATE),
        ((1,), DataType.LIST),
        (Payload({"a": 1}), DataType.STRUCT),
    ],
)
def test_the_literal_of_a_value(given: Any, expected: DataType) -> None:
    assert literal(given).type is expected


def test_a_literal_stays_or_changes_its_type() -> None:
    assert literal(time(5)) is not None
    assert literal(time(5)).type is DataType.TIMESTAMP
    assert literal(time(5), DataType.DURATION).type is DataType.DURATION


def test_a_parameter_without_types_takes_everything() -> None:
    assert Parameter("x").takes((1,))
