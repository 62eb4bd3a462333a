"""Text that parses back to the same tree.  R20."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from cedr.expression.render import RESERVED, quote_name, render
from cedr.expression.tree import (
    Aggregate,
    Attribute,
    Between,
    Binary,
    Case,
    Cast,
    Expression,
    Header,
    HeaderField,
    In,
    IsNull,
    Like,
    Literal,
    Name,
    Unary,
    walk,
)
from cedr.model.event import Payload
from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, FOREVER, HOUR, parse_timestamp
from tests.expression.building import binary, call, duration, lit, negated, time
from tests.expression.strategies import expressions

A, B, C = (Name((name,)) for name in "abc")


def two(left: Expression, sign: str, right: Expression) -> Binary:
    return Binary(sign, left, right)


LITERALS: list[tuple[Literal, str]] = [
    (lit(None), "NULL"),
    (lit(5), "5"),
    (lit(-5), "-5"),
    (lit(1.0), "1.0"),
    (lit(1e16), "1e+16"),
    (lit(1, DataType.FLOAT), "1.0"),
    (lit(Decimal("1.10")), "CAST('1.10' AS DECIMAL)"),
    (lit("it's"), "'it''s'"),
    (lit(True), "TRUE"),
    (lit(False), "FALSE"),
    (time(parse_timestamp("2026-01-31 12:00:00Z")), "TIMESTAMP '2026-01-31 12:00:00Z'"),
    (time(5), "TIMESTAMP '1970-01-01 00:00:00.000005Z'"),
    (time(FOREVER), "FOREVER"),
    (time(BEGINNING), f"CAST({BEGINNING} AS TIMESTAMP)"),
    (duration(12 * HOUR), "12 hours"),
    (duration(-12 * HOUR), "-12 hours"),
    (duration(7), "0.007 ms"),
    (duration(-1_500), "-1.5 ms"),
    (duration(0), "0 ms"),
    (duration(BEGINNING), f"CAST({BEGINNING} AS DURATION)"),
    (duration(FOREVER), "9223372036854775.807 ms"),
    (lit(date(2026, 1, 31)), "DATE '2026-01-31'"),
    (lit(b"\x00\xff"), "X'00ff'"),
    (lit(5, DataType.ANY), "5"),
    (lit(True, DataType.ANY), "TRUE"),
    (lit("a", DataType.ANY), "'a'"),
    (lit(b"a", DataType.ANY), "X'61'"),
    (lit(date(2026, 1, 31), DataType.ANY), "DATE '2026-01-31'"),
    (lit((1,)), "(1,)"),
    (lit(Payload({"a": 1})), "Payload(a=1)"),
]


@pytest.mark.parametrize(("literal", "expected"), LITERALS)
def test_literal(literal: Literal, expected: str) -> None:
    assert render(literal) == expected


FORMS: list[tuple[Expression, str]] = [
    (Name(("x", "Machine_Id")), "x.Machine_Id"),
    (Name(("x", "first")), 'x."first"'),
    (Attribute("x", "price"), "x.price"),
    (Attribute("", "price"), "price"),
    (Attribute("x", "two words"), 'x."two words"'),
    (Header("x", HeaderField.VS), "x.Vs"),
    (Header("", HeaderField.ID), "ID"),
    (negated(A), "NOT a"),
    (negated(negated(A)), "NOT NOT a"),
    (negated(two(A, "=", B)), "NOT a = b"),
    (two(negated(A), "=", B), "(NOT a) = b"),
    (negated(two(A, "AND", B)), "NOT (a AND b)"),
    (two(negated(A), "AND", B), "NOT a AND b"),
    (Unary("-", A), "-a"),
    (Unary("-", Unary("-", A)), "-(-a)"),
    (Unary("-", lit(5)), "-(5)"),
    (Unary("-", lit(-5)), "-(-5)"),
    (Unary("-", duration(HOUR)), "-(1 hour)"),
    (Unary("-", two(A, "+", B)), "-(a + b)"),
    (Unary("-", call("ABS", A)), "-ABS(a)"),
    (two(A, "-", Unary("-", B)), "a - -b"),
    (two(A, "-", lit(-5)), "a - -5"),
    (two(two(A, "+", B), "+", C), "a + b + c"),
    (two(A, "+", two(B, "+", C)), "a + (b + c)"),
    (two(two(A, "+", B), "*", C), "(a + b) * c"),
    (two(A, "+", two(B, "*", C)), "a + b * c"),
    (two(two(A, "-", B), "+", C), "a - b + c"),
    (two(A, "-", two(B, "-", C)), "a - (b - c)"),
    (two(two(A, "DIV", B), "%", C), "a DIV b % c"),
    (two(two(A, "||", B), "||", C), "a || b || c"),
    (two(A, "||", two(B, "+", C)), "a || (b + c)"),
    (two(two(A, "+", B), "||", C), "(a + b) || c"),
    (two(two(A, "||", B), "+", C), "(a || b) + c"),
    (two(two(A, "=", B), "=", C), "(a = b) = c"),
    (two(A, "=", two(B, "=", C)), "a = (b = c)"),
    (two(two(A, "OR", B), "AND", C), "(a OR b) AND c"),
    (two(two(A, "AND", B), "OR", C), "a AND b OR c"),
    (two(A, "AND", two(B, "AND", C)), "a AND (b AND c)"),
    (Between(A, two(B, "+", C), C), "a BETWEEN b + c AND c"),
    (Between(two(A, "=", B), two(A, "AND", B), C, negated=True), "(a = b) NOT BETWEEN (a AND b) AND c"),
    (In(A, (B, two(A, "OR", C))), "a IN (b, a OR c)"),
    (In(A, (B,), negated=True), "a NOT IN (b)"),
    (Like(A, lit("%x")), "a LIKE '%x'"),
    (Like(A, two(B, "||", C), negated=True), "a NOT LIKE b || c"),
    (IsNull(A), "a IS NULL"),
    (IsNull(IsNull(A), negated=True), "(a IS NULL) IS NOT NULL"),
    (two(IsNull(A), "AND", IsNull(B)), "a IS NULL AND b IS NULL"),
    (Case(((A, lit(1)), (B, lit(2))), lit(3)), "CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END"),
    (Case(((A, lit(1)),)), "CASE WHEN a THEN 1 END"),
    (Cast(two(A, "+", B), DataType.INTEGER), "CAST(a + b AS INTEGER)"),
    (call("ROUND", A, 2), "ROUND(a, 2)"),
    (call("EXTRACT", "HOUR", A), "EXTRACT(HOUR FROM a)"),
    (call("EXTRACT", A), "EXTRACT(a)"),
    (call("DATE_TRUNC", "day", A), "DATE_TRUNC('day', a)"),
    (call("NOTHING"), "NOTHING()"),
    (Aggregate("COUNT", (A, B), star=True), "COUNT(*)"),
    (Aggregate("COUNT", (A,), distinct=True), "COUNT(DISTINCT a)"),
    (Aggregate("AVG", (A, B)), "AVG(a, b)"),
]


@pytest.mark.parametrize(("expression", "expected"), FORMS)
def test_form(expression: Expression, expected: str) -> None:
    assert render(expression) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Machine_Id", "Machine_Id"),
        ("_x1", "_x1"),
        ("größe", "größe"),
        ("名前", "名前"),
        ("select", "select"),
        ("count", "count"),
        ("First", '"First"'),
        ("two words", '"two words"'),
        ("1st", '"1st"'),
        ("", '""'),
        ('say "hi" now', '"say ""hi"" now"'),
        ("a-b", '"a-b"'),
    ],
)
def test_names(name: str, expected: str) -> None:
    assert quote_name(name) == expected


def test_reserved_words_are_upper_case_words() -> None:
    assert all(word == word.upper() and word.isalpha() for word in RESERVED)


@given(expressions)
def test_every_expression_has_a_text_without_a_comment_in_it(expression: Expression) -> None:
    text = render(expression)
    assert text
    assert "--" not in text or "--" in "".join(repr(part) for part in _texts(expression))


def _texts(expression: Expression) -> list[Any]:
    return [part.value for part in walk(expression) if isinstance(part, Literal)]


def test_thousands_of_terms() -> None:
    chain: Expression = A
    for _ in range(5_000):
        chain = Binary("AND", chain, B)
    assert render(chain) == "a" + " AND b" * 5_000


def test_a_float_is_never_taken_for_an_integer() -> None:
    assert all(set(render(lit(number))) & set(".e") for number in (1.0, 1e22, -2.0, 1e-7))


def test_binary_of_literals() -> None:
    assert render(binary(1, "+", 2)) == "1 + 2"
