"""Building a dataflow: one operator for each node of the physical plan, inputs first.

Paper: Section 5, Figure 7 (the operational module).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cedr.model.modes import JoinKind
from cedr.plan import logical
from cedr.plan.analyses.lifetimes import lifetime
from cedr.plan.analyses.memory import Memory
from cedr.plan.analyses.open_ends import reading_ends, shown_ends
from cedr.plan.analyses.shape import possible
from cedr.plan.analyses.starts import pins_ends
from cedr.plan.folder import modules_of
from cedr.plan.logical import Node
from cedr.plan.physical.choose import choose, desugared
from cedr.plan.physical.nodes import Algebra, Chain, Count, Filter, Match, Named, Physical, Scan, TimeSlice, UnlessPair
from cedr.runtime.dataflow.algebra import MAKERS
from cedr.runtime.dataflow.composition import source_relation
from cedr.runtime.dataflow.dataflow import Alias, Dataflow, Vertex
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.contract import Operator
from cedr.runtime.operators.filter import Select, Slice
from cedr.runtime.operators.mechanism.affected_ranges import PatternOperator
from cedr.runtime.operators.mechanism.grouping import Tuples, coded
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.open_ends import OpenEnds
from cedr.runtime.operators.pass_through import Rename
from cedr.runtime.operators.pattern.at_most import AtMost
from cedr.runtime.operators.pattern.unless_sequence import UnlessSequence
from cedr.runtime.operators.project import RowByRow
from cedr.runtime.operators.source import Source
from cedr.runtime.store.key_codes import Codes
from cedr.runtime.store.table import Table

_ROW = frozenset({logical.ROW})
Sources = Callable[[str], Table]
"""The table of an event type's rows."""

PATTERNS: dict[type[Node], Callable[[Any, Sequence[Input], Conjuncts], Any]] = {
    kind.runs: kind
    for module in modules_of("cedr.runtime.operators.pattern")
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, PatternOperator) and "runs" in vars(kind)
    if kind.runs is not None
}
"""The operators of the folder, by the logical nodes that they run."""


def build(plan: Node, tables: Sources) -> Dataflow:
    """The operators of a plan, each after its inputs; the last one gives the output."""
    shows_ends, plan, keys = shown_ends(plan), desugared(plan), Codes()
    builder = _Builder(tables, keys, plan, shows_ends)
    builder.build(choose(plan))
    holding = [(table, table.holders[before:]) for table, before in builder.others.items()]
    return Dataflow(builder.vertices, builder.sources, holding, keys, holds_back=builder.holds_back)


class _Builder:
    def __init__(self, tables: Sources, keys: Codes, plan: Node, shows_ends: frozenset[str]) -> None:
        self._tables, self._keys, self._memory, self._shows_ends = tables, keys, Memory(plan), shows_ends
        self._nodes = list(logical.walk(plan))
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
        below = [self.build(part) for part in plan.inputs]
        match plan:
            case Scan():
                return self._scan(plan)
            case Named():
                operator = Rename(plan.node.variable, below[0].relation)
                return self._placed(plan.node, below, operator, kind=Alias)
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
            case Algebra():
                return self._algebra(plan.node, below)

    def _scan(self, plan: Scan) -> Vertex:
        name = plan.node.type.name
        table = self._tables(name)
        self.others.setdefault(table, len(table.holders))
        operator = Source(plan.node.type, source_relation(plan.node, table), shows_ends=name in self._shows_ends)
        vertex = self._placed(plan.node, [], operator)
        vertex.endable = name in self._shows_ends
        self.sources.append(vertex)
        return vertex

    def _match(self, plan: Match, below: list[Vertex]) -> Vertex:
        relations, conjuncts = [vertex.relation for vertex in below], Conjuncts(plan.node.predicates)
        if plan.key is None:
            inputs = [Input(relation) for relation in relations]
        else:
            groupings = coded(self._keys, relations, plan.key.sides)
            inputs = [Input(r, g, nulls=n) for r, g, n in zip(relations, groupings, plan.nulls, strict=True)]
            conjuncts = conjuncts.without(plan.key.predicates)
        return self._placed(plan.node, below, PATTERNS[type(plan.node)](plan.node, inputs, conjuncts), pins=_ROW)

    def _count(self, plan: Count, below: list[Vertex]) -> Vertex:
        tuples, keys = Tuples(), plan.node.keys or [()] * len(below)
        inputs = [
            Input(vertex.relation, tuples.grouping(vertex.relation, by) if by else None)
            for vertex, by in zip(below, keys, strict=True)
        ]
        return self._placed(plan.node, below, AtMost(plan.node, inputs), pins=_ROW)

    def _unless_pair(self, plan: UnlessPair, below: list[Vertex]) -> Vertex:
        relations = [vertex.relation for vertex in below]
        groupings = coded(self._keys, relations, plan.sides) if plan.sides else [None] * len(below)
        inputs = [Input(r, g, nulls=g is None) for r, g in zip(relations, groupings, strict=True)]
        return self._placed(plan.node, below, UnlessSequence(plan.node, inputs, Conjuncts(())), pins=_ROW)

    def _algebra(self, node: Node, below: list[Vertex]) -> Vertex:
        operator = MAKERS[type(node)](node, [vertex.relation for vertex in below])
        if not isinstance(node, logical.AlterLifetime | logical.Join | logical.Union):
            vertex = self._placed(node, below, operator)
            vertex.endable = True
            return vertex
        pins = _pinning(node)
        if not isinstance(node, logical.Union):  # a row may stay when the Ve that a variable stands for has changed
            pins |= possible(node) & self._ends_read_besides(node)
        vertex = self._placed(node, below, operator, pins=pins | _ROW if pins else pins)
        if isinstance(node, logical.AlterLifetime):  # it has its own rule for guarantees (R36)
            vertex.open_ends = [None]
        elif isinstance(node, logical.Join) and node.kind is not JoinKind.INNER:
            vertex.endable = True
        return vertex

    def _ends_read_besides(self, node: Node) -> frozenset[str]:
        """The variables of which other nodes read Ve."""
        return frozenset[str]().union(*(reading_ends(other) for other in self._nodes if other != node))

    def _placed(
        self,
        node: Node,
        below: list[Vertex],
        operator: Operator,
        reading: Node | None = None,
        *,
        pins: frozenset[str] | None = None,
        kind: type[Vertex] = Vertex,
    ) -> Vertex:
        """An operator in its place; ``reading``: the node whose expressions it evaluates, if it is another one.

        ``pins``: variables of which a Ve that is open makes a row of an input not final for it: that of the row itself
        where it knows rows by their Vs alone.
        """
        names = reading_ends(node if reading is None else reading)
        if pins is None:
            pins = _ROW if names else frozenset()
        self.holds_back |= bool(names)
        return kind(
            operator,
            below,
            node.place or type(node).__name__,
            reach=self._memory.reach(node),
            open_ends=[OpenEnds(part.relation, names) if names else None for part in below],
            lifetime=lifetime(node) if isinstance(node, logical.Pattern) else None,
            endable=not pins and any(part.endable for part in below),
            pins=[OpenEnds(part.relation, pins) if pins and part.endable else None for part in below],
        )


def _pinning(node: logical.AlterLifetime | logical.Join | logical.Union) -> frozenset[str]:
    """The variables of which an open Ve may change more of a row than its own Ve."""
    if isinstance(node, logical.AlterLifetime) and not pins_ends(node):
        return frozenset()
    return reading_ends(node)
