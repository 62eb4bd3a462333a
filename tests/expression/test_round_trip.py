"""The text of an expression, parsed, is the same expression.  R20."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.calendar import moment
from cedr.expression.functions import FUNCTIONS
from cedr.expression.render import render
from cedr.expression.tree import Attribute, Call, Expression, Header, Literal, Name, transform
from cedr.expression.typing import infer
from cedr.language.parse import parse
from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, FOREVER
from tests.expression.building import lit, value
from tests.expression.strategies import expressions

WRITTEN = frozenset(set(DataType) - {DataType.ANY, DataType.NULL, DataType.LIST, DataType.STRUCT, DataType.DECIMAL})


def parsed(text: str) -> Expression:
    body: Any = parse(f"EVENT Q FROM T AS t WHERE {text}").statements[0]
    return body.body.where  # type: ignore[no-any-return]


def as_written(node: Expression) -> Expression | None:
    """Names unresolved, and only literals that the language can write."""
    if isinstance(node, Attribute):
        return Name((node.variable, node.name))
    if isinstance(node, Header):
        return Name((node.variable, node.field.value))
    if isinstance(node, Literal):
        unwritten = node.value == BEGINNING if node.type is DataType.DURATION else _on_no_calendar(node)
        return node if node.type in WRITTEN and node.value is not None and not unwritten else lit(None)
    return None


def _on_no_calendar(node: Literal) -> bool:
    ticks: Any = node.value
    return node.type is DataType.TIMESTAMP and ticks not in (None, FOREVER) and moment(ticks) is None


@given(expressions.map(lambda expression: transform(expression, as_written)))
def test_parse_of_render_is_the_expression(expression: Expression) -> None:
    assert parsed(render(expression)) == expression


@given(st.text(min_size=1))
def test_every_name_survives(name: str) -> None:
    expression = Name(("x", name))
    assert parsed(render(expression)) == expression


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.name)
def test_the_example_of_a_function_can_be_written(function: Any) -> None:
    expression = parsed(render(Call(function.name, function.example[0])))
    faults: list[Any] = []
    infer(expression, faults.append)
    assert faults == []
    assert value(expression) == function.example[1].value
