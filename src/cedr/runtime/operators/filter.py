"""Selection and slices: rows pass or do not; nothing is held.

Paper: Definition 8; Section 3.2, "Temporal Slicing".  Readings: R10, R21, R24, R36.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cedr.expression.tree import HeaderField
from cedr.model.time import BEGINNING, Time
from cedr.plan import logical
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.contract import Frontier, before
from cedr.runtime.operators.pass_through import PassThrough
from cedr.runtime.store.holders import HeldRows
from cedr.runtime.store.relation import Frame, Relation
from cedr.runtime.store.table import Delta, Mask, Rows


class Filter(PassThrough):
    """An operator that passes some rows of its input on, under their numbers."""

    def __init__(self, relation: Relation) -> None:
        super().__init__(replace(relation))

    def passes(self, rows: Rows) -> Mask:
        """Which rows pass."""
        raise NotImplementedError

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:  # noqa: ARG002 - nothing is held
        """What passes of a change."""
        (delta,) = deltas
        removed, added = (rows[self.passes(rows)] if len(rows) else rows for rows in delta)
        return Delta(removed, added)


class Select(Filter):
    """Paper: Definition 8."""

    def __init__(self, node: logical.Select, relation: Relation) -> None:
        super().__init__(relation)
        self._conjuncts = Conjuncts((node.predicate,))

    def passes(self, rows: Rows) -> Mask:
        """Only *true* passes; a predicate that names an unbound variable does not constrain.  Reading: R21."""
        return self._conjuncts.passes(Frame([(self.relation, rows)]))


class Slice(Filter):
    """``Q @ [o1, o2] # [v1, v2]``.  Reading: R24."""

    def __init__(self, node: logical.Slice, relation: Relation) -> None:
        super().__init__(relation)
        self._occurrence, self._valid = node.occurrence, node.valid
        self._waiting = HeldRows()
        relation.table.hold(self._waiting)

    def passes(self, rows: Rows) -> Mask:
        """The rows whose intervals overlap the closed slices; an empty lifetime counts as its instant."""
        table = self.relation.table
        keep = np.ones(len(rows), dtype=np.bool_)
        if self._occurrence is not None:
            first, last = self._occurrence
            keep &= (table.os.view[rows] <= last) & (table.oe.view[rows] > first)
        if self._valid is not None:
            first, last = self._valid
            vs, ve = table.vs.view[rows], table.ve.view[rows]
            keep &= (vs <= last) & ((ve > first) | (vs >= first))
        return keep

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:
        """What passes, and which rows may yet end before the slice begins."""
        (delta,) = deltas
        self._waiting.remove(delta.removed)
        self._waiting.add(delta.added[self._may_leave(delta.added, BEGINNING)])
        return super().update(deltas, frontiers)

    def decide(self, inputs: Sequence[Frontier], frozen: Time) -> None:
        """Stop waiting for rows that have reached the slice, and for those that bear on nothing."""
        self._waiting.rows = self._leaving(inputs[0].guarantee, frozen)

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:
        """A slice is a predicate over open ends: decided once g has reached its start.  Readings: R24, R36."""
        leaving = self._leaving(inputs[0].guarantee, frozen)
        return inputs[0]._replace(guarantee=before(inputs[0].guarantee, self.relation.table.os.view[leaving]))

    def _leaving(self, known: Time, frozen: Time) -> Rows:
        """The rows that may leave the slice by an end after ``known``."""
        rows = self._waiting.rows
        rows = rows[self._may_leave(rows, known)]
        found: Rows = rows[self.relation.table.vs.view[rows] > frozen]
        return found

    def _may_leave(self, rows: Rows, known: Time) -> Mask:
        may = np.zeros(len(rows), dtype=np.bool_)
        for bounds, start, end in (
            (self._occurrence, HeaderField.OS, HeaderField.OE),
            (self._valid, HeaderField.VS, HeaderField.VE),
        ):
            first = BEGINNING if bounds is None else bounds[0]
            starts, ends = (self.relation.times(field, rows) for field in (start, end))
            may |= (starts < first) & (np.minimum(ends, first) > known)
        return may
