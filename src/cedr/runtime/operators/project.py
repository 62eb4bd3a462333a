"""Operators that change rows one by one: projection, a query's name, VALID FOREVER and VALID WITH LAST.

Paper: Definition 7, Section 3.3.2.  Readings: R10 (a change that hides what a modification changed gives one row, with
the first Os), R19, R23, R32.  Several in a row are one operator here: rows are made once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from cedr.expression.tree import Attribute
from cedr.model.modes import Valid
from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan import logical
from cedr.runtime.expressions.compile import columns_of, to_arrow, to_values
from cedr.runtime.ids.text_ids import TextIds
from cedr.runtime.operators.contract import Frontier, Line, Size
from cedr.runtime.operators.made_rows import Digest, MadeRows, Merged
from cedr.runtime.operators.pass_through import PassThrough
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Frame, Hop, OpenEnded, Passed, Reach, Relation, follow
from cedr.runtime.store.table import Delta, Header, Mask, Rows, Table

ARROW_TYPES: dict[DataType, pa.DataType] = {
    DataType.INTEGER: pa.int64(),
    DataType.FLOAT: pa.float64(),
    DataType.DECIMAL: pa.decimal128(38, 9),
    DataType.STRING: pa.string(),
    DataType.BOOLEAN: pa.bool_(),
    DataType.TIMESTAMP: pa.int64(),
    DataType.DURATION: pa.int64(),
    DataType.DATE: pa.date32(),
    DataType.BINARY: pa.binary(),
    DataType.STRUCT: pa.null(),
    DataType.LIST: pa.null(),
    DataType.NULL: pa.null(),
    DataType.ANY: pa.null(),
}
"""The Arrow type of an output column before any row of it is there."""


class RowByRow(PassThrough):
    """Rows of the input, each changed in the same way.

    Where nothing of a row changes but what it is called and which of its attributes are shown, and the input's table is
    no source's, the output has that table: a row of the input is the row of the output.
    """

    def __init__(self, nodes: Sequence[logical.Node], relation: Relation) -> None:
        self._input = relation
        self._project = next((n for n in nodes if isinstance(n, logical.Project)), None)
        self._valid = next((n.valid for n in nodes if isinstance(n, logical.SetValid)), None)
        name = next((n.name for n in nodes if isinstance(n, logical.Query)), None)
        columns = () if self._project is None else self._project.columns
        passing = {column.name: self._passes(column) for column in columns}
        self._computed = [column for column in columns if passing[column.name] is None]
        self._same = not self._computed and self._valid is None and not isinstance(relation.table.ids, TextIds)
        """Whether the rows of the output are those of the input."""
        self.table = relation.table if self._same else Table(None, [relation.table])
        self._hops: tuple[Hop, ...] = () if self._same else ((self.table, 0),)
        empty = {column.name: pa.nulls(0, ARROW_TYPES[column.type]) for column in self._computed}
        if self._computed:
            self.table.columns.extend(0, empty)  # one schema from the first step on
        self.relation = self._relation(relation, name, passing)
        self._rows = MadeRows(relation.table, self.table)

    def _relation(self, relation: Relation, name: str | None, passing: Mapping[str, Passed | None]) -> Relation:
        hops = self._hops
        contributors = tuple(reach.behind(hops) for reach in relation.contributors)
        if name is not None and not contributors and not relation.stream.startswith(logical.PLACE):
            contributors = (Reach(hops, replace(relation, variables={})),)  # a primitive event contributes itself
        variables = {} if self._project else {n: reach.behind(hops) for n, reach in relation.variables.items()}
        payload = () if self._project else (*hops, *relation.payload)
        stream = relation.stream if name is None else name
        passed = {n: p and p._replace(reach=p.reach.behind(hops)) for n, p in passing.items()}
        identity, projection = (*hops, *relation.identity), passed if self._project else relation.projection
        made = Relation(self.table, stream, variables, payload, identity, contributors, relation.ordered, projection)
        return replace(made, open_ended=self._open_ends())

    def _open_ends(self) -> OpenEnded | None:
        """Which rows are emitted with an open end: by where their Ve is from.  Reading: R33."""
        if self._valid is None:
            own = self._input.open_ended
            return None if own is None else lambda rows: own(follow(self._hops, rows))
        parts = self._input.contributors or (Reach((), self._input),)
        if self._valid is Valid.FOREVER or all(part.target.open_ended is None for part in parts):
            return None
        return lambda rows: self._last_is_open(follow(self._hops, rows))

    def _last_is_open(self, rows: Rows) -> Mask:
        """Of which rows the last contributor has an open end."""
        found = np.zeros(len(rows), np.bool_)
        for reach, chosen, at in self._last_contributors(rows):
            if reach.target.open_ended is not None:
                found[chosen] = reach.target.open_ended(at)
        return found

    def _passes(self, column: logical.Column) -> Passed | None:
        """Where an attribute that is passed through untouched is from; None: the column is computed."""
        expression = column.expression
        if not isinstance(expression, Attribute):
            return None
        reach = Reach((), self._input) if expression.variable == "" else self._input.variables.get(expression.variable)
        if reach is None:
            return None
        return Passed(reach, expression.name, ARROW_TYPES[column.type])

    # -- changes ------------------------------------------------------------------------------------------------------

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:  # noqa: ARG002 - rows stand alone
        """The change of the output: plain rows one by one, the versions of an event together."""
        (delta,) = deltas
        if self._same and self._input.table.plain.implicit:
            return delta
        plain = self._input.table.plain.view
        gone, come = (plain[rows] for rows in delta)
        removed, added = [self._rows.of(delta.removed[gone])], [self._make_each(delta.added[come])]
        if not (gone.all() and come.all()):
            for digest in self._rows.concerned(self._input, delta.removed[~gone], delta.added[~come]):
                old, new = self._merge(digest)
                removed.append(old)
                added.append(new)
        return Delta(np.concatenate(removed), np.concatenate(added))

    def _make_each(self, rows: Rows) -> Rows:
        """The rows that some plain rows of the input become."""
        if self._same:
            return rows
        made = self._make(rows, self._input.table.header(rows)) if len(rows) else NONE
        self._rows.note(rows, made)
        return made

    def _make(self, rows: Rows, header: Header) -> Rows:
        """Rows made of rows of the input."""
        if self._same:
            return self.table.extend_versions(rows, header)
        if self._valid is not None:
            header = header._replace(ve=self._valid_ends(rows, header))
        if self._computed:
            self._compute_columns(rows)
        return self.table.extend(header, [rows])

    def _valid_ends(self, rows: Rows, header: Header) -> Rows:
        """``VALID FOREVER``, ``VALID WITH LAST``: Ve is FOREVER, or the last contributor's.  Reading: R19."""
        if self._valid is Valid.FOREVER:
            return np.full(len(rows), FOREVER)
        ends = header.ve.copy()
        for reach, chosen, at in self._last_contributors(rows):
            ends[chosen] = reach.target.header(at).ve
        return np.maximum(header.vs, ends)

    def _last_contributors(self, rows: Rows) -> Iterator[tuple[Reach, Rows, Rows]]:
        """For each contributor the places of the rows of which it is the last one, and its own rows there."""
        parts = self._input.contributors or (Reach((), self._input),)
        latest, last = [(BEGINNING, "")] * len(rows), np.full(len(rows), -1)
        for number, reach in enumerate(parts):
            at = reach.rows(rows)
            some = np.flatnonzero(at >= 0)
            times, texts = reach.target.header(at[some]).vs, reach.target.id_values(at[some])
            for place, *found in zip(some.tolist(), times.tolist(), texts, strict=True):
                if (found[0], found[1]) > latest[place]:
                    latest[place], last[place] = (found[0], found[1]), number
        for number, reach in enumerate(parts):
            chosen = np.flatnonzero(last == number)
            yield reach, chosen, reach.rows(rows[chosen])

    def _compute_columns(self, rows: Rows) -> None:
        vectors = columns_of({c.name: c.expression for c in self._computed}, Frame([(self._input, rows)]))
        arrays = {c.name: to_arrow(vectors[c.name], c.type) for c in self._computed}
        self.table.columns.extend(len(rows), arrays)

    # -- versions -----------------------------------------------------------------------------------------------------

    def _merge(self, digest: Digest) -> tuple[Rows, Rows]:
        """Versions that look the same and follow each other are one row, with the first Os.  Reading: R10."""
        rows = np.array(self._rows.versions[digest], dtype=np.int64)
        rows = rows[np.argsort(self._input.table.os.view[rows], kind="stable")]
        wanted = self._wanted(rows)
        old = self._rows.merged.pop(digest, {})
        new = [key for key in wanted if key not in old]
        removed = [row for key, row in old.items() if key not in wanted]
        made = self._made_as(new)
        if len(rows):
            self._rows.merged[digest] = {key: row for key, row in old.items() if key in wanted}
            self._rows.merged[digest].update(zip(new, made.tolist(), strict=True))
        else:
            del self._rows.versions[digest]
        return np.array(removed, dtype=np.int64), made

    def _wanted(self, rows: Rows) -> list[Merged]:
        """The rows that some versions amount to: the last version of each, Os and Oe."""
        table = self._input.table
        header = table.header(rows)
        ends = header.ve if self._valid is None else self._valid_ends(rows, header)
        looks = self._looks(rows, header, ends)
        merged: dict[object, list[Merged]] = {}
        for row, os, oe, look in zip(rows.tolist(), header.os.tolist(), header.oe.tolist(), looks, strict=True):
            same = merged.setdefault(look, [])
            if same and same[-1].oe >= os:
                same[-1] = Merged(row, same[-1].os, max(same[-1].oe, oe))
            else:
                same.append(Merged(row, os, oe))
        return [key for keys in merged.values() for key in keys]

    def _looks(self, rows: Rows, header: Header, ends: Rows) -> list[object]:
        columns = [header.vs.tolist(), ends.tolist(), header.rt.tolist()]
        if self._project is None:
            columns.append(self._input.payloads(rows))
        else:
            frame = Frame([(self._input, rows)])
            vectors = columns_of({c.name: c.expression for c in self._project.columns}, frame)
            columns.extend([(type(v), v) for v in to_values(vector)] for vector in vectors.values())
        return list(zip(*columns, strict=True))

    def _made_as(self, wanted: list[Merged]) -> Rows:
        if not wanted:
            return NONE
        rows, os, oe = (np.array(column, dtype=np.int64) for column in zip(*wanted, strict=True))
        header = self._input.table.header(rows)._replace(os=os, oe=oe)
        return self._make(rows, header)

    # -- what is known and what is forgotten --------------------------------------------------------------------------

    def demand(self, line: Line, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:  # noqa: ARG002 - as all do
        """What is needed here is needed below; versions of events that can no longer change are forgotten."""
        if self._rows.versions:
            self._rows.forget(max(inputs[0].final, line.vs), inputs[0].ended)
        if self._valid is None:
            return [line]
        return [Line(line.vs if line.ended == FOREVER else BEGINNING)]  # its rows end when their input's do not

    @property
    def size(self) -> Size:
        """Rows made of others are held by those; what counts are the bytes."""
        return Size(0, self._rows.made.nbytes + (0 if self._same else self.table.nbytes))
