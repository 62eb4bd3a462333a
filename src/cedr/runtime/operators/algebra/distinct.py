"""DISTINCT: each payload over the maximal intervals in which it is alive.

Paper: Section 6.  Readings: R8 (IDs), R29, R33 (ends).
"""

from __future__ import annotations

from collections.abc import Sequence

from cedr.plan import logical
from cedr.runtime.ids.text_ids import Digests, MadeIds
from cedr.runtime.operators.algebra.group_by import every_row, made_of_groups
from cedr.runtime.operators.mechanism.accumulators import Values
from cedr.runtime.operators.mechanism.groups import Groups
from cedr.runtime.operators.mechanism.instants import Instants
from cedr.runtime.operators.mechanism.row_values import RowValue, in_common, row_values
from cedr.runtime.store.relation import Hop, Relation
from cedr.runtime.store.table import Rows, Table


class Distinct(Instants):
    """Rows by payload; a group refers to one of its rows, which shows what all of them have in common."""

    def __init__(self, node: logical.Distinct, inputs: Sequence[Relation]) -> None:
        (source,) = inputs
        groups = Groups(Table(None, [source.table]), _keys)
        self._place = node.place
        table = Table(MadeIds(self._made), [groups.table])
        super().__init__(source, groups, table, ())
        hops: tuple[Hop, ...] = ((table, 0), (groups.table, 0))
        self.relation = Relation(
            table,
            node.place,
            in_common(source, table, hops),
            (*hops, *source.payload),
            projection=source.projection,
            open_ended=every_row,
        )

    def _made(self, rows: Rows) -> Digests:
        return made_of_groups(self._place, self.groups, self.table, rows)

    def taken_of(self, rows: Rows) -> list[Values]:
        """Nothing but that they are there."""
        return [()] * len(rows)

    def shown(self, rows: Rows) -> list[Values]:
        """Nothing but that they are there."""
        return [()] * len(rows)

    def show(self, values: list[Values]) -> None:
        """Rows show what their group has in common."""


def _keys(relation: Relation, rows: Rows) -> Sequence[tuple[RowValue]]:
    """A group by one key, the value of the row."""
    return [(value,) for value in row_values(relation, rows)]
