"""Union: the rows of both inputs, each a row of its own.

Paper: Section 6.  Readings: R8 (the ID is made of branch and ID), R10 (the header stays), R29 (adds bags).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cedr.model.identity import digest
from cedr.model.time import Time
from cedr.plan import logical
from cedr.runtime.ids.text_ids import Digests, MadeIds, Making
from cedr.runtime.operators.contract import Frontier, Line, Size, Snapshot
from cedr.runtime.operators.made_rows import MadeRows
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Reach, Reached, Relation
from cedr.runtime.store.table import Delta, Mask, Rows, Table

_BRANCHES = (digest("left"), digest("right"))


class Union:
    """Each row of the output refers to a row of one of the inputs; the other reference is -1.

    A branch's payload may stand anywhere below it, so it is copied: readers find one table.
    """

    def __init__(self, node: logical.Union, inputs: Sequence[Relation]) -> None:
        self._inputs = tuple(inputs)
        self._place = node.place
        self.table = Table(MadeIds(self._made), [relation.table for relation in inputs])
        self._rows = [MadeRows(relation.table, self.table) for relation in inputs]
        self.relation = _relation(self.table, node.place, self._inputs, self._open_ended)
        nothing = Reached(NONE)
        for relation in self._inputs:
            if relation.projection is not None:
                self.table.columns.extend(0, relation.arrays(nothing))  # one schema from the first step on

    def ask(self, until: Time) -> list[Time]:
        """A row has the Vs of the row that it is made of."""
        return [until, until]

    @property
    def withholds(self) -> bool:
        """It passes on what it gets."""
        return False

    # -- changes ------------------------------------------------------------------------------------------------------

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:  # noqa: ARG002 - rows stand alone
        """What came in either branch, row by row."""
        removed = [rows.of(delta.removed) for rows, delta in zip(self._rows, deltas, strict=True)]
        added = [self._make(branch, delta.added) for branch, delta in enumerate(deltas)]
        return Delta(np.concatenate(removed), np.concatenate(added))

    def _make(self, branch: int, rows: Rows) -> Rows:
        if not len(rows):
            return NONE
        relation = self._inputs[branch]
        self._copy_payload(relation, rows)
        references = [np.full(len(rows), -1), np.full(len(rows), -1)]
        references[branch] = rows
        made = self.table.extend(relation.header(rows), references)
        self._rows[branch].note(rows, made)
        return made

    def _copy_payload(self, relation: Relation, rows: Rows) -> None:
        if relation.projection is None and not relation.payload_table.columns.complete:
            self.table.columns.extend_payloads(relation.payloads(rows))  # some lack an attribute, which is no NULL
        else:
            self.table.columns.extend(len(rows), relation.copies(Reached(rows)))

    def _made(self, rows: Rows) -> Digests:
        """IDs over branch, stream and ID.  Reading: R8."""
        high, low = np.empty(len(rows), np.uint64), np.empty(len(rows), np.uint64)
        for relation, branch, column in zip(self._inputs, _BRANCHES, self.table.references, strict=True):
            at = column.view[rows]
            own = at >= 0
            making = Making(self._place, int(own.sum()))
            making.take_in_part(branch)
            making.take_in(relation.stream_digest, *relation.ids(at[own]))
            high[own], low[own] = making.finish()
        return high, low

    def _open_ended(self, rows: Rows) -> Mask:
        """A row takes its end from the row that it is made of.  Reading: R33."""
        found = np.zeros(len(rows), np.bool_)
        for relation, column in zip(self._inputs, self.table.references, strict=True):
            if relation.open_ended is not None:
                at = column.view[rows]
                own = at >= 0
                found[own] = relation.open_ended(at[own])
        return found

    # -- what is known and what is forgotten --------------------------------------------------------------------------

    def decide(self, inputs: Sequence[Frontier], frozen: Time) -> None:
        """Nothing waits."""

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:  # noqa: ARG002 - decided at once
        """What is certain in both branches."""
        return Frontier(*map(min, *inputs))

    def demand(self, line: Line, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:  # noqa: ARG002 - as above
        """What is needed here is needed below."""
        return [line, line]

    def snapshot(self) -> Snapshot | None:
        """Nothing."""
        return None

    def restore(self, snapshot: Snapshot) -> None:
        """Nothing was saved."""
        raise NotImplementedError

    @property
    def size(self) -> Size:
        """Rows made of others are held by those; what counts are the bytes."""
        return Size(0, self.table.nbytes + sum(rows.made.nbytes for rows in self._rows))

    @property
    def ties(self) -> int:
        """It takes rows one by one."""
        return 0


def _relation(table: Table, place: str, inputs: Sequence[Relation], open_ended: Callable[[Rows], Mask]) -> Relation:
    """A variable of a branch is unbound in rows of the other one."""
    names = [name for relation in inputs for name in relation.variables]
    assert len(names) == len(set(names)), "both branches of a union bind a variable"  # sides of UNION bind none
    variables = {
        name: reach.after((table, branch))
        for branch, relation in enumerate(inputs)
        for name, reach in relation.variables.items()
    }
    contributors = tuple(Reach(((table, branch),), relation) for branch, relation in enumerate(inputs))
    ends = open_ended if any(relation.open_ended is not None for relation in inputs) else None
    return Relation(table, place, variables, (), (), contributors, open_ended=ends)
