"""Relations: what an operator sees of one of its inputs.

Rows are numbers into a table.  Composite rows hold the numbers of the rows they are made of, so that payload and
headers of contributors are gathered only where a predicate or an output asks for them (late materialisation).
Readings: R2 (header), R8 (IDs), R20 (variables).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from cedr.expression.tree import HeaderField
from cedr.model.event import Payload, TieOrder, Value
from cedr.model.identity import digest
from cedr.model.time import Time
from cedr.runtime.ids.text_ids import Ids
from cedr.runtime.kernels import gather as kernels
from cedr.runtime.store.table import Header, Mask, Rows, Table, picked
from cedr.runtime.values.arrow_arrays import same_values
from cedr.runtime.values.run_length import together
from cedr.runtime.values.vector import Vector

Hop = tuple[Table, int]
"""From the rows of a table along one of its references."""
OpenEnded = Callable[[Rows], Mask]
"""Which rows are emitted with Ve = FOREVER first.  Reading: R33."""


def follow(hops: tuple[Hop, ...], rows: Rows) -> Rows:
    """The rows that one reaches along some references; -1 stays -1.  To be read before the tables change."""
    for table, index in hops:
        at = together(rows)
        if not len(table):
            rows = np.full(len(rows), -1)
        elif isinstance(at, slice):
            rows = table.references[index].view[at]
        else:
            reached = np.empty(len(rows), dtype=np.int64)
            kernels.follow(table.references[index].view, rows, reached)
            rows = reached
    return rows


class Reached:
    """What some rows reach along references, each part of the way gone once."""

    def __init__(self, rows: Rows) -> None:
        self._known: dict[tuple[Hop, ...], Rows] = {(): rows}

    def __len__(self) -> int:
        return len(self._known[()])

    def along(self, hops: tuple[Hop, ...]) -> Rows:
        """The rows reached."""
        found = self._known.get(hops)
        if found is None:
            found = self._known[hops] = follow(hops[-1:], self.along(hops[:-1]))
        return found


@dataclass(frozen=True)
class Relation:
    """Rows of a table under a stream's name, with the variables that they bind.

    ``payload`` and ``identity`` say where payload and ID of a row are found; ``contributors`` what it is made of, in
    pattern order, which is the order of time where ``ordered``.
    """

    table: Table
    stream: str
    variables: dict[str, Reach] = field(default_factory=dict)
    payload: tuple[Hop, ...] = ()
    identity: tuple[Hop, ...] = ()
    contributors: tuple[Reach, ...] = ()
    ordered: bool = True
    projection: Mapping[str, Passed | None] | None = None
    """Where a projection made the payload: its attributes in order, with those that are passed through untouched."""
    headers: Callable[[Rows], Header] | None = None
    """Where the headers of rows are not those of the table."""
    open_ended: OpenEnded | None = None
    """Which rows are emitted with Ve = FOREVER, and shortened when their end is due; None: no row is.  Reading: R33."""

    def header(self, rows: Rows) -> Header:
        """The header columns of some rows; valid until the next change."""
        return self.table.header(rows) if self.headers is None else self.headers(rows)

    def renamed(self, variable: str) -> Relation:
        """With one more variable: the row itself, without the variables inside it.  Reading: R20."""
        own = Reach((), replace(self, variables={}))
        return replace(self, variables={**self.variables, variable: own})

    # -- header -------------------------------------------------------------------------------------------------------

    def times(self, field_: HeaderField, rows: Rows) -> Rows:
        """A header field of some rows."""
        return picked(getattr(self.table, _COLUMNS[field_]), rows)

    def digests(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """The digests of the rows' IDs, as idgen takes them.  Reading: R8."""
        ids, at = self._ids(rows)
        return ids.digests(at)

    def id_values(self, rows: Rows) -> list[str]:
        """The rows' IDs."""
        ids, at = self._ids(rows)
        return ids.values(at)

    def ranks(self, rows: Rows) -> Rows:
        """Numbers in the order in which rows of equal Vs are taken.  Readings: R25, R42."""
        if not self.contributors:
            ids, at = self._ids(rows)
            return ids.ranks(at)
        ties = self.tie_orders(rows)
        numbers = {order: number for number, order in enumerate(sorted(set(ties)))}
        return np.array([numbers[order] for order in ties], dtype=np.int64)

    def tie_orders(self, rows: Rows) -> list[TieOrder]:
        """What puts rows of equal Vs in order.  Reading: R42."""
        return list(zip(self._leaves(rows), self.id_values(rows), strict=True))

    def _leaves(self, rows: Rows) -> list[tuple[tuple[Time, str], ...]]:
        """(Vs, ID) of the primitive contributors of each row, in the order of cbt[]; of a primitive row, its own."""
        if not self.contributors:
            times = self.times(HeaderField.VS, rows).tolist()
            return [((time, id_),) for time, id_ in zip(times, self.id_values(rows), strict=True)]
        parts: list[list[tuple[Time, tuple[tuple[Time, str], ...]]]] = [[] for _ in range(len(rows))]
        for reach in self.contributors:
            at = reach.rows(rows)
            some = np.flatnonzero(at >= 0)
            times = reach.target.times(HeaderField.VS, at[some]).tolist()
            for row, *part in zip(some.tolist(), times, reach.target._leaves(at[some]), strict=True):
                parts[row].append((part[0], part[1]))
        if not self.ordered:  # by (Vs, parameter): sorting keeps parameters in order (R49)
            for own in parts:
                own.sort(key=lambda part: part[0])
        return [tuple(leaf for _, leaves in own for leaf in leaves) for own in parts]

    def ids(self, rows: Rows) -> tuple[Ids, Rows]:
        """Where the rows' IDs are."""
        return self._ids(rows)

    def _ids(self, rows: Rows) -> tuple[Ids, Rows]:
        return self.id_holder, follow(self.identity, rows)

    @property
    def id_holder(self) -> Ids:
        """Where the IDs are, of the rows that one reaches along ``identity``."""
        ids = self.identity_table.ids
        assert ids is not None
        return ids

    @property
    def identity_table(self) -> Table:
        """The table of these rows."""
        return _end(self.identity, self.table)

    @cached_property
    def stream_digest(self) -> tuple[int, int]:
        """The digest of the stream's name, the other half of a reference."""
        return digest(self.stream)

    # -- payload ------------------------------------------------------------------------------------------------------

    @property
    def payload_table(self) -> Table:
        """The table that holds the rows' payload."""
        return _end(self.payload, self.table)

    def payload_rows(self, rows: Rows) -> Rows:
        """The rows of that table."""
        return follow(self.payload, rows)

    def stored(self, name: str) -> tuple[tuple[Hop, ...], Table, str]:
        """Where an attribute stands: how one comes from a row to the table that holds it, and its name there."""
        passed = None if self.projection is None else self.projection.get(name)
        if passed is None:
            return self.payload, self.payload_table, name
        hops, table, there = passed.reach.target.stored(passed.name)
        return (*self.payload, *passed.reach.hops, *hops), table, there

    def attribute(self, name: str, rows: Rows) -> Vector:
        """A payload attribute of some rows; NULL where a row is -1 or has no such attribute."""
        hops, table, there = self.stored(name)
        column = table.columns.get(there)
        if column is None:
            return Vector(np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.bool_))
        return column.vector(follow(hops, rows))

    def arrays(self, reached: Reached) -> dict[str, pa.Array]:
        """The payload of some rows, as columns in the types that they came in."""
        names = self.payload_table.columns.names if self.projection is None else self.projection
        return {name: self._array(name, reached) for name in names}

    def copies(self, reached: Reached) -> dict[str, pa.Array | list[Value]]:
        """The same for another table to take in: values of mixed types stay as they are."""
        names = self.payload_table.columns.names if self.projection is None else self.projection
        return {name: self._copy(name, reached) for name in names}

    def _copy(self, name: str, reached: Reached) -> pa.Array | list[Value]:
        hops, table, there = self.stored(name)
        column = table.columns.get(there)
        if column is not None and column.kind == "object" and column.type is None:
            return column.values(reached.along(hops))
        return self._array(name, reached)

    def _array(self, name: str, reached: Reached) -> pa.Array:
        hops, table, there = self.stored(name)
        passed = None if self.projection is None else self.projection.get(name)
        column = table.columns.get(there)
        if passed is None:
            assert column is not None
            return column.take(reached.along(hops))
        found = pa.nulls(len(reached), passed.type) if column is None else column.take(reached.along(hops))
        return found.cast(passed.type) if pa.types.is_null(found.type) else found

    def payloads(self, rows: Rows) -> list[Payload]:
        """The payload of some rows, each with the attributes that it has."""
        if self.projection is None:
            return self.payload_table.columns.payloads(self.payload_rows(rows))
        columns = []
        for name in self.projection:
            hops, table, there = self.stored(name)
            column = table.columns.get(there)
            columns.append([None] * len(rows) if column is None else column.values(follow(hops, rows)))
        names = tuple(self.projection)
        rows_of_values = zip(*columns, strict=True) if columns else iter([()] * len(rows))
        return [Payload(zip(names, row, strict=True)) for row in rows_of_values]

    def same_payloads(self, rows: Rows, others: Rows) -> Mask:
        """Which rows have the payload of another one, pair by pair."""
        if self.projection is None and not self.payload_table.columns.complete:
            both = self.payloads(np.concatenate([rows, others]))
            pairs = zip(both[: len(rows)], both[len(rows) :], strict=True)
            return np.fromiter((one == other for one, other in pairs), np.bool_, len(rows))
        found = np.ones(len(rows), dtype=np.bool_)
        here, there = self.arrays(Reached(rows)), self.arrays(Reached(others))
        for name, values in here.items():
            found &= same_values(values, there[name])
        return found


