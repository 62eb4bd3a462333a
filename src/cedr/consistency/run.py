"""A run: one dataflow on what was admitted, and the emitters that read it.

Paper: Figure 7, the operational module inside the consistency monitor.  Readings: R33 to R38, R43, R44.  Outputs that
admit the same messages share a run: MIDDLE and WEAK of one query have one set of operators, and so have the equal parts
of several queries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import and_

import numpy as np

from cedr.consistency.admission.door import Arrivals
from cedr.consistency.emission.changes import Changes
from cedr.consistency.emitter import Emitter, by_admission
from cedr.consistency.gate import Gate
from cedr.model.time import FOREVER, Time
from cedr.plan.analyses.starts import guaranteed_at_most, may_begin_later
from cedr.plan.logical import Node
from cedr.runtime.dataflow.build import Birth, extend
from cedr.runtime.dataflow.dataflow import Dataflow, Entry, Vertex
from cedr.runtime.dataflow.root import Root
from cedr.runtime.operators.contract import Line
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.table import Delta, Rows, without


class Run:
    """Evaluates plans once for all outputs that admit the same messages."""

    def __init__(self, arrivals: Arrivals, emitters: Sequence[Emitter]) -> None:
        self._arrivals = arrivals
        self.emitters: list[Emitter] = []
        self.dataflow = Dataflow()
        self._readers: dict[Root, list[Emitter]] = {}
        self._roots: dict[tuple[int, Birth], tuple[Node, Root]] = {}
        """The output of each plan, by who it is."""
        self._beginning_later: list[Node] = []
        """The plans of which rows may begin later than their events."""
        self.needed: dict[str, Line] = {}
        """Which rows of each event type are not needed here."""
        for emitter in emitters:
            self.attach(emitter)

    def attach(self, emitter: Emitter) -> None:
        """One more emitter, of a plan that is evaluated here already or of a new one."""
        plan, birth = emitter.output.plan, emitter.output.birth
        known = self._roots.get((id(plan), birth))
        if known is None:
            known = plan, extend(self.dataflow, plan, self._arrivals.table, birth)
            self._roots[id(plan), birth] = known
            self._beginning_later += [plan] if may_begin_later(plan) else []
        self.emitters.append(emitter)
        self._readers.setdefault(known[1], []).append(emitter)
        emitter.read(known[1])

    @property
    def gates(self) -> list[Gate]:
        """The gates of its emitters, each once."""
        return list(dict.fromkeys(emitter.gate for emitter in self.emitters))

    def step(self, cedr_time: Time, until: Time = FOREVER) -> list[Changes]:
        """Admit, evaluate, emit, release.  Reading: R33.  ``until``: as if the guarantee were no larger."""
        guarantee = min(self._arrivals.guarantee, until)
        gates = self.gates
        blocked = gates[0].clock.ago(gates[0].level.effective_blocking, cedr_time)
        admission = max(guarantee, blocked)
        loaded = self._loaded(gates[0])
        admitted, *_ = [gate.feed.admit(admission) for gate in gates]
        self._certify(guarantee)
        self.dataflow.update(self._entries(admitted), guarantee, self._due_at_most(admission, guarantee))
        changes = [
            emitter.emit(_with(loaded, emitter.root), emitter.root.frontiers(emitter.memory), blocked, cedr_time)
            for emitter in self.emitters
        ]
        self._release(guarantee)
        return changes

    # -- outputs that begin later -------------------------------------------------------------------------------------

    @property
    def _new(self) -> list[Root]:
        """The outputs that have not taken a step, and begin with what is known.  Reading: R44."""
        return [root for root, (first, *_) in self._readers.items() if not first.begun and first.output.birth.retains]

    def _loaded(self, gate: Gate) -> dict[Root, Rows]:
        """Load what was admitted before into the operators of outputs that are new; their rows."""
        roots = self._new
        if roots:
            self.dataflow.load(self._known(gate), FOREVER, roots)
        return {root: root.vertex.delta.added for root in roots}

    def _known(self, gate: Gate) -> dict[Entry, Rows]:
        live = {stream: Delta(added=rows) for stream, rows in gate.feed.live().items()}
        return {entry: delta.added for entry, delta in self._entries(live).items()}

    def _due_at_most(self, admission: Time, guarantee: Time) -> Time:
        """Up to when rows may be due after a step; those that begin later than their event are so later.  R33, R36."""
        return max([admission, *(guaranteed_at_most(plan, guarantee) for plan in self._beginning_later)])

    def _certify(self, guarantee: Time) -> None:
        """How far the readers of each output remember, and up to where rows of sources are final for them.

        Where rows wait for ends, only what has left is final.
        """
        for root, emitters in self._readers.items():
            root.memory = min(emitter.memory for emitter in emitters)
            left = min(emitter.guarantee for emitter in emitters)
            root.final = min(guarantee, left) if root.holds_back else guarantee

    def _entries(self, admitted: Mapping[str, Delta]) -> dict[Entry, Delta]:
        """What was admitted, for each time since which somebody reads."""
        return {
            (stream, since): delta if not since else Delta(*(self._since(stream, since, rows) for rows in delta))
            for since in {source.since for source in self.dataflow.sources}
            for stream, delta in admitted.items()
        }

    def _since(self, stream: str, since: int, rows: Rows) -> Rows:
        """The rows that were inserted by messages from a serial number on."""
        return rows[self._arrivals.ledger.sources[stream].serial.at(rows) >= since] if len(rows) else rows

    def _release(self, guarantee: Time, *, loads: bool = False) -> None:
        """Forget what no emitter can need any more: by guarantees (R37) and by M (R34)."""
        self._certify(guarantee)
        self.dataflow.settle()
        for root, emitters in self._readers.items():
            lines = [emitter.unneeded(root.vertex.frontier, loads=loads) for emitter in emitters]
            root.line = reduce(and_, lines)
        self.needed = self.dataflow.release(loads=loads)

    # -- outputs that go ways of their own ----------------------------------------------------------------------------

    def split(self) -> list[Run]:
        """This run, and others for emitters that do not admit the same messages as its first one any more."""
        if len(self.gates) == 1:
            return [self]
        _, *others = by_admission(self.emitters)
        return [self, *(self._moved(emitters) for emitters in others)]

    def _moved(self, emitters: list[Emitter]) -> Run:
        """A run for some of the emitters, which goes on from here."""
        roots = [emitter.root for emitter in emitters]
        for emitter in emitters:
            emitter.leave()
        run = Run(self._arrivals, emitters)
        run.begin(self.dataflow.guarantee)
        for emitter, root in zip(emitters, roots, strict=True):
            self._drop(emitter, root)
        return run

    def detach(self, emitters: Iterable[Emitter]) -> None:
        """Some of the emitters are gone."""
        for emitter in emitters:
            emitter.rows.close()
            self._drop(emitter, emitter.root)

    def _drop(self, emitter: Emitter, root: Root) -> None:
        self.emitters.remove(emitter)
        self._readers[root].remove(emitter)
        if not self._readers[root]:
            del self._readers[root]
            self._roots = {key: known for key, known in self._roots.items() if known[1] is not root}
            self._beginning_later = [plan for plan, _ in self._roots.values() if may_begin_later(plan)]
            self.dataflow.remove(root)

    # -- state --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, bytes | None]:
        """The segments that have changed since the last time."""
        changes: dict[str, bytes | None] = {}
        places = {gate: self._arrivals.feeds.index(gate.feed) for gate in self.gates}
        for root, emitters in self._readers.items():
            snapshots, ties = root.snapshots(), root.ties
            for emitter in emitters:
                changes.update(emitter.state(snapshots, ties, places[emitter.gate]))
        return changes

    def close(self) -> None:
        """Hold nothing of what has arrived any longer."""
        self.dataflow.close()

    def begin(self, guarantee: Time) -> None:
        """Load what was admitted into the operators; the emitters know what they have emitted.

        ``guarantee``: what the providers guaranteed when that was evaluated.  What has arrived since may not be final.
        """
        restored: set[Vertex] = set()
        for root, emitters in self._readers.items():
            weakest = min(emitters, key=lambda emitter: emitter.memory)
            root.resume(weakest.guarantees, emitters[0].snapshots, restored)
        known = self._known(self.gates[0])
        self.dataflow.expect(known)
        self.dataflow.guarantee = guarantee
        self._release(guarantee, loads=True)
        until = max([guarantee, *(emitter.due for emitter in self.emitters)])
        new = self._new
        self.dataflow.load(known, until, [root for root in self.dataflow.roots if root not in new])
        for emitter in self.emitters:
            emitter.load(NONE if emitter.root in new else emitter.root.vertex.delta.added)


def _with(loaded: Mapping[Root, Rows], root: Root) -> Delta:
    """The change of an output in a step, with what was loaded before it."""
    delta = root.vertex.delta
    rows = loaded.get(root)
    return delta if rows is None else Delta(delta.removed, np.concatenate([without(rows, delta.removed), delta.added]))
