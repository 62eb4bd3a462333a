"""Building a dataflow: one operator for each node of the physical plan, inputs first.

Paper: Section 5, Figure 7 (the operational module).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cedr.plan import logical
from cedr.plan.analyses.memory import Memory
from cedr.plan.analyses.open_ends import reading_ends, shown_ends
from cedr.plan.logical import Node
from cedr.plan.physical.choose import choose, desugared
from cedr.plan.physical.nodes import Algebra, Chain, Count, Filter, Match, Named, Physical, Scan, TimeSlice, UnlessPair
from cedr.runtime.dataflow.composition import source_relation
from cedr.runtime.dataflow.not_live import not_live
from cedr.runtime.dataflow.vertex import Vertex
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.contract import Operator
from cedr.runtime.operators.filter import Select, Slice
from cedr.runtime.operators.mechanism.grouping import Tuples, coded
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.open_ends import OpenEnds
from cedr.runtime.operators.pass_through import Rename
from cedr.runtime.operators.pattern.at_least import AtLeast
from cedr.runtime.operators.pattern.at_most import AtMost
from cedr.runtime.operators.pattern.cancel_when import CancelWhen
from cedr.runtime.operators.pattern.not_sequence import Not
from cedr.runtime.operators.pattern.sequence import Sequence as SequenceOperator
from cedr.runtime.operators.pattern.unless import Unless, UnlessNth
from cedr.runtime.operators.pattern.unless_sequence import UnlessSequence
from cedr.runtime.operators.project import RowByRow
from cedr.runtime.operators.source import Source
from cedr.runtime.store.holders import Holder
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


class Built(NamedTuple):
    """The operators of a plan, each after its inputs; the last one gives the output."""

    vertices: list[Vertex]
    sources: list[Vertex]
    holds_back: bool
    """Whether a row may wait to be emitted though nothing bears on it: slices and open ends.  Reading: R36."""
    holding: list[tuple[Table, list[Holder]]]
    """What holds rows of the sources' tables here."""


def build(plan: Node, tables: Sources, keys: Codes) -> Built:
    """The operators of a plan."""
    shows_ends, plan = shown_ends(plan), desugared(plan)
    builder = _Builder(tables, keys, Memory(plan), shows_ends)
    builder.build(choose(plan))
    holding = [(table, table.holders[before:]) for table, before in builder.others.items()]
    return Built(builder.vertices, builder.sources, builder.holds_back, holding)


class _Builder:
    def __init__(self, tables: Sources, keys: Codes, memory: Memory, shows_ends: frozenset[str]) -> None:
        self._tables, self._keys, self._memory, self._shows_ends = tables, keys, memory, shows_ends
        self._built: dict[int, Vertex] = {}
        self.vertices: list[Vertex] = []
        self.sources: list[Vertex] = []
        self.holds_back = False
        self.others: dict[Table, int] = {}
        """How many holders the sources' tables had before."""

    def build(self, plan: Physical) -> Vertex:
        """The vertex of a node; one that was built before is taken again."""
        if id(plan) not in self._built:
            vertex = self._built[id(plan)] = self._vertex(plan)
            self.vertices.append(vertex)
        return self._built[id(plan)]

    def _vertex(self, plan: Physical) -> Vertex:
        if isinstance(plan, Algebra):
            raise not_live(plan.node)
        below = [self.build(part) for part in plan.inputs]
        match plan:
            case Scan():
                return self._scan(plan)
            case Named():
                return self._placed(plan.node, below, Rename(plan.node.variable, below[0].relation))
            case Chain():
                project = next((step for step in plan.steps if isinstance(step, logical.Project)), plan.node)
                return self._placed(plan.node, below, RowByRow(plan.steps, below[0].relation), project)
            case Filter():
                return self._placed(plan.node, below, Select(plan.node, below[0].relation))
            case TimeSlice():
                self.holds_back = True
                return self._placed(plan.node, below, Slice(plan.node, below[0].relation))
            case Match():
                return self._match(plan, below)
            case Count():
                return self._count(plan, below)
            case UnlessPair():
                return self._unless_pair(plan, below)

    def _scan(self, plan: Scan) -> Vertex:
        name = plan.node.type.name
        table = self._tables(name)
        self.others.setdefault(table, len(table.holders))
        operator = Source(plan.node.type, source_relation(plan.node, table), shows_ends=name in self._shows_ends)
        vertex = self._placed(plan.node, [], operator)
        self.sources.append(vertex)
        return vertex

    def _match(self, plan: Match, below: list[Vertex]) -> Vertex:
        if type(plan.node) not in _PATTERNS:
            raise not_live(plan.node)
        relations, conjuncts = [vertex.relation for vertex in below], Conjuncts(plan.node.predicates)
        if plan.key is None:
            inputs = [Input(relation) for relation in relations]
        else:
            groupings = coded(self._keys, relations, plan.key.sides)
            inputs = [Input(r, g, nulls=n) for r, g, n in zip(relations, groupings, plan.nulls, strict=True)]
            conjuncts = conjuncts.without(plan.key.predicates)
        return self._placed(plan.node, below, _PATTERNS[type(plan.node)](plan.node, inputs, conjuncts))

    def _count(self, plan: Count, below: list[Vertex]) -> Vertex:
        tuples, keys = Tuples(), plan.node.keys or [()] * len(below)
        inputs = [
            Input(vertex.relation, tuples.grouping(vertex.relation, by) if by else None)
            for vertex, by in zip(below, keys, strict=True)
        ]
        return self._placed(plan.node, below, AtMost(plan.node, inputs))

    def _unless_pair(self, plan: UnlessPair, below: list[Vertex]) -> Vertex:
        relations = [vertex.relation for vertex in below]
        groupings = coded(self._keys, relations, plan.sides) if plan.sides else [None] * len(below)
        inputs = [Input(r, g, nulls=g is None) for r, g in zip(relations, groupings, strict=True)]
        return self._placed(plan.node, below, UnlessSequence(plan.node, inputs, Conjuncts(())))

    def _placed(self, node: Node, below: list[Vertex], operator: Operator, reading: Node | None = None) -> Vertex:
        """An operator in its place; ``reading``: the node whose expressions it evaluates, if it is another one."""
        names = reading_ends(node if reading is None else reading)
        ends = [OpenEnds(part.relation, names) if names else None for part in below]
        self.holds_back |= bool(names)
        place = node.place or type(node).__name__
        return Vertex(operator, below, place, reach=self._memory.reach(node), open_ends=ends)
