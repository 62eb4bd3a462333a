"""The dataflow of one or several plans: operators in their places, changes through them, what is certain and released.

Paper: Section 5, Figure 7 (the operational module).  Readings: R32 (queries compose), R36 (guarantees), R34 and R37
(forgetting), R43 and R44 (several queries).  A part that occurs twice, in one plan or in several, is one operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.logical import Node
from cedr.runtime.dataflow.connected import connected, with_targets
from cedr.runtime.operators.contract import Frontier, Line, Operator
from cedr.runtime.operators.open_ends import OpenEnds
from cedr.runtime.store.holders import NONE, Holder
from cedr.runtime.store.key_codes import Codes, Grouped, Place
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, Rows, Table

if TYPE_CHECKING:
    from cedr.runtime.dataflow.root import Root

Entry = tuple[str, int]
"""An event type, and since which serial number its messages count."""


NOTHING = Delta()
UNCERTAIN = Frontier()
ALL = Line(BEGINNING)
"""All rows are needed."""


class Frozen(NamedTuple):
    """The last Vs of which no row bears on what is not frozen: of a vertex, and of each of its inputs."""

    output: Time = BEGINNING
    inputs: tuple[Time, ...] = ()


NOT_FROZEN = Frozen()


@dataclass(eq=False)
class Vertex:
    """An operator, the vertices that feed it, and what it gave in the last step."""

    operator: Operator
    inputs: list[Vertex]
    node: Node
    """The part of the plan that it evaluates."""
    place: str
    """Where it stands in the query."""
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
    since: int = 0
    """Of a source: messages with smaller serial numbers came before it.  Reading: R44."""
    roots: list[Root] = field(default_factory=list)
    """The outputs that read it, the eldest first."""
    holding: list[tuple[Table, Holder]] = field(default_factory=list)
    """What holds rows of other tables for it."""
    reading: list[tuple[Place, Grouped]] = field(default_factory=list)
    """What is told for it when codes of keys change."""
    certain_here: Frontier = UNCERTAIN
    """Of a source: what the providers guarantee, as far as all outputs that read it take it for final."""
    frozen: Frozen = NOT_FROZEN
    """What bears on nothing for any of the outputs that read it."""
    delta: Delta = NOTHING
    frontier: Frontier = UNCERTAIN
    """What is certain about the output for the reader that remembers most."""
    line: Line = ALL
    asked: Time = FOREVER
    """Up to which Vs rows are asked for."""
    _settled_by: tuple[Sequence[Frontier], Frozen] | None = None

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

    def settle(self, frontiers: Sequence[Frontier]) -> None:
        """Stop waiting for what is decided, and tell what is certain, for the reader that remembers most.

        Both depend on rows that the frontiers of the inputs have passed: while these stand still, nothing changes.
        """
        if (frontiers, self.frozen) != self._settled_by:
            self._settled_by = (frontiers, self.frozen)
            self._decide(frontiers)
            self.frontier = self.certain(frontiers, self.frozen)

    def _decide(self, frontiers: Sequence[Frontier]) -> None:
        known = min(each.guarantee for each in frontiers)
        for ends, frozen in zip(self.open_ends, self.frozen.inputs, strict=False):
            if ends is not None:
                ends.decide(known, frozen)
        for each, pin in zip(frontiers, self.pins, strict=False):
            if pin is not None:
                pin.decide(each.ended, BEGINNING)
        self.operator.decide(self.pinned(frontiers), self.frozen.output)

    def certain(self, frontiers: Sequence[Frontier], frozen: Frozen) -> Frontier:
        """What is certain about the output for a reader to whom some rows are frozen.  Reading: R36."""
        found = self.operator.frontier(self.pinned(frontiers), frozen.output)
        for ends, below in zip(self.open_ends, frozen.inputs, strict=False):
            if ends is not None:
                sure = ends.guarantee(min(each.guarantee for each in frontiers), below)
                found = found._replace(guarantee=min(found.guarantee, sure))
        return found

    def demand(self, frontiers: Sequence[Frontier]) -> list[Line]:
        """Forget what bears on no change to come; which rows of each input nobody needs here."""
        return self.operator.demand(self._asked_for(), self.pinned(frontiers), self.frozen.output)

    def _asked_for(self) -> Line:
        """The line by Vs alone: a row that ends after some time begins no earlier than a lifetime before it."""
        if self.lifetime is None or self.line.ended == FOREVER:
            return self.line
        begun = BEGINNING if self.lifetime == FOREVER else plus(self.line.ended, -self.lifetime)
        return Line(min(self.line.vs, begun), self.line.ve)

    def let_go(self) -> None:
        """Nothing holds rows of other tables for it any more."""
        for table, holder in self.holding:
            table.holders.remove(holder)
        self.holding = []

    def remember(self) -> None:
        """Take over how far the outputs that read it remember.  Reading: R34."""
        each = [root.frozen(self, root.memory) for root in self.roots]
        self.frozen = (
            each[0]
            if len(each) == 1
            else Frozen(min(one.output for one in each), tuple(map(min, *(one.inputs for one in each))))
        )


class Alias(Vertex):
    """A variable that names the rows of its input: nothing is to be done for them.  Reading: R20."""

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> None:  # noqa: ARG002 - rows stay as they are
        """The change of the input."""
        (self.delta,) = deltas

    def settle(self, frontiers: Sequence[Frontier]) -> None:
        """What is certain below is certain here."""
        (self.frontier,) = frontiers

    def demand(self, frontiers: Sequence[Frontier]) -> list[Line]:  # noqa: ARG002 - nothing is held
        """What is needed here is needed below."""
        return [self.line]


class Dataflow:
    """Plans as operators.  ``update`` takes changes of the sources; each root has the change of its output."""

    def __init__(self) -> None:
        self.keys = Codes()
        self.vertices: list[Vertex] = []
        """All operators, inputs first."""
        self.sources: list[Vertex] = []
        """Those that read admitted events."""
        self.roots: list[Root] = []
        """The outputs, in the order in which they came."""
        self.tables: list[Table] = []
        """All tables, those that refer to others after these."""
        self.own: list[list[Table]] = []
        """The tables of which only operators and emitters hold rows; those that refer to each other together."""
        self.known: dict[object, list[tuple[Node, Vertex]]] = {}
        """The parts of plans that are there, by what tells most of them apart."""
        self.guarantee = BEGINNING
        """What the providers guaranteed at the last update."""
        self._released: object = None
        """By what was released last: while it is the same, nothing more can be."""
        self._needed: dict[str, Line] = {}
        self._asked = FOREVER
        self._remembered: list[Time] | None = None
        self._may_withhold = False

    # -- what it consists of ------------------------------------------------------------------------------------------

    def changed(self) -> None:
        """Operators have come or gone."""
        self.sources = [vertex for vertex in self.vertices if not vertex.inputs]
        self.tables = with_targets(vertex.relation.table for vertex in self.vertices)
        given = {id(vertex.relation.table) for vertex in self.sources}
        self.own = connected([table for table in self.tables if id(table) not in given])
        self._may_withhold = any(vertex.endable for vertex in self.vertices)
        self._remembered = self._released = None
        if self._may_withhold and self._asked < FOREVER:
            self._asked = BEGINNING  # tell the new ones, too

    def remove(self, root: Root) -> list[Vertex]:
        """Drop an output, and what nothing else reads; which vertices go."""
        self.roots.remove(root)
        gone = []
        for vertex in reversed(root.vertices):
            vertex.roots.remove(root)
            if not vertex.roots:
                gone.append(vertex)
                vertex.let_go()
                for place, reader in vertex.reading:
                    self.keys.forget(place, reader)
        self.vertices = [vertex for vertex in self.vertices if vertex.roots]
        for alike in self.known.values():
            alike[:] = [(node, vertex) for node, vertex in alike if vertex.roots]
        self.known = {kind: alike for kind, alike in self.known.items() if alike}
        self.changed()
        self.keys.keep(self.tables)
        return gone

    def close(self) -> None:
        """Hold no row of the sources any longer."""
        for vertex in self.vertices:
            vertex.let_go()
        self.keys.keep(())

    # -- a step -------------------------------------------------------------------------------------------------------

    def update(self, admitted: Mapping[Entry, Delta], guarantee: Time, until: Time = FOREVER) -> None:
        """Take in what was admitted, each operator once, inputs first.

        ``guarantee``: what the providers guarantee; ``until``: nobody asks for rows with a larger Vs yet.
        """
        self.guarantee = guarantee
        self._remember()
        self._certify()
        self._ask(until)
        for vertex in self.vertices:
            deltas, frontiers = self._fed(vertex, admitted)
            vertex.update(deltas, frontiers)
            vertex.settle(frontiers)

    def _remember(self) -> None:
        """Tell each operator how far those who read it remember."""
        memories = [root.memory for root in self.roots]
        if memories != self._remembered:
            self._remembered = memories
            for vertex in self.vertices:
                vertex.remember()

    def _certify(self) -> bool:
        """Tell each source what is certain; whether that is more than before."""
        before = [source.certain_here for source in self.sources]
        for source in self.sources:
            final = min(self.guarantee, min(root.final for root in source.roots))
            source.certain_here = Frontier(final, self.guarantee)
        return before != [source.certain_here for source in self.sources]

    def _ask(self, until: Time) -> None:
        """Tell each operator, outputs first, up to which Vs its rows are asked for."""
        if until == self._asked or not self._may_withhold:
            return
        self._asked = until
        for vertex in self.vertices:
            vertex.asked = BEGINNING
        for root in self.roots:
            root.vertex.asked = until
        for vertex in reversed(self.vertices):
            for part, wanted in zip(vertex.inputs, vertex.ask(vertex.asked), strict=True):
                part.asked = max(part.asked, wanted)

    def _fed(self, vertex: Vertex, admitted: Mapping[Entry, Delta]) -> tuple[list[Delta], list[Frontier]]:
        """What a vertex is fed with: the changes of its inputs, a source's by admission, and what is certain there."""
        if vertex.inputs:
            return [part.delta for part in vertex.inputs], [part.frontier for part in vertex.inputs]
        return [admitted.get((vertex.relation.stream, vertex.since), NOTHING)], [vertex.certain_here]

    def settle(self) -> None:
        """Those who read take more for final than when the last changes came in: more rows may be final."""
        self._remember()
        if not self._certify():
            return
        self._released = None
        for vertex in self.vertices:
            below = [part.frontier for part in vertex.inputs] or [vertex.certain_here]
            now = vertex.certain(below, vertex.frozen)
            vertex.frontier = vertex.frontier._replace(final=now.final, ended=now.ended)

    def release(self, *, loads: bool = False) -> dict[str, Line]:
        """Forget what nobody can need any more: by guarantees (R37) and by memory (R34).

        Gives which rows of each event type are not needed.  ``loads``: the rows that are needed will be loaded, so that
        also what is final must be computed, where somebody above needs it.
        """
        lines = [root.line for root in self.roots]
        asked = (lines, self._remembered, [vertex.frontier for vertex in self.vertices])
        if asked == self._released:
            return self._needed
        self._released = None if loads else asked
        for vertex in self.vertices:
            vertex.line = Line(FOREVER, FOREVER)
        for root in self.roots:
            root.vertex.line &= root.line
        for vertex in reversed(self.vertices):
            below = [part.frontier._replace(final=BEGINNING) if loads else part.frontier for part in vertex.inputs]
            for part, wanted in zip(vertex.inputs, vertex.demand(below) if below else (), strict=True):
                part.line &= wanted
        self._needed = {}
        for vertex in self.sources:
            stream = vertex.relation.stream
            self._needed[stream] = vertex.line & self._needed.get(stream, vertex.line)
        return self._needed

    # -- rows that are known already ----------------------------------------------------------------------------------

    def expect(self, known: Mapping[Entry, Rows]) -> None:
        """These rows will be loaded: those of them with open ends are not final, nor is what follows from them."""
        entries = {id(source.relation.table): (source.relation.stream, source.since) for source in self.sources}
        for vertex in self.vertices:
            for pin, part in zip(vertex.pins, vertex.inputs, strict=True):
                if pin is not None:
                    entry = entries.get(id(part.relation.table))
                    vertex.loading |= entry is None
                    pin.update(Delta(added=NONE if entry is None else known.get(entry, NONE)))

    def load(self, known: Mapping[Entry, Rows], until: Time, roots: Sequence[Root]) -> None:
        """Take in all rows that are known, for some outputs: after a restart, or where they are new."""
        self._ask(until)
        vertices = [vertex for vertex in self.vertices if all(root in roots for root in vertex.roots)]
        for vertex in vertices:
            vertex.loading = False
            for pin in vertex.pins:
                if pin is not None:
                    pin.clear()
        added = {entry: Delta(added=rows) for entry, rows in known.items()}
        for vertex in vertices:
            deltas, frontiers = self._fed(vertex, added)
            vertex.update(deltas, [Frontier()] * len(frontiers))
