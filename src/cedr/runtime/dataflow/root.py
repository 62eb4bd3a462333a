"""An output of a dataflow: what makes it, and what those who read it ask for.

Paper: Section 5, Figure 7.  Readings: R34 (memory), R36 (guarantees), R43 (a part may serve several outputs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cedr.model.time import BEGINNING, Time
from cedr.plan.analyses.memory import behind
from cedr.runtime.dataflow.dataflow import ALL, Frozen, Vertex
from cedr.runtime.operators.contract import Frontier, Line, Size, Snapshot
from cedr.runtime.store.relation import Relation


@dataclass(eq=False)
class Root:
    """An output of a dataflow: a vertex, all that is below it, and what those who read the output ask for."""

    vertices: list[Vertex]
    """What it is made by, inputs first; the last one gives the output."""
    reaches: dict[Vertex, int]
    """For each vertex how far behind m a row of it may lie and still bear on what is not frozen.  Reading: R34."""
    holds_back: bool
    """Whether a row may wait to be emitted though nothing bears on it: slices and open ends.  Reading: R36."""
    memory: Time = BEGINNING
    """The smallest m of those who read it."""
    final: Time = BEGINNING
    """Up to where they take rows of sources for final."""
    line: Line = ALL
    """The rows of the output that none of them needs."""

    @property
    def vertex(self) -> Vertex:
        """The one that gives the output."""
        return self.vertices[-1]

    @property
    def relation(self) -> Relation:
        """What it gives."""
        return self.vertex.relation

    def frozen(self, vertex: Vertex, memory: Time) -> Frozen:
        """What is frozen about a vertex for a reader of this output whose m is ``memory``."""
        reaches = self.reaches
        below = tuple(behind(memory, reaches[part]) for part in vertex.inputs)
        return Frozen(behind(memory, reaches[vertex]), below)

    def frontiers(self, memory: Time) -> list[Frontier]:
        """What is certain about each vertex, for a reader of this output whose m is ``memory``."""
        if memory == BEGINNING:
            return [vertex.frontier for vertex in self.vertices]
        found: dict[Vertex, Frontier] = {}
        for vertex in self.vertices:
            below = [found[part] for part in vertex.inputs]
            frozen = self.frozen(vertex, memory)
            same = frozen == vertex.frozen and all(
                mine == part.frontier for mine, part in zip(below, vertex.inputs, strict=True)
            )
            found[vertex] = vertex.frontier if same else vertex.certain(below or [vertex.certain_here], frozen)
        return list(found.values())

    @property
    def ties(self) -> int:
        """How many events share Vs and key with another event of the same operator.  Reading: R49."""
        return sum(vertex.operator.ties for vertex in self.vertices)

    def sizes(self) -> Iterator[tuple[str, Size]]:
        """What each operator holds, by its place in the query."""
        for vertex in self.vertices:
            yield vertex.place, vertex.operator.size

    # -- state --------------------------------------------------------------------------------------------------------

    def snapshots(self, *, whole: bool = False) -> list[Snapshot | None]:
        """What the operators cannot compute again, of each that has something like that.

        None where an operator is shared, and another output has it in its state; with ``whole`` nowhere.
        """
        found = ((whole or vertex.roots[0] is self, vertex.operator.snapshot()) for vertex in self.vertices)
        return [snapshot if own else None for own, snapshot in found if snapshot is not None]

    def resume(self, guarantees: Sequence[Time], snapshots: Sequence[Snapshot | None], restored: set[Vertex]) -> None:
        """Begin with what was saved: what each operator guaranteed, and what it cannot compute again.

        ``restored``: the operators for which another output has done so.
        """
        for vertex, guarantee in zip(self.vertices, guarantees, strict=True):
            known = min(guarantee, vertex.frontier.guarantee) if vertex in restored else guarantee
            vertex.frontier = Frontier(BEGINNING, known)
        saving = [vertex for vertex in self.vertices if vertex.operator.snapshot() is not None]
        for vertex, snapshot in zip(saving, snapshots, strict=True):
            if snapshot is not None and vertex not in restored:
                vertex.operator.restore(snapshot)
        restored.update(self.vertices)
