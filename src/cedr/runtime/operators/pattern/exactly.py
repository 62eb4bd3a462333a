"""EXACTLY.

Paper: Section 3.3.2, "Event Sequencing" and "Negation".  Readings: R21, R36, R46.  Instances are those of ATLEAST for
which no event of a parameter that they leave out lies within the scope of their first event.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.model.time import FOREVER, Time, plus
from cedr.plan import logical
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.mechanism.beliefs import Intervals, Window
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.mechanism.instances import Asked, Found
from cedr.runtime.operators.mechanism.semi_join import Condition, Sought, exists
from cedr.runtime.operators.pattern.at_least import AtLeast
from cedr.runtime.store.table import Mask, Rows
from cedr.runtime.store.times import later


class Exactly(AtLeast):
    """``EXACTLY(n, E1, …, Ek, w)``.  Paper: Section 3.3.2.  Reading: R46."""

    runs = logical.Exactly

    def __init__(self, node: logical.Exactly, inputs: Sequence[Input], conjuncts: Conjuncts) -> None:
        super().__init__(node, inputs, conjuncts)
        self._leaves_out = node.count < len(inputs)
        if not self._leaves_out:
            return
        # an event alone has no partner to agree with on a key, so its group may be that of NULL
        self._beside = Conjuncts(node.predicates) if node.count == 1 else conjuncts
        before, after = self.affects[0]
        reach = plus(node.scope, node.scope) if self.parameters.selects else node.scope
        self.affects = [Window(max(before, reach), max(after, reach))] * len(inputs)
        self.windows = [Window(max(self.windows[0].before, reach), reach)] * len(inputs)
        self.waits = max(self.waits or 0, node.scope)

    def instances(self, asked: Asked) -> Found:
        """Those of ATLEAST that have no event of another parameter beside them."""
        found = super().instances(asked)
        return found.take(~self._accompanied(asked, found)) if self._leaves_out and len(found.owner) else found

    def _accompanied(self, asked: Asked, found: Found) -> Mask:
        """Which instances have an event of a parameter that they leave out in ``[first.Vs, first.Vs + w]``."""
        first = self._first(found.references)
        beside = np.zeros(len(first), dtype=np.bool_)
        for index, (store, column) in enumerate(zip(asked.inputs, found.references, strict=True)):
            open_ = np.flatnonzero((column < 0) & ~beside)
            columns = [each[open_] for each in found.references]
            low = first[open_]
            places = store.locate(asked.at.groups[found.owner[open_]], low, later(low, self.scope))
            others = [
                (relation, each)
                for number, (relation, each) in enumerate(zip(self.parameters.relations, columns, strict=True))
                if number != index
            ]
            condition = self._no_contributor(index, columns)
            added = self.parameters.variables[index]
            sought = Sought(self.parameters.relations[index], self._beside, added, condition, asked.known)
            beside[open_] = exists(store, places, others, sought)
        return beside

    def _first(self, references: Sequence[Rows]) -> Rows:
        times = [np.where(rows < 0, FOREVER, self.parameters.times(i, rows)) for i, rows in enumerate(references)]
        first: Rows = np.minimum.reduce(times)
        return first

    def _no_contributor(self, index: int, columns: Sequence[Rows]) -> Condition | None:
        """Whether candidates are no events of the instance itself; None: none can be."""
        table = self.parameters.relations[index].table
        same = [
            column
            for relation, column in zip(self.parameters.relations, columns, strict=True)
            if relation.table is table
        ]
        if len(same) == 1:  # the parameter itself, which is left out
            return None

        def other(owner: Rows, candidates: Rows) -> Mask:
            free = np.ones(len(owner), dtype=np.bool_)
            for column in same:
                free &= column[owner] != candidates
            return free

        return other

    def undecided(self, known: Time, frozen: Time) -> Time | None:
        """Until g reaches ``first.Vs + w`` where a parameter is left out; and as ATLEAST.  Readings: R36, R46."""
        least = super().undecided(known, frozen)
        if not self._leaves_out:
            return least
        groups = np.arange(max(len(source.store.sorted.pieces) for source in self.inputs), dtype=np.int64)
        low = np.full(len(groups), plus(known, -self.scope))
        found = self._evaluate(Intervals(groups, low, np.full(len(groups), FOREVER)), known)
        waiting = (later(self._first(found.references), self.scope) > known) & (found.header.vs > frozen)
        syncs = [] if least is None else [least]
        return min([*syncs, *found.header.os[waiting].tolist()], default=None)
