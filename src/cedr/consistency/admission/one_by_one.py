"""Messages one by one: everything that is not the first plain insert of an event.

Readings: R3 (keys), R37 (late revisions), R39 (broken guarantees), R41 (delivery faults).  Decides what
``cedr.model.intake.Intake`` decides, on plain events without making them more than rows unless something is accepted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.admission.ledger import Ledger
from cedr.consistency.admission.stream_rows import PLAIN, Source
from cedr.consistency.admission.versions import EventName, Said, Story
from cedr.model.dead_letter import Fault, abandoned, broken, misfit
from cedr.model.identity import digest
from cedr.model.lineage import Lineage
from cedr.model.retractions import repeats, retract_fault, same_ends
from cedr.model.stream import Insert, LineageKey, Retract, default_key, names_in, start_in
from cedr.model.sync import sync_of
from cedr.model.time import FOREVER, Time
from cedr.runtime.ids.text_ids import TextIds

Words = NDArray[np.uint64]
Placed = tuple[int, Insert | Retract]
"""A message and its position."""


@dataclass(slots=True)
class Waiting:
    """A retraction whose insert has not come, and the guarantee of its provider when it arrived.  Reading: R41."""

    position: int
    message: Retract
    guarantee: Time
    settled: bool = False
    late: bool = False
    """Whether its event may have been there, and be forgotten, so that its Ve matters no longer.  Reading: R37."""

    @property
    def sync(self) -> Time:
        """Its Sync as far as it is known before the row: only an Oe is."""
        return FOREVER if self.message.occurrence_end is None else self.message.occurrence_end

    @property
    def until(self) -> Time:
        """How long it waits."""
        end = self.message.valid_end
        return end if self.late and end is not None else self.sync


class Plain(NamedTuple):
    """A plain event, as the insert that it came from."""

    source: Source
    row: int
    insert: Insert


class Exact:
    """The messages that have to be looked at singly, and what has to be remembered for them."""

    def __init__(self, ledger: Ledger) -> None:
        self.waiting: dict[LineageKey, list[Waiting]] = {}
        self._ledger = ledger
        self._keys: dict[LineageKey, Story] = {}
        self._expiring: list[tuple[Time, int, Waiting]] = []
        self._count = 0
        self._position = 0
        """Of the message at hand."""
        self._watched: dict[str, Counter[int]] = {}
        self._local: dict[EventName, Story | Plain | None] = {}
        self._inserted: dict[str, list[tuple[Story, Said]]] = {}

    # -- events to look at --------------------------------------------------------------------------------------------

    @property
    def watches(self) -> bool:
        """Whether there is any event whose plain inserts are not simply new."""
        return bool(self._watched)

    def watched(self, stream: str) -> Words | None:
        """Halves of digests of IDs whose plain inserts are not simply new: a key of theirs is used or waited for."""
        found = self._watched.get(stream)
        return np.fromiter(found, dtype=np.uint64, count=len(found)) if found else None

    def _watch(self, key: LineageKey, change: int) -> None:
        for stream, id_ in names_in(key):
            watched = self._watched.setdefault(stream, Counter())
            half = digest(id_)[0]
            watched[half] += change
            if not watched[half]:
                del watched[half]

    def touched(self, messages: Iterable[Insert | Retract]) -> dict[str, set[str]]:
        """The IDs, by stream, of the events that messages may be about."""
        found: dict[str, set[str]] = {}
        for message in messages:
            for stream, id_ in names_in(message.lineage_key):
                found.setdefault(stream, set()).add(id_)
            if isinstance(message, Insert):
                found.setdefault(message.event.stream, set()).add(message.event.id)
        return found

    def _look_up(self, messages: Iterable[Insert | Retract]) -> None:
        """Learn at once what is known of the events that messages may be about."""
        for stream, ids in self.touched(messages).items():
            names = list(ids)
            self._local.update(((stream, id_), None) for id_ in names)
            source = self._ledger.sources.get(stream)
            if source is None:
                continue
            scratch = TextIds()
            scratch.extend(names)
            rows = source.find(scratch)
            known = rows >= 0
            plain = np.zeros(len(rows), dtype=np.bool_)
            plain[known] = source.kind.view[rows[known]] == PLAIN
            inserts = source.inserts(rows[plain], self._ledger.names)
            for row, message in zip(rows[plain].tolist(), inserts, strict=True):
                self._local[stream, message.event.id] = Plain(source, row, message)
            for place in np.flatnonzero(known & ~plain).tolist():
                self._local[stream, names[place]] = source.stories[names[place]]

    def _known(self, key: LineageKey) -> Story | Plain | None:
        """Who uses a key."""
        story = self._keys.get(key)
        if story is not None:
            return story
        for name in names_in(key):
            found = self._local[name]
            if isinstance(found, Story):
                if key in found.lineages:
                    return found
            elif found is not None and found.insert.lineage_key == key:
                return found
        return None

    # -- messages -----------------------------------------------------------------------------------------------------

    def take(self, messages: Sequence[Placed]) -> None:
        """Messages in the order of arrival, no guarantee between them."""
        if not messages:
            return
        self._look_up(message for _, message in messages)
        for position, message in messages:
            self._position = position
            fault = misfit(message)
            if fault is not None:
                self._ledger.letters.bury(fault, message, position)
            elif isinstance(message, Insert):
                self._insert(message, position)
            else:
                self._retract(message, position)
        self._local = {}
        for stream, inserted in self._inserted.items():
            self._ledger.source(stream).add_inserts(inserted)
        self._inserted = {}

    def _insert(self, sent: Insert, position: int) -> None:
        message = self._kept(sent)
        known = self._known(message.lineage_key)
        if known is not None:
            before = known.insert if isinstance(known, Plain) else known.lineages[message.lineage_key].insert
            if before.event == message.event:
                self._ledger.counts.duplicates += 1
                return
            reason = f'the key "{message.lineage_key}" already stands for another row'
            self._ledger.letters.bury(Fault("key-reused", reason), sent, position)
            return
        fault = self._insert_fault(message)
        if fault is not None:
            self._ledger.letters.bury(fault, sent, position)
            return
        story = self._story_of(message)
        said = Said(position, message, message.event.occurrence_start, self._ledger.number())
        lineage = story.insert(said)
        self._inserted.setdefault(story.stream, []).append((story, said))
        self.use_key(story, message)
        self._accepted(story, said.sync, waited=False)
        for waiting in self._no_longer_waiting(message.lineage_key):
            waiting.settled = True
            self._apply(story, lineage, waiting, waited=True)

    def _kept(self, message: Insert) -> Insert:
        """A message with the attributes that are kept."""
        payload = self._ledger.source(message.event.stream).kept(message.event.payload)
        if payload is message.event.payload:
            return message
        return replace(message, event=replace(message.event, payload=payload))

    def use_key(self, story: Story, message: Insert) -> None:
        """A key that is not the default of its event stands for a story."""
        if message.lineage_key != default_key(message.event):
            self._keys[message.lineage_key] = story
            self._watch(message.lineage_key, 1)

    def _insert_fault(self, message: Insert) -> Fault | None:
        fault = self._ledger.untimely(message)
        if fault is not None:
            return fault
        event = message.event
        sync = event.occurrence_start
        other = self._live_key(event.reference, sync)
        if other is not None and event.occurrence_end > sync:
            reason = f'event "{event.id}" already has a row with Os {sync}, under the key "{other}"'
            return Fault("second-live-row", reason)
        return None

    def _live_key(self, name: EventName, start: Time) -> LineageKey | None:
        found = self._local[name]
        if isinstance(found, Story):
            return found.live.get(start)
        return found.insert.lineage_key if found and found.insert.event.occurrence_start == start else None

    def _story_of(self, message: Insert) -> Story:
        """The story of the event of an insert, begun where there is none."""
        name = message.event.reference
        found = self._local[name]
        if isinstance(found, Plain):
            return self._promote(found)
        if found is None:
            found = Story(*name)
            self._ledger.source(found.stream).stories[found.id] = found
            self._local[name] = found
        return found

    def _promote(self, plain: Plain) -> Story:
        story = plain.source.promote(plain.row, plain.insert)
        self._local[story.name] = story
        for listener in self._ledger.listeners:
            listener.promoted(plain.source, plain.row, story)
        return story

    def _accepted(self, story: Story, sync: Time, *, waited: bool) -> None:
        ledger = self._ledger
        ledger.high = max(ledger.high, sync)
        ledger.lateness.accepted(self._position, sync)
        ledger.letters.changed(story)
        ledger.unsaved[story.name] = None
        ledger.sources[story.stream].changed[story] = None
        for listener in ledger.listeners:
            listener.told(story, len(story.said) - 1, ledger.cedr_time, waited=waited)

    # -- retractions --------------------------------------------------------------------------------------------------

    def _retract(self, message: Retract, position: int) -> None:
        waiting = Waiting(position, message, self._ledger.providers.of(message.provider))
        known = self._known(message.lineage_key)
        if known is None:
            self._wait(waiting)
        elif isinstance(known, Story):
            self._apply(known, known.lineages[message.lineage_key], waiting, waited=False)
        else:
            self._apply_plain(known, waiting)

    def _wait(self, waiting: Waiting) -> None:
        """Reading: R41: a retraction before its insert waits for it, until g reaches its Sync.

        Reading: R37: its ends count for h at once, as its row may be forgotten; where its key names an Os that no
        insert can have any more, it does not wait.
        """
        if waiting.sync <= waiting.guarantee:
            fault = broken(waiting.sync, waiting.guarantee)
            self._ledger.letters.bury(fault, waiting.message, waiting.position)
        elif any(
            same_ends(other.message, waiting.message) for other in self.waiting.get(waiting.message.lineage_key, ())
        ):
            self._ledger.counts.duplicates += 1
        else:
            end = waiting.message.first_end
            if end is not None:
                self._ledger.high = max(self._ledger.high, end)
                self._ledger.lateness.raised(self._position, end)
            if self._unread(waiting.message):
                return
            if start_in(waiting.message.lineage_key) <= self._ledger.providers.guarantee:
                self._ledger.counts.unknown += 1
                return
            waiting.late = self._late(waiting)
            self.begin_waiting(waiting)

    def _unread(self, message: Retract) -> bool:
        """Whether a retraction is about an event that nobody reads, and is taken to have been there."""
        streams = [stream for stream, _ in names_in(message.lineage_key)]
        return bool(streams) and not any(map(self._ledger.reads, streams))

    def _late(self, waiting: Waiting) -> bool:
        """Whether a retraction may be about the Ve of an event that is forgotten.  Reading: R37."""
        message, end = waiting.message, waiting.message.valid_end
        if end is None or end <= waiting.guarantee or message.occurrence_end is not None:
            return False
        start = start_in(message.lineage_key)
        lines = (self._ledger.lines.get(stream) for stream, _ in names_in(message.lineage_key))
        return any(line is not None and start <= line[1] < end for line in lines)

    def begin_waiting(self, waiting: Waiting) -> None:
        """A retraction waits for its insert."""
        key = waiting.message.lineage_key
        if key not in self.waiting:
            self.waiting[key] = []
            self._watch(key, 1)
        self.waiting[key].append(waiting)
        self._count += 1
        heappush(self._expiring, (waiting.until, self._count, waiting))

    def _no_longer_waiting(self, key: LineageKey) -> list[Waiting]:
        if key not in self.waiting:
            return []
        self._watch(key, -1)
        return self.waiting.pop(key)

    def _apply_plain(self, plain: Plain, waiting: Waiting) -> None:
        lineage = Lineage.of(plain.insert)
        if self._refused(lineage, waiting):
            return
        story = self._promote(plain)
        self._apply(story, story.lineages[plain.insert.lineage_key], waiting, waited=False)

    def _apply(self, story: Story, lineage: Lineage, waiting: Waiting, *, waited: bool) -> None:
        if self._refused(lineage, waiting):
            return
        sync = sync_of(lineage.event, waiting.message)
        story.retract(Said(waiting.position, waiting.message, sync, self._ledger.number()))
        self._accepted(story, sync, waited=waited)

    def _refused(self, lineage: Lineage, waiting: Waiting) -> bool:
        """Whether a retraction is not accepted: it says nothing new, or what it may not say."""
        message = waiting.message
        if repeats(lineage, message):
            self._ledger.counts.duplicates += 1
            return True
        sync = sync_of(lineage.event, message)
        fault = retract_fault(lineage.event, message, self._ledger.catalog)
        if fault is None and sync <= waiting.guarantee:
            fault = broken(sync, waiting.guarantee)
        if fault is not None:
            self._ledger.letters.bury(fault, message, waiting.position)
        return fault is not None

    # -- time passes --------------------------------------------------------------------------------------------------

    @property
    def expects(self) -> bool:
        """Whether something waits, or has waited, for g to reach its Sync."""
        return bool(self._expiring)

    def expire(self, guarantee: Time) -> None:
        """Reading: R41: what has waited until g reached its Sync is a dead letter, or came too late to matter."""
        while self._expiring and self._expiring[0][0] <= guarantee:
            waiting = heappop(self._expiring)[2]
            if waiting.settled:
                continue
            key = waiting.message.lineage_key
            self.waiting[key].remove(waiting)
            if not self.waiting[key]:
                self._no_longer_waiting(key)
            if waiting.late or self.unread(waiting):
                self._ledger.ignored += 1
            else:
                self._ledger.letters.bury(abandoned(waiting.message), waiting.message, waiting.position)

    def unread(self, waiting: Waiting) -> bool:
        """Whether the insert of a retraction that is waiting may have come on a stream that nobody reads."""
        return self._ledger.unread_keys and not any(names_in(waiting.message.lineage_key))

    def forget(self, story: Story) -> None:
        """The keys of a story are free again."""
        for key in story.lineages:
            if self._keys.pop(key, None) is not None:
                self._watch(key, -1)
