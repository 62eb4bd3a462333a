"""What rows must agree on to be duplicates: their payloads, and how merged rows show them.

Paper: Section 6.  Reading: R29.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np
import pyarrow as pa

from cedr.expression.tree import HeaderField
from cedr.model.event import Payload
from cedr.model.time import FOREVER
from cedr.runtime.ids.text_ids import GivenIds
from cedr.runtime.store.relation import Hop, Reach, Relation, follow
from cedr.runtime.store.table import Header, Rows, Table, plain_header

RowValue = tuple[Payload, ...]


def row_values(relation: Relation, rows: Rows) -> Sequence[RowValue]:
    """The payloads of what the variables of each row stand for, whatever they are called; without any its own."""
    if not relation.variables:
        return [(payload,) for payload in map(_steady, relation.payloads(rows))]
    found: list[list[Payload]] = [[] for _ in range(len(rows))]
    for reach in relation.variables.values():
        at = reach.rows(rows)
        some = np.flatnonzero(at >= 0)
        for place, payload in zip(some.tolist(), reach.target.payloads(at[some]), strict=True):
            found[place].append(_steady(payload))
    return list(map(tuple, found))


def _steady(payload: Payload) -> Payload:
    """NaN is no value that equals itself, but a row that goes must be found again."""
    if all(value == value for value in payload.values()):  # noqa: PLR0124 - NaN alone is not
        return payload
    return Payload({name: value if value == value else nan for name, value in payload.items()})  # noqa: PLR0124


def in_common(relation: Relation, table: Table, hops: tuple[Hop, ...]) -> dict[str, Reach]:
    """The variables of rows of a table that stand for several of a relation, one of which they reach."""
    return {
        name: Common((), _headless(reach, table, hops), reach.nullable, (*hops, *reach.hops))
        for name, reach in relation.variables.items()
    }


def _headless(reach: Reach, table: Table, hops: tuple[Hop, ...]) -> Headless:
    way = (*hops, *reach.hops)
    target = reach.target
    return Headless(table, target.stream, payload=(*way, *target.payload), projection=target.projection)


@dataclass(frozen=True)
class Common(Reach):
    """A variable of merged rows: it stands for the row itself, where ``inside`` it leads to something."""

    inside: tuple[Hop, ...] = ()

    def rows(self, rows: Rows) -> Rows:
        """The rows reached."""
        at = follow(self.hops, rows)
        return np.where(follow(self.inside, at) >= 0, at, -1)

    def after(self, hop: Hop) -> Common:
        """The same from one step further away."""
        return replace(self, hops=(hop, *self.hops))

    def behind(self, hops: tuple[Hop, ...]) -> Common:
        """The same from some steps further away."""
        return replace(self, hops=(*hops, *self.hops))


@dataclass(frozen=True)
class Headless(Relation):
    """What a variable of merged rows stands for: of several events only the payload is common."""

    @property
    def id_holder(self) -> GivenIds:
        """Where the IDs are: there are none."""
        return GivenIds(lambda rows: pa.array([None if row < 0 else "" for row in rows.tolist()], pa.string()))

    def times(self, field_: HeaderField, rows: Rows) -> Rows:
        """Vs is that of the merged row, which never ends here; of row -1 any value."""
        return getattr(self.header(rows), _HEADER[field_])  # type: ignore[no-any-return]  # a column of it

    def header(self, rows: Rows) -> Header:
        """The header of a primitive event with this Vs.  Reading: R2."""
        vs = self.table.vs.view[rows] if len(self.table) else np.zeros(len(rows), np.int64)
        return plain_header(vs, np.full(len(rows), FOREVER), vs)


_HEADER = {
    HeaderField.VS: "vs",
    HeaderField.VE: "ve",
    HeaderField.OS: "os",
    HeaderField.OE: "oe",
    HeaderField.RT: "rt",
}
