"""ATMOST.

Paper: Section 3.3.2 ("can be expressed with sliding window aggregate").  Reading: R14.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.model.time import FOREVER
from cedr.plan import logical
from cedr.plan.analyses.bounds import scope
from cedr.runtime.operators.mechanism.affected_ranges import PatternOperator
from cedr.runtime.operators.mechanism.beliefs import Window
from cedr.runtime.operators.mechanism.disjoint import Candidate, Fence, passed
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.mechanism.instances import Asked, Found, Shape
from cedr.runtime.operators.pattern.composite import relation_of
from cedr.runtime.store.composite_table import Composites
from cedr.runtime.store.relation import Reach
from cedr.runtime.store.table import Mask, Rows
from cedr.runtime.store.times import earlier, later

NULL_GROUP = 0


class AtMost(PatternOperator):
    """``ATMOST(n, E1, …, Ek, w)``.  Paper: Section 3.3.2.  Reading: R14.

    Each event of any parameter, if the weights of all events with Vs in ``(e.Vs - w, e.Vs]`` add up to n at most.
    """

    def __init__(self, node: logical.AtMost, inputs: Sequence[Input]) -> None:
        relations = [source.relation for source in inputs]
        super().__init__(inputs, Composites(node.place, relations, ordered=False))
        self._count, self._scope = node.count, node.scope
        self._weights = [p.weight for p in node.parameters]
        self._keyed = bool(node.keys)
        self.relation = relation_of(self.table, node.place, relations, ordered=False)
        self.endless = node.disjoint is not None
        back = node.scope if node.scope == FOREVER else node.scope - 1
        self.affects = [Window(0, FOREVER if self.endless else back)] * len(inputs)
        self.windows = [Window(back, 0)] * len(inputs)
        self.reach = scope(node) or 0
        self._fences = [] if node.disjoint is None else [Fence(node.disjoint, r, (Reach((), r),)) for r in relations]

    def find(self, asked: Asked) -> Found:
        """The events within the limit, each bound to the first parameter that it fits."""
        parts = [self._of_parameter(asked, index) for index in range(len(self.inputs))]
        columns = [np.concatenate(some) for some in zip(*(p.references for p in parts), strict=True)]
        found = Found(columns, np.concatenate([p.owner for p in parts]))
        if not self.endless:
            return found
        return found.take(passed([] if asked.prior is None else self._candidates(asked.prior), self._candidates(found)))

    def _of_parameter(self, asked: Asked, index: int) -> Found:
        store = asked.inputs[index]
        owner, place = store.locate(*asked.at).expand()
        rows, times = store.rows[place], store.times[place]
        fits = [self._among(asked, owner, rows, times, other, index) for other in range(len(self.inputs))]
        taken = np.zeros(len(rows), dtype=np.bool_)
        for other in range(index):
            taken |= fits[other]
        groups = asked.at.groups[owner]
        total = np.zeros(len(rows), dtype=np.int64)
        for other, weight in enumerate(self._weights):
            counts = asked.inputs[other].locate(groups, later(earlier(times, self._scope), 1), times).counts
            total += weight * np.where(self._alone(asked, index, rows), fits[other], counts)
        keep = ~taken & (total <= self._count)
        columns = [np.full(int(keep.sum()), -1) for _ in self.inputs]
        columns[index] = rows[keep]
        return Found(columns, owner[keep])

    def _alone(self, asked: Asked, index: int, rows: Rows) -> Mask:  # noqa: ARG002 - one shape for all
        """Reading: R22: an event whose key is NULL agrees with no other one, and counts alone."""
        if not self._keyed:
            return np.zeros(len(rows), dtype=np.bool_)
        alone: Mask = self.inputs[index].groups(rows) == NULL_GROUP
        return alone

    def _among(self, asked: Asked, owner: Rows, rows: Rows, times: Rows, other: int, index: int) -> Mask:
        """Which rows of a parameter are also rows of another one."""
        if other == index:
            return np.ones(len(rows), dtype=np.bool_)
        if self.inputs[other].relation.table is not self.inputs[index].relation.table:
            return np.zeros(len(rows), dtype=np.bool_)
        store = asked.inputs[other]
        mine, place = store.locate(asked.at.groups[owner], times, times).expand()
        found = np.zeros(len(rows), dtype=np.bool_)
        found[mine[store.rows[place] == rows[mine]]] = True
        return found

    def _candidates(self, found: Found) -> list[Candidate]:
        """What DISJOINT asks of the events of all parameters.  Reading: R27."""
        candidates: list[Candidate | None] = [None] * len(found.owner)
        for source, fence, rows in zip(self.inputs, self._fences, found.references, strict=True):
            some = np.flatnonzero(rows >= 0)
            at = rows[some]
            detected = source.relation.table.vs.view[at] if len(at) else at
            for number, candidate in zip(some.tolist(), fence.candidates(found.owner[some], at, detected), strict=True):
                candidates[number] = candidate
        return [candidate for candidate in candidates if candidate is not None]

    def shape(self, references: list[Rows]) -> Shape:
        """``[e.Vs, e.Vs + w)``."""
        vs, rt = (self._of_event(references, name) for name in ("vs", "rt"))
        return Shape(vs, vs, later(vs, self._scope), rt)

    def _of_event(self, references: list[Rows], name: str) -> Rows:
        values = np.zeros(len(references[0]), dtype=np.int64)
        for source, rows in zip(self.inputs, references, strict=True):
            some = rows >= 0
            values[some] = getattr(source.relation.table, name).view[rows[some]]
        return values
