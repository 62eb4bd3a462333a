"""The dataflow of a plan: operators in order, changes through them, what is certain, what is released.

Paper: Section 5, Figure 7 (the operational module).  Readings: R32 (queries compose), R36 (guarantees), R34 and R37
(forgetting).  A part of the plan that occurs twice is one operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan.logical import Node
from cedr.runtime.dataflow.build import Sources, build
from cedr.runtime.dataflow.vertex import NOTHING, Vertex
from cedr.runtime.operators.contract import Frontier, Line, Size, Snapshot
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.key_codes import Codes
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, Rows, Table

_WORTH_CLEARING = 1024
"""So many rows that nobody needs may stay: less room is not worth the look at who holds them."""


class Dataflow:
    """A plan as operators.  ``update`` takes changes of the sources and gives the change of the plan's output."""

    def __init__(self, plan: Node, sources: Sources) -> None:
        self.keys = Codes()
        built = build(plan, sources, self.keys)
        self.vertices = built.vertices
        """All operators, inputs first."""
        self.root = self.vertices[-1]
        self.holds_back = built.holds_back
        """Whether a row may wait to be emitted though nothing bears on it: slices and open ends.  Reading: R36."""
        self._sources, self._holding = built.sources, built.holding
        self.tables = _with_targets(vertex.relation.table for vertex in built.vertices)
        """All tables, those that refer to others after these."""
        given = {id(vertex.relation.table) for vertex in built.sources}
        self._own = [table for table in self.tables if id(table) not in given]
        """The tables of which only operators and emitters hold rows."""
        self.certain = Frontier()
        """What the providers guaranteed when frontiers were last asked for."""
        self._memory = BEGINNING
        """The m of the last update."""
        self._released: object = None
        """By what was released last: while it is the same, nothing more can be."""
        self._needed: dict[str, Line] = {}
        self._asked = FOREVER
        self._may_withhold = any(vertex.endable for vertex in self.vertices)

    @property
    def relation(self) -> Relation:
        """What the plan gives."""
        return self.root.relation

    # -- a step -------------------------------------------------------------------------------------------------------

    def update(self, admitted: Mapping[str, Delta], certain: Frontier, memory: Time, until: Time = FOREVER) -> Delta:
        """Take in what was admitted, each operator once, inputs first; the change of the output.

        ``certain``: what the providers guarantee; ``memory``: the smallest m of all readers; ``until``: nobody asks for
        rows with a larger Vs yet.
        """
        self.certain, self._memory = certain, memory
        self._ask(until)
        for vertex in self.vertices:
            deltas, frontiers = self._fed(vertex, admitted, certain)
            vertex.update(deltas, frontiers)
            vertex.settle(frontiers, memory)
        return self.root.delta

    def _ask(self, until: Time) -> None:
        """Tell each operator, outputs first, up to which Vs its rows are asked for."""
        if until == self._asked or not self._may_withhold:
            return
        self._asked = until
        for vertex in self.vertices:
            vertex.asked = BEGINNING
        self.root.asked = until
        for vertex in reversed(self.vertices):
            for part, wanted in zip(vertex.inputs, vertex.ask(vertex.asked), strict=True):
                part.asked = max(part.asked, wanted)

    def expect(self, known: Mapping[str, Rows]) -> None:
        """These rows will be loaded: those of them with open ends are not final, nor is what follows from them."""
        rows = {id(vertex.relation.table): known.get(vertex.relation.stream) for vertex in self._sources}
        for vertex in self.vertices:
            for pin, part in zip(vertex.pins, vertex.inputs, strict=True):
                if pin is not None:
                    found = rows.get(id(part.relation.table))
                    vertex.loading |= found is None
                    pin.update(Delta(added=NONE if found is None else found))

    def load(self, known: Mapping[str, Rows], until: Time = FOREVER) -> Rows:
        """Take in all rows that are known, after a restart; the rows of the output."""
        self._ask(until)
        for vertex in self.vertices:
            vertex.loading = False
            for pin in vertex.pins:
                if pin is not None:
                    pin.clear()
        added = {stream: Delta(added=rows) for stream, rows in known.items()}
        for vertex in self.vertices:
            deltas, frontiers = self._fed(vertex, added, Frontier())
            vertex.update(deltas, [Frontier()] * len(frontiers))
        return self.root.delta.added

    def frontiers(self, memory: Time) -> list[Frontier]:
        """What is certain after an update about each operator, for a reader whose m is ``memory``; the root is last."""
        if memory == self._memory:
            return [vertex.frontier for vertex in self.vertices]
        found: dict[Vertex, Frontier] = {}
        for vertex in self.vertices:
            below = [found[part] for part in vertex.inputs] or [self.certain]
            found[vertex] = vertex.certain(below, memory)
        return list(found.values())

    def settle(self, certain: Frontier, memory: Time) -> None:
        """Providers guarantee more than they did when the last changes came in: more rows may be final."""
        if certain == self.certain:
            return
        self._released = None
        self.certain = certain
        for vertex in self.vertices:
            below = [part.frontier for part in vertex.inputs] or [certain]
            now = vertex.certain(below, memory)
            vertex.frontier = vertex.frontier._replace(final=now.final, ended=now.ended)

    def release(self, line: Line, memory: Time, *, loads: bool = False) -> dict[str, Line]:
        """Forget what nobody can need any more: by guarantees (R37) and by memory (R34).

        ``line``: which rows of the output nobody needs.  Gives which rows of each event type are not needed.
        ``loads``: the rows that are needed will be loaded, so that also what is final must be computed, where somebody
        above needs it.
        """
        asked = (line, memory, [vertex.frontier for vertex in self.vertices])
        if asked == self._released:
            return self._needed
        self._released = None if loads else asked
        for vertex in self.vertices:
            vertex.line = Line(FOREVER, FOREVER)
        self.root.line = line
        for vertex in reversed(self.vertices):
            below = [part.frontier._replace(final=BEGINNING) if loads else part.frontier for part in vertex.inputs]
            needed = vertex.demand(below or [Frontier()], memory)
            for part, wanted in zip(vertex.inputs, needed, strict=False):
                part.line = part.line.and_of(wanted)
        self._needed = {}
        for vertex in self._sources:
            stream = vertex.relation.stream
            self._needed[stream] = vertex.line.and_of(self._needed.get(stream, vertex.line))
        return self._needed

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

    def close(self) -> None:
        """Hold no row of the sources any longer."""
        for table, holders in self._holding:
            for holder in holders:
                table.holders.remove(holder)
        self._holding = []

    def trim(self) -> None:
        """Clear all tables but the sources' where nobody holds a row of them: what came has gone again."""
        if sum(len(table) for table in self._own) >= _WORTH_CLEARING and all(table.unheld for table in self._own):
            for table in self._own:
                table.clear()

    @property
    def ties(self) -> int:
        """How many events share Vs and key with another event of the same operator.  Reading: R49."""
        return sum(vertex.operator.ties for vertex in self.vertices)

    def sizes(self) -> Iterator[tuple[str, Size]]:
        """What each operator holds, by its place in the query."""
        for vertex in self.vertices:
            yield vertex.place, vertex.operator.size


def _with_targets(tables: Iterable[Table]) -> list[Table]:
    """Tables, each behind all that its rows refer to: groups, for one, are no operator's output."""
    found: dict[int, Table] = {}
    for table in tables:
        if id(table) not in found:
            for target in _with_targets((*table.targets, *table.beside)):
                found.setdefault(id(target), target)
            found[id(table)] = table
    return list(found.values())
