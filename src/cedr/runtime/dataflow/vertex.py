"""The vertices of a dataflow: an operator in its place.  Paper: Figure 7.  Readings: R34, R36, R37."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from cedr.model.time import BEGINNING, FOREVER, Time
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
    delta: Delta = NOTHING
    frontier: Frontier = UNCERTAIN
    """What is certain about the output for the reader that remembers most."""
    line: Line = ALL
    _settled_by: tuple[Sequence[Frontier], Time] | None = None

    @property
    def relation(self) -> Relation:
        """What others see of its output."""
        return self.operator.relation

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> None:
        """Take in the changes of the inputs."""
        for ends, delta in zip(self.open_ends, deltas, strict=False):
            if ends is not None:
                ends.update(delta)
        self.delta = self.operator.update(deltas, frontiers) if any(deltas) else NOTHING

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
        self.operator.decide(frontiers, self.frozen(memory))

    def certain(self, frontiers: Sequence[Frontier], memory: Time) -> Frontier:
        """What is certain about the output for a reader whose m is ``memory``.  Reading: R36."""
        found = self.operator.frontier(frontiers, self.frozen(memory))
        for part, ends in enumerate(self.open_ends):
            if ends is not None:
                sure = ends.guarantee(min(each.guarantee for each in frontiers), self.inputs[part].frozen(memory))
                found = found._replace(guarantee=min(found.guarantee, sure))
        return found

    def frozen(self, memory: Time) -> Time:
        """The last Vs of which no row bears on what is not frozen; ``memory`` is m."""
        return behind(memory, self.reach)
