"""The emitter of one output: a query at a consistency level.

Paper: Figure 7, the consistency monitor around the operational module.  Readings: R33 (due), R34 (frozen), R36 (the
guarantee that leaves), R38 (switching).  Several emitters may read one dataflow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from cedr.consistency.admission.admitted import Feed
from cedr.consistency.admission.door import Arrivals
from cedr.consistency.clock import Clock
from cedr.consistency.emission.changes import NOTHING, Changes
from cedr.consistency.emission.emitted_rows import EmittedRows
from cedr.consistency.emission.frozen_rows import (
    Ghost,
    Known,
    ghosts_as_json,
    ghosts_from_json,
    sync_of_retraction,
)
from cedr.consistency.emission.inherited_rows import Heritage
from cedr.consistency.emission.log import EmissionLog
from cedr.consistency.emission.repairs import Thresholds
from cedr.consistency.encoding import (
    Json,
    as_bytes,
    decode_event,
    encode_event,
    from_bytes,
    level_as_json,
    level_from_json,
)
from cedr.consistency.gate import Gate
from cedr.consistency.measures import Measures
from cedr.model.event import Event
from cedr.model.level import Bound, ConsistencyLevel
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.analyses.bounds import consumes, revisable
from cedr.plan.analyses.lifetimes import lifetime
from cedr.plan.logical import Node, walk
from cedr.runtime.dataflow.build import AT_FIRST, Birth
from cedr.runtime.dataflow.root import Root
from cedr.runtime.operators.contract import Frontier, Line, Snapshot
from cedr.runtime.store.materialise import events_of
from cedr.runtime.store.table import Delta, Rows


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """What leaves a pipeline: a plan at a level, by the name that the state has it under."""

    name: str
    plan: Node
    level: ConsistencyLevel
    birth: Birth = AT_FIRST
    """When its query began.  Reading: R44."""
    start: Time = BEGINNING
    """Rows with a smaller Vs are not emitted: not all is known that bears on them.  Reading: R44."""


class Emitter:
    """What leaves one output: its level, what it admits, what it has emitted, and the guarantee that left."""

    def __init__(self, output: Output, gate: Gate, arrivals: Arrivals, clock: Clock) -> None:
        self.output, self.gate = output, gate
        gate.readers += 1
        self.next_level: ConsistencyLevel | None = None
        """The level from the next sync point on.  Reading: R38."""
        self.guarantee: Time = BEGINNING
        self.guarantees: list[Time] = []
        """What each operator of the dataflow guarantees to this output, inputs first."""
        self.inserts = self.retractions = self.guarantees_left = 0
        self._ties_before = 0
        """Ties that were counted before a restart, without those that the restart counts again."""
        self._arrivals, self._clock = arrivals, clock
        plan, name = output.plan, output.name
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
        self._told: Time = BEGINNING
        """The guarantee that the query before has told."""
        self._heritage = Heritage()
        self.begun = False
        """Whether it has taken a step: before the first one what is known of the past is loaded.  Reading: R44."""
        self.leaving: bool | None = None
        """Whether it is to go with the next step, and, if so, to retract first what is not final.  Reading: R44."""
        self.snapshots: list[Snapshot | None] = []
        """What the operators could not compute again, of the dataflow that it read before."""

    def read(self, root: Root) -> None:
        """Read an output of a dataflow from now on."""
        self.root = root
        self._relation, self.rows = root.relation, EmittedRows(root.relation)
        if not self.guarantees:
            self.guarantees = [BEGINNING] * len(root.vertices)

    # -- levels -------------------------------------------------------------------------------------------------------

    @property
    def level(self) -> ConsistencyLevel:
        """The level at which the next batch is taken."""
        return self.gate.level

    @property
    def feed(self) -> Feed:
        """What is admitted."""
        return self.gate.feed

    @property
    def memory(self) -> Time:
        """m: what ends before it is frozen.  Reading: R34."""
        return self.gate.memory

    def switch(self, level: ConsistencyLevel, *, at_sync_point: bool) -> None:
        """Go on at another level from the next batch, or from the next sync point of the output.  Reading: R38."""
        if at_sync_point:
            self.next_level = level
        else:
            self.next_level = None
            if level != self.level:
                self.gate = self.gate.switched(level)

    @property
    def at_sync_point(self) -> bool:
        """Whether nothing is provisional: everything that was emitted has Sync <= g'.  Reading: R38."""
        return self._latest <= self.guarantee

    def bounds(self) -> list[Bound]:
        """B and M, those of the level to come included."""
        levels = [level for level in (self.level, self.next_level) if level is not None]
        return [bound for level in levels for bound in (level.blocking, level.memory)]

    # -- a step -------------------------------------------------------------------------------------------------------

    def emit(self, delta: Delta, frontiers: list[Frontier], blocked: Time, cedr_time: Time) -> Changes:
        """What leaves this output in a step, by its change, what is certain, and b.  Readings: R33, R34."""
        before = self.guarantee
        self.guarantees = [frontier.guarantee for frontier in frontiers]
        self.guarantee = max(before, self.guarantees[-1])
        self.due = max(self.guarantee, blocked)
        emitted = self.rows.emit(self._needed(delta), Thresholds(self.due, self.memory), cedr_time)
        recalled = self.rows.recalled
        self._latest = max([self._latest, *map(sync_of_retraction, recalled), *emitted.sync[-1:].tolist()])
        left = self.guarantee if self.guarantee > max(before, self._told) else None
        self.begun = True
        changes = Changes(self.level, cedr_time, self._relation, emitted, left, recalled, self.rows.heritage.renamed)
        self.inserts += changes.inserts
        self.retractions += changes.retractions
        self.guarantees_left += left is not None
        if self.next_level is not None and self.at_sync_point:
            self.switch(self.next_level, at_sync_point=False)
        return changes

    def _needed(self, delta: Delta) -> Delta:
        """Without rows that only a reader with a longer memory has not forgotten, or from before the start.

        Readings: R34, R44.
        """
        start = self.output.start
        if start > BEGINNING:
            vs = self._relation.table.vs.view
            delta = Delta(*(rows[vs[rows] >= start] for rows in delta))
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

    # -- queries come and go ------------------------------------------------------------------------------------------

    def replaces(self, other: Emitter) -> None:
        """Go on from what another query has emitted.  Reading: R44."""
        self._latest, self._told = other._latest, max(other.guarantee, other._told)
        self.inserts, self.retractions = other.inserts, other.retractions
        self.guarantees_left = other.guarantees_left
        self.rows.heritage.rows = [each for each in other.emitted_rows() if each.event.valid_start >= self.output.start]
        self._unsaved |= other.segments()
        self._log.follow(other._log)

    def emitted_rows(self) -> list[Ghost]:
        """The rows emitted and not retracted, with the time at which they were, under the IDs that they were."""
        rows = self.rows.rows()
        renamed = self.rows.heritage.renamed
        found = [Ghost(*each) for each in zip(self.emitted(), self.rows.entries(rows)[3].tolist(), strict=True)]
        if not renamed:
            return found
        names = [renamed.get((g.event.id, g.event.occurrence_start, g.said), g.event.id) for g in found]
        return [Ghost(replace(g.event, id=name), g.said) for g, name in zip(found, names, strict=True)]

    def segments(self) -> dict[str, bytes | None]:
        """Its segments, to be dropped."""
        return {self._name: None, **self._log.segments()}

    def last(self, cedr_time: Time) -> Changes:
        """What leaves last: the guarantee of everything, and before it retractions, if they are asked for.

        Reading: R44: what has a Sync up to g' is final.
        """
        rows = self.emitted_rows() if self.leaving else []
        recalled = [row.taken_back(cedr_time) for row in rows if row.event.occurrence_start > self.guarantee]
        return Changes(self.level, cedr_time, self._relation, NOTHING, FOREVER - 1, recalled)

    # -- state --------------------------------------------------------------------------------------------------------

    def state(self, snapshots: list[Snapshot | None], ties: int, feed: int) -> dict[str, bytes | None]:
        """The segments that have changed since the last time.

        ``snapshots`` and ``ties`` are those of the operators, ``feed`` is the place of its feed among all.
        """
        changes = self._unsaved | self._log.flush(self.rows, self.line)
        self._unsaved = {}
        written = as_bytes({**self._written(snapshots, ties), "feed": feed})
        if written != self._saved:
            changes[self._name] = self._saved = written
        return changes

    def _written(self, snapshots: list[Snapshot | None], ties: int) -> Json:
        return {
            "constant": self.gate.constant,
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
            "begun": self.begun,
            "told": self._told,
            "leaving": self.leaving,
            "before": [[ghost.said, encode_event(ghost.event)] for ghost in self.rows.heritage.rows],
            "renamed": [[*name, id_] for name, id_ in self.rows.heritage.renamed.items()],
        }

    def restore(self, segments: Mapping[str, bytes], gates: Mapping[int, Gate], number: int) -> None:
        """Begin with what was saved, before the rows of the output are loaded.

        ``gates``: by the place of their feed among all; ``number``: which one older states mean.
        """
        self._saved = segments[self._name]
        written = from_bytes(self._saved)
        self.gate = gates[written.get("feed", number)]
        self.gate.readers += 1
        self.gate.level, self.gate.memory = level_from_json(written["level"]), written["line"]
        self.gate.constant = written.get("constant", False)
        self.next_level = None if written["waiting"] is None else level_from_json(written["waiting"])
        self.guarantee, self._latest = written["guarantee"], written["spoken"]
        self.due = written["due"]
        self.inserts, self.retractions, self.guarantees_left = written["counts"]
        self._before_waiting, self.guarantees = written["waiting_after"], written["guarantees"]
        self._ties_before = written.get("ties", 0)
        self._known = Known(self._log.load(segments), ghosts_from_json(written["ghosts"]), written["frozen"])
        self.snapshots = written["choices"][0]
        self.begun, self.leaving = written.get("begun", True), written.get("leaving")
        self._told = written.get("told", BEGINNING)
        before = [Ghost(decode_event(event), said) for said, event in written.get("before", [])]
        self._heritage = Heritage(before, {(id_, os, said): old for id_, os, said, old in written.get("renamed", [])})

    def leave(self) -> None:
        """Read the old dataflow no longer; what was emitted is known by the names of rows."""
        self.snapshots = self.root.snapshots(whole=True)
        self._ties_before += self.root.ties
        self._unsaved |= self._log.flush(self.rows, self.line)
        self._known, self._heritage = self.rows.known(), self.rows.heritage
        self.rows.close()

    def load(self, rows: Rows) -> None:
        """Go on with the rows of another dataflow, or after a restart: some of them were emitted before."""
        self._ties_before -= self.root.ties
        now = self._clock.times[-1] if self._clock.times else BEGINNING
        self.rows.resume(rows[self._relation.table.vs.view[rows] >= self.output.start], self._known, self.due, now)
        self.rows.heritage = self._heritage

    def emitted(self) -> list[Event]:
        """The rows emitted and not retracted, as far as they are not forgotten."""
        rows = self.rows.rows()
        ends = zip(self.rows.ends.said_oe.view[rows].tolist(), self.rows.ends.said_ves(rows).tolist(), strict=True)
        events = events_of(self._relation, rows)
        return [replace(event, occurrence_end=oe, valid_end=ve) for event, (oe, ve) in zip(events, ends, strict=True)]

    def measures(self, run: int) -> Measures:
        """What this output has taken in, holds, and has emitted."""
        counts, since = self._arrivals.counts, self.feed.held_since()
        rows: dict[str, int] = {}
        held: dict[str, int] = {}
        for place, size in self.root.sizes():
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
            ties=self._ties_before + self.root.ties,
            rows=rows,
            bytes=held,
            run=run,
        )


def by_admission(emitters: Iterable[Emitter]) -> list[list[Emitter]]:
    """Emitters put together that admit the same messages, in their order."""
    groups: dict[object, list[Emitter]] = {}
    admissions: dict[Gate, object] = {}
    for emitter in emitters:
        if emitter.gate not in admissions:
            admissions[emitter.gate] = emitter.gate.admission
        groups.setdefault(admissions[emitter.gate], []).append(emitter)
    return list(groups.values())
