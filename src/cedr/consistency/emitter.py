"""The emitter of one output: a query at a consistency level.

Paper: Figure 7, the consistency monitor around the operational module.  Readings: R33 (due), R34 (frozen), R36 (the
guarantee that leaves), R38 (switching).  Several emitters may read one dataflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cedr.consistency.admission.admitted import Feed
from cedr.consistency.admission.door import Arrivals
from cedr.consistency.clock import Clock
from cedr.consistency.emission.changes import Changes
from cedr.consistency.emission.emitted_rows import EmittedRows
from cedr.consistency.emission.frozen_rows import Known, ghosts_as_json, ghosts_from_json, sync_of_retraction
from cedr.consistency.emission.log import EmissionLog
from cedr.consistency.emission.repairs import Thresholds
from cedr.consistency.encoding import Json, as_bytes, from_bytes, level_as_json, level_from_json
from cedr.consistency.measures import Measures
from cedr.model.event import Event
from cedr.model.level import Bound, ConsistencyLevel
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.analyses.bounds import consumes, revisable
from cedr.plan.analyses.lifetimes import lifetime
from cedr.plan.logical import Node, walk
from cedr.runtime.dataflow.dataflow import Dataflow
from cedr.runtime.operators.contract import Frontier, Line, Size, Snapshot
from cedr.runtime.store.materialise import events_of
from cedr.runtime.store.table import Delta, Rows


class Emitter:
    """What leaves one output: its level, what it admits, what it has emitted, and the guarantee that left."""

    def __init__(self, plan: Node, level: ConsistencyLevel, arrivals: Arrivals, clock: Clock, name: str) -> None:
        self.level = level
        self.next_level: ConsistencyLevel | None = None
        """The level from the next sync point on.  Reading: R38."""
        self.guarantee: Time = BEGINNING
        self.guarantees: list[Time] = []
        """What each operator of the dataflow guarantees to this output, inputs first."""
        self.memory: Time = BEGINNING
        """m: what ends before it is frozen.  Reading: R34."""
        self.feed = Feed(arrivals)
        self.inserts = self.retractions = self.guarantees_left = 0
        self._ties_before = 0
        """Ties that were counted before a restart, without those that the restart counts again."""
        self._arrivals, self._clock = arrivals, clock
        by_guarantees = revisable(plan) > 0 or any(consumes(node) for node in walk(plan))
        self._lifetime = FOREVER if by_guarantees else lifetime(plan)
        """How long rows live; FOREVER also where memory must not forget: old choices and versions bear on new ones."""
        self._latest: Time = BEGINNING
        """The largest Sync that was emitted."""
        self.due: Time = BEGINNING
        """Up to where rows were due in the last step.  Reading: R33."""
        self._before_waiting: Time = FOREVER
        """No row with Vs up to here waits to be emitted."""
        self.line: Line = Line(BEGINNING)
        """The rows of the output that this emitter does not need."""
        self._name, self._log = f"monitor/{name}", EmissionLog(f"said/{name}")
        self._saved, self._unsaved = b"", dict[str, bytes | None]()
        self._known = Known({}, {}, 0)

    def read(self, dataflow: Dataflow) -> None:
        """Read the output of a dataflow from now on."""
        self._relation, self.rows = dataflow.relation, EmittedRows(dataflow.relation)
        if not self.guarantees:
            self.guarantees = [BEGINNING] * len(dataflow.vertices)

    @property
    def admission(self) -> object:
        """What decides which messages are admitted: outputs of which this is equal admit the same.

        Reading: R33: those with one B do, but for messages that came too late for one of them (R34), and what was
        admitted at another level before (R38).
        """
        return self.level.effective_blocking, self.feed.refused, tuple(self.feed.frontiers)

    # -- levels -------------------------------------------------------------------------------------------------------

    def switch(self, level: ConsistencyLevel, *, at_sync_point: bool) -> None:
        """Go on at another level from the next batch, or from the next sync point of the output.  Reading: R38."""
        if at_sync_point:
            self.next_level = level
        else:
            self.level, self.next_level = level, None

    @property
    def at_sync_point(self) -> bool:
        """Whether nothing is provisional: everything that was emitted has Sync <= g'.  Reading: R38."""
        return self._latest <= self.guarantee

    def bounds(self) -> list[Bound]:
        """B and M, those of the level to come included."""
        levels = [level for level in (self.level, self.next_level) if level is not None]
        return [bound for level in levels for bound in (level.blocking, level.memory)]

    # -- a step -------------------------------------------------------------------------------------------------------

    def begin(self, cedr_time: Time) -> None:
        """Fix m before the batch; what was frozen stays frozen.  Readings: R34, R38."""
        self.memory = max(self.memory, self._clock.ago(self.level.memory, cedr_time))
        self.feed.refuse_removals_before = self.memory

    def blocked(self, cedr_time: Time) -> Time:
        """b: what is later waits for a guarantee.  Reading: R33."""
        return self._clock.ago(self.level.effective_blocking, cedr_time)

    def emit(self, delta: Delta, frontiers: list[Frontier], cedr_time: Time) -> Changes:
        """What leaves this output in a step, by the change of the output and what is certain.  Readings: R33, R34."""
        before = self.guarantee
        self.guarantees = [frontier.guarantee for frontier in frontiers]
        self.guarantee = max(before, self.guarantees[-1])
        self.due = max(self.guarantee, self.blocked(cedr_time))
        emitted = self.rows.emit(self._needed(delta), Thresholds(self.due, self.memory), cedr_time)
        recalled = self.rows.recalled
        self._latest = max([self._latest, *map(sync_of_retraction, recalled), *emitted.sync[-1:].tolist()])
        left = self.guarantee if self.guarantee > before else None
        changes = Changes(self.level, cedr_time, self._relation, emitted, left, recalled)
        self.inserts += changes.inserts
        self.retractions += changes.retractions
        self.guarantees_left += left is not None
        if self.next_level is not None and self.at_sync_point:
            self.level, self.next_level = self.next_level, None
        return changes

    def _needed(self, delta: Delta) -> Delta:
        """Without rows that only a reader with a longer memory has not forgotten.  Reading: R34."""
        if self.line.vs == BEGINNING:
            return delta
        vs, ve = self._relation.table.vs.view, self._relation.table.ve.view
        if all(not len(rows) or int(vs[rows].min()) > self.line.vs for rows in delta):
            return delta
        return Delta(*(rows[(vs[rows] > self.line.vs) | (ve[rows] > self.line.ended)] for rows in delta))

    def unneeded(self, root: Frontier, *, loads: bool = False) -> Line:
        """The rows of the output that nobody needs here: by guarantees (R37) and by M (R34)."""
        line, ended = BEGINNING, BEGINNING
        if self.memory > BEGINNING and self._lifetime < FOREVER:
            line, ended = plus(self.memory, -self._lifetime - 1), self.memory
        if not loads:
            self._before_waiting = self.rows.before_waiting
        self.line = Line(max(line, min(root.final, self._before_waiting)), ended, root.ended)
        if self.rows.haunted:
            self.rows.forget(self.line.vs)
        return self.line

    # -- state --------------------------------------------------------------------------------------------------------

    def state(self, snapshots: list[Snapshot], ties: int) -> dict[str, bytes | None]:
        """The segments that have changed since the last time; ``snapshots`` and ``ties``: those of the operators."""
        changes = self._unsaved | self._log.flush(self.rows, self.line)
        self._unsaved = {}
        written = as_bytes(self._written(snapshots, ties))
        if written != self._saved:
            changes[self._name] = self._saved = written
        return changes

    def _written(self, snapshots: list[Snapshot], ties: int) -> Json:
        return {
            "level": level_as_json(self.level),
            "waiting": None if self.next_level is None else level_as_json(self.next_level),
            "guarantee": self.guarantee,
            "line": self.memory,
            "due": self.due,
            "waiting_after": self._before_waiting,
            "spoken": self._latest,
            "counts": [self.inserts, self.retractions, self.guarantees_left],
            "ties": self._ties_before + ties,
            "guarantees": self.guarantees,
            "frozen": self.rows.frozen,
            "ghosts": ghosts_as_json(self.rows.all_ghosts()),
            "choices": [snapshots],
        }

    def restore(self, segments: Mapping[str, bytes]) -> list[Snapshot]:
        """Begin with what was saved, before the rows of the output are loaded; the snapshots of the operators."""
        self._saved = segments[self._name]
        written = from_bytes(self._saved)
        self.level = level_from_json(written["level"])
        self.next_level = None if written["waiting"] is None else level_from_json(written["waiting"])
        self.guarantee, self.memory, self._latest = written["guarantee"], written["line"], written["spoken"]
        self.due = written["due"]
        self.inserts, self.retractions, self.guarantees_left = written["counts"]
        self._before_waiting, self.guarantees = written["waiting_after"], written["guarantees"]
        self._ties_before = written.get("ties", 0)
        self._known = Known(self._log.load(segments), ghosts_from_json(written["ghosts"]), written["frozen"])
        snapshots: list[Snapshot] = written["choices"][0]
        return snapshots

    def leave(self, ties: int) -> None:
        """Read the old dataflow no longer; what was emitted is known by the names of rows."""
        self._ties_before += ties
        self._unsaved |= self._log.flush(self.rows, self.line)
        self._known = self.rows.known()
        self.rows.close()

    def load(self, rows: Rows, ties: int) -> None:
        """Go on with the rows of another dataflow, or after a restart: some of them were emitted before."""
        self._ties_before -= ties
        now = self._clock.times[-1] if self._clock.times else BEGINNING
        self.rows.resume(rows, self._known, self.due, now)

    def emitted(self) -> list[Event]:
        """The rows emitted and not retracted, as far as they are not forgotten."""
        rows = self.rows.rows()
        ends = zip(self.rows.ends.said_oe.view[rows].tolist(), self.rows.ends.said_ves(rows).tolist(), strict=True)
        events = events_of(self._relation, rows)
        return [replace(event, occurrence_end=oe, valid_end=ve) for event, (oe, ve) in zip(events, ends, strict=True)]

    def measures(self, run: int, sizes: Iterable[tuple[str, Size]], ties: int) -> Measures:
        """What this output has taken in, holds, and has emitted.

        ``sizes`` and ``ties`` are those of the operators that it reads.
        """
        counts, since = self._arrivals.counts, self.feed.held_since()
        rows: dict[str, int] = {}
        held: dict[str, int] = {}
        for place, size in sizes:
            rows[place] = rows.get(place, 0) + size.rows
            held[place] = held.get(place, 0) + size.bytes
        now = self._clock.times[-1] if self._clock.times else 0
        return Measures(
            level=self.level,
            received=counts.received,
            admitted=counts.received - self.feed.held,
            held=self.feed.held,
            longest_held=0 if since is None else max(0, now - since),
            inserts=self.inserts,
            retractions=self.retractions,
            guarantees=self.guarantees_left,
            late=self._arrivals.late,
            frozen=self.rows.frozen,
            unknown=self._arrivals.ignored,
            dead_letters=len(self._arrivals.dead_letters()) + len(self.feed.too_late),
            duplicates=counts.duplicates,
            ties=self._ties_before + ties,
            rows=rows,
            bytes=held,
            run=run,
        )


def by_admission(emitters: Iterable[Emitter]) -> list[list[Emitter]]:
    """Emitters put together that admit the same messages, in their order."""
    groups: dict[object, list[Emitter]] = {}
    for emitter in emitters:
        groups.setdefault(emitter.admission, []).append(emitter)
    return list(groups.values())