class Passed(NamedTuple):
    """An attribute that a projection passes through untouched: where it is from, and its type before any is there."""

    reach: Reach
    name: str
    type: pa.DataType


@dataclass(frozen=True)
class Reach:
    """How one comes from a row to another one that it is made of."""

    hops: tuple[Hop, ...]
    target: Relation
    nullable: bool = False
    """Where there is no such row, its attributes are NULL to conditions, as in SQL: the right side of a LEFT join."""

    def rows(self, rows: Rows) -> Rows:
        """The rows reached."""
        return follow(self.hops, rows)

    def after(self, hop: Hop) -> Reach:
        """The same from one step further away."""
        return Reach((hop, *self.hops), self.target, self.nullable)

    def behind(self, hops: tuple[Hop, ...]) -> Reach:
        """The same from some steps further away."""
        return Reach((*hops, *self.hops), self.target, self.nullable)


def _end(hops: tuple[Hop, ...], table: Table) -> Table:
    """The table at the end of some hops: the one that the last reference points into."""
    return table if not hops else hops[-1][0].targets[hops[-1][1]]


_COLUMNS = {
    HeaderField.VS: "vs",
    HeaderField.VE: "ve",
    HeaderField.OS: "os",
    HeaderField.OE: "oe",
    HeaderField.RT: "rt",
}


