"""Evaluation: environments, header fields, chains, aggregates over contributors.  R2, R20, R23."""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given

from cedr.expression import evaluate as module
from cedr.expression.evaluate import compile_expression, evaluate, holds
from cedr.expression.tree import Aggregate, Binary, Call, Expression, HeaderField, Name, Unary, conjunction
from cedr.expression.values import fit, plain
from cedr.model.event import Value, primitive
from cedr.model.time import FOREVER
from tests.expression.building import attribute, binary, call, event, header, lit, value
from tests.expression.strategies import expressions, payloads


def test_an_attribute_is_read_from_the_payload() -> None:
    assert value(attribute("a"), a=7) == 7


def test_a_missing_attribute_is_null() -> None:
    assert value(attribute("b"), a=7) is None


def test_an_unbound_variable_is_null() -> None:
    assert evaluate(attribute("a"), {}) is None
    assert evaluate(header(HeaderField.VS), {}) is None


def test_the_empty_variable_is_the_row_itself() -> None:
    assert evaluate(attribute("a", variable=""), {"": event(a=7)}) == 7


def test_an_unresolved_name_is_null() -> None:
    assert value(Name(("x", "a")), a=7) is None


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (HeaderField.ID, "a1"),
        (HeaderField.VS, 5),
        (HeaderField.VE, 9),
        (HeaderField.OS, 6),
        (HeaderField.OE, FOREVER),
        (HeaderField.RT, 5),
    ],
)
def test_header_fields(field: HeaderField, expected: Value) -> None:
    """R2, R20: the header fields of every variable."""
    assert evaluate(header(field), {"x": primitive("A", "a1", 5, 9, occurrence_start=6)}) == expected


class Colour(enum.IntEnum):
    RED = 3


class Word(str):
    __slots__ = ()


class Day(date):
    pass


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (float("nan"), None),
        (float("-inf"), None),
        (Decimal("sNaN"), None),
        (Decimal("Infinity"), None),
        (Decimal("1E+9999"), None),
        (Decimal("0E+9999"), Decimal(0)),
        (Colour.RED, 3),
        (Word("a"), "a"),
        (Day(2026, 1, 31), date(2026, 1, 31)),
        (datetime(1970, 1, 1, 0, 0, 1), 1_000_000),  # noqa: DTZ001 - without a zone it is UTC
        (datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC), 2_000_000),
        (object(), None),
    ],
)
def test_strange_values_become_plain(given: Any, expected: Value) -> None:
    result = plain(given)
    assert result == expected
    assert type(result) is type(expected)


LONG = 5_000


@pytest.mark.parametrize("sign", ["AND", "OR"])
@pytest.mark.parametrize("nested", ["left", "right"])
def test_a_chain_of_thousands_of_terms(sign: str, nested: str) -> None:
    term = lit(sign == "AND")
    chain: Expression = term
    for _ in range(LONG):
        chain = Binary(sign, chain, term) if nested == "left" else Binary(sign, term, chain)
    assert value(chain) is (sign == "AND")


def test_a_sum_of_thousands_of_terms() -> None:
    chain: Expression = attribute("a")
    for _ in range(LONG):
        chain = binary(chain, "+", 1)
    assert value(chain, a=3) == LONG + 3


def test_what_is_decided_is_not_looked_at_further() -> None:
    seen: list[str] = []

    class Watched(dict[str, Any]):
        def get(self, key: str, default: Any = None) -> Any:
            seen.append(key)
            return super().get(key, default)

    first = binary(attribute("a", variable="x"), "=", 1)
    second = binary(attribute("a", variable="y"), "=", 1)
    environment = Watched(x=event(a=2), y=event(a=1))
    assert holds(Binary("AND", first, second), environment) is False
    assert seen == ["x"]
    assert holds(Binary("OR", second, first), environment) is True
    assert seen == ["x", "y"]


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [
        (Aggregate("AVG", (attribute("a"), attribute("b"))), 2.0),
        (Aggregate("AVG", (attribute("a"), attribute("missing"))), 1.0),
        (Aggregate("COUNT", (attribute("a"), attribute("missing"), attribute("b"))), 2),
        (Aggregate("COUNT", (header(HeaderField.ID), header(HeaderField.ID, "unbound")), star=True), 1),
        (Aggregate("COUNT", (attribute("a"), attribute("a")), distinct=True), 1),
        (Aggregate("MAX", (attribute("a"), attribute("b"))), 3),
        (Aggregate("NONE", (attribute("a"),)), None),
    ],
)
def test_an_aggregate_runs_over_its_arguments(aggregate: Aggregate, expected: Value) -> None:
    """R23: one argument for each contributor."""
    assert value(aggregate, a=1, b=3) == expected


def test_an_unknown_function_and_wrong_arguments_are_null() -> None:
    assert value(call("NO_SUCH", 1)) is None
    assert value(call("ABS")) is None
    assert value(call("ABS", 1, 2)) is None


def test_function_names_in_any_case() -> None:
    assert value(Call("abs", (lit(-1),))) == 1


def test_arguments_that_are_chosen_among_take_the_wider_type() -> None:
    assert repr(value(call("COALESCE", None, 1, 2.5))) == "1.0"
    assert repr(value(call("LEAST", 1, Decimal("2.5")))) == "Decimal('1')"
    assert repr(value(call("GREATEST", True, False))) == "True"


def test_the_cache_forgets_but_never_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CACHED", {})
    monkeypatch.setattr(module, "_CACHE_SIZE", 2)
    for number in range(20):
        assert evaluate(binary(number, "+", 1), {}) == number + 1
    assert len(module._CACHED) <= 2


@given(expressions, payloads, payloads)
def test_nothing_raises_and_compiled_equals_evaluated(expression: Expression, x: Any, y: Any) -> None:
    environment = {"x": primitive("A", "a1", 5, payload=x), "y": primitive("B", "b1", 7, 9, payload=y)}
    result = evaluate(expression, environment)
    assert compile_expression(expression)(environment) == result
    assert plain(result) == result, "neither NaN nor an infinity leaves an expression"
    assert holds(expression, environment) is (result is True)


def test_a_conjunction_of_thousands_is_not_deep() -> None:
    """It can be compared and hashed, which go down the tree by recursion."""
    terms = tuple(binary(attribute(f"a{n}"), "=", n) for n in range(LONG))
    assert conjunction(terms) == conjunction(terms)
    assert hash(conjunction(terms)) == hash(conjunction(terms))
    assert value(conjunction(terms), **{f"a{n}": n for n in range(LONG)}) is True


def test_fit_keeps_what_has_no_range() -> None:
    assert fit("a") == "a"
    assert fit(None) is None


def test_not_of_a_chain() -> None:
    assert value(Unary("NOT", binary(binary(1, "=", 1), "AND", binary(1, "=", 2)))) is True
