"""NOT: negation with a sequence as its scope.

Paper: Section 3.3.2, "Negation".  Reading: R17.
"""

from __future__ import annotations

from collections.abc import Sequence

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan import logical
from cedr.plan.analyses.bounds import scope
from cedr.plan.analyses.lifetimes import lifetime
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.mechanism.beliefs import Window
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.pattern.negation import Negation
from cedr.runtime.store.relation import Reach
from cedr.runtime.store.table import Rows


class Not(Negation):
    """``NOT(E, SEQUENCE(E1, …, Ek, w))``.  Paper: Section 3.3.2.  Reading: R17."""

    runs = logical.Not

    positive, negated = 1, 0

    def __init__(self, node: logical.Not, inputs: Sequence[Input], conjuncts: Conjuncts) -> None:
        super().__init__(node.place, inputs, conjuncts, node.disjoint)
        span = scope(node.sequence) or 0
        before = span if span == FOREVER else span - 1
        self.affects = [Window(-1, FOREVER if self.endless else before), Window(0, FOREVER if self.endless else 0)]
        self.windows = [Window(before, -1), Window(0, 0)]
        self.reach = scope(node) or 0
        self._scope = lifetime(node.sequence)

    def unheard(self, ended: Time) -> Sequence[Time]:
        """A sequence lives until its first contributor's Vs + w, and what is negated lies after that contributor."""
        if self.endless or ended == BEGINNING or self._scope == FOREVER:
            return super().unheard(ended)
        return [plus(ended, -self._scope - 1), BEGINNING]

    def scope_of(self, rows: Rows) -> tuple[Rows, Rows]:
        """``es.cbt[1].Vs < e.Vs < es.cbt[k].Vs``."""
        first, last = (_times(reach, rows) for reach in (self.kept.contributors[0], self.kept.contributors[-1]))
        return first + 1, last - 1


def _times(reach: Reach, rows: Rows) -> Rows:
    found: Rows = reach.target.table.vs.view[reach.rows(rows)]
    return found
