"""What a plan reads of its sources: which event types, and which attributes of each.

Reading: R20.  A host need not carry what nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from cedr.expression.tree import Attribute, Expression
from cedr.expression.tree import walk as walk_expression
from cedr.model.schema import EventType
from cedr.plan import logical
from cedr.plan.logical import Node
from cedr.plan.traits.registry import traits_of


def types_read(plan: Node) -> dict[str, EventType]:
    """The event types that a plan reads, by name."""
    return {node.type.name: node.type for node in logical.walk(plan) if isinstance(node, logical.Source)}


def reads_of(plan: Node) -> dict[str, frozenset[str] | None]:
    """The event types that a plan reads, each with the attributes that it needs; None: all of them.

    By name: an attribute that is read of one type is kept of all that have it.
    """
    names = frozenset(
        part.name
        for node in logical.walk(plan)
        for expression in expressions_of(node)
        for part in walk_expression(expression)
        if isinstance(part, Attribute)
    )
    whole = _whole(plan)
    sources = {node.type.name for node in logical.walk(plan) if isinstance(node, logical.Source)}
    return {name: None if name in whole else names for name in sources}


def reads_of_all(plans: Iterable[Node]) -> dict[str, frozenset[str] | None]:
    """What several plans read together."""
    found: dict[str, frozenset[str] | None] = {}
    for plan in plans:
        for name, attributes in reads_of(plan).items():
            known = found.get(name, frozenset())
            found[name] = None if known is None or attributes is None else known | attributes
    return found


def _whole(node: Node) -> frozenset[str]:
    """The event types whose payload shows as it is: rows of theirs are output, or compared, with no projection."""
    if isinstance(node, logical.Project):
        return _compared(node.input)
    if isinstance(node, logical.Source):
        return frozenset({node.type.name})
    return frozenset[str]().union(*map(_whole, logical.inputs(node)))


def _compared(node: Node) -> frozenset[str]:
    """The event types of which whole payloads are compared below a projection: versions of an event, or rows."""
    traits = ((part, traits_of(part)) for part in logical.walk(node))
    found = [_whole(part) for part, of in traits if of.shape.merges_versions or of.keys.compares_rows]
    return frozenset[str]().union(*found)


def expressions_of(node: Node) -> Iterable[Expression]:
    """All expressions that a node itself holds."""
    todo: list[object] = [getattr(node, item.name) for item in fields(node)]
    while todo:
        held = todo.pop()
        if isinstance(held, Expression):
            yield held
        elif isinstance(held, tuple):
            todo.extend(held)
        elif isinstance(held, logical.Column):
            todo.append(held.expression)
        elif isinstance(held, logical.AggregateColumn):
            todo.append(held.aggregate)
        elif isinstance(held, logical.Disjoint):
            todo.extend(held.keys)
