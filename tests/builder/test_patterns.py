"""Queries from Python are the queries of the language."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

import cedr
from cedr.diagnostics.exceptions import LanguageError
from cedr.language.parse import parse
from cedr.language.syntax import File
from cedr.model.level import STRONG

x, y = cedr.col("x.v"), cedr.col("y.v")


def same(built: cedr.Pattern | cedr.Stream, text: str) -> bool:
    """Whether a built query has the tree of the text, and its own text says the same again."""
    assert isinstance(built.to_file(), File)
    assert parse(built.to_text()) == built.to_file()
    assert str(built) == built.to_text()
    return built.to_file() == parse(text)


def test_the_papers_example() -> None:
    """Section 3.1, in Python."""
    example = (
        cedr.unless(
            cedr.sequence("INSTALL x", cedr.event("SHUTDOWN").as_("y"), within="12 hours"),
            "RESTART AS z",
            within=timedelta(minutes=5),
        )
        .where("{x.Machine_Id = y.Machine_Id} AND {x.Machine_Id = z.Machine_Id}")
        .named("CIDR07_Example")
    )
    assert same(
        example,
        """EVENT CIDR07_Example
           WHEN UNLESS(SEQUENCE(INSTALL x, SHUTDOWN AS y, 12 hours), RESTART AS z, 5 minutes)
           WHERE {x.Machine_Id = y.Machine_Id} AND {x.Machine_Id = z.Machine_Id}""",
    )


@pytest.mark.parametrize(
    ("built", "pattern"),
    [
        (cedr.all_of("A", "B", within=5), "ALL(A, B, 5)"),
        (cedr.any_of("A", "B"), "ANY(A, B)"),
        (cedr.at_least(2, "A a", "B b", "C c", within="30 seconds"), "ATLEAST(2, A a, B b, C c, 30 seconds)"),
        (cedr.exactly(2, "A a", "B b", "C c", within="30 seconds"), "EXACTLY(2, A a, B b, C c, 30 seconds)"),
        (cedr.at_most(5, "A", cedr.event("B").weight(2), within=9), "ATMOST(5, A, B WEIGHT 2, 9)"),
        (
            cedr.unless(cedr.sequence("A", "B", within=4), "C", contributor=1, within=8),
            "UNLESS(SEQUENCE(A, B, 4), C, 1, 8)",
        ),
        (cedr.not_("C", cedr.sequence("A", "B", within=4)), "NOT(C, SEQUENCE(A, B, 4))"),
        (cedr.cancel_when("A", "B", from_root=True), "CANCEL-WHEN(A, B FROM ROOT)"),
        (cedr.sequence(cedr.event("A").last(), cedr.event("B").first(), within=3), "SEQUENCE(LAST A, FIRST B, 3)"),
        (
            cedr.sequence(cedr.event("A").first().consume(), cedr.event("B").each(), within=3).disjoint(),
            "SEQUENCE(FIRST A CONSUME, EACH B, 3) DISJOINT",
        ),
        (cedr.sequence("A", "B", within=3).valid_forever(), "SEQUENCE(A, B, 3) VALID FOREVER"),
        (cedr.sequence("A", "B", within=3).valid_with_last(), "SEQUENCE(A, B, 3) VALID WITH LAST"),
        (cedr.any_of("A").consistency(STRONG), "ANY(A) CONSISTENCY STRONG"),
        (cedr.any_of("A").at(1, 5).during(2), "ANY(A) @ [1, 5] # [2, FOREVER]"),
        (cedr.any_of("A").as_of(7), "ANY(A) AS OF 7"),
        (
            cedr.any_of("A x").where(cedr.correlation_key("k"), cedr.correlation_key("m", unique=True)),
            "ANY(A x) WHERE CorrelationKey(k, EQUAL) AND CorrelationKey(m, UNIQUE)",
        ),
        (cedr.any_of("A x").where(cedr.attribute_equals("k", "v")), "ANY(A x) WHERE [k EQUAL 'v']"),
        (
            cedr.any_of("A x").output(v="x.v + 1", n=cedr.aggregate("COUNT"), m=cedr.aggregate("max", cedr.col("v"))),
            "ANY(A x) OUTPUT x.v + 1 AS v, COUNT(*) AS n, MAX(v) AS m",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_operator(built: cedr.Pattern, pattern: str) -> None:
    """R11 to R28 have their words in Python."""
    assert same(built, f"EVENT Query WHEN {pattern}")


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (x == y, "x.v = y.v"),
        (x != 1, "x.v <> 1"),
        ((x < 1.5) & (y >= 2) | ~(x <= y), "x.v < 1.5 AND y.v >= 2 OR NOT (x.v <= y.v)"),
        (x > -y, "x.v > -y.v"),
        (1 + x * 2 - 3 == 4 - x, "1 + x.v * 2 - 3 = 4 - x.v"),
        (2 * x / 3 + 1 / x > x // 2 + x % 2, "2 * x.v / 3 + 1 / x.v > x.v DIV 2 + x.v % 2"),
        (x.concat("!") == "a!", "x.v || '!' = 'a!'"),
        (x.is_null() & y.is_not_null(), "x.v IS NULL AND y.v IS NOT NULL"),
        (x.isin(1, 2), "x.v IN (1, 2)"),
        (x.like("a%"), "x.v LIKE 'a%'"),
        (x.between(1, y), "x.v BETWEEN 1 AND y.v"),
        (cedr.call("upper", x) == cedr.lit(None), "UPPER(x.v) = NULL"),
        (cedr.expr("x.v * 2") == True, "x.v * 2 = TRUE"),  # noqa: E712 - builds an expression
        (x + 1 + cedr.lit(2) > cedr.lit(timedelta(seconds=1)), "x.v + 1 + 2 > 1 second"),
        (x == datetime(2026, 1, 31, 12, tzinfo=UTC), "x.v = TIMESTAMP '2026-01-31 12:00:00Z'"),
        (x == date(2026, 1, 31), "x.v = DATE '2026-01-31'"),
        (x == b"\x00\xff", "x.v = X'00ff'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_expression(column: cedr.Column, text: str) -> None:
    """R20: operators of Python stand for those of the language."""
    assert same(cedr.any_of("A x", "A y").where(column), f"EVENT Query WHEN ANY(A x, A y) WHERE {{{text}}}")


def test_decimals_render_as_casts() -> None:
    """A DECIMAL has no literal of its own."""
    assert "CAST" in cedr.any_of("A x").where(x == Decimal("1.10")).to_text()


def test_queries_compose_by_object() -> None:
    """R32: a query used in another comes first in the file, once."""
    calm = cedr.at_most(5, "LOGIN", within="1 hour").output(u="LOGIN.user").named("Calm")
    spike = cedr.sequence(calm, cedr.use(calm, "c"), within=9).named("Spike")
    assert [s.name for s in spike.to_file().statements] == ["Calm", "Spike"]  # type: ignore[union-attr]
    assert "SEQUENCE(Calm, Calm AS c, 9)" in " ".join(spike.to_text().split())


def test_it_evaluates() -> None:
    """The same plan, so the same answer."""
    query = cedr.sequence("A a", "B b", within=5).where(cedr.col("a.k") == cedr.col("b.k")).output(k="a.k")
    messages = [
        {"insert": {"type": "A", "id": "a1", "vs": 1, "payload": {"k": 1}}},
        {"insert": {"type": "B", "id": "b1", "vs": 2, "payload": {"k": 1}}},
        {"insert": {"type": "B", "id": "b2", "vs": 3, "payload": {"k": 2}}},
    ]
    result = cedr.evaluate(query, messages)
    assert [row["contributors"] for row in result.to_dicts()] == [["a1", "b1"]]
    assert "SEQUENCE" in cedr.explain(query).as_text()


def test_mistakes_are_told() -> None:
    """Wrong use never passes silently."""
    with pytest.raises(TypeError, match="truth value"):
        bool(x == y)
    with pytest.raises(TypeError, match="no constant"):
        cedr.lit(object())
    with pytest.raises(TypeError, match="DISJOINT"):
        cedr.event("A").disjoint()
    with pytest.raises(LanguageError):
        cedr.any_of("A x").where("x.v >")
    with pytest.raises(LanguageError):
        cedr.sequence("A", "B", within="soon")
    with pytest.raises(ValueError, match="one expression"):
        cedr.expr("1 AS a, 2")
    assert "Column" in repr(x)


def test_with_ties() -> None:
    """R49: behind the scope of three operators, and of no other."""
    for built, text in (
        (cedr.sequence("A a", "B b", within=5), "SEQUENCE(A AS a, B AS b, 5 WITH TIES)"),
        (cedr.all_of("A a", "B b", within=5), "ALL(A AS a, B AS b, 5 with ties)"),
        (cedr.at_least(1, "A a", "B b", within=5), "ATLEAST(1, A AS a, B AS b, 5 WITH TIES)"),
        (cedr.exactly(1, "A a", "B b", within=5), "EXACTLY(1, A AS a, B AS b, 5 WITH TIES)"),
    ):
        assert same(built.with_ties().named("Q"), f"EVENT Q WHEN {text}")
        assert not same(built.named("Q"), f"EVENT Q WHEN {text}")
    for other in (cedr.event("A"), cedr.any_of("A")):
        with pytest.raises(TypeError, match="WITH TIES"):
            other.with_ties()
