"""Groups: the rows of an operator's inputs by the codes of their key.

Paper: Section 3.1 (correlation keys).  Readings: R21, R22, R26, R27.  This changes no meaning, only the cost.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.expression.tree import Expression, Way
from cedr.expression.values import kind
from cedr.plan.analyses.pattern_key import Side
from cedr.runtime.expressions.compile import compile_vector, to_values
from cedr.runtime.operators.mechanism.inputs import Grouping
from cedr.runtime.store.key_codes import Codes, Grouped, Place
from cedr.runtime.store.relation import Frame, Hop, Relation, follow
from cedr.runtime.store.table import Rows, Table


def coded(codes: Codes, relations: Sequence[Relation], sides: Sequence[Side]) -> list[Grouping]:
    """Groupings of the rows of some relations by attributes that are compared with each other."""
    found = [_column(relation, side) for relation, side in zip(relations, sides, strict=True)]
    places = codes.compared([column for _, column in found])
    return [_Reader(codes, hops, place) for (hops, _), place in zip(found, places, strict=True)]


def _column(relation: Relation, side: Side) -> tuple[tuple[Hop, ...], tuple[Table, Way]]:
    variable, (name, *fields) = side
    reach = relation.variables[variable]
    hops, table, there = reach.target.stored(name)
    return (*reach.hops, *hops), (table, (there, *fields))


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
