"""COALESCED: events with equal payloads whose intervals meet become one.

Paper: Definition 10, the * operator.  Readings: R8 (IDs), R29, R33 (ends).  Which event goes on with which is decided
at each instant by the rows that end and begin there; a change concerns the rows that such instants link to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from cedr.model.time import FOREVER, Time
from cedr.plan import logical
from cedr.runtime.ids.text_ids import Digests, MadeIds, Making
from cedr.runtime.operators.algebra.group_by import every_row
from cedr.runtime.operators.contract import Frontier, before
from cedr.runtime.operators.mechanism.group_rows import Content, GroupRows, behind
from cedr.runtime.operators.mechanism.groups import Groups
from cedr.runtime.operators.mechanism.members import Changes
from cedr.runtime.operators.mechanism.row_values import row_values
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Rows, Table


class Coalesce(GroupRows):
    """A row stands for the first of the events that it is merged of."""

    def __init__(self, node: logical.Coalesce, inputs: Sequence[Relation]) -> None:
        (source,) = inputs
        self._place = node.place
        groups = Groups(Table(None), row_values)
        table = Table(MadeIds(self._ids), [source.table, groups.table])
        super().__init__(source, groups, table)
        self.relation = replace(
            behind(source, table), stream=node.place, identity=(), contributors=(), open_ended=every_row
        )

    def _ids(self, rows: Rows) -> Digests:
        """``idgen`` over place, stream and ID of the first event.  Reading: R8."""
        first, source = self.table.references[0].view[rows], self.members.relation
        making = Making(self._place, len(rows))
        making.take_in(source.stream_digest, *source.ids(first))
        return making.finish()

    def ask(self, until: Time) -> list[Time]:  # noqa: ARG002 - as all do
        """All that there is: of rows that begin together the end decides which one goes on first."""
        return [FOREVER]

    # -- chains -------------------------------------------------------------------------------------------------------

    def touched(self, group: int, changes: Changes) -> Rows:
        """The rows that are linked to a change by instants at which one ends and another begins."""
        found: set[int] = set()
        known = {FOREVER}
        todo = set(changes.start.tolist()) | set(changes.end.tolist()) - known
        while todo:
            known |= todo
            at = np.array(sorted(todo), np.int64)
            same = np.full(len(at), group)
            new: set[int] = set()
            for store in (self.members.input.store.sorted, self.members.ends.sorted):
                new.update(store.rows[store.locate(same, at, at).expand()[1]].tolist())
            new -= found
            found |= new
            rows = np.array(sorted(new), np.int64)
            times = self.members.relation.table
            todo = (set(times.vs.view[rows].tolist()) | set(times.ve.view[rows].tolist())) - known
        return np.array(sorted(found), np.int64)

    def lifetimes(self, group: int, rows: Rows) -> Iterable[Content]:  # noqa: ARG002 - as all do
        """Where several could continue an event the one that started first does."""
        source = self.members.relation
        vs, ve = source.table.vs.view[rows], source.table.ve.view[rows]
        ranks = np.zeros(len(rows), np.int64) if len(rows) < 2 else source.ids(rows)[0].ranks(source.ids(rows)[1])
        waiting: dict[Time, list[tuple[int, Time]]] = defaultdict(list)
        order = np.lexsort((ranks, ve, vs))
        for row, start, end in zip(*(column[order].tolist() for column in (rows, vs, ve)), strict=True):
            chains = waiting.get(start)
            waiting[end].append(chains.pop(0) if chains else (row, start))
        return [(row, start, end) for end, chains in waiting.items() for row, start in chains]

    def during(self, group: int, rows: Rows, run: tuple[Time, Time]) -> Iterable[Content]:  # noqa: ARG002 - one input
        """The same, of what is believed."""
        return self.lifetimes(group, rows)

    # -- what is known and what is forgotten --------------------------------------------------------------------------

    def _final(self, inputs: Sequence[Frontier]) -> Time:
        """Of rows that begin together, which one goes on with which hangs on their ends, while these are open."""
        final = super()._final(inputs)
        source = self.members.relation.table
        rows = self.members.input.store.held()
        rows = rows[(source.vs.view[rows] <= final) & (source.ve.view[rows] > final)]
        names = np.stack([self.members.groups(rows), source.vs.view[rows]])
        _, place, counts = np.unique(names, axis=1, return_inverse=True, return_counts=True)
        several = counts[place.reshape(-1)] > 1
        return before(final, source.vs.view[rows[several]])
