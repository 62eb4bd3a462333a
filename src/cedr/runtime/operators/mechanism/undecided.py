"""Rows that wait for a decision: something may still come that cancels them.

Paper: Section 3.3.2, "Negation".  Readings: R15, R36.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.operators.contract import Frontier
from cedr.runtime.operators.mechanism.affected_ranges import PatternOperator
from cedr.runtime.store.holders import NONE, HeldRows
from cedr.runtime.store.table import Delta, Mask, Rows, Table, picked
from cedr.runtime.values.constant import constant


class Search(NamedTuple):
    """The rows that still wait, and the smallest Sync of an output that these make undecided."""

    waiting: Rows
    sync: Time | None
    first: Rows = NONE
    """The row that makes that one undecided, if ``stands`` can tell when it no longer does."""


class Waiting(PatternOperator):
    """An operator of which rows of one input wait for a decision."""

    awaiting: int
    """Of which input the rows are."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._pending = HeldRows()
        self.inputs[self.awaiting].relation.table.hold(self._pending)
        self._first = HeldRows()
        """The row that made the last answer.  While it waits, none before it does: what is decided stays so."""
        self.inputs[self.awaiting].relation.table.hold(self._first)
        self._decided: tuple[Time, Time, Time | None] | None = None
        """The last answer: up to which guarantee and which frozen Vs, and the smallest Sync that is undecided."""

    @abstractmethod
    def search(self, rows: Rows, known: Time) -> Search:
        """Of rows that wait, those that still do by what is known up to g."""

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:
        """Take in changes; the last answer holds no longer."""
        self._decided = None
        return super().update(deltas, frontiers)

    def decide(self, inputs: Sequence[Frontier], frozen: Time) -> None:
        """What is decided, or bears on nothing, does not wait any more."""
        super().decide(inputs, frozen)
        known = min(part.guarantee for part in inputs)
        if known == BEGINNING and frozen == BEGINNING:
            return
        rows = self._after(frozen)
        if not self._still_waits(rows, known):
            self._pending.rows, sync, self._first.rows = self.search(rows, known)
        else:
            (sync,) = self._when(self._first.rows).tolist()
        self._decided = (known, frozen, sync)

    def _still_waits(self, rows: Rows, known: Time) -> bool:
        """Whether the row that made the last answer makes this one too."""
        first = self._first.rows
        return bool(len(first)) and bool((rows == first).any()) and self.stands(first, known)

    def stands(self, first: Rows, known: Time) -> bool:  # noqa: ARG002 - for those who can tell at once
        """Whether nothing known up to g has cancelled a row for which that was so before, and something still may."""
        return False

    def reopen(self, deltas: Sequence[Delta]) -> None:
        """Rows wait again that share a group with a revision that comes: what was decided about them may be open.

        Called before the changes are taken in.  While a group holds revisions, nothing is decided in it for good.
        """
        changed = [
            source.groups(rough)
            for source, delta in zip(self.inputs, deltas, strict=True)
            for rough in (_not_plain(source.relation.table, delta.added),)
            if len(rough)
        ]
        if changed:
            self._first.clear()
            groups = np.unique(np.concatenate(changed))
            store = self.inputs[self.awaiting].store.sorted
            _, places = store.locate(groups, constant(BEGINNING, len(groups)), constant(FOREVER, len(groups))).expand()
            self._pending.add(np.setdiff1d(store.rows[places], self._pending.rows))

    def undecided(self, known: Time, frozen: Time) -> Time | None:
        """The smallest Sync of an output that something after g may cancel.  Reading: R36."""
        if self._decided is not None and self._decided[:2] == (known, frozen):
            return self._decided[2]
        return self.search(self._after(frozen), known).sync

    def _after(self, frozen: Time) -> Rows:
        rows = self._pending.rows
        return rows if frozen == BEGINNING else rows[self._when(rows) > frozen]

    def _when(self, rows: Rows) -> Rows:
        """Vs of rows that wait."""
        return picked(self.inputs[self.awaiting].relation.table.vs, rows)

    def _smooth(self, rows: Rows) -> Mask:
        """Whether what is known of some rows stays so: their groups hold no revisions."""
        rough = self._rough(self.inputs[self.awaiting].groups(rows))
        return np.ones(len(rows), dtype=np.bool_) if rough is None else ~rough


def _not_plain(table: Table, rows: Rows) -> Rows:
    return NONE if table.plain.implicit or not len(rows) else rows[~table.plain.view[rows]]
