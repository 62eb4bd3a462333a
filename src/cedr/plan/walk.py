"""Rebuilding plans: one place that knows how nodes hold their inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from cedr.plan.logical import Node, Parameter


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
