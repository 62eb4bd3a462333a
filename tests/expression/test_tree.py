"""The tree: walking, rebuilding, conjunctions.  R20."""

from __future__ import annotations

import pytest
from hypothesis import given

from cedr.diagnostics.span import Source, Span
from cedr.expression.tree import (
    TRUE,
    Aggregate,
    Attribute,
    Binary,
    Case,
    Expression,
    HeaderField,
    Literal,
    Name,
    aggregates,
    children,
    conjunction,
    conjuncts,
    transform,
    variables,
    walk,
)
from tests.expression.building import attribute, binary, call, header, lit
from tests.expression.strategies import expressions

LONG = 5_000


def test_children_are_in_order() -> None:
    case = Case(((lit(1), lit(2)), (lit(3), lit(4))), lit(5))
    assert [part.value for part in children(case) if isinstance(part, Literal)] == [1, 2, 3, 4, 5]


def test_variables() -> None:
    assert variables(binary(attribute("a"), "=", header(HeaderField.VS, "y"))) == {"x", "y"}


def test_aggregates() -> None:
    inner = Aggregate("SUM", (attribute("a"),))
    assert aggregates(binary(inner, "+", 1)) == (inner,)


def test_transform_puts_an_expression_in_place_of_another() -> None:
    resolved = transform(
        call("ABS", Name(("a",)), binary(Name(("b",)), "+", 1)),
        lambda node: Attribute("x", node.parts[0]) if isinstance(node, Name) else None,
    )
    assert resolved == call("ABS", attribute("a"), binary(attribute("b"), "+", 1))


def test_transform_asks_top_down_and_not_below_what_changed() -> None:
    seen: list[Expression] = []
    sum_ = binary(1, "+", 2)

    def change(node: Expression) -> Expression | None:
        seen.append(node)
        return lit(3) if node == sum_ else None

    assert transform(binary(sum_, "*", 4), change) == binary(3, "*", 4)
    assert seen == [binary(sum_, "*", 4), sum_, lit(4)]


def test_transform_keeps_names() -> None:
    name = Name(("x", "a"))
    assert transform(binary(name, "+", 1), lambda _: None) == binary(name, "+", 1)


@given(expressions)
def test_transform_by_nothing_changes_nothing(expression: Expression) -> None:
    assert transform(expression, lambda _: None) == expression
    assert sum(1 for _ in walk(expression)) >= 1


@pytest.mark.parametrize("count", [0, 1, 2, 3, 64, 65, 100, LONG])
def test_conjuncts_of_a_conjunction_are_its_parts(count: int) -> None:
    parts = tuple(binary(attribute("a"), "=", n) for n in range(count))
    assert conjuncts(conjunction(parts)) == (parts or (TRUE,))


def test_a_short_conjunction_groups_from_the_left() -> None:
    a, b, c = (attribute(name) for name in "abc")
    assert conjunction((a, b, c)) == Binary("AND", Binary("AND", a, b), c)


def test_deep_chains_do_not_hit_the_recursion_limit() -> None:
    chain: Expression = attribute("a")
    for _ in range(LONG):
        chain = Binary("AND", chain, attribute("a"))
    assert len(conjuncts(chain)) == LONG + 1
    changed = transform(chain, lambda node: lit(True) if isinstance(node, Attribute) else None)
    assert variables(changed) == frozenset()


def test_the_place_takes_no_part_in_comparison() -> None:
    place = Span(Source("q", "a"), 0, 1)
    assert Name(("a",), span=place) == Name(("a",))
