"""The dataflow of a plan: operators in order, changes through them, guarantees out, what is forgotten.

Paper: Section 5, Figure 7 (the operational module).  Readings: R32 (queries compose), R36 (guarantees), R34 and R37
(forgetting).  A part of the plan that occurs twice is one operator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan import logical
from cedr.plan.logical import Node
from cedr.plan.memory import Memory
from cedr.plan.rules.desugar_all import desugar_all
from cedr.plan.rules.desugar_any import desugar_any
from cedr.plan.walk import map_inputs
from cedr.runtime.dataflow.composition import source_relation
from cedr.runtime.dataflow.not_live import not_live
from cedr.runtime.dataflow.vertex import NOTHING, Vertex
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.contract import Frontier, Line, Operator, Size, Snapshot
from cedr.runtime.operators.filter import Select, Slice
from cedr.runtime.operators.mechanism.grouping import Side, Tuples, coded, key_of, nulls_matter
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.open_ends import OpenEnds, reading_ends, shown_ends
from cedr.runtime.operators.pass_through import Rename
from cedr.runtime.operators.pattern.at_least import AtLeast
from cedr.runtime.operators.pattern.at_most import AtMost
from cedr.runtime.operators.pattern.cancel_when import CancelWhen
from cedr.runtime.operators.pattern.not_sequence import Not
from cedr.runtime.operators.pattern.sequence import Sequence as SequenceOperator
from cedr.runtime.operators.pattern.unless import Unless, UnlessNth
from cedr.runtime.operators.pattern.unless_sequence import UnlessSequence, keys_of
from cedr.runtime.operators.project import RowByRow
from cedr.runtime.operators.source import Source
from cedr.runtime.store.holders import Holder
from cedr.runtime.store.key_codes import Codes
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, Rows, Table

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


class Dataflow:
    """A plan as operators.  ``update`` takes changes of the sources and gives the change of the plan's output."""

    def __init__(self, plan: Node, sources: Sources) -> None:
        self._tables = sources
        self.keys = Codes()
        self.vertices: list[Vertex] = []
        """All operators, inputs first."""
        self._certain = Frontier()
        """What the providers guaranteed when frontiers were last asked for."""
        self._others: dict[Table, int] = {}
        """How many holders the sources' tables had before."""
        self._built: list[tuple[Node, Vertex]] = []
        self._sources: list[Vertex] = []
        self.open_ended = shown_ends(plan)
        """The event types of which rows stay known while their Ve is open."""
        plan = _desugared(plan)
        self.holds_back = any(isinstance(node, logical.Slice) for node in logical.walk(plan))
        """Whether a row may wait to be emitted though nothing bears on it: slices and open ends.  Reading: R36."""
        self._memory = Memory(plan)
        self._holding: list[tuple[Table, list[Holder]]] = []
        """The holders of the sources' tables that are of this dataflow."""
        self.root = self._build(plan)
        self._holding = [(table, table.holders[before:]) for table, before in self._others.items()]

    @property
    def relation(self) -> Relation:
        """What the plan gives."""
        return self.root.relation

    # -- building -----------------------------------------------------------------------------------------------------

    def _build(self, node: Node) -> Vertex:
        vertex = next((vertex for built, vertex in self._built if built == node), None)
        if vertex is None:
            vertex = self._vertex(node)
            vertex.reach = self._memory.reach(node)
            self.vertices.append(vertex)
            self._built.append((node, vertex))
        return vertex

    def _vertex(self, node: Node) -> Vertex:
        match node:
            case logical.Source():
                return self._source(node)
            case logical.Rename():
                below = self._build(node.input)
                return self._placed(node, [below], Rename(node.variable, below.relation))
            case logical.Select():
                below = self._build(node.input)
                return self._placed(node, [below], Select(node, below.relation))
            case logical.Slice():
                below = self._build(node.input)
                return self._placed(node, [below], Slice(node, below.relation))
            case logical.Query() | logical.Project() | logical.SetValid():
                return self._row_by_row(node)
            case logical.Pattern():
                return self._pattern(node)
            case _:
                raise not_live(node)

    def _placed(self, node: Node, inputs: list[Vertex], operator: Operator, reading: Node | None = None) -> Vertex:
        """``reading``: the node whose expressions are evaluated here, if it is another one."""
        names = reading_ends(node if reading is None else reading)
        ends = [OpenEnds(below.relation, names) if names else None for below in inputs]
        self.holds_back |= bool(names)
        return Vertex(operator, inputs, node.place or type(node).__name__, open_ends=ends)

    def _source(self, node: logical.Source) -> Vertex:
        name = node.type.name
        table = self._tables(name)
        self._others.setdefault(table, len(table.holders))
        relation = source_relation(node, table)
        operator = Source(node.type, relation, shows_ends=name in self.open_ended)
        self._sources.append(Vertex(operator, [], node.place or name))
        return self._sources[-1]

    def _row_by_row(self, node: logical.Query | logical.Project | logical.SetValid) -> Vertex:
        chain: list[logical.Query | logical.Project | logical.SetValid] = [node]
        while (below := _joined(chain)) is not None:
            chain.append(below)
        fed = self._build(chain[-1].input)
        project = next((n for n in chain if isinstance(n, logical.Project)), node)
        return self._placed(node, [fed], RowByRow(chain, fed.relation), project)

    def _pattern(self, node: logical.Pattern) -> Vertex:
        sides = keys_of(node)
        if isinstance(node, logical.Unless) and sides is not None:
            return self._unless_sequence(node, sides)
        below = [self._build(part) for part in logical.inputs(node)]
        relations = [vertex.relation for vertex in below]
        if isinstance(node, logical.AtMost):
            tuples = Tuples()
            inputs = [
                Input(relation, tuples.grouping(relation, keys) if keys else None)
                for relation, keys in zip(relations, node.keys or [()] * len(relations), strict=True)
            ]
            operator: Operator = AtMost(node, inputs)
        elif type(node) in _PATTERNS:
            inputs, conjuncts = self._grouped(node, relations)
            operator = _PATTERNS[type(node)](node, inputs, conjuncts)
        else:
            raise not_live(node)
        return self._placed(node, below, operator)

    def _unless_sequence(self, node: logical.Unless, sides: tuple[Side, ...]) -> Vertex:
        below = [self._build(part) for part in (*logical.inputs(node.first), node.second)]
        relations = [vertex.relation for vertex in below]
        groupings = coded(self.keys, relations, sides) if sides else [None] * len(below)
        inputs = [Input(r, g, nulls=g is None) for r, g in zip(relations, groupings, strict=True)]
        return self._placed(node, below, UnlessSequence(node, inputs, Conjuncts(())))

    def _grouped(self, node: logical.Pattern, relations: list[Relation]) -> tuple[list[Input], Conjuncts]:
        key, conjuncts = key_of(node), Conjuncts(node.predicates)
        if key is None:
            return [Input(relation) for relation in relations], conjuncts
        groupings = coded(self.keys, relations, key.sides)
        nulls = nulls_matter(node, len(relations))
        inputs = [Input(r, g, nulls=n) for r, g, n in zip(relations, groupings, nulls, strict=True)]
        return inputs, conjuncts.without(key.predicates)

    # -- a step -------------------------------------------------------------------------------------------------------

    def update(self, admitted: Mapping[str, Delta], certain: Frontier, memory: Time) -> Delta:
        """Take in what was admitted, each operator once, inputs first; the change of the output.

        ``certain``: what the providers guarantee; ``memory``: the smallest m of all readers.
        """
        self._certain = certain
        for vertex in self.vertices:
            deltas, frontiers = self._fed(vertex, admitted, certain)
            vertex.update(deltas, frontiers)
            vertex.decide(frontiers, memory)
            vertex.frontier = vertex.certain(frontiers, memory)
        return self.root.delta

    def load(self, known: Mapping[str, Rows]) -> Rows:
        """Take in all rows that are known, after a restart; the rows of the output."""
        for vertex in self.vertices:
            added = {stream: Delta(added=rows) for stream, rows in known.items()}
            deltas, frontiers = self._fed(vertex, added, Frontier())
            vertex.update(deltas, [Frontier()] * len(frontiers))
        return self.root.delta.added

    def frontiers(self, certain: Frontier, memory: Time, weakest: Time) -> list[Frontier]:
        """What is certain about the output of each operator, for a reader whose m is ``memory``; the root's is last.

        ``weakest``: the m of the last update.
        """
        if memory == weakest:
            return [vertex.frontier for vertex in self.vertices]
        found: dict[Vertex, Frontier] = {}
        for vertex in self.vertices:
            below = [found[part] for part in vertex.inputs] or [certain]
            found[vertex] = vertex.certain(below, memory)
        return list(found.values())

    def settle(self, certain: Frontier, memory: Time) -> None:
        """Providers guarantee more than they did when the last changes came in: more rows may be final."""
        if certain == self._certain:
            return
        self._certain = certain
        for vertex in self.vertices:
            below = [part.frontier for part in vertex.inputs] or [certain]
            vertex.frontier = vertex.frontier._replace(final=vertex.certain(below, memory).final)

    def release(self, line: Line, memory: Time, *, loads: bool = False) -> dict[str, Time]:
        """Forget what nobody can need any more: by guarantees (R37) and by memory (R34).

        ``line``: which rows of the output nobody needs.  Gives up to which Vs the rows of each event type are not
        needed.  ``loads``: the rows that are needed will be loaded, so that also what is final must be computed, where
        somebody above needs it.
        """
        for vertex in self.vertices:
            vertex.line = Line(FOREVER, FOREVER)
        self.root.line = line
        for vertex in reversed(self.vertices):
            below = [part.frontier._replace(final=BEGINNING) if loads else part.frontier for part in vertex.inputs]
            needed = vertex.operator.demand(vertex.line, below or [Frontier()], vertex.frozen(memory))
            for part, wanted in zip(vertex.inputs, needed, strict=False):
                part.line = Line(min(part.line.vs, wanted.vs), min(part.line.ve, wanted.ve))
        lines: dict[str, Time] = {}
        for vertex in self._sources:
            stream = vertex.relation.stream
            lines[stream] = min(lines.get(stream, FOREVER), max(vertex.line.vs, BEGINNING))
        return lines

    def _fed(
        self, vertex: Vertex, admitted: Mapping[str, Delta], certain: Frontier
    ) -> tuple[list[Delta], list[Frontier]]:
        """What a vertex is fed with: the changes of its inputs, a source's by admission, and what is certain there."""
        if vertex.inputs:
            return [part.delta for part in vertex.inputs], [part.frontier for part in vertex.inputs]
        return [admitted.get(vertex.relation.stream, NOTHING)], [certain]

    # -- state --------------------------------------------------------------------------------------------------------

    def resume(self, guarantees: Sequence[Time], snapshots: Sequence[Snapshot]) -> None:
        """Begin with what was saved: what each operator guaranteed, and what it cannot compute again."""
        for vertex, guarantee in zip(self.vertices, guarantees, strict=True):
            vertex.frontier = Frontier(BEGINNING, guarantee)
        saving = [vertex.operator for vertex in self.vertices if vertex.operator.snapshot() is not None]
        for operator, snapshot in zip(saving, snapshots, strict=True):
            operator.restore(snapshot)

    def snapshots(self) -> list[Snapshot]:
        """What the operators cannot compute again, of each that has something like that."""
        found = (vertex.operator.snapshot() for vertex in self.vertices)
        return [snapshot for snapshot in found if snapshot is not None]

    # -- rows held ----------------------------------------------------------------------------------------------------

    def tables(self) -> list[Table]:
        """All tables, those that refer to others after these."""
        return list({id(vertex.relation.table): vertex.relation.table for vertex in self.vertices}.values())

    def close(self) -> None:
        """Hold no row of the sources any longer."""
        for table, holders in self._holding:
            for holder in holders:
                table.holders.remove(holder)
        self._holding = []

    def trim(self) -> None:
        """Clear all tables but the sources' where nobody holds a row of them: what came has gone again."""
        sources = {id(vertex.relation.table) for vertex in self._sources}
        own = [table for table in self.tables() if id(table) not in sources]
        if all(table.unheld for table in own):
            for table in own:
                table.clear()

    @property
    def ties(self) -> int:
        """How many events share Vs and key with another event of the same operator.  Reading: R49."""
        return sum(vertex.operator.ties for vertex in self.vertices)

    def sizes(self) -> Iterator[tuple[str, Size]]:
        """What each operator holds, by its place in the query."""
        for vertex in self.vertices:
            yield vertex.place, vertex.operator.size


def _joined(
    chain: list[logical.Query | logical.Project | logical.SetValid],
) -> logical.Project | logical.SetValid | None:
    """The operator below some row-by-row operators that can be taken together with them."""
    projects = any(isinstance(node, logical.Project) for node in chain)
    match chain[-1]:
        case logical.Query(input=logical.Project() as below) | logical.Project(input=logical.Project() as below):
            return None if projects else below
        case logical.Query(input=logical.SetValid() as below) | logical.Project(input=logical.SetValid() as below):
            return below if projects else None
        case _:
            return None


def _desugared(node: Node) -> Node:
    """ALL and ANY by their definitions.  Reading: R13."""
    node = map_inputs(node, _desugared)
    return desugar_all(node) or desugar_any(node) or node
