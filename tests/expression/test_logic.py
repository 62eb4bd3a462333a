"""Three-valued logic by hand: every truth table, NULL in every position.  R20."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.evaluate import holds
from cedr.expression.tree import Between, Binary, Case, Expression, In, IsNull, Like, Unary
from cedr.model.event import Payload
from tests.expression.building import NULL, attribute, binary, lit, negated, of, value

AND = {
    (True, True): True,
    (True, False): False,
    (True, None): None,
    (False, True): False,
    (False, False): False,
    (False, None): False,
    (None, True): None,
    (None, False): False,
    (None, None): None,
}
OR = {
    (True, True): True,
    (True, False): True,
    (True, None): True,
    (False, True): True,
    (False, False): False,
    (False, None): None,
    (None, True): True,
    (None, False): None,
    (None, None): None,
}


@pytest.mark.parametrize(("pair", "expected"), AND.items())
def test_and(pair: tuple[Any, Any], expected: bool | None) -> None:
    assert of(pair[0], "AND", pair[1]) is expected


@pytest.mark.parametrize(("pair", "expected"), OR.items())
def test_or(pair: tuple[Any, Any], expected: bool | None) -> None:
    assert of(pair[0], "OR", pair[1]) is expected


@pytest.mark.parametrize(("operand", "expected"), [(True, False), (False, True), (None, None)])
def test_not(operand: Any, expected: bool | None) -> None:
    assert value(negated(operand)) is expected


@pytest.mark.parametrize(("truth", "passes"), [(True, True), (False, False), (None, False)])
def test_only_true_passes(truth: Any, passes: bool) -> None:
    """R20: only *true* passes."""
    assert holds(lit(truth), {}) is passes


def test_what_is_no_truth_value_is_unknown() -> None:
    assert of(1, "AND", True) is None
    assert of(1, "AND", False) is False
    assert of("yes", "OR", False) is None
    assert value(negated(1)) is None


COMPARISONS: list[tuple[Any, str, Any, bool | None]] = [
    (1, "=", 1, True),
    (1, "=", 1.0, True),
    (1, "=", Decimal("1.00"), True),
    (0.1, "=", Decimal("0.1"), False),
    (1, "<>", 2, True),
    (1, "<", 2, True),
    (2, "<=", 2, True),
    (3, ">", 2.5, True),
    (2, ">=", 3, False),
    ("a", "<", "b", True),
    ("Z", "<", "a", True),
    (b"a", "<", b"b", True),
    (False, "<", True, True),
    (date(2026, 1, 1), "<", date(2026, 1, 2), True),
    ((1, 2), "=", (1, 2), True),
    ((1, 2), "<>", (1, 3), True),
    ((1, 2), "<", (1, 3), None),
    (Payload({"a": 1}), "=", Payload({"a": 1}), True),
    (Payload({"a": 1}), ">", Payload({"a": 0}), None),
    (1, "=", "1", None),
    (1, "=", True, None),
    ("2026-01-01", "=", date(2026, 1, 1), None),
    ((Decimal("sNaN"),), "=", (1,), None),
    (float("nan"), "=", float("nan"), None),
    (float("inf"), ">", 1, None),
    (Decimal("NaN"), "<>", 1, None),
]


@pytest.mark.parametrize(("left", "sign", "right", "expected"), COMPARISONS)
def test_comparison(left: Any, sign: str, right: Any, expected: bool | None) -> None:
    assert of(left, sign, right) is expected


@pytest.mark.parametrize(
    ("left", "sign", "right"),
    [
        (left, sign, right)
        for sign in ("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "DIV", "||")
        for left, right in ((None, 1), (1, None), (None, None), ("a", None), (None, "a"))
    ],
)
def test_null_in_every_position(left: Any, sign: str, right: Any) -> None:
    assert of(left, sign, right) is None


@pytest.mark.parametrize(
    ("operand", "low", "high", "expected"),
    [
        (2, 1, 3, True),
        (1, 1, 3, True),
        (3, 1, 3, True),
        (0, 1, 3, False),
        (4, 1, 3, False),
        (None, 1, 3, None),
        (2, None, 3, None),
        (2, 1, None, None),
        (4, None, 3, False),
        (0, 1, None, False),
        ("b", "a", "c", True),
        ("b", 1, 3, None),
    ],
)
def test_between(operand: Any, low: Any, high: Any, expected: bool | None) -> None:
    parts = lit(operand), lit(low), lit(high)
    assert value(Between(*parts)) is expected
    assert value(Between(*parts, negated=True)) is (None if expected is None else not expected)


IN: list[tuple[Any, tuple[Any, ...], bool | None]] = [
    (1, (1, 2), True),
    (3, (1, 2), False),
    (1, (1, None), True),
    (3, (1, None), None),
    (None, (1, 2), None),
    (None, (None,), None),
    (1, ("a", "b"), None),
    (1, ("a", 1), True),
    (1, ("a", 2), None),
    (1.0, (1, 2), True),
    (True, (1,), None),
    ((1,), ((1,), (2,)), True),
    ((3,), ((1,), (2,)), False),
    (1, (), False),
]


@pytest.mark.parametrize(("operand", "items", "expected"), IN)
def test_in(operand: Any, items: tuple[Any, ...], expected: bool | None) -> None:
    opposite = None if expected is None else not expected
    constants = tuple(lit(item) for item in items)
    assert value(In(lit(operand), constants)) is expected
    assert value(In(lit(operand), constants, negated=True)) is opposite
    computed = tuple(Case(((lit(True), constant),)) for constant in constants)
    assert value(In(lit(operand), computed)) is expected
    assert value(In(lit(operand), computed, negated=True)) is opposite


@pytest.mark.parametrize(
    ("text", "pattern", "expected"),
    [
        ("abc", "abc", True),
        ("abc", "a%", True),
        ("abc", "%c", True),
        ("abc", "%b%", True),
        ("abc", "a_c", True),
        ("abc", "_", False),
        ("abc", "%", True),
        ("", "%", True),
        ("", "", True),
        ("abab", "a%ab", True),
        ("ab", "a%ab", False),
        ("axbxc", "a%b%c", True),
        ("acb", "a%b%c", False),
        ("acb", "%c%b%c%", False),
        ("a\nb", "a_b", True),
        ("a.b", "a.b", True),
        ("axb", "a.b", False),
        ("100%", r"100\%", True),
        ("1000", r"100\%", False),
        ("a_b", r"a\_b", True),
        ("axb", r"a\_b", False),
        ("a\\", "a\\\\", True),
        ("a", "a\\", None),
        (None, "a", None),
        ("a", None, None),
        (5, "5", None),
        ("5", 5, None),
    ],
)
def test_like(text: Any, pattern: Any, expected: bool | None) -> None:
    assert value(Like(lit(text), lit(pattern))) is expected
    assert value(Like(lit(text), lit(pattern), negated=True)) is (None if expected is None else not expected)


def test_like_takes_no_exponential_time() -> None:
    assert value(Like(lit("a" * 5_000), lit("%a" * 50 + "%b"))) is False


@pytest.mark.parametrize(("operand", "expected"), [(None, True), (1, False), (False, False), ((), False)])
def test_is_null(operand: Any, expected: bool) -> None:
    assert value(IsNull(lit(operand))) is expected
    assert value(IsNull(lit(operand), negated=True)) is not expected


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [((True, True), "first"), ((None, True), "second"), ((False, None), "default"), ((False, False), "default")],
)
def test_case(conditions: tuple[Any, Any], expected: str) -> None:
    branches = tuple((lit(c), lit(r)) for c, r in zip(conditions, ("first", "second"), strict=True))
    assert value(Case(branches, lit("default"))) == expected


def test_case_without_default_is_null() -> None:
    assert value(Case(((lit(False), lit(1)),))) is None


def test_case_gives_the_wider_number_type() -> None:
    branches = ((lit(True), lit(1)), (lit(False), lit(2.5)))
    assert repr(value(Case(branches))) == "1.0"
    branches = ((lit(False), lit(1)), (NULL, lit(Decimal("2.5"))))
    assert repr(value(Case(branches, lit(7)))) == "Decimal('7')"
    assert repr(value(Case(((lit(True), attribute("a")), (lit(True), lit(0.5)))), a=1)) == "1"


def naive(node: Expression) -> bool | None:
    """Three-valued logic once more, as SQL's standard puts it: AND is the minimum, OR the maximum, NOT the mirror."""
    if isinstance(node, Unary):
        inner = naive(node.operand)
        return None if inner is None else not inner
    if isinstance(node, Binary):
        rank = {False: 0, None: 1, True: 2}
        pick = min if node.operator == "AND" else max
        return pick((naive(node.left), naive(node.right)), key=lambda truth: rank[truth])
    return node.value  # type: ignore[attr-defined,no-any-return]


logical = st.recursive(
    st.sampled_from([lit(True), lit(False), NULL]),
    lambda part: st.builds(Binary, st.sampled_from(["AND", "OR"]), part, part) | st.builds(Unary, st.just("NOT"), part),
    max_leaves=30,
)


@given(logical)
def test_logic_agrees_with_the_ranks_of_the_standard(node: Expression) -> None:
    assert value(node) is naive(node)


def test_comparisons_are_consistent() -> None:
    for left, right in product([None, 1, 2, 2.0, Decimal(2), "a", "b"], repeat=2):
        less, equal, greater = (of(left, sign, right) for sign in ("<", "=", ">"))
        assert {less, equal, greater} == {None} or [less, equal, greater].count(True) == 1
        assert of(left, "<>", right) is (None if equal is None else not equal)
        assert value(negated(binary(left, "<", right))) is of(left, ">=", right)
