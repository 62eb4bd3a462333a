"""Predicate injection: putting the conjuncts of WHERE into the operators of WHEN.

Paper: Section 3.2, "placing the predicates from the WHERE clause into the denotation of the query, a process we refer
to as predicate injection".  Readings: R21, R22.  Each conjunct goes to the lowest operator under which all its
variables are bound; one that names a variable of a negated expression becomes part of "there does not exist".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations

from cedr.expression.tree import Attribute, Binary, Call, Expression, Literal, Way, down, variables
from cedr.model.modes import KeyMode
from cedr.plan import logical
from cedr.plan.analyses.scope import Leaf, bound_variables, leaves, positive_leaves
from cedr.plan.logical import Node
from cedr.plan.traits.registry import traits_of
from cedr.plan.walk import map_inputs


def inject(node: Node, predicate: Expression) -> Node:
    """The plan with one conjunct put where it belongs.  Reading: R21."""
    names = variables(predicate)
    if not names:
        return logical.Select(node, predicate, span=predicate.span)
    return _descend(node, predicate, names)


def _descend(node: Node, predicate: Expression, names: frozenset[str]) -> Node:
    for part in logical.inputs(node):
        if names <= bound_variables(part):
            return map_inputs(node, lambda p, into=part: _descend(p, predicate, names) if p is into else p)  # type: ignore[misc]
    if isinstance(node, logical.Pattern):
        if one_at_a_time(node):  # an instance binds one parameter only: the conjunct never applies
            return node
        return replace(node, predicates=(*node.predicates, predicate))
    return logical.Select(node, predicate, span=predicate.span)


def one_at_a_time(node: Node) -> bool:
    """Whether every instance of an operator has one contributor: ANY, ATMOST, ATLEAST(1, …)."""
    return traits_of(node).keys.meeting(node) == 1


def inject_all(node: Node, predicates: Iterable[Expression]) -> Node:
    """The plan with every conjunct put where it belongs."""
    for predicate in predicates:
        node = inject(node, predicate)
    return node


def key_conjuncts(node: Node, way: Way, mode: KeyMode) -> Iterator[Expression]:
    """What ``CorrelationKey(attribute, mode)`` says, as predicates.  Reading: R22.

    EQUAL: all contributors, negated ones included, agree.  UNIQUE: positive contributors pairwise differ, and a negated
    event counts only if it differs from all of them.
    """
    operator = "=" if mode is KeyMode.EQUAL else "<>"
    for left, right in combinations(list(leaves(node)), 2):
        if _comparable(left, right) and (mode is KeyMode.EQUAL or not (left.negations and right.negations)):
            yield Binary(operator, _attribute(left, way), _attribute(right, way))


def _comparable(left: Leaf, right: Leaf) -> bool:
    """Whether two leaves can be compared in one place: at most one negation lies between them, around both."""
    inner, outer = sorted((left, right), key=lambda leaf: -len(leaf.negations))
    depth = len(outer.negations)
    if inner.negations[:depth] != outer.negations:
        return False
    between = inner.negations[depth:]
    return not between or (len(between) == 1 and between[0] in outer.within)


def equals_conjuncts(node: Node, way: Way, value: Literal) -> Iterator[Expression]:
    """``[attribute EQUAL value]``: every contributor, negated ones included, has it.  Reading: R22."""
    return (Binary("=", _attribute(leaf, way), value) for leaf in leaves(node))


def _attribute(leaf: Leaf, way: Way) -> Expression:
    name, *fields = way
    found = leaf.source.type.attribute(name)
    assert found is not None
    return down(Attribute(leaf.variable, name, found, leaf.source.type.shapes.get(name)), tuple(fields))


def with_keys(node: Node, attributes: tuple[Way, ...]) -> Node:
    """Gives DISJOINT (R27) and ATMOST (R22) the query's CorrelationKey(…, EQUAL) attributes to act by.

    A query that is read by its name has a meaning of its own, whoever reads it (R32): keys stop there.
    """
    if not attributes or isinstance(node, logical.Query):
        return node
    node = map_inputs(node, lambda part: with_keys(part, attributes))
    if isinstance(node, logical.AtMost):
        keys = tuple(tuple(_key_of(p.input, a) for a in attributes) for p in node.parameters)
        node = replace(node, keys=keys)
    if isinstance(node, logical.Pattern) and node.disjoint is not None:
        disjoint = logical.Disjoint(tuple(_key_of(node, a) for a in attributes))
        node = replace(node, disjoint=disjoint)
    return node


def _key_of(node: Node, attribute: Way) -> Expression:
    """The value on which the contributors of a row agree: that of any which is bound."""
    parts = tuple(_attribute(leaf, attribute) for leaf in positive_leaves(node))
    return parts[0] if len(parts) == 1 else Call("COALESCE", parts)
