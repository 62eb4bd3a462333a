"""Rows that wait for a decision: something may still come that cancels them.

Paper: Section 3.3.2, "Negation".  Readings: R15, R36.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from cedr.model.time import Time
from cedr.runtime.operators.mechanism.affected_ranges import PatternOperator
from cedr.runtime.store.table import NONE, Mask, Rows, picked, renumbered


class Waiting(PatternOperator):
    """What it is to an operator that rows of one of its inputs wait: they are held as the others are."""

    awaiting: int
    """Of which input the rows are."""
    _pending: Rows = NONE

    def _when(self, rows: Rows) -> Rows:
        """Vs of rows that wait."""
        return picked(self.inputs[self.awaiting].relation.table.vs, rows)

    def _smooth(self, rows: Rows) -> Mask:
        """Whether what is known of some rows stays so: their groups hold no revisions."""
        rough = self._rough(self.inputs[self.awaiting].groups(rows))
        return np.ones(len(rows), dtype=np.bool_) if rough is None else ~rough

    def let_go(self, line: Time) -> None:
        """Nothing waits for a decision that bears on nothing."""
        super().let_go(line)
        self._pending = self._pending[self._when(self._pending) > line]

    def free_of(self, sources: Collection[int]) -> bool:
        """What waits for a decision is held too."""
        waits = len(self._pending) and id(self.inputs[self.awaiting].relation.table) not in sources
        return not waits and super().free_of(sources)

    def holds(self, part: int) -> Rows:
        """What waits for a decision is held too."""
        held = super().holds(part)
        return np.concatenate([held, self._pending]) if part == self.awaiting else held

    def renumber(self, inputs: Sequence[Rows | None], own: Rows | None, groups: Mapping[object, Rows]) -> None:
        """Rows and groups got other numbers."""
        super().renumber(inputs, own, groups)
        self._pending = renumbered(self._pending, inputs[self.awaiting])
