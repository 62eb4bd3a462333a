"""The vertices of a dataflow: an operator in its place.  Paper: Figure 7.  Readings: R34, R36, R37."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.analyses.memory import behind
from cedr.runtime.operators.contract import Frontier, Line, Operator
from cedr.runtime.operators.open_ends import OpenEnds
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta

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
