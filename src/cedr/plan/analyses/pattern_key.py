"""The key of a pattern: where equalities link all its inputs, rows with different values never meet.

Paper: Section 3.1 (correlation keys).  Readings: R21, R22, R26, R27.  This changes no meaning, only the cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cedr.expression.tree import Binary, Expression, Way, way_of, ways_in
from cedr.plan import logical
from cedr.plan.analyses.shape import certain, positive_inputs
from cedr.plan.traits.registry import traits_of

Side = tuple[str, Way]
"""A variable and an attribute of it, or a field inside of one."""


class Key(NamedTuple):
    """A class of attributes that are equal in every instance: one for each input, and the predicates that say so."""

    sides: tuple[Side, ...]
    predicates: tuple[Expression, ...]


def key_of(node: logical.Pattern) -> Key | None:
    """The first class of equal attributes that reaches every input of a pattern; None: there is none."""
    names = [certain(part) for part in logical.inputs(node)]
    if len(names) < 2:
        return None
    chosen_by: Iterable[Expression] = node.predicates
    keys = traits_of(node).keys
    same_name = any(p.consume for p in logical.parameters(node)) or not keys.ordered(node)
    if node.disjoint is not None:  # acts across all keys but the query's CorrelationKey (R27)
        same_name = True
        chosen_by = _on_attributes(node.predicates, node.disjoint.keys)
    pairs = keys.meeting(node) < len(names)
    links = [(p, *sides) for p in chosen_by if (sides := equality(p)) is not None]
    orders = [_bound(part) for part in logical.inputs(node)]
    for members in _classes([(left, right) for _, left, right in links], direct=pairs):
        found = [_latest(members, bound, order) for bound, order in zip(names, orders, strict=True)]
        chosen = tuple(side for side in found if side is not None)
        if len(chosen) == len(names) and not (same_name and len({a for _, a in chosen}) > 1):
            alike = [_alike(part, side) for part, side in zip(logical.inputs(node), chosen, strict=True)]
            same = frozenset[Side]().union(*alike)
            return Key(chosen, tuple(p for p, left, right in links if left in same and right in same))
    return None


def _bound(node: logical.Node) -> list[str]:
    """The variables of a pattern, in its order."""
    if traits_of(node).shape.hides_variables:
        return []
    below = [name for part in positive_inputs(node) for name in _bound(part)]
    return [*below, node.variable] if isinstance(node, logical.Rename) else below


def _latest(members: list[Side], bound: frozenset[str], order: list[str]) -> Side | None:
    """Of the sides that are bound the one that comes last: its rows are the newest, and lie together."""
    return max((s for s in members if s[0] in bound), key=lambda side: order.index(side[0]), default=None)


def _alike(node: logical.Node, side: Side) -> frozenset[Side]:
    """The attributes that equal one of them in every row of an input, by the predicates below."""
    links = _settled(node, certain(node))
    found = next((members for members in _classes(links, direct=False) if side in members), [side])
    return frozenset(found)


def _settled(node: logical.Node, names: frozenset[str]) -> list[tuple[Side, Side]]:
    if traits_of(node).shape.hides_variables:
        return []  # other variables
    predicates = node.predicates if isinstance(node, logical.Pattern) else ()
    own = [sides for p in predicates if (sides := equality(p)) is not None and {s[0] for s in sides} <= names]
    return own + [link for part in positive_inputs(node) for link in _settled(part, names)]


def equality(predicate: Expression) -> tuple[Side, Side] | None:
    """The two attributes that a predicate says are equal; None: it says something else."""
    if not (isinstance(predicate, Binary) and predicate.operator == "="):
        return None
    left, right = way_of(predicate.left), way_of(predicate.right)
    return None if left is None or right is None else (left, right)


def _on_attributes(predicates: Iterable[Expression], keys: Iterable[Expression]) -> list[Expression]:
    """The equalities whose two sides are an attribute that the keys read."""
    read = frozenset[Way]().union(*map(ways_in, keys))
    found = []
    for predicate in predicates:
        sides = equality(predicate)
        if sides is not None and sides[0][1] == sides[1][1] and sides[0][1] in read:
            found.append(predicate)
    return found


def _classes(links: list[tuple[Side, Side]], *, direct: bool) -> list[list[Side]]:
    classes: list[list[Side]] = []
    for left, right in links:
        touched = [c for c in classes if left in c or right in c]
        merged = sorted({left, right}.union(*touched))
        classes = [c for c in classes if c not in touched] + [merged]
    if not direct:
        return classes
    linked = {frozenset(link) for link in links}
    return [c for c in classes if all(frozenset((a, b)) in linked for a in c for b in c if a < b)]


def nulls_matter(node: logical.Pattern) -> tuple[bool, ...]:
    """For each input whether a row with a NULL key can bear on anything.  Reading: R22: it agrees with nothing."""
    return traits_of(node).keys.nulls_matter(node)
