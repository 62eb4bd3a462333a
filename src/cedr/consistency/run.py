"""A run: one dataflow on what was admitted, and the emitters that read it.

Paper: Figure 7, the operational module inside the consistency monitor.  Readings: R33 to R38.  Outputs that admit the
same messages share a run: MIDDLE and WEAK of one query have one set of operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_

from cedr.consistency.admission.door import Arrivals
from cedr.consistency.emission.changes import Changes
from cedr.consistency.emitter import Emitter, by_admission
from cedr.model.time import FOREVER, Time
from cedr.plan.analyses.starts import guaranteed_at_most, may_begin_later
from cedr.plan.logical import Node
from cedr.runtime.dataflow.build import build
from cedr.runtime.operators.contract import Frontier, Line, Snapshot


class Run:
    """Evaluates a plan once for all outputs that admit the same messages."""

    def __init__(self, plan: Node, arrivals: Arrivals, emitters: Sequence[Emitter]) -> None:
        self._plan, self._arrivals = plan, arrivals
        self.emitters = list(emitters)
        self.dataflow = build(plan, arrivals.table)
        self._begins_later = may_begin_later(plan)
        self.needed: dict[str, Line] = {}
        """Which rows of each event type are not needed here."""
        for emitter in self.emitters:
            emitter.read(self.dataflow)

    def step(self, cedr_time: Time, until: Time = FOREVER) -> list[Changes]:
        """Admit, evaluate, emit, release.  Reading: R33.  ``until``: as if the guarantee were no larger."""
        guarantee = min(self._arrivals.guarantee, until)
        admission = max(guarantee, self.emitters[0].blocked(cedr_time))
        admitted, *_ = [emitter.feed.admit(admission) for emitter in self.emitters]
        certain = Frontier(self._final(until), guarantee)
        delta = self.dataflow.update(admitted, certain, self._memory, self._due_at_most(admission, guarantee))
        changes = [emitter.emit(delta, self.dataflow.frontiers(emitter.memory), cedr_time) for emitter in self.emitters]
        self._release(Frontier(self._final(until), guarantee))
        return changes

    def _due_at_most(self, admission: Time, guarantee: Time) -> Time:
        """Up to when rows may be due after a step; those that begin later than their event are so later.  R33, R36."""
        return max(admission, guaranteed_at_most(self._plan, guarantee)) if self._begins_later else admission

    @property
    def _memory(self) -> Time:
        """The m of the emitter that remembers most."""
        return min(emitter.memory for emitter in self.emitters)

    def _final(self, until: Time) -> Time:
        """Up to where rows of sources are final: where rows wait for ends, only what has left is."""
        guarantee = min(self._arrivals.guarantee, until)
        return min([guarantee, *(e.guarantee for e in self.emitters)]) if self.dataflow.holds_back else guarantee

    def _release(self, certain: Frontier, *, loads: bool = False) -> None:
        """Forget what no emitter can need any more: by guarantees (R37) and by M (R34)."""
        if certain != self.dataflow.certain:
            self.dataflow.settle(certain, self._memory)
        lines = [emitter.unneeded(self.dataflow.root.frontier, loads=loads) for emitter in self.emitters]
        line = reduce(and_, lines)
        self.needed = self.dataflow.release(line, self._memory, loads=loads)

    # -- outputs that go ways of their own ----------------------------------------------------------------------------

    def split(self) -> list[Run]:
        """This run, and others for emitters that do not admit the same messages as its first one any more."""
        if len(self.emitters) == 1:
            return [self]
        self.emitters, *others = by_admission(self.emitters)
        return [self, *(self._moved(emitters) for emitters in others)]

    def _moved(self, emitters: list[Emitter]) -> Run:
        """A run for some of the emitters, which goes on from here."""
        for emitter in emitters:
            emitter.leave(self.dataflow.ties)
        run = Run(self._plan, self._arrivals, emitters)
        run.begin(self.dataflow.snapshots(), self.dataflow.certain)
        return run

    # -- state --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, bytes | None]:
        """The segments that have changed since the last time."""
        changes: dict[str, bytes | None] = {}
        snapshots, ties = self.dataflow.snapshots(), self.dataflow.ties
        for emitter in self.emitters:
            changes.update(emitter.state(snapshots, ties))
        return changes

    def close(self) -> None:
        """Hold nothing of what has arrived any longer."""
        self.dataflow.close()

    def restore(self, snapshots: Sequence[Snapshot]) -> None:
        """Begin with what was saved after a step; the emitters have begun already."""
        self.begin(snapshots, Frontier(self._final(FOREVER), self._arrivals.guarantee))

    def begin(self, snapshots: Sequence[Snapshot], certain: Frontier) -> None:
        """Load what was admitted into the operators; the emitters know what they have emitted.

        ``certain``: what was guaranteed when that was evaluated.  What has arrived since may not be final by it.
        """
        weakest = min(self.emitters, key=lambda emitter: emitter.memory)
        self.dataflow.resume(weakest.guarantees, snapshots)
        self.dataflow.expect(self.emitters[0].feed.live())
        self._release(certain, loads=True)
        until = max([certain.guarantee, *(emitter.due for emitter in self.emitters)])
        rows = self.dataflow.load(self.emitters[0].feed.live(), until)
        for emitter in self.emitters:
            emitter.load(rows, self.dataflow.ties)
