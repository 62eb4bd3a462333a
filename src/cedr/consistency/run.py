"""One consistency level of a standing query: admission, operators, what is said.

Paper: Figure 7, the consistency monitor around the operational module.  Readings: R33 to R38.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cedr.consistency.admission.admitted import Feed
from cedr.consistency.admission.door import Arrivals
from cedr.consistency.clock import Clock
from cedr.consistency.emission.changes import Changes
from cedr.consistency.emission.emitter import Voice
from cedr.consistency.emission.frozen_rows import ghosts_as_json, ghosts_from_json, sync_of_retraction
from cedr.consistency.emission.log import SaidLog
from cedr.consistency.emission.repairs import Thresholds
from cedr.consistency.encoding import Json, as_bytes, from_bytes, level_as_json, level_from_json
from cedr.consistency.measures import Measures
from cedr.model.event import Event
from cedr.model.level import ConsistencyLevel
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.analyses.bounds import consumes, revisable
from cedr.plan.analyses.lifetimes import lifetime
from cedr.plan.logical import Node, walk
from cedr.runtime.dataflow.dataflow import Dataflow
from cedr.runtime.dataflow.stage import Lines
from cedr.runtime.store.materialise import events_of
from cedr.runtime.store.table import Delta


class Monitor:
    """A level, the dataflow on what it has admitted, and its voice."""

    def __init__(self, plan: Node, level: ConsistencyLevel, arrivals: Arrivals, clock: Clock, name: str) -> None:
        self.level = level
        self.guarantee: Time = BEGINNING
        self._arrivals, self._clock = arrivals, clock
        self.feed = Feed(arrivals)
        self.dataflow = Dataflow(plan, arrivals.table)
        arrivals.open_ended.update(self.dataflow.open_ended)
        self.voice = Voice(self.dataflow.relation)
        by_guarantees = revisable(plan) > 0 or any(consumes(node) for node in walk(plan))
        self._lifetime = FOREVER if by_guarantees else lifetime(plan)
        """How long rows live; FOREVER also where memory must not forget: old choices and versions bear on new ones."""
        self._line: Time = BEGINNING
        self.spoken: Time = BEGINNING
        self.waiting: ConsistencyLevel | None = None
        self.inserts = self.retractions = self.guarantees = 0
        self.needed: dict[str, Time] = {}
        self._due: Time = BEGINNING
        self._waiting: Time = FOREVER
        """No row with Vs up to here waits to be said."""
        self._name = f"monitor/{name}"
        self._log = SaidLog(self.voice, f"said/{name}")
        self._before = b""

    def switch(self, level: ConsistencyLevel, *, at_sync_point: bool) -> None:
        """Go on at another level from the next batch, or from the next sync point of the output.  Reading: R38."""
        if at_sync_point:
            self.waiting = level
        else:
            self.level, self.waiting = level, None

    @property
    def at_sync_point(self) -> bool:
        """Whether nothing is provisional: every message said has Sync <= g'.  Reading: R38."""
        return self.spoken <= self.guarantee

    def begin(self, cedr_time: Time) -> None:
        """The freezing line is fixed before the batch; what was frozen stays frozen.  Readings: R34, R38."""
        self._line = max(self._line, self._clock.ago(self.level.memory, cedr_time))
        self.feed.refuse_removals_before = self._line

    def trim(self) -> None:
        """Clear what came and went with the last step."""
        if self.voice.idle and self.dataflow.trim():
            self.voice.clear()

    def step(self, cedr_time: Time, until: Time = FOREVER) -> Changes:
        """Admit, evaluate, speak.  Reading: R33.  ``until``: as if the guarantee were no larger."""
        guarantee = min(self._arrivals.guarantee, until)
        blocked = self._clock.ago(self.level.effective_blocking, cedr_time)
        self.dataflow.settle(self._settled(until))
        delta = self.dataflow.update(self.feed.admit(max(guarantee, blocked)))
        if self._line > BEGINNING:
            self.dataflow.let_go(self._line)
        before = self.guarantee
        if guarantee > BEGINNING:
            self.guarantee = max(before, self.dataflow.guarantee_out(guarantee))
        self._due = max(self.guarantee, blocked)
        spoken = self.voice.speak(delta, Thresholds(self._due, self._line), cedr_time)
        recalled = self.voice.recalled
        self.spoken = max([self.spoken, *map(sync_of_retraction, recalled), *spoken.sync[-1:].tolist()])
        left = self.guarantee if self.guarantee > before else None
        changes = Changes(self.level, cedr_time, self.dataflow.relation, spoken, left, recalled)
        self.inserts += changes.inserts
        self.retractions += changes.retractions
        self.guarantees += left is not None
        if self.waiting is not None and self.at_sync_point:
            self.level, self.waiting = self.waiting, None
        return changes

    def forget(self, until: Time = FOREVER, *, begins: bool = False) -> None:
        """Forget what can no longer bear on an output: by guarantees (R37) and by M (R34)."""
        line = BEGINNING
        if self._line > BEGINNING and self._lifetime < FOREVER:
            line = plus(self._line, -self._lifetime - 1)
        ended = self._line if self._lifetime < FOREVER else BEGINNING
        lines = Lines(line, ended, self._waiting if begins else self.voice.before_waiting())
        self._waiting = lines.waiting
        self.needed = self.dataflow.forget(self._settled(until), lines, begins=begins)
        self.voice.forget(self.dataflow.top.line)

    def _settled(self, until: Time) -> Time:
        guarantee = min(self._arrivals.guarantee, until)
        return min(guarantee, self.guarantee) if self.dataflow.holds_back else guarantee

    # -- state --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, bytes | None]:
        """The segments that have changed since the last time."""
        written = as_bytes(self._written())
        changes = self._log.flush(self.dataflow.top.line)
        if written != self._before:
            changes[self._name] = self._before = written
        return changes

    def _written(self) -> Json:
        return {
            "level": level_as_json(self.level),
            "waiting": None if self.waiting is None else level_as_json(self.waiting),
            "guarantee": self.guarantee,
            "line": self._line,
            "due": self._due,
            "waiting_after": self._waiting,
            "spoken": self.spoken,
            "counts": [self.inserts, self.retractions, self.guarantees],
            "guarantees": self.dataflow.guarantees,
            "frozen": self.voice.frozen,
            "ghosts": ghosts_as_json(self.voice.all_ghosts()),
            "choices": [[list(map(list, stage)) for stage in self.dataflow.choices()]],
        }

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Begin with what was saved; the arrivals have begun again already."""
        self._before = segments[self._name]
        written = from_bytes(self._before)
        self.level = level_from_json(written["level"])
        self.waiting = None if written["waiting"] is None else level_from_json(written["waiting"])
        self.guarantee, self._line, self.spoken = written["guarantee"], written["line"], written["spoken"]
        self._due = written["due"]
        self.inserts, self.retractions, self.guarantees = written["counts"]
        self._waiting = written["waiting_after"]
        self.dataflow.guarantees = written["guarantees"]
        self.dataflow.let_go(self._line)
        self.forget(begins=True)
        self.dataflow.resume(written["choices"][0])
        added = {stream: Delta(added=rows) for stream, rows in self.feed.live().items()}
        delta = self.dataflow.update(added)
        now = self._clock.times[-1] if self._clock.times else BEGINNING
        self.voice.frozen, self.voice.ghosts = written["frozen"], ghosts_from_json(written["ghosts"])
        self.voice.resume(delta.added, self._log.load(segments), self._due, now)

    def said(self) -> list[Event]:
        """The rows said and not taken back, as far as they are not forgotten."""
        rows = self.voice.rows()
        said = self.voice.ends
        ends = zip(said.said_oe.view[rows].tolist(), said.said_ves(rows).tolist(), strict=True)
        events = events_of(self.dataflow.relation, rows)
        return [replace(event, occurrence_end=oe, valid_end=ve) for event, (oe, ve) in zip(events, ends, strict=True)]

    def measures(self) -> Measures:
        """What this level has taken in, holds, and has said."""
        counts, since = self._arrivals.counts, self.feed.held_since()
        sizes = list(self.dataflow.sizes())
        rows: dict[str, int] = {}
        held: dict[str, int] = {}
        for place, size in sizes:
            rows[place] = rows.get(place, 0) + size.rows
            held[place] = held.get(place, 0) + size.bytes
        letters = len(self._arrivals.dead_letters()) + len(self.feed.too_late)
        now = self._clock.times[-1] if self._clock.times else 0
        return Measures(
            level=self.level,
            received=counts.received,
            admitted=counts.received - self.feed.held,
            held=self.feed.held,
            longest_held=0 if since is None else max(0, now - since),
            inserts=self.inserts,
            retractions=self.retractions,
            guarantees=self.guarantees,
            late=self._arrivals.late,
            frozen=self.voice.frozen,
            dead_letters=letters,
            duplicates=counts.duplicates,
            rows=rows,
            bytes=held,
        )
