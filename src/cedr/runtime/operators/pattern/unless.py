"""UNLESS and UNLESS'.

Paper: Section 3.3.2, "Negation".  Readings: R15, R16, R36.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.model.time import FOREVER, Time, plus
from cedr.plan import logical
from cedr.plan.analyses.bounds import scope
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.mechanism.beliefs import Intervals, Window
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.mechanism.instances import Asked, Shape
from cedr.runtime.operators.mechanism.undecided import Search, Waiting
from cedr.runtime.operators.pattern.negation import Negation
from cedr.runtime.store.relation import Hop, Reach
from cedr.runtime.store.table import Delta, Rows
from cedr.runtime.store.times import earlier, later, until

_CHUNK = 1024


class _Scoped(Negation):
    """A first operand that is output unless one of the second follows within w."""

    def __init__(self, node: logical.Unless | logical.UnlessNth, inputs: Sequence[Input], conjuncts: Conjuncts) -> None:
        self._scope = node.scope
        super().__init__(node.place, inputs, conjuncts, node.disjoint)

    def _contributors(self, hop: Hop) -> tuple[Reach, ...]:
        return (Reach((hop,), self.kept),)

    def _ranked_by(self) -> Sequence[Reach]:
        return (Reach((), self.kept),)

    def contributing(self) -> Sequence[int]:
        """The first operand contributes."""
        return (self.positive,)


class Unless(Waiting, _Scoped):
    """``UNLESS(E1, E2, w)``.  Paper: Section 3.3.2.  Reading: R15."""

    runs = logical.Unless

    awaiting = _Scoped.positive

    def __init__(self, node: logical.Unless, inputs: Sequence[Input], conjuncts: Conjuncts) -> None:
        super().__init__(node, inputs, conjuncts)
        reach = node.scope if node.scope == FOREVER else node.scope - 1
        self.affects = [Window(0, 0), Window(reach, -1)]
        self.windows = [Window(0, 0), Window(-1, reach)]
        self.waits = reach
        if self.endless:
            self.affects = [window._replace(after=FOREVER) for window in self.affects]
            self.reach = scope(node) or 0

    def scope_of(self, rows: Rows) -> tuple[Rows, Rows]:
        """``e1.Vs < e2.Vs < e1.Vs + w``."""
        start = self.kept.table.vs.view[rows]
        return start + 1, until(later(start, self._scope))

    def lifetimes(self, references: list[Rows]) -> tuple[Rows, Rows, Rows]:
        """``[e1.Vs, e1.Vs + w)``."""
        vs, _, rt = super().lifetimes(references)
        return vs, later(vs, self._scope), rt

    def change(self, deltas: Sequence[Delta]) -> Delta:
        """Take in changes, and note which first operands wait for a decision."""
        self.reopen(deltas)
        self._pending.add(deltas[0].added)
        return super().change(deltas)

    def search(self, rows: Rows, known: Time) -> Search:
        """The smallest Sync of an e1 with ``e1.Vs + w > g + 1`` that no e2 known up to g has cancelled.

        Reading: R36.  Looked for in the order of Sync; what is found decided is not looked at again.
        """
        table = self.kept.table
        rows = rows[later(self._when(rows), self._scope) > plus(known, 1)]
        syncs = table.os.view[rows]
        heard = np.flatnonzero(syncs <= known)
        heard = heard[np.argsort(syncs[heard], kind="stable")]
        decided = np.zeros(len(rows), dtype=np.bool_)
        least: Time | None = None
        for first in range(0, len(heard), _CHUNK):
            chunk = heard[first : first + _CHUNK]
            open_ = self._open_among(rows[chunk], known)
            decided[chunk] = ~np.isin(rows[chunk], open_) & self._smooth(rows[chunk])
            open_syncs = table.os.view[open_]
            open_syncs = open_syncs[open_syncs <= syncs[chunk[-1]]]
            if len(open_syncs):
                least = int(open_syncs.min())
                break
        return Search(rows[~decided], least)

    def _open_among(self, rows: Rows, known: Time) -> Rows:
        groups, times = self.inputs[0].groups(rows), self.kept.table.vs.view[rows]
        at = np.unique(np.stack([groups, times], axis=1), axis=0)
        found = self._evaluate(Intervals(at[:, 0].copy(), at[:, 1].copy(), at[:, 1].copy()), known)
        return found.references[0]


class UnlessNth(_Scoped):
    """``UNLESS(E1, E2, n, w)``, the paper's UNLESS'.  Reading: R16.

    Anchored at e1.Vs; with DISJOINT at its detection, up to w later: choices are made in that order (R27).
    """

    runs = logical.UnlessNth

    def __init__(self, node: logical.UnlessNth, inputs: Sequence[Input], conjuncts: Conjuncts) -> None:
        self._number = node.contributor
        super().__init__(node, inputs, conjuncts)
        span = scope(node.first) or 0
        reach = node.scope if node.scope == FOREVER else node.scope - 1
        self.lead = node.scope
        before = span if span == FOREVER else span - 1
        self.affects = [Window(0, 0), Window(reach, before)]
        self.windows = [Window(0, 0), Window(before, reach)]
        if self.endless:
            self.lead = 0
            self.affects = [Window(0, FOREVER), Window(-1, FOREVER)]
            self.windows = [Window(node.scope, 0), Window(max(before, reach), -1)]
            self.reach = scope(node) or 0

    def anchored(self, asked: Asked) -> tuple[Rows, Rows]:
        """The rows of the first operand that are detected in the intervals, where choices are made in that order."""
        if not self.endless:
            return super().anchored(asked)
        at = asked.at
        owner, rows = super().anchored(asked._replace(at=at._replace(low=earlier(at.low, self._scope))))
        detected = self._detected(rows)
        here = (at.low[owner] <= detected) & (detected <= at.high[owner])
        return owner[here], rows[here]

    def shape(self, references: list[Rows]) -> Shape:
        """Anchored at the first operand, or at the detection."""
        shape = super().shape(references)
        return shape._replace(anchor=shape.vs) if self.endless else shape

    def _start(self, rows: Rows) -> Rows:
        """``e1.cbt[n].Vs``; n = 1 of a primitive event is the event itself."""
        reaches = self.kept.contributors
        if not reaches:
            start: Rows = self.kept.table.vs.view[rows]
            return start
        if self.kept.ordered:
            reach = reaches[self._number - 1]
            found: Rows = reach.target.table.vs.view[reach.rows(rows)]
            return found
        times = np.full((len(reaches), len(rows)), FOREVER)
        for index, reach in enumerate(reaches):
            at = reach.rows(rows)
            if len(reach.target.table):
                times[index] = np.where(at >= 0, reach.target.table.vs.view[at], FOREVER)
        nth: Rows = np.sort(times, axis=0)[self._number - 1]
        return nth

    def scope_of(self, rows: Rows) -> tuple[Rows, Rows]:
        """``e1.cbt[n].Vs < e2.Vs < e1.cbt[n].Vs + w``."""
        start = self._start(rows)
        return start + 1, until(later(start, self._scope))

    def lifetimes(self, references: list[Rows]) -> tuple[Rows, Rows, Rows]:
        """``Vs = max(e1.cbt[n].Vs + w, e1.Vs)``, ``Ve = Vs + w``."""
        vs, _, rt = super().lifetimes(references)
        start = np.maximum(later(self._start(references[self.positive]), self._scope), vs)
        return start, later(start, self._scope), rt
