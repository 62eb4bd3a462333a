"""Building a dataflow: one stage for each node of the physical plan, inputs first.

Paper: Section 5, Figure 7 (the operational module).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cedr.plan import logical
from cedr.plan.analyses.open_ends import reading_ends
from cedr.plan.logical import Node
from cedr.plan.physical.nodes import Algebra, Chain, Count, Filter, Match, Named, Physical, Scan, TimeSlice, UnlessPair
from cedr.runtime.dataflow.composition import source_relation
from cedr.runtime.dataflow.not_live import not_live
from cedr.runtime.dataflow.stage import Stage
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.filter import Select, Slice
from cedr.runtime.operators.mechanism.grouping import Tuples, coded
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.open_ends import OpenEnds
from cedr.runtime.operators.pattern.at_least import AtLeast
from cedr.runtime.operators.pattern.at_most import AtMost
from cedr.runtime.operators.pattern.cancel_when import CancelWhen
from cedr.runtime.operators.pattern.not_sequence import Not
from cedr.runtime.operators.pattern.sequence import Sequence as SequenceOperator
from cedr.runtime.operators.pattern.unless import Unless, UnlessNth
from cedr.runtime.operators.pattern.unless_sequence import UnlessSequence
from cedr.runtime.operators.project import RowByRow
from cedr.runtime.store.key_codes import Codes
from cedr.runtime.store.table import Table

Sources = Callable[[str], Table]
"""The table of an event type's rows."""

_PATTERNS: dict[type[Node], Callable[[Any, Sequence[Input], Conjuncts], Any]] = {
    logical.Sequence: SequenceOperator,
    logical.AtLeast: AtLeast,
    logical.Unless: Unless,
    logical.UnlessNth: UnlessNth,
    logical.Not: Not,
    logical.CancelWhen: CancelWhen,
}


def build(plan: Physical, sources: Sources, codes: Codes) -> list[Stage]:
    """The stages of a physical plan, each after its inputs; the last one gives the output."""
    builder = _Builder(sources, codes)
    builder.build(plan)
    return builder.stages


class _Builder:
    def __init__(self, sources: Sources, codes: Codes) -> None:
        self._sources, self._codes = sources, codes
        self._built: dict[int, Stage] = {}
        self.stages: list[Stage] = []

    def build(self, plan: Physical) -> Stage:
        """The stage of a node; one that was built before is taken again."""
        if id(plan) not in self._built:
            stage = self._built[id(plan)] = self._stage(plan)
            self.stages.append(stage)
        return self._built[id(plan)]

    def _stage(self, plan: Physical) -> Stage:
        if isinstance(plan, Algebra):
            raise not_live(plan.node)
        below = [self.build(part) for part in plan.inputs]
        match plan:
            case Scan():
                return Stage(plan.node, [], source_relation(plan.node, self._sources(plan.node.type.name)))
            case Named():
                return Stage(plan.node, below, below[0].relation.renamed(plan.node.variable))
            case Chain():
                project = next((step for step in plan.steps if isinstance(step, logical.Project)), plan.node)
                return _with_open_ends(plan.node, below, RowByRow(plan.steps, below[0].relation), project)
            case Filter():
                return _with_open_ends(plan.node, below, Select(plan.node, below[0].relation))
            case TimeSlice():
                return _with_open_ends(plan.node, below, Slice(plan.node, below[0].relation))
            case Match():
                return self._match(plan, below)
            case Count():
                return self._count(plan, below)
            case UnlessPair():
                return self._unless_pair(plan, below)

    def _match(self, plan: Match, below: list[Stage]) -> Stage:
        if type(plan.node) not in _PATTERNS:
            raise not_live(plan.node)
        relations, conjuncts = [stage.relation for stage in below], Conjuncts(plan.node.predicates)
        if plan.key is None:
            inputs = [Input(relation) for relation in relations]
        else:
            groupings = coded(self._codes, relations, plan.key.sides)
            inputs = [Input(r, g, nulls=n) for r, g, n in zip(relations, groupings, plan.nulls, strict=True)]
            conjuncts = conjuncts.without(plan.key.predicates)
        return _with_open_ends(plan.node, below, _PATTERNS[type(plan.node)](plan.node, inputs, conjuncts))

    def _count(self, plan: Count, below: list[Stage]) -> Stage:
        tuples, keys = Tuples(), plan.node.keys or [()] * len(below)
        inputs = [
            Input(stage.relation, tuples.grouping(stage.relation, by) if by else None)
            for stage, by in zip(below, keys, strict=True)
        ]
        return _with_open_ends(plan.node, below, AtMost(plan.node, inputs))

    def _unless_pair(self, plan: UnlessPair, below: list[Stage]) -> Stage:
        relations = [stage.relation for stage in below]
        groupings = coded(self._codes, relations, plan.sides) if plan.sides else [None] * len(below)
        inputs = [Input(r, g, nulls=g is None) for r, g in zip(relations, groupings, strict=True)]
        return _with_open_ends(plan.node, below, UnlessSequence(plan.node, inputs, Conjuncts(())))


def _with_open_ends(node: Node, below: list[Stage], operator: Any, reading: Node | None = None) -> Stage:
    """The stage of an operator, with what it has to know of open ends that its expressions read.  Reading: R36."""
    names = reading_ends(node if reading is None else reading)
    stage = Stage(node, below, operator.relation, operator)
    stage.open_ends = [OpenEnds(part.relation, names) if names else None for part in below]
    return stage
