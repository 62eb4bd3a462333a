"""The dataflow of a plan: operators in their places, changes through them, what is certain, what is released.

Paper: Section 5, Figure 7 (the operational module).  Readings: R32 (queries compose), R36 (guarantees), R34 and R37
(forgetting).  A part of the plan that occurs twice is one operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.analyses.memory import behind
from cedr.runtime.operators.contract import Frontier, Line, Operator, Size, Snapshot
from cedr.runtime.operators.open_ends import OpenEnds
from cedr.runtime.store.holders import NONE, Holder
from cedr.runtime.store.key_codes import Codes
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, Rows, Table

NOTHING = Delta()
UNCERTAIN = Frontier()
ALL = Line(BEGINNING)
"""All rows are needed."""


@dataclass(eq=False)
class Vertex:
    """An operator, the vertices that feed it, and what it gave in the last step."""

    operator: Operator
    inputs: list[Vertex]
    place: str
    """Where it stands in the query."""
    reach: int = FOREVER
    """How far behind m a row of the output may lie and still bear on what is not frozen.  Reading: R34."""
    open_ends: list[OpenEnds | None] = field(default_factory=list)
    """For each input the rows of which an expression reads an open Ve."""
    lifetime: int | None = None
    """The longest lifetime of a row, where the operator knows its rows by their Vs alone."""
    endable: bool = False
    """Whether a row may be replaced by one with another Ve, though its Vs is final."""
    pins: list[OpenEnds | None] = field(default_factory=list)
    """For each input its rows with an open end, where the operator knows a row by its Vs alone: such a row, which will
    be replaced, is not final."""
    loading: bool = False
    """Whether rows with open ends may still come that were there before a restart: until then nothing is final."""
    delta: Delta = NOTHING
    frontier: Frontier = UNCERTAIN
    """What is certain about the output for the reader that remembers most."""
    line: Line = ALL
    asked: Time = FOREVER
    """Up to which Vs rows are asked for."""
    _settled_by: tuple[Sequence[Frontier], Time] | None = None

    @property
    def relation(self) -> Relation:
        """What others see of its output."""
        return self.operator.relation

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> None:
        """Take in the changes of the inputs."""
        for kept in (self.open_ends, self.pins):
            for ends, delta in zip(kept, deltas, strict=False):
                if ends is not None:
                    ends.update(delta)
        due = any(deltas) or self.operator.withholds
        self.delta = self.operator.update(deltas, self.pinned(frontiers)) if due else NOTHING

    def ask(self, until: Time) -> list[Time]:
        """No row with Vs after ``until`` is asked for; up to which Vs each input is.  Who reads a Ve needs all."""
        self.asked = until
        wanted = self.operator.ask(until)
        return [until if ends is None else FOREVER for until, ends in zip(wanted, self.open_ends, strict=False)]

    def pinned(self, frontiers: Sequence[Frontier]) -> Sequence[Frontier]:
        """What is certain about the inputs, as the operator takes it: rows with open ends are not final."""
        if not any(self.pins):
            return frontiers
        return [
            each if pin is None else each._replace(final=min(each.final, self._before(pin, each)), ended=FOREVER)
            for each, pin in zip(frontiers, self.pins, strict=True)
        ]

    def _before(self, pin: OpenEnds, frontier: Frontier) -> Time:
        return BEGINNING if self.loading else pin.before_open(frontier.ended)

    def settle(self, frontiers: Sequence[Frontier], memory: Time) -> None:
        """Stop waiting for what is decided, and tell what is certain; ``memory`` is m.

        Both depend on rows that the frontiers of the inputs have passed: while these stand still, nothing changes.
        """
        if (frontiers, memory) != self._settled_by:
            self._settled_by = (frontiers, memory)
            self._decide(frontiers, memory)
            self.frontier = self.certain(frontiers, memory)

    def _decide(self, frontiers: Sequence[Frontier], memory: Time) -> None:
        known = min(each.guarantee for each in frontiers)
        for part, ends in enumerate(self.open_ends):
            if ends is not None:
                ends.decide(known, self.inputs[part].frozen(memory))
        for each, pin in zip(frontiers, self.pins, strict=False):
            if pin is not None:
                pin.decide(each.ended, BEGINNING)
        self.operator.decide(self.pinned(frontiers), self.frozen(memory))

    def certain(self, frontiers: Sequence[Frontier], memory: Time) -> Frontier:
        """What is certain about the output for a reader whose m is ``memory``.  Reading: R36."""
        found = self.operator.frontier(self.pinned(frontiers), self.frozen(memory))
        for part, ends in enumerate(self.open_ends):
            if ends is not None:
                sure = ends.guarantee(min(each.guarantee for each in frontiers), self.inputs[part].frozen(memory))
                found = found._replace(guarantee=min(found.guarantee, sure))
        return found

    def demand(self, frontiers: Sequence[Frontier], memory: Time) -> list[Line]:
        """Forget what bears on no change to come; which rows of each input nobody needs here."""
        return self.operator.demand(self._asked_for(), self.pinned(frontiers), self.frozen(memory))

    def _asked_for(self) -> Line:
        """The line by Vs alone: a row that ends after some time begins no earlier than a lifetime before it."""
        if self.lifetime is None or self.line.ended == FOREVER:
            return self.line
        begun = BEGINNING if self.lifetime == FOREVER else plus(self.line.ended, -self.lifetime)
        return Line(min(self.line.vs, begun), self.line.ve)

    def frozen(self, memory: Time) -> Time:
        """The last Vs of which no row bears on what is not frozen; ``memory`` is m."""
        return behind(memory, self.reach)


class Alias(Vertex):
    """A variable that names the rows of its input: nothing is to be done for them.  Reading: R20."""

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> None:  # noqa: ARG002 - rows stay as they are
        """The change of the input."""
        (self.delta,) = deltas

    def settle(self, frontiers: Sequence[Frontier], memory: Time) -> None:  # noqa: ARG002 - decided at once
        """What is certain below is certain here."""
        (self.frontier,) = frontiers

    def demand(self, frontiers: Sequence[Frontier], memory: Time) -> list[Line]:  # noqa: ARG002 - nothing is held
        """What is needed here is needed below."""
        return [self.line]


class Dataflow:
    """A plan as operators.  ``update`` takes changes of the sources and gives the change of the plan's output."""

    def __init__(
        self,
        vertices: list[Vertex],
        sources: list[Vertex],
        holding: list[tuple[Table, list[Holder]]],
        keys: Codes,
        *,
        holds_back: bool,
    ) -> None:
        """``holding``: what holds rows of the sources' tables here."""
        self.keys = keys
        self.vertices = vertices
        """All operators, inputs first."""
        self.root = vertices[-1]
        self.holds_back = holds_back
        """Whether a row may wait to be emitted though nothing bears on it: slices and open ends.  Reading: R36."""
        self._sources, self._holding = sources, holding
        self.tables = _with_targets(vertex.relation.table for vertex in vertices)
        """All tables, those that refer to others after these."""
        given = {id(vertex.relation.table) for vertex in sources}
        self.own = [table for table in self.tables if id(table) not in given]
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
            for part, wanted in zip(vertex.inputs, vertex.demand(below, memory) if below else (), strict=True):
                part.line &= wanted
        self._needed = {}
        for vertex in self._sources:
            stream = vertex.relation.stream
            self._needed[stream] = vertex.line & self._needed.get(stream, vertex.line)
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
