"""What a query reads of its events: types, attributes, and predicates on single events.

Readings: R9 and R10 (a selection must not drop versions of a modified event), R21, R33.  In doubt an attribute counts
as read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from cedr.expression.tree import Attribute, Expression, Way, conjunction, ways_in
from cedr.expression.tree import walk as walk_expression
from cedr.plan.analyses.reads import expressions_of, types_read
from cedr.plan.analyses.schema import attributes_of
from cedr.plan.logical import (
    Coalesce,
    Difference,
    Distinct,
    Node,
    Rename,
    Select,
    Source,
    Union,
    inputs,
    walk,
)


def attributes_read(plan: Node) -> Mapping[str, frozenset[str]]:
    """For each event type, the attributes that the plan may read."""
    types = types_read(plan)
    if any(isinstance(node, Distinct | Coalesce | Difference | Union) for node in walk(plan)):
        return {name: frozenset(of.attributes) for name, of in types.items()}
    asked = {part.name for node in walk(plan) for part in _expressions(node) if isinstance(part, Attribute)}
    asked |= set(attributes_of(plan))
    return {name: frozenset(set(of.attributes) & asked) for name, of in types.items()}


def fields_read(plan: Node) -> Mapping[str, frozenset[Way]]:
    """For each attribute of which the plan reads only fields, the paths of these fields inside the attribute."""
    if any(isinstance(node, Distinct | Coalesce | Difference | Union) for node in walk(plan)):
        return {}
    found = {way for node in walk(plan) for expression in expressions_of(node) for way in ways_in(expression)}
    found |= {(name,) for name in attributes_of(plan)}
    whole = {way[0] for way in found if len(way) == 1}
    names = {way[0] for way in found} - whole
    return {name: frozenset(way[1:] for way in found if way[0] == name) for name in names}


def _expressions(node: object) -> Iterator[Expression]:
    """All expressions of one operator, in any of its fields."""
    if isinstance(node, Expression):
        yield from walk_expression(node)
    elif isinstance(node, tuple | list):
        for part in node:
            yield from _expressions(part)
    elif is_dataclass(node):
        for each in fields(node):
            value = getattr(node, each.name)
            if not isinstance(value, Node):
                yield from _expressions(value)


def selections(plan: Node) -> Mapping[str, tuple[Expression, ...]]:
    """For each event type the predicates of all places where the plan reads it.

    An event for which none of them can be true does not affect the result.  Types that some place reads without a
    predicate are left out.  So are revisable types: a version that fails a predicate still closes one that passed.
    """
    found: dict[str, list[Expression]] = {}
    bare: set[str] = set()
    for node, predicates in _leaves(plan, ()):
        if predicates:
            found.setdefault(node.type.name, []).append(conjunction(predicates))
        else:
            bare.add(node.type.name)
    kept = {name for name, of in types_read(plan).items() if name not in bare and not of.revisable}
    return {name: tuple(of) for name, of in found.items() if name in kept}


def _leaves(node: Node, above: tuple[Expression, ...]) -> Iterator[tuple[Source, tuple[Expression, ...]]]:
    """The sources, each with the predicates directly above it."""
    if isinstance(node, Source):
        yield node, above
    elif isinstance(node, Select):
        yield from _leaves(node.input, (*above, node.predicate))
    elif isinstance(node, Rename):
        yield from _leaves(node.input, above)
    else:
        for below in inputs(node):
            yield from _leaves(below, ())
