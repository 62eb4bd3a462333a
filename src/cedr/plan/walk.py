"""Rebuilding plans: one place that knows how nodes hold their inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from cedr.expression.tree import Expression
from cedr.plan.logical import AggregateColumn, Column, Disjoint, Node, Parameter


def map_inputs(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node with each direct input replaced; the node itself where nothing changed."""
    updates: dict[str, Any] = {}
    for item in fields(node):
        value = getattr(node, item.name)
        if isinstance(value, Node):
            changed: Any = change(value)
        elif isinstance(value, tuple) and value and isinstance(value[0], Parameter):
            changed = tuple(_with_input(p, change(p.input)) for p in value)
            if all(a is b for a, b in zip(changed, value, strict=True)):
                changed = value
        else:
            continue
        if changed is not value:
            updates[item.name] = changed
    return replace(node, **updates) if updates else node


def _with_input(parameter: Parameter, node: Node) -> Parameter:
    return parameter if node is parameter.input else replace(parameter, input=node)


def map_expressions(node: Node, change: Callable[[Expression], Expression]) -> Node:
    """The node with each expression that it holds itself replaced; its inputs stay as they are."""
    updates = {}
    for item in fields(node):
        value = getattr(node, item.name)
        changed = _mapped(value, change)
        if changed is not value:
            updates[item.name] = changed
    return replace(node, **updates) if updates else node


def _mapped(value: Any, change: Callable[[Expression], Expression]) -> Any:
    match value:
        case Expression():
            return change(value)
        case Column():
            return replace(value, expression=change(value.expression))
        case AggregateColumn():
            updates: Any = {"aggregate": change(value.aggregate)}
            return replace(value, **updates)
        case Disjoint():
            return Disjoint(tuple(map(change, value.keys)))
        case tuple():
            found = tuple(_mapped(each, change) for each in value)
            return value if all(a is b for a, b in zip(found, value, strict=True)) else found
        case _:
            return value
