"""CANCEL-WHEN: stops a partial detection.

Paper: Section 3.3.2, "Negation".  Reading: R18.
"""

from __future__ import annotations

from collections.abc import Sequence

from cedr.model.time import FOREVER
from cedr.plan import logical
from cedr.plan.analyses.bounds import scope
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.mechanism.beliefs import Window
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.mechanism.semi_join import Condition
from cedr.runtime.operators.pattern.negation import Negation
from cedr.runtime.store.table import Mask, Rows


class CancelWhen(Negation):
    """``CANCEL-WHEN(E1, E2)``.  Paper: Section 3.3.2.  Reading: R18."""

    runs = logical.CancelWhen

    def __init__(self, node: logical.CancelWhen, inputs: Sequence[Input], conjuncts: Conjuncts) -> None:
        super().__init__(node.place, inputs, conjuncts, node.disjoint)
        span = scope(node.first) or 0
        before = span if span == FOREVER else span - 1
        self.affects = [Window(0, FOREVER if self.endless else 0), Window(-1, FOREVER if self.endless else before)]
        self.windows = [Window(0, 0), Window(before, -1)]
        self.reach = scope(node) or 0
        self._from_root = node.from_root

    def scope_of(self, rows: Rows) -> tuple[Rows, Rows]:
        """``e1.Rt < e2.Vs < e1.Vs``."""
        table = self.kept.table
        return table.rt.view[rows] + 1, table.vs.view[rows] - 1

    def condition(self, rows: Rows) -> Condition | None:
        """``FROM ROOT`` also wants ``e1.Rt < e2.Rt``."""
        if not self._from_root:
            return None
        roots, other = self.kept.table.rt.view[rows], self.inputs[self.negated].relation.table.rt

        def later_root(owner: Rows, candidates: Rows) -> Mask:
            after: Mask = roots[owner] < other.view[candidates]
            return after

        return later_root
