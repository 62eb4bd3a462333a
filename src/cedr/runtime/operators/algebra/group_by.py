"""GROUP BY: of each group the aggregates over what is alive, over maximal intervals of equal values.

Paper: Section 6.  Readings: R8 (IDs), R29, R30, R33 (ends).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cedr.expression.tree import Attribute
from cedr.model.event import Value
from cedr.plan import logical
from cedr.plan.logical import Column
from cedr.runtime.expressions.compile import columns_of, to_arrow, to_values
from cedr.runtime.expressions.vector import of_values
from cedr.runtime.ids.text_ids import Digests, MadeIds, Making, integer_digests
from cedr.runtime.operators.mechanism.accumulators import Values
from cedr.runtime.operators.mechanism.bag import timed
from cedr.runtime.operators.mechanism.groups import Groups
from cedr.runtime.operators.mechanism.instants import Instants
from cedr.runtime.operators.project import ARROW_TYPES
from cedr.runtime.store.relation import Frame, Passed, Reach, Relation, follow
from cedr.runtime.store.table import Mask, Rows, Table
from cedr.runtime.values.vector import Vector


class GroupBy(Instants):
    """Aggregates by group; a row refers to its group, which has the keys."""

    def __init__(self, node: logical.GroupBy, inputs: Sequence[Relation]) -> None:
        (self._input,) = inputs
        self._node = node
        groups = Groups(Table(None), self._keys, self._note)
        groups.table.columns.extend(0, {key.name: pa.nulls(0, ARROW_TYPES[key.type]) for key in node.keys})
        table = Table(MadeIds(self._made), [groups.table])
        table.columns.extend(0, {c.name: pa.nulls(0, ARROW_TYPES[c.type]) for c in node.aggregates})
        calls = [column.aggregate for column in node.aggregates]
        super().__init__(self._input, groups, table, calls)
        self._arguments = {str(n): call.arguments[0] for n, call in enumerate(calls) if not call.star}
        of_group = Reach(((table, 0),), Relation(groups.table, node.place))
        keys = {key.name: Passed(of_group, key.name, ARROW_TYPES[key.type]) for key in node.keys}
        projection: dict[str, Passed | None] = {**keys, **dict.fromkeys(c.name for c in node.aggregates)}
        self.relation = Relation(table, node.place, projection=projection, open_ended=every_row)

    # -- groups -------------------------------------------------------------------------------------------------------

    def _keys(self, relation: Relation, rows: Rows) -> Sequence[Values]:
        """The values of the keys."""
        vectors = self._key_vectors(relation, rows)
        if not vectors:
            return [()] * len(rows)
        return list(zip(*map(to_values, vectors.values()), strict=True))

    def _key_vectors(self, relation: Relation, rows: Rows) -> dict[str, Vector]:
        return columns_of({key.name: key.expression for key in self._node.keys}, Frame([(relation, rows)]))

    def _note(self, relation: Relation, rows: Rows) -> None:
        """Keep the keys of new groups; instants and durations in the unit that they came in."""
        vectors = self._key_vectors(relation, rows)
        arrays = {key.name: _passed(key, relation, rows) for key in self._node.keys}
        self.groups.table.columns.extend(
            len(rows),
            {
                key.name: to_arrow(vectors[key.name], key.type) if passed is None else passed
                for key, passed in zip(self._node.keys, arrays.values(), strict=True)
            },
        )

    def _made(self, rows: Rows) -> Digests:
        """``idgen`` over place, group and Vs.  Reading: R8."""
        return made_of_groups(self._node.place, self.groups, self.table, rows)

    # -- aggregates ---------------------------------------------------------------------------------------------------

    def taken_of(self, rows: Rows) -> list[Values]:
        """The arguments of the aggregates; of COUNT(*) anything that is not NULL."""
        if not self._node.aggregates or not len(rows):
            return [()] * len(rows)
        vectors = columns_of(self._arguments, Frame([(self._input, rows)]))
        ones: list[Value] = [1] * len(rows)
        columns = [to_values(vectors[str(n)]) if str(n) in vectors else ones for n in range(len(self._node.aggregates))]
        for number, column in enumerate(self._node.aggregates):
            if timed(column.aggregate):
                pairs = zip(self._input.table.vs.view[rows].tolist(), columns[number], strict=True)
                columns[number] = [None if value is None else (start, value) for start, value in pairs]
        return list(zip(*columns, strict=True))

    def shown(self, rows: Rows) -> list[Values]:
        """The aggregates in some rows of the output."""
        columns = [self.table.columns[column.name].values(rows) for column in self._node.aggregates]
        return list(zip(*columns, strict=True)) if columns else [()] * len(rows)

    def show(self, values: list[Values]) -> None:
        """The aggregates of new rows."""
        columns = zip(*values, strict=True)
        arrays = {c.name: to_arrow(of_values(v), c.type) for c, v in zip(self._node.aggregates, columns, strict=True)}
        self.table.columns.extend(len(values), arrays)


def made_of_groups(place: str, groups: Groups, table: Table, rows: Rows) -> Digests:
    """The IDs of rows that have no contributors of their own: ``idgen`` over place, group and Vs.  Reading: R8."""
    making = Making(place, len(rows))
    making.take_in_each(groups.digests(table.references[0].view[rows]))
    making.take_in_each(integer_digests(table.vs.view[rows]))
    return making.finish()


def every_row(rows: Rows) -> Mask:
    """All rows are emitted with an open end.  Reading: R33."""
    return np.ones(len(rows), np.bool_)


def _passed(key: Column, relation: Relation, rows: Rows) -> pa.Array | None:
    """A key that is an instant or a duration as it stands in the input; None for any other one."""
    if not isinstance(key.expression, Attribute):
        return None
    variable, name = key.expression.variable, key.expression.name
    reach = Reach((), relation) if variable == "" else relation.variables.get(variable)
    if reach is None:
        return None
    hops, table, there = reach.target.stored(name)
    column = table.columns.get(there)
    if column is None or column.type is None:
        return None
    if not (pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type)):
        return None
    return column.take(follow((*reach.hops, *hops), rows))
