"""Groups: where equalities link all inputs of an operator, rows with different values never meet.

Paper: Section 3.1 (correlation keys).  Readings: R21, R22, R26, R27.  This changes no meaning, only the cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from cedr.expression.tree import Binary, Expression, Way, way_of, ways_in
from cedr.expression.values import kind
from cedr.plan import logical
from cedr.plan.shape import certain, positive_inputs
from cedr.runtime.expressions.compile import compile_vector, to_values
from cedr.runtime.operators.mechanism.inputs import Grouping
from cedr.runtime.store.key_codes import Codes, Grouped, Place
from cedr.runtime.store.relation import Frame, Hop, Relation, follow
from cedr.runtime.store.table import Rows

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
    same_name = any(p.consume for p in logical.parameters(node)) or isinstance(node, logical.AtLeast)
    if node.disjoint is not None:  # acts across all keys but the query's CorrelationKey (R27)
        same_name = True
        chosen_by = _on_attributes(node.predicates, node.disjoint.keys)
    pairs = isinstance(node, logical.AtLeast) and node.count < len(node.parameters)
    links = [(p, *sides) for p in chosen_by if (sides := _equality(p)) is not None]
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
    if isinstance(node, logical.Query | logical.Project):
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
    if isinstance(node, logical.Query | logical.Project):
        return []  # other variables
    predicates = node.predicates if isinstance(node, logical.Pattern) else ()
    own = [sides for p in predicates if (sides := _equality(p)) is not None and {s[0] for s in sides} <= names]
    return own + [link for part in positive_inputs(node) for link in _settled(part, names)]


def _equality(predicate: Expression) -> tuple[Side, Side] | None:
    if not (isinstance(predicate, Binary) and predicate.operator == "="):
        return None
    left, right = way_of(predicate.left), way_of(predicate.right)
    return None if left is None or right is None else (left, right)


def _on_attributes(predicates: Iterable[Expression], keys: Iterable[Expression]) -> list[Expression]:
    """The equalities whose two sides are an attribute that the keys read."""
    read = frozenset[Way]().union(*map(ways_in, keys))
    found = []
    for predicate in predicates:
        sides = _equality(predicate)
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


def coded(codes: Codes, relations: Sequence[Relation], sides: Sequence[Side]) -> list[Grouping]:
    """Groupings of the rows of some relations by attributes that are compared with each other."""
    found = [_column(codes, relation, side) for relation, side in zip(relations, sides, strict=True)]
    codes.link([place for _, place in found])
    return [_Reader(codes, hops, place) for hops, place in found]


def _column(codes: Codes, relation: Relation, side: Side) -> tuple[tuple[Hop, ...], Place]:
    variable, (name, *fields) = side
    reach = relation.variables[variable]
    hops, table, there = reach.target.stored(name)
    return (*reach.hops, *hops), codes.column(table, (there, *fields))


class _Reader:
    """The codes of a column that rows reach along some hops."""

    def __init__(self, codes: Codes, hops: tuple[Hop, ...], place: Place) -> None:
        self._codes, self._hops, self._place = codes, hops, place

    def __call__(self, rows: Rows) -> Rows:
        return self._codes.of(self._place, follow(self._hops, rows))

    def register(self, reader: Grouped) -> None:
        """From now on a reader is told when codes change."""
        self._codes.register(self._place, reader)


class Tuples:
    """Groupings by the values of several expressions, for what no single attribute tells: ATMOST by its keys."""

    def __init__(self) -> None:
        self._codes: dict[tuple[object, ...], int] = {}

    def grouping(self, relation: Relation, keys: Sequence[Expression]) -> Grouping:
        """The groups of the rows of a relation; 0 where a key is NULL, which agrees with nothing."""
        return _TupleReader(self, relation, keys)

    def code(self, values: tuple[object, ...]) -> int:
        """The group of some values."""
        if None in values:
            return 0
        key = tuple((kind(value), value) for value in values)  # type: ignore[arg-type]
        return self._codes.setdefault(key, len(self._codes) + 1)


class _TupleReader:
    """The groups of the rows of a relation by the values of several expressions."""

    def __init__(self, tuples: Tuples, relation: Relation, keys: Sequence[Expression]) -> None:
        self._tuples, self._relation = tuples, relation
        self._keys = [compile_vector(key) for key in keys]

    def __call__(self, rows: Rows) -> Rows:
        frame = Frame([(self._relation, rows)])
        columns = [to_values(vector(frame)) for vector in self._keys]
        return np.array([self._tuples.code(values) for values in zip(*columns, strict=True)], dtype=np.int64)

    def register(self, reader: Grouped) -> None:
        """Groups never change here."""


def nulls_matter(node: logical.Pattern, count: int) -> list[bool]:
    """For each input whether a row with a NULL key can bear on anything.  Reading: R22: it agrees with nothing."""
    match node:
        case logical.Unless() | logical.UnlessNth() | logical.CancelWhen():
            return [True, False]
        case logical.Not():
            return [False, True]
        case logical.AtLeast(count=1):
            return [True] * count
        case _:
            return [False] * count
