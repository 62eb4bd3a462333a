"""Selection and slices: rows pass or do not; nothing is held.

Paper: Definition 8; Section 3.2, "Temporal Slicing".  Readings: R10, R21, R24, R36.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from cedr.expression.tree import HeaderField
from cedr.model.time import BEGINNING, Time
from cedr.plan import logical
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.contract import OWN, Size
from cedr.runtime.store.relation import Frame, Relation
from cedr.runtime.store.table import NONE, Delta, Mask, Rows, renumbered


class Filter:
    """An operator that passes some rows of its input on, under their numbers."""

    def __init__(self, relation: Relation) -> None:
        self.relation = replace(relation)

    def passes(self, rows: Rows) -> Mask:
        """Which rows pass."""
        raise NotImplementedError

    def update(self, deltas: Sequence[Delta]) -> Delta:
        """What passes of a change."""
        (delta,) = deltas
        removed, added = (rows[self.passes(rows)] if len(rows) else rows for rows in delta)
        return Delta(removed, added)

    def settled(self, inputs: Sequence[Time]) -> Time:
        """What is final below is final here."""
        return inputs[0]

    def needs(self, settled: Sequence[Time], line: Time, ended: Time) -> list[Time]:  # noqa: ARG002 - it holds nothing
        """What is needed here is needed below."""
        return [line]

    def let_go(self, line: Time) -> None:
        """Nothing is undecided in any case."""

    def undecided(self, known: Time) -> Time | None:  # noqa: ARG002 - decided at once
        """Nothing."""
        return None

    def free_of(self, sources: Collection[int]) -> bool:  # noqa: ARG002 - it holds nothing
        """Nothing is held."""
        return True

    def holds(self, part: int) -> Rows:  # noqa: ARG002 - nothing at all
        """Nothing."""
        return NONE

    def renumber(self, inputs: Sequence[Rows | None], own: Rows | None, groups: Mapping[object, Rows]) -> None:
        """Nothing is held."""

    @property
    def size(self) -> Size:
        """Nothing."""
        return Size(0, 0)


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
        self._waiting: Rows = NONE

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

    def update(self, deltas: Sequence[Delta]) -> Delta:
        """What passes, and which rows may yet end before the slice begins."""
        (delta,) = deltas
        self._waiting = np.concatenate([np.setdiff1d(self._waiting, delta.removed), delta.added])
        self._waiting = self._waiting[self._may_leave(self._waiting, BEGINNING)]
        return super().update(deltas)

    def let_go(self, line: Time) -> None:
        """Do not wait for what bears on nothing."""
        self._waiting = self._waiting[self.relation.table.vs.view[self._waiting] > line]

    def undecided(self, known: Time) -> Time | None:
        """A slice is a predicate over open ends: decided once g has reached its start.  Readings: R24, R36."""
        leaving = self._waiting[self._may_leave(self._waiting, known)]
        return int(self.relation.table.os.view[leaving].min()) if len(leaving) else None

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

    def free_of(self, sources: Collection[int]) -> bool:
        """Whether nothing waits."""
        return not len(self._waiting) or id(self.relation.table) in sources

    def holds(self, part: int) -> Rows:
        """What waits."""
        return NONE if part == OWN else self._waiting

    def renumber(self, inputs: Sequence[Rows | None], own: Rows | None, groups: Mapping[object, Rows]) -> None:
        """The input's rows got other numbers."""
        super().renumber(inputs, own, groups)
        self._waiting = renumbered(self._waiting, inputs[0])
