"""Types and the messages about them.  R20, R23, R30."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.span import Source, Span
from cedr.expression.lattice import (
    ANY,
    ARITHMETIC,
    BINARY,
    BOOLEAN,
    DATE,
    DECIMAL,
    DURATION,
    FLOAT,
    INTEGER,
    LIST,
    NULL,
    STRING,
    STRUCT,
    TIMESTAMP,
    arithmetic,
    comparable,
    unify,
)
from cedr.expression.tree import (
    Aggregate,
    Attribute,
    Between,
    Binary,
    Case,
    Cast,
    Expression,
    HeaderField,
    In,
    IsNull,
    Like,
    Literal,
    Name,
    Unary,
)
from cedr.expression.typing import infer, infer_all, infer_predicate
from cedr.model.schema import DataType
from tests.expression.building import attribute, binary, call, cast, duration, header, kind_of, lit, negated, time
from tests.expression.strategies import expressions


def a(of: DataType) -> Attribute:
    """An attribute of a type."""
    return attribute(of.value.lower(), of)


TYPES: list[tuple[Expression, DataType]] = [
    (lit(1), INTEGER),
    (lit(None, INTEGER), NULL),
    (Name(("x", "a")), ANY),
    (a(STRUCT), STRUCT),
    (header(HeaderField.ID), STRING),
    (header(HeaderField.VS), TIMESTAMP),
    (header(HeaderField.RT), TIMESTAMP),
    (negated(True), BOOLEAN),
    (Unary("-", lit(1.5)), FLOAT),
    (Unary("-", duration(5)), DURATION),
    (Unary("-", lit(None)), ANY),
    (binary(True, "AND", None), BOOLEAN),
    (binary(1, "+", 2), INTEGER),
    (binary(1, "+", Decimal(2)), DECIMAL),
    (binary(1.0, "*", Decimal(2)), FLOAT),
    (binary(1, "/", 2), FLOAT),
    (binary(Decimal(1), "/", 2), DECIMAL),
    (binary(1.5, "DIV", 2), INTEGER),
    (binary(7, "%", 2), INTEGER),
    (binary("a", "||", "b"), STRING),
    (binary(b"a", "||", b"b"), BINARY),
    (binary(time(5), "+", duration(1)), TIMESTAMP),
    (binary(duration(1), "+", time(5)), TIMESTAMP),
    (binary(time(5), "-", 1), TIMESTAMP),
    (binary(time(5), "-", time(1)), DURATION),
    (binary(time(5), "DIV", 10), INTEGER),
    (binary(time(5), "%", duration(10)), DURATION),
    (binary(duration(5), "*", 1.5), DURATION),
    (binary(2, "*", duration(5)), DURATION),
    (binary(duration(5), "/", duration(2)), FLOAT),
    (binary(duration(5), "/", 2), DURATION),
    (binary(date(2026, 1, 1), "+", 1), DATE),
    (binary(date(2026, 1, 1), "-", date(2026, 1, 1)), INTEGER),
    (binary(a(ANY), "+", 1), ANY),
    (binary(a(ANY), "+", 1.5), FLOAT),
    (binary(a(ANY), "+", time(5)), TIMESTAMP),
    (binary(time(5), "-", a(ANY)), ANY),
    (binary(a(ANY), "||", "b"), STRING),
    (binary(None, "+", None), ANY),
    (binary(1, "=", time(5)), BOOLEAN),
    (binary(duration(1), "<", 1.5), BOOLEAN),
    (binary(a(LIST), "=", a(LIST)), BOOLEAN),
    (Between(lit(1), lit(0), lit(2.5)), BOOLEAN),
    (In(lit(1), (lit(1), lit(None))), BOOLEAN),
    (Like(lit("a"), lit("%")), BOOLEAN),
    (IsNull(a(STRUCT)), BOOLEAN),
    (Case(((lit(True), lit(1)),), lit(2.5)), FLOAT),
    (Case(((lit(True), lit(None)),)), NULL),
    (Case(((lit(True), time(5)),), lit(5)), TIMESTAMP),
    (cast("5", INTEGER), INTEGER),
    (call("ABS", 1), INTEGER),
    (call("ABS", None), ANY),
    (call("SQRT", 1), FLOAT),
    (call("COALESCE", None, 1, 2.5), FLOAT),
    (call("COALESCE", a(LIST), None), LIST),
    (call("LEAST", duration(1), 5), DURATION),
    (call("NULLIF", 1, 2), INTEGER),
    (call("EXTRACT", "year", time(5)), INTEGER),
    (call("EXTRACT", "EPOCH", time(5)), FLOAT),
    (call("DATE_TRUNC", "DAY", time(5)), TIMESTAMP),
    (call("DATE_TRUNC", "DAY", date(2026, 1, 1)), DATE),
    (call("abs", 1), INTEGER),
    (Aggregate("COUNT", (), star=True), INTEGER),
    (Aggregate("COUNT", (a(STRUCT), a(INTEGER))), INTEGER),
    (Aggregate("SUM", (a(INTEGER),)), INTEGER),
    (Aggregate("SUM", (a(INTEGER), a(FLOAT))), FLOAT),
    (Aggregate("SUM", (a(DURATION),)), DURATION),
    (Aggregate("SUM", (a(ANY),)), ANY),
    (Aggregate("AVG", (a(INTEGER),)), FLOAT),
    (Aggregate("AVG", (a(DECIMAL),)), DECIMAL),
    (Aggregate("AVG", (a(ANY),)), ANY),
    (Aggregate("AVG", (lit(None),)), FLOAT),
    (Aggregate("MIN", (a(STRING),)), STRING),
    (Aggregate("MAX", (a(TIMESTAMP),)), TIMESTAMP),
    (Aggregate("STDDEV", (a(DECIMAL),)), FLOAT),
]


@pytest.mark.parametrize(("expression", "expected"), TYPES)
def test_type(expression: Expression, expected: DataType) -> None:
    assert kind_of(expression) == (expected, [])


WRONG: list[tuple[Expression, str, str]] = [
    (negated(1), "type-mismatch", "what NOT negates must be BOOLEAN, this is INTEGER"),
    (
        Unary("-", lit("a")),
        "type-mismatch",
        "what a minus sign negates must be INTEGER, DECIMAL, FLOAT or DURATION, this is STRING",
    ),
    (binary(1, "AND", True), "type-mismatch", "an operand of AND must be BOOLEAN, this is INTEGER"),
    (binary("a", "+", 1), "type-mismatch", 'operator "+" does not take STRING and INTEGER'),
    (binary(time(1), "+", time(1)), "type-mismatch", 'operator "+" does not take TIMESTAMP and TIMESTAMP'),
    (binary(a(ANY), "*", time(1)), "type-mismatch", 'operator "*" does not take ANY and TIMESTAMP'),
    (
        binary(date(2026, 1, 1), "+", duration(5)),
        "type-mismatch",
        'operator "+" does not take DATE and DURATION',
    ),
    (binary("a", "=", 1), "type-mismatch", "STRING cannot be compared with INTEGER"),
    (binary(date(2026, 1, 1), "<", time(1)), "type-mismatch", "DATE cannot be compared with TIMESTAMP"),
    (binary(time(1), "<", 1.5), "type-mismatch", "TIMESTAMP cannot be compared with FLOAT"),
    (binary(a(LIST), "<", a(LIST)), "type-mismatch", 'LIST has no order for "<"'),
    (binary(a(ANY), ">=", a(STRUCT)), "type-mismatch", 'STRUCT has no order for ">="'),
    (Between(lit(1), lit("a"), lit(2)), "type-mismatch", "INTEGER cannot be compared with STRING"),
    (Between(lit(1), lit(0), lit("a")), "type-mismatch", "INTEGER cannot be compared with STRING"),
    (In(lit(1), (lit(1), lit("a"))), "type-mismatch", "INTEGER cannot be compared with STRING"),
    (Like(lit(1), lit("a")), "type-mismatch", "what LIKE looks at must be STRING, this is INTEGER"),
    (Like(lit("a"), lit(1)), "type-mismatch", "the pattern of LIKE must be STRING, this is INTEGER"),
    (Like(lit("a"), lit("a\\")), "bad-pattern", "the pattern ends in the middle of an escape"),
    (Case(((lit(1), lit(1)),)), "type-mismatch", "a condition of CASE must be BOOLEAN, this is INTEGER"),
    (Case(((lit(True), lit(1)),), lit("a")), "type-mismatch", "the branches of CASE have no type in common"),
    (cast((1,), STRING), "type-mismatch", "LIST cannot be cast to STRING"),
    (
        call("ABS", "a"),
        "type-mismatch",
        'argument "x" of ABS must be INTEGER, DECIMAL, FLOAT or DURATION, this is STRING',
    ),
    (call("UPPER", 5), "type-mismatch", 'argument "text" of UPPER must be STRING, this is INTEGER'),
    (call("NULLIF", 5, "a"), "type-mismatch", "INTEGER cannot be compared with STRING"),
    (call("COALESCE", 5, "a"), "type-mismatch", "the arguments of COALESCE have no type in common"),
    (call("LEAST", a(LIST), a(LIST)), "type-mismatch", "LIST has no order for LEAST"),
    (call("UPER", "a"), "unknown-function", 'there is no function "UPER"'),
    (call("XYZZY", "a"), "unknown-function", 'there is no function "XYZZY"'),
    (call("ABS"), "wrong-arguments", "ABS does not take 0 arguments"),
    (call("UPPER", "a", "b"), "wrong-arguments", "UPPER does not take 2 arguments"),
    (call("POWER", 1), "wrong-arguments", "POWER does not take 1 argument"),
    (call("EXTRACT", "CENTURY", time(5)), "wrong-arguments", '"CENTURY" is no unit of EXTRACT'),
    (call("DATE_TRUNC", a(STRING), time(5)), "wrong-arguments", "the unit must be written out of DATE_TRUNC"),
    (call("REGEXP_LIKE", "a", "("), "bad-pattern", "this is no regular expression"),
    (Aggregate("SUM", (a(STRING),)), "type-mismatch", "SUM does not take STRING"),
    (Aggregate("AVG", (a(DATE),)), "type-mismatch", "AVG does not take DATE"),
    (Aggregate("STDDEV", (a(BOOLEAN),)), "type-mismatch", "STDDEV does not take BOOLEAN"),
    (Aggregate("MAX", (a(STRUCT),)), "type-mismatch", "MAX does not take STRUCT"),
    (Aggregate("MAX", (a(STRING), a(INTEGER))), "type-mismatch", "the arguments of MAX have no type in common"),
    (Aggregate("SUM", (), star=True), "wrong-arguments", "only COUNT(*) takes a star"),
    (Aggregate("SUM", ()), "wrong-arguments", "SUM takes at least one argument"),
    (Aggregate("MODE", (a(FLOAT),)), "unknown-function", 'there is no function "MODE"'),
    (
        Aggregate("SUM", (binary(Aggregate("MAX", (a(FLOAT),)), "+", 1),)),
        "nested-aggregate",
        "MAX cannot stand inside SUM",
    ),
]


@pytest.mark.parametrize(("expression", "code", "primary"), WRONG)
def test_one_mistake_is_one_message(expression: Expression, code: str, primary: str) -> None:
    _, faults = kind_of(expression)
    assert [(fault.code, fault.primary) for fault in faults] == [(code, primary)]


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        (binary(date(2026, 1, 1), "<", time(1)), "a date is no instant: use CAST(… AS TIMESTAMP) or CAST(… AS DATE)"),
        (binary(date(2026, 1, 1), "+", duration(1)), "add a number of days to a date, or use CAST(… AS TIMESTAMP)"),
        (binary("2026", "<", time(1)), "write TIMESTAMP '…' for a constant, or use CAST(… AS TIMESTAMP)"),
        (binary(date(2026, 1, 1), "=", "2026"), "write DATE '…' for a constant, or use CAST(… AS DATE)"),
        (binary("5", "=", 5), "use CAST(… AS INTEGER)"),
        (binary(5, "=", "5"), "use CAST(… AS INTEGER)"),
        (binary(a(LIST), "=", 5), ""),
        (binary("a", "+", "b"), "texts are joined with ||"),
        (binary(time(1), "*", time(1)), ""),
        (negated(5), "compare it with something"),
        (call("UPPER", 5), "use CAST(… AS STRING)"),
        (call("ABBS", 5), "did you mean ABS?"),
    ],
)
def test_hint(expression: Expression, hint: str) -> None:
    assert kind_of(expression)[1][0].hint == hint


@pytest.mark.parametrize(
    ("expression", "detail"),
    [
        (binary("a", "=", 1), '"\'a\'" is STRING, "1" is INTEGER'),
        (binary(time(1), "+", "a"), "; TIMESTAMP + takes INTEGER or DURATION"),
        (binary("x" * 50, "=", 1), 'it is STRING, "1" is INTEGER'),
        (call("ABBS", 5), "close: ABS"),
        (call("XYZZY", 5), "functions are: ABS, CEIL, "),
        (call("ABS"), "it is ABS(x)"),
        (call("EXTRACT", "CENTURY", time(5)), "units are: YEAR, QUARTER, "),
        (call("REGEXP_LIKE", "a", "("), "missing ), unterminated subpattern at position 0"),
        (cast((1,), DATE), "to DATE can be cast: DATE, STRING, TIMESTAMP"),
        (Aggregate("SUM", (a(STRING),)), "it takes numbers or durations"),
        (call("COALESCE", 1, "a", 2), "they are INTEGER, STRING"),
    ],
)
def test_detail(expression: Expression, detail: str) -> None:
    assert detail in kind_of(expression)[1][0].detail


def test_a_message_draws_the_place() -> None:
    source = Source("q.cedr", "WHERE 'a' + 1 > 0")
    place = Span(source, 6, 13)
    wrong = Binary("+", lit("a"), lit(1), span=place)
    found, faults = kind_of(wrong)
    assert found is ANY
    assert faults[0].render().splitlines() == [
        'error[type-mismatch]: operator "+" does not take STRING and INTEGER',
        "  --> q.cedr:1:7",
        "    |",
        "  1 | WHERE 'a' + 1 > 0",
        "    |       ^^^^^^^",
        '    = "\'a\'" is STRING, "1" is INTEGER',
        "    = hint: texts are joined with ||",
    ]


def test_one_mistake_does_not_cascade() -> None:
    wrong = binary("a", "+", 1)
    _, faults = kind_of(binary(binary(wrong, "*", 2), ">", time(3)))
    assert len(faults) == 1


def test_independent_mistakes_are_all_reported_from_left_to_right() -> None:
    _, faults = kind_of(Binary("AND", binary("a", "=", 1), binary(2, "=", "b")))
    assert [fault.detail for fault in faults] == [
        '"\'a\'" is STRING, "1" is INTEGER',
        '"2" is INTEGER, "\'b\'" is STRING',
    ]


def test_a_predicate_must_be_true_or_false() -> None:
    faults: list[Diagnostic] = []
    assert infer_predicate(binary(1, "<", 2), faults.append) is BOOLEAN
    assert infer_predicate(lit(None), faults.append) is NULL
    assert infer_predicate(a(ANY), faults.append) is ANY
    assert faults == []
    assert infer_predicate(binary(1, "+", 2), faults.append) is ANY
    assert faults[0].primary == "a predicate must be BOOLEAN, this is INTEGER"


def test_thousands_of_terms() -> None:
    chain: Expression = binary(1, "=", 1)
    for _ in range(5_000):
        chain = Binary("AND", chain, binary(1, "=", 1))
    assert kind_of(chain) == (BOOLEAN, [])


@given(expressions)
def test_every_expression_has_a_type(expression: Expression) -> None:
    faults: list[Diagnostic] = []
    found = infer(expression, faults.append)
    assert isinstance(found, DataType)
    assert all(fault.primary and fault.render() for fault in faults)
    assert set(infer_all(expression, lambda _: None).values()) <= set(DataType)


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ([], NULL),
        ([NULL, NULL], NULL),
        ([INTEGER, ANY], ANY),
        ([INTEGER, DECIMAL], DECIMAL),
        ([INTEGER, DURATION], DURATION),
        ([DURATION, TIMESTAMP], None),
        ([FLOAT, DURATION], None),
        ([STRING, STRING], STRING),
        ([STRING, DATE], None),
    ],
)
def test_unify(types: list[DataType], expected: DataType | None) -> None:
    assert unify(types) is expected


@pytest.mark.parametrize("left", DataType)
@pytest.mark.parametrize("right", DataType)
def test_comparison_goes_both_ways(left: DataType, right: DataType) -> None:
    assert comparable(left, right) is comparable(right, left)
    assert comparable(left, left)


@pytest.mark.parametrize(("row", "expected"), ARITHMETIC.items())
def test_arithmetic_follows_its_table(row: Any, expected: DataType) -> None:
    assert arithmetic(*row) is expected


def test_cast_has_its_type_even_where_it_is_wrong() -> None:
    found, faults = kind_of(Cast(Literal((1,), LIST), INTEGER))
    assert found is INTEGER
    assert len(faults) == 1
