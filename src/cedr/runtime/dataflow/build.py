"""Building a dataflow: one operator for each node of the physical plan, inputs first.

Paper: Section 5, Figure 7 (the operational module).  Readings: R32, R43 (queries compose), R44 (they come and go): a
part that is there already, of the same plan or of another one that began at the same time, is not built again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cedr.model.modes import JoinKind
from cedr.plan import logical
from cedr.plan.analyses.lifetimes import lifetime
from cedr.plan.analyses.memory import Memory
from cedr.plan.analyses.open_ends import reading_ends, shown_ends
from cedr.plan.analyses.shape import possible
from cedr.plan.analyses.starts import hangs_on_end, pins_ends
from cedr.plan.folder import modules_of
from cedr.plan.logical import Node
from cedr.plan.physical.choose import choose, desugared
from cedr.plan.physical.nodes import Algebra, Chain, Count, Filter, Match, Named, Physical, Scan, TimeSlice, UnlessPair
from cedr.runtime.dataflow.algebra import MAKERS
from cedr.runtime.dataflow.composition import source_relation
from cedr.runtime.dataflow.connected import with_targets
from cedr.runtime.dataflow.dataflow import Alias, Dataflow, Vertex
from cedr.runtime.dataflow.root import Root
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.algebra.alter_lifetime import AlterLifetime
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


class Birth(NamedTuple):
    """When a query began.  Reading: R44.  Operators of queries that began at different times know different events."""

    number: int = 0
    since: int = 0
    """Messages with smaller serial numbers came before it."""

    @property
    def retains(self) -> bool:
        """Whether it begins with what was known by then."""
        return self.number > 0 and not self.since


AT_FIRST = Birth()


def build(plan: Node, tables: Sources) -> Dataflow:
    """The operators of one plan."""
    dataflow = Dataflow()
    extend(dataflow, plan, tables)
    return dataflow


def extend(dataflow: Dataflow, plan: Node, tables: Sources, birth: Birth = AT_FIRST) -> Root:
    """The operators of a plan, as far as they are not there, each after its inputs; the last one gives the output."""
    shows_ends, plan = shown_ends(plan), desugared(plan)
    builder = _Builder(tables, dataflow, plan, shows_ends, birth)
    builder.build(choose(plan))
    root = Root(list(builder.reaches), builder.reaches, holds_back=builder.holds_back)
    for vertex in root.vertices:
        vertex.roots.append(root)
    dataflow.roots.append(root)
    dataflow.changed()
    return root


class _Builder:
    def __init__(
        self, tables: Sources, dataflow: Dataflow, plan: Node, shows_ends: frozenset[str], birth: Birth
    ) -> None:
        self._tables, self._dataflow, self._keys, self._birth = tables, dataflow, dataflow.keys, birth
        self._memory, self._shows_ends = Memory(plan), shows_ends
        self._nodes = list(logical.walk(plan))
        self._built: dict[int, Vertex] = {}
        self.reaches: dict[Vertex, int] = {}
        """The vertices of the plan, inputs first, each with its reach."""
        self.holds_back = False

    def build(self, plan: Physical) -> Vertex:
        """The vertex of a node; one that was built before is taken again."""
        if id(plan) not in self._built:
            below = [self.build(part) for part in plan.inputs]
            self.holds_back |= isinstance(plan, TimeSlice) or bool(reading_ends(_reading(plan)))
            vertex = self._built[id(plan)] = self._shared(plan, below)
            self.reaches[vertex] = max(self._memory.reach(plan.node), self.reaches.get(vertex, 0))
        return self._built[id(plan)]

    def _shared(self, plan: Physical, below: list[Vertex]) -> Vertex:
        """The vertex that is there already for this part of another plan, or else a new one.

        Two parts are the same where they are equal, read the same vertices, and what depends on the whole plan is
        equal, too: whether ends show, and which ends pin rows.
        """
        context = (plan.node.type.name in self._shows_ends) if isinstance(plan, Scan) else self._pins(plan)
        kind = (self._birth, type(plan), type(plan.node), plan.node.place, tuple(map(id, below)), context)
        alike = self._dataflow.known.setdefault(kind, [])
        for node, vertex in alike:
            if node == plan.node:
                return vertex
        vertex = self._held(plan, below)
        alike.append((plan.node, vertex))
        self._dataflow.vertices.append(vertex)
        return vertex

    def _held(self, plan: Physical, below: list[Vertex]) -> Vertex:
        """A new vertex, with the account of what it holds of other tables."""
        known = with_targets(part.relation.table for part in below)
        counts = [len(table.holders) for table in known]
        self._keys.registered.clear()
        vertex = self._vertex(plan, below)
        vertex.reading = list(self._keys.registered)
        vertex.holding = [
            (table, holder)
            for table, before in zip(known, counts, strict=True)
            for holder in table.holders[before:]
            if not self._keys.holds(holder)
        ]
        return vertex

    def _vertex(self, plan: Physical, below: list[Vertex]) -> Vertex:
        match plan:
            case Scan():
                return self._scan(plan)
            case Named():
                operator = Rename(plan.node.variable, below[0].relation)
                return self._placed(plan.node, below, operator, kind=Alias)
            case Chain():
                return self._placed(plan.node, below, RowByRow(plan.steps, below[0].relation), _reading(plan))
            case Filter():
                return self._placed(plan.node, below, Select(plan.node, below[0].relation))
            case TimeSlice():
                return self._placed(plan.node, below, Slice(plan.node, below[0].relation))
            case Match():
                return self._match(plan, below)
            case Count():
                return self._count(plan, below)
            case UnlessPair():
                return self._unless_pair(plan, below)
            case Algebra():
                return self._algebra(plan, below)

    def _scan(self, plan: Scan) -> Vertex:
        name = plan.node.type.name
        relation = source_relation(plan.node, self._tables(name))
        vertex = self._placed(plan.node, [], Source(plan.node.type, relation, shows_ends=name in self._shows_ends))
        vertex.endable, vertex.since = name in self._shows_ends, self._birth.since
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

    def _algebra(self, plan: Algebra, below: list[Vertex]) -> Vertex:
        node = plan.node
        operator = MAKERS[type(node)](node, [vertex.relation for vertex in below])
        if not isinstance(node, logical.AlterLifetime | logical.Join | logical.Union):
            vertex = self._placed(node, below, operator)
            vertex.endable = True
            return vertex
        vertex = self._placed(node, below, operator, pins=self._pins(plan))
        if isinstance(operator, AlterLifetime):  # it has its own rule for guarantees (R36)
            hangs = hangs_on_end(operator.node)
            names = reading_ends(operator.node)
            vertex.open_ends = [OpenEnds(below[0].relation, names, operator.starts) if hangs else None]
        elif isinstance(node, logical.Join) and node.kind is not JoinKind.INNER:
            vertex.endable = True
        return vertex

    def _pins(self, plan: Physical) -> frozenset[str] | None:
        """The variables of which an open Ve pins rows, where that depends on more than the part itself."""
        node = plan.node
        if not isinstance(plan, Algebra) or not isinstance(node, logical.AlterLifetime | logical.Join | logical.Union):
            return None
        pins = _pinning(node)
        if not isinstance(node, logical.Union):  # a row may stay when the Ve that a variable stands for has changed
            pins |= possible(node) & self._ends_read_besides(node)
        return pins | _ROW if pins else pins

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
        return kind(
            operator,
            below,
            node,
            node.place or type(node).__name__,
            open_ends=[OpenEnds(part.relation, names) if names else None for part in below],
            lifetime=lifetime(node) if isinstance(node, logical.Pattern) else None,
            endable=not pins and any(part.endable for part in below),
            pins=[OpenEnds(part.relation, pins) if pins and part.endable else None for part in below],
        )


def _reading(plan: Physical) -> Node:
    """The node whose expressions an operator evaluates."""
    if isinstance(plan, Chain):
        return next((step for step in plan.steps if isinstance(step, logical.Project)), plan.node)
    return plan.node


def _pinning(node: logical.AlterLifetime | logical.Join | logical.Union) -> frozenset[str]:
    """The variables of which an open Ve may change more of a row than its own Ve."""
    if isinstance(node, logical.AlterLifetime) and not pins_ends(node):
        return frozenset()
    return reading_ends(node)
