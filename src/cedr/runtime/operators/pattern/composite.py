"""What SEQUENCE and ATLEAST have in common: instances, their choice, the composite rows made of them.

Paper: Section 3.3.2.  Readings: R8 (IDs), R11, R12, R25 to R28 (SC modes), R49 (WITH TIES).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan import logical
from cedr.plan.analyses.bounds import scope as total_scope
from cedr.plan.analyses.ties import counted_parameters
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.mechanism.affected_ranges import PatternOperator
from cedr.runtime.operators.mechanism.beliefs import Intervals
from cedr.runtime.operators.mechanism.consumption import Consumption
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.mechanism.instances import Asked, Found
from cedr.runtime.operators.mechanism.parameters import Parameters
from cedr.runtime.operators.mechanism.simultaneous import Simultaneous
from cedr.runtime.operators.mechanism.tie_count import TieCount
from cedr.runtime.store.composite_table import Composites
from cedr.runtime.store.relation import Reach, Relation
from cedr.runtime.store.table import Mask, Rows, Table
from cedr.runtime.store.times import later


class Composite(PatternOperator):
    """An operator whose outputs are made of one event for each parameter."""

    def __init__(
        self, node: logical.Sequence | logical.AtLeast, inputs: Sequence[Input], conjuncts: Conjuncts, scope: int
    ) -> None:
        ordered = isinstance(node, logical.Sequence)
        super().__init__(inputs, Composites(node.place, [source.relation for source in inputs], ordered=ordered))
        self.scope = scope
        self.parameters = Parameters(inputs, node.parameters, conjuncts)
        self.simultaneous = Simultaneous(self.parameters.relations, ties=node.ties)
        self.tie_count = TieCount([inputs[index] for index in counted_parameters(node)])
        self.consuming = bool(self.parameters.consuming) or node.disjoint is not None
        self.endless = self.consuming
        self.reach = total_scope(node) or 0
        self._consumption = Consumption(self.parameters, node.disjoint) if self.consuming else None
        self.relation = _relation(self.table, node.place, [source.relation for source in inputs])

    @property
    def ties(self) -> int:
        """Events that share Vs and key with another event of the parameters.  Reading: R49."""
        return self.tie_count.count

    @abstractmethod
    def instances(self, asked: Asked) -> Found:
        """All instances that satisfy times and predicates."""

    @abstractmethod
    def selected(self, asked: Asked, found: Found) -> Mask:
        """Which instances FIRST and LAST choose.  Reading: R25."""

    def find(self, asked: Asked) -> Found:
        """The instances that are output."""
        if self._consumption is not None:
            return self._consumption.chosen(asked, self._all_instances(asked))
        found = self.instances(asked)
        return found.take(self.selected(asked, found)) if self.parameters.selects else found

    def _all_instances(self, asked: Asked) -> Found:
        """Those of the interval, and those shortly before it, with which choices are compared.  Reading: R26."""
        if not self.parameters.selects:
            return self.instances(asked)
        at = asked.at
        back = self.windows[0].before
        low = np.maximum(at.low, -FOREVER + min(back, FOREVER - 1)) - min(back, FOREVER - 1)
        return self.instances(asked._replace(at=Intervals(at.groups, low, at.high)))

    def unheard(self, ended: Time) -> Sequence[Time]:
        """Ve is the first contributor's Vs + w, so that all of them lie after that; choices look further back."""
        if self.parameters.selects or self.endless or BEGINNING in (ended, -self.scope - 1):
            return super().unheard(ended)
        return [plus(ended, -self.scope - 1)] * len(self.inputs)

    def root_times(self, references: list[Rows]) -> Rows:
        """The smallest Rt of the contributors."""
        if all(relation.table.rt.implicit for relation in self.parameters.relations) and self.relation.ordered:
            return self.parameters.times(0, references[0])
        smallest = np.full(len(references[0]), FOREVER)
        for relation, rows in zip(self.parameters.relations, references, strict=True):
            root = np.where(rows >= 0, relation.table.rt.view[rows], FOREVER) if len(relation.table) else FOREVER
            smallest = np.minimum(smallest, root)
        return smallest

    def undecided_choice(self, known: Time, frozen: Time, choosing: Sequence[int]) -> Time | None:
        """LAST where it chooses by the future: until g reaches the Vs of the first other contributor + w.

        Reading: R36.  Asked of what is known up to g.
        """
        groups = np.unique(np.concatenate([np.arange(len(s.store.sorted.pieces)) for s in self.inputs]))
        low = np.full(len(groups), plus(plus(known, -self.scope), -self.scope))
        found = self._evaluate(Intervals(groups.astype(np.int64), low, np.full(len(groups), FOREVER)), known)
        open_ = np.zeros(len(found.anchors), dtype=np.bool_)
        for index in choosing:
            others = [
                np.where(rows >= 0, self.parameters.times(i, rows), FOREVER)
                for i, rows in enumerate(found.references)
                if i != index
            ]
            first = np.minimum.reduce(others) if others else np.full(len(open_), FOREVER)
            open_ |= (found.references[index] >= 0) & (later(first, self.scope) > known)
        open_ &= found.header.vs > frozen
        return int(found.header.os[open_].min()) if open_.any() else None


def _relation(table: Table, place: str, inputs: Sequence[Relation], *, ordered: bool = True) -> Relation:
    variables = {
        name: reach.after((table, index))
        for index, relation in enumerate(inputs)
        for name, reach in relation.variables.items()
    }
    contributors = tuple(Reach(((table, index),), relation) for index, relation in enumerate(inputs))
    return Relation(table, place, variables, (), (), contributors, ordered)


relation_of = _relation