class Frame:
    """Instances to evaluate expressions on: one row of each of some relations.  -1: this one is left out."""

    def __init__(self, parts: list[tuple[Relation, Rows]]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts[0][1])

    def attribute(self, variable: str, name: str) -> Vector:
        """Payload attributes of what a variable stands for."""
        found = self._found(variable)
        if found is None:
            return Vector(np.zeros(len(self), dtype=np.int64), np.zeros(len(self), dtype=np.bool_))
        return found[0].attribute(name, found[1])

    def header(self, variable: str, field_: HeaderField) -> Vector:
        """A header field of what a variable stands for."""
        found = self._found(variable)
        if found is None:
            return Vector(np.zeros(len(self), dtype=np.int64), np.zeros(len(self), dtype=np.bool_))
        relation, rows = found
        if field_ is HeaderField.ID:
            ids, at = relation.ids(rows)
            return Vector(ids.texts(at), None)
        missing = rows < 0
        return Vector(relation.times(field_, rows), ~missing if missing.any() else None)

    def bound(self, variable: str) -> Mask | None:
        """Where a variable is bound; None: everywhere."""
        found = self._found(variable)
        if found is None:
            return np.zeros(len(self), dtype=np.bool_)
        present = found[1] >= 0
        return None if present.all() else present

    def nullable(self, variable: str) -> bool:
        """Whether a variable that is not bound is NULL to conditions, instead of making them apply to nothing."""
        return any(variable in part.variables and part.variables[variable].nullable for part, _ in self._parts)

    def _found(self, variable: str) -> tuple[Relation, Rows] | None:
        if variable == "":
            return self._parts[0]
        for relation, rows in self._parts:
            reach = relation.variables.get(variable)
            if reach is not None:
                return reach.target, reach.rows(rows)
        return None
