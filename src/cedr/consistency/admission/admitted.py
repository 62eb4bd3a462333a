"""What one consistency level has admitted of the arrivals, as rows that leave and enter the tables of the streams.

Paper: Section 5 (alignment).  Readings: R33 (admission: Sync <= max(g, b), once admitted always admitted), R34 (the
removal of a modification that comes too late).  What is admitted amounts to ``cedr.model.lineage.rows_of``.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.admission.door import Arrivals
from cedr.consistency.admission.saving import admitted, letter_as_json, letter_from_json
from cedr.consistency.admission.stream_rows import PLAIN, Source
from cedr.consistency.admission.versions import Said, Story, Version, removes, versions_of
from cedr.consistency.encoding import Json
from cedr.model.dead_letter import DeadLetter, Fault
from cedr.model.lineage import lineages_of
from cedr.model.stream import Insert, Retract
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.store.row_queue import RowQueue
from cedr.runtime.store.table import Delta
from cedr.runtime.values.growable import Growable
from cedr.runtime.values.run_length import together

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

_NONE: Rows = np.empty(0, dtype=np.int64)
HELD: Final = 0
"""A plain event that is not admitted yet."""
SHOWN: Final = 1
"""Admitted, and part of the table."""
OUT: Final = 2
"""Not part of the table: withdrawn, forgotten, or never a version of this level."""


class _Stream:
    """One stream at one level: what became of each row, and which plain events wait."""

    __slots__ = ("fresh", "held", "queue", "source", "status")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.status = Growable(np.int8)
        self.fresh: list[tuple[Rows, Time]] = []
        self.queue = RowQueue()
        self.held = 0

    def statuses(self) -> NDArray[np.int8]:
        """What became of each row."""
        missing = len(self.source.table) - len(self.status)
        if missing:
            self.status.fill(missing, OUT)
        view: NDArray[np.int8] = self.status.view
        return view

    def arrived(self, rows: Rows, cedr_time: Time) -> None:
        self.statuses()[together(rows)] = HELD
        self.fresh.append((rows, cedr_time))
        self.held += len(rows)

    def admit(self, frontier: Time) -> Rows:
        """The plain events with Sync up to the frontier."""
        if not self.fresh and not len(self.queue):
            return _NONE
        due: list[Rows] = []
        starts = self.source.table.os.view
        for rows, cedr_time in self.fresh:
            sync = starts[together(rows)]
            if not len(rows) or int(sync.max()) <= frontier:
                due.append(rows)
            else:
                early = sync <= frontier
                due.append(rows[early])
                self.queue.add(sync[~early], rows[~early], cedr_time)
        self.fresh = []
        if len(self.queue):
            due.append(self.queue.take(frontier))
        found: Rows = due[0] if len(due) == 1 else np.concatenate([_NONE, *due])
        status = self.statuses()
        places = together(found)
        held = status[places] == HELD
        if held.all():
            status[places] = SHOWN
        else:  # a plain event may have become a story meanwhile
            found = found[held]
            status[found] = SHOWN
        self.held -= len(found)
        return found

    @property
    def since(self) -> Time:
        return min([self.queue.since, *(cedr_time for _, cedr_time in self.fresh)])

    def renumber(self, old_to_new: Rows) -> None:
        self.status.fill(len(old_to_new) - len(self.status), OUT)
        self.status.keep(np.flatnonzero(old_to_new >= 0))
        moved = ((old_to_new[rows], cedr_time) for rows, cedr_time in self.fresh)
        self.fresh = [(rows[rows >= 0], cedr_time) for rows, cedr_time in moved]
        self.queue.renumber(old_to_new)


class _Told:
    """What a level has admitted of a story, and the rows that this amounts to."""

    __slots__ = ("admitted", "refused", "shown")

    def __init__(self) -> None:
        self.admitted: set[int] = set()
        self.refused: set[int] = set()
        self.shown: dict[Version, int] = {}


class _Pending(NamedTuple):
    """A message about a story that waits for its Sync."""

    sync: Time
    number: int
    story: Story
    place: int
    cedr_time: Time


class Feed:
    """The admitted messages of one consistency level."""

    def __init__(self, arrivals: Arrivals) -> None:
        self.refuse_removals_before: Time = BEGINNING
        """m: the removal of a modification with a smaller Sync comes too late.  Reading: R34."""
        self.too_late: list[DeadLetter] = []
        """Dead letters of this level alone."""
        self._ledger = arrivals.ledger
        self._streams: dict[str, _Stream] = {}
        self._told: dict[Story, _Told] = {}
        self._pending: list[_Pending] = []
        self._count = 0
        self._refused: set[int] = set()
        self.frontiers: list[tuple[int, Time]] = []
        """Up to which serial number which frontier was applied, frontiers falling: what tells what is admitted."""
        arrivals.register(self)

    def close(self) -> None:
        """This level ends."""
        self._ledger.listeners.remove(self)

    # -- admission ----------------------------------------------------------------------------------------------------

    def admit(self, frontier: Time) -> dict[str, Delta]:
        """Admit what was accepted with Sync up to the frontier; the rows that leave and enter, by stream."""
        while self.frontiers and self.frontiers[-1][1] <= frontier:
            self.frontiers.pop()
        self.frontiers.append((self._ledger.serials, frontier))
        changes: dict[str, Delta] = {}
        for stream, state in self._streams.items():
            added = state.admit(frontier)
            if len(added):
                changes[stream] = Delta(added=added)
        for stream, stories in self._admitted_stories(frontier).items():
            delta = self._differences(self._streams[stream], stories)
            if delta:
                plain = changes.get(stream)
                joined = delta.added if plain is None else np.concatenate([plain.added, delta.added])
                changes[stream] = Delta(delta.removed, joined)
        return changes

    def _admitted_stories(self, frontier: Time) -> dict[str, dict[Story, None]]:
        found: dict[str, dict[Story, None]] = {}
        while self._pending and self._pending[0].sync <= frontier:
            pending = heappop(self._pending)
            self._told[pending.story].admitted.add(pending.place)
            found.setdefault(pending.story.stream, {})[pending.story] = None
        return found

    def _differences(self, state: _Stream, stories: dict[Story, None]) -> Delta:
        """What the stories amount to now, and did not before."""
        wanted: list[tuple[Story, set[Version]]] = []
        for story in stories:
            said = (story.said[index] for index in sorted(self._told[story].admitted))
            wanted.append((story, set(versions_of(said, self._ledger.catalog))))
        state.source.make_versions((story, version) for story, versions in wanted for version in sorted(versions))
        removed: list[int] = []
        added: list[int] = []
        for story, versions in wanted:
            told = self._told[story]
            kept = {version: told.shown.pop(version) for version in versions if version in told.shown}
            for version in sorted(versions - kept.keys()):
                same = next((other for other in told.shown if story.says_the_same(other, version)), None)
                kept[version] = story.versions[version] if same is None else told.shown.pop(same)
                if same is None:
                    added.append(kept[version])
            removed.extend(told.shown.values())
            told.shown = kept
        delta = Delta(np.array(removed, dtype=np.int64), np.array(added, dtype=np.int64))
        status = state.statuses()
        status[delta.removed] = OUT
        status[delta.added] = SHOWN
        return delta

    @property
    def refused(self) -> frozenset[int]:
        """The serial numbers of messages that came too late for this level alone.  Reading: R34."""
        return frozenset(self._refused)

    @property
    def held(self) -> int:
        """How many accepted messages wait to be admitted: what blocking costs."""
        return len(self._pending) + sum(state.held for state in self._streams.values())

    def held_since(self) -> Time | None:
        """The CEDR time since which the oldest of them may wait."""
        if not self.held:
            return None
        of_streams = (state.since for state in self._streams.values() if state.held)
        return min([*of_streams, *(pending.cedr_time for pending in self._pending)], default=FOREVER)

    def live(self) -> dict[str, Rows]:
        """All rows that are admitted and stand, by stream."""
        found = {stream: self.live_rows(stream) for stream in self._streams}
        return {stream: rows for stream, rows in found.items() if len(rows)}

    def live_rows(self, stream: str) -> Rows:
        """All rows of a stream that are admitted and stand."""
        state = self._streams.get(stream)
        return _NONE if state is None else np.flatnonzero(state.statuses() == SHOWN)

    # -- what the arrivals say ----------------------------------------------------------------------------------------

    def _stream(self, source: Source) -> _Stream:
        found = self._streams.get(source.stream)
        if found is None:
            found = self._streams[source.stream] = _Stream(source)
        return found

    def arrived(self, source: Source, rows: Rows, cedr_time: Time) -> None:
        """Plain events have arrived."""
        self._stream(source).arrived(rows, cedr_time)

    def promoted(self, source: Source, row: int, story: Story) -> None:
        """A plain event has become a story."""
        state = self._stream(source)
        status = state.statuses()
        told = self._told[story] = _Told()
        if status[row] == HELD:
            state.held -= 1
            status[row] = OUT
            self._wait(story, 0, self._ledger.cedr_time)
        else:
            told.admitted.add(0)
            told.shown = dict(story.versions)

    def told(self, story: Story, index: int, cedr_time: Time, *, waited: bool) -> None:
        """Something was said about a story; ``waited``: by a retraction that came before its insert."""
        self._stream(self._ledger.source(story.stream))
        told = self._told.setdefault(story, _Told())
        said = story.said[index]
        fault = self._fault(story, told, said, waited=waited)
        if fault is None:
            self._wait(story, index, cedr_time)
        else:
            told.refused.add(index)
            self._refused.add(said.serial)
            self.too_late.append(fault.letter(said.message, said.position))

    def _fault(self, story: Story, told: _Told, said: Said, *, waited: bool) -> Fault | None:
        """What this level refuses.  Reading: R34."""
        message = said.message
        if isinstance(message, Retract):
            lineage = story.lineages[message.lineage_key]
            early = said.sync < self.refuse_removals_before and not waited
            if early and removes(lineage, message) and story.modifies(lineage):
                return Fault(
                    "removal-too-late", "the removal of a modification comes after its time has been forgotten"
                )
        elif told.refused and self._stands(story, told, message):
            start = message.event.occurrence_start
            return Fault("second-live-row", f'event "{story.id}" still has a row with Os {start} at this level')
        return None

    def _stands(self, story: Story, told: _Told, message: Insert) -> bool:
        """Whether a row stands here with the Os of another, its removal having been refused."""
        others = (
            said.message
            for index, said in enumerate(story.said)
            if index not in told.refused and said.message is not message
        )
        start = message.event.occurrence_start
        return any(lineage.live and lineage.event.occurrence_start == start for lineage in lineages_of(others).values())

    def _wait(self, story: Story, index: int, cedr_time: Time) -> None:
        self._count += 1
        heappush(self._pending, _Pending(story.said[index].sync, self._count, story, index, cedr_time))

    def holds(self, source: Source, rows: Rows) -> Mask:
        """Which plain events are not admitted yet."""
        mask: Mask = self._stream(source).statuses()[together(rows)] == HELD
        return mask

    def holds_story(self, story: Story) -> bool:
        """Whether something about a story is not admitted yet."""
        told = self._told[story]
        return len(told.admitted) + len(told.refused) < len(story.said)

    def forgot(self, source: Source, rows: Rows, story: Story | None = None) -> None:
        """The rows of forgotten events."""
        self._stream(source).statuses()[together(rows)] = OUT
        if story is not None:
            told = self._told.pop(story)
            self._refused.difference_update(story.said[index].serial for index in told.refused)

    def shows(self, source: Source, row: int) -> bool:
        """Whether a row is admitted and stands."""
        return bool(self._stream(source).statuses()[row] == SHOWN)

    def renumber(self, source: Source, old_to_new: Rows) -> None:
        """The rows of a stream have new numbers."""
        self._stream(source).renumber(old_to_new)
        for story, told in self._told.items():
            if story.stream == source.stream:
                told.shown = {version: int(old_to_new[row]) for version, row in told.shown.items()}

    def catch_up(self) -> None:
        """Hear of all that is known, as a level that begins later does."""
        for source in self._ledger.sources.values():
            rows = np.flatnonzero(source.kind.view == PLAIN)
            if len(rows):
                self.arrived(source, rows, self._ledger.cedr_time)
            for story in source.stories.values():
                for index in range(len(story.said)):
                    self.told(story, index, self._ledger.cedr_time, waited=True)

    def saved(self) -> Json:
        """What is needed to go on later."""
        return {
            "frontiers": self.frontiers,
            "line": self.refuse_removals_before,
            "too_late": [letter_as_json(letter) for letter in self.too_late],
            "refused": sorted(self._refused),
            "since": self.held_since(),
        }

    def resume(self, saved: Json) -> None:
        """Go on with what was saved, as the arrivals have it again."""
        self.frontiers = [(serial, time) for serial, time in saved["frontiers"]]
        self.refuse_removals_before = saved["line"]
        self.too_late = [letter_from_json(letter) for letter in saved["too_late"]]
        self._refused = set(saved["refused"])
        self._streams, self._told, self._pending = {}, {}, []
        since = BEGINNING if saved["since"] is None else saved["since"]
        for source in self._ledger.sources.values():
            rows = np.flatnonzero(source.kind.view == PLAIN)
            shown = admitted(self.frontiers, source.serial.at(rows), source.table.os.view[rows])
            state = self._stream(source)
            state.statuses()[rows[shown]] = SHOWN
            state.arrived(rows[~shown], since)
            for story in source.stories.values():
                self._resume_story(story, since)
            self._differences(state, dict.fromkeys(source.stories.values()))

    def _resume_story(self, story: Story, since: Time) -> None:
        told = self._told[story] = _Told()
        serials = np.array([said.serial for said in story.said], dtype=np.int64)
        syncs = np.array([said.sync for said in story.said], dtype=np.int64)
        for index, shown in enumerate(admitted(self.frontiers, serials, syncs).tolist()):
            if story.said[index].serial in self._refused:
                told.refused.add(index)
            elif shown:
                told.admitted.add(index)
            else:
                self._wait(story, index, since)
