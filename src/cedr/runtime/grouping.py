"""Groups: where equalities link all inputs of an operator, rows with different values never meet.

Paper: Section 3.1 (correlation keys).  Readings: R21, R22, R26, R27.  This changes no meaning, only the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from cedr.expression.tree import Attribute, Binary, Expression, walk
from cedr.expression.values import kind
from cedr.plan import logical
from cedr.plan.shape import certain
from cedr.runtime.codes import Codes, Place
from cedr.runtime.expressions import compile_vector, to_values
from cedr.runtime.inputs import Grouping
from cedr.runtime.relation import Frame, Hop, Relation, follow
from cedr.runtime.table import Rows

Side = tuple[str, str]
"""A variable and an attribute of it."""


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
    for members in _classes([(left, right) for _, left, right in links], direct=pairs):
        found = [next((side for side in members if side[0] in bound), None) for bound in names]
        chosen = tuple(side for side in found if side is not None)
        if len(chosen) == len(names) and not (same_name and len({a for _, a in chosen}) > 1):
            return Key(chosen, tuple(p for p, left, right in links if left in chosen and right in chosen))
    return None


def _equality(predicate: Expression) -> tuple[Side, Side] | None:
    if not (isinstance(predicate, Binary) and predicate.operator == "="):
        return None
    left, right = predicate.left, predicate.right
    if isinstance(left, Attribute) and isinstance(right, Attribute):
        return (left.variable, left.name), (right.variable, right.name)
    return None


def _on_attributes(predicates: Iterable[Expression], keys: Iterable[Expression]) -> list[Expression]:
    """The equalities whose two sides are an attribute that the keys read."""
    names = {e.name for key in keys for e in walk(key) if isinstance(e, Attribute)}
    found = []
    for predicate in predicates:
        sides = _equality(predicate)
        if sides is not None and sides[0][1] == sides[1][1] and sides[0][1] in names:
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


def coded(codes: Codes, relations: Sequence[Relation], sides: Sequence[Side]) -> list[Callable[[Rows], Rows]]:
    """Groupings of the rows of some relations by attributes that are compared with each other."""
    found = [_column(codes, relation, side) for relation, side in zip(relations, sides, strict=True)]
    codes.link([place for _, place in found])
    return [_Reader(codes, hops, place) for hops, place in found]


def _column(codes: Codes, relation: Relation, side: Side) -> tuple[tuple[Hop, ...], Place]:
    variable, name = side
    reach = relation.variables[variable]
    hops, table, there = reach.target.stored(name)
    return (*reach.hops, *hops), codes.column(table, there)


class _Reader:
    """The codes of a column that rows reach along some hops."""

    def __init__(self, codes: Codes, hops: tuple[Hop, ...], place: Place) -> None:
        self._codes, self._hops, self.place = codes, hops, place

    def __call__(self, rows: Rows) -> Rows:
        return self._codes.of(self.place, follow(self._hops, rows))


class Tuples:
    """Groupings by the values of several expressions, for what no single attribute tells: ATMOST by its keys."""

    def __init__(self) -> None:
        self._codes: dict[tuple[object, ...], int] = {}

    def grouping(self, relation: Relation, keys: Sequence[Expression]) -> Grouping:
        """The groups of the rows of a relation; 0 where a key is NULL, which agrees with nothing."""
        compiled = [compile_vector(key) for key in keys]

        def read(rows: Rows) -> Rows:
            frame = Frame([(relation, rows)])
            columns = [to_values(vector(frame)) for vector in compiled]
            groups = [self._code(values) for values in zip(*columns, strict=True)]
            return np.array(groups, dtype=np.int64)

        return read

    def _code(self, values: tuple[object, ...]) -> int:
        if None in values:
            return 0
        key = tuple((kind(value), value) for value in values)  # type: ignore[arg-type]
        return self._codes.setdefault(key, len(self._codes) + 1)
