"""Events that rows from another plan are made of: their IDs and times are attributes of those rows.

Paper: Section 3.3.1 (cbt[]).  Readings: R2, R8.  A row that some other pipeline has said is a source's row here, and
yet a composite: whoever asks for its contributors finds them in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from cedr.expression.tree import HeaderField
from cedr.model.event import EMPTY, Payload
from cedr.plan import logical
from cedr.runtime.ids.text_ids import GivenIds
from cedr.runtime.store.relation import Reach, Relation
from cedr.runtime.store.table import Header, Rows, Table, plain_header


def source_relation(node: logical.Source, table: Table) -> Relation:
    """The rows of a source; those that were made elsewhere have contributors."""
    relation = Relation(table, node.type.name)
    if not isinstance(node, logical.Made):
        return relation
    parts = (Carried(table, part.stream, carried=(part.id, part.start)) for part in node.contributors)
    return replace(relation, contributors=tuple(Reach((), part) for part in parts), ordered=node.ordered)


@dataclass(frozen=True)
class Carried(Relation):
    """One contributor of each row of a table, known by its ID and its Vs alone."""

    carried: tuple[str, str] = ("", "")
    """The attributes that are its ID and its Vs."""

    @property
    def id_holder(self) -> GivenIds:
        """Where the IDs are."""
        return GivenIds(self._texts)

    def times(self, field_: HeaderField, rows: Rows) -> Rows:  # noqa: ARG002 - no other time is known
        """The Vs of some rows; of row -1 any value."""
        column = self.table.columns.get(self.carried[1])
        return np.zeros(len(rows), np.int64) if column is None else np.asarray(column.vector(rows).values, np.int64)

    def header(self, rows: Rows) -> Header:
        """The header of a primitive event with this Vs.  Reading: R2."""
        vs = self.times(HeaderField.VS, rows)
        return plain_header(vs, vs, vs)

    def payloads(self, rows: Rows) -> list[Payload]:
        """No attribute is known."""
        return [EMPTY] * len(rows)

    def _texts(self, rows: Rows) -> pa.Array:
        column = self.table.columns.get(self.carried[0])
        return pa.nulls(len(rows), pa.string()) if column is None else column.take(rows)
