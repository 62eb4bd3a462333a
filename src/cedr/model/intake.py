"""The door of the system: messages in arrival order become accepted rows, or dead letters with a reason.

Paper: Section 4 (retractions, out-of-order delivery), Section 5 ("provider declared sync points on input streams").
Readings: R3 (messages), R33 (h and g), R37 (late revisions), R39 (broken guarantees), R41 (delivery faults).

What makes a dead letter is listed in ``cedr.model.dead_letter``.  A dead letter changes nothing.

Several providers: g is the smallest of their guarantees.  A provider of whom nothing was known joins at the present g,
because what was promised up to g is not taken back; name the providers beforehand to wait for each of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

from cedr.model.dead_letter import DeadLetter, Fault, abandoned, broken, late, misfit
from cedr.model.event import Event
from cedr.model.lineage import Lineage, Rows, revisable, rows_of, rows_of_lineages
from cedr.model.providers import Providers
from cedr.model.retractions import repeats, retract_fault, same_ends
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, LineageKey, Message, Retract, start_in
from cedr.model.sync import sync_of
from cedr.model.time import BEGINNING, FOREVER, Time, plus

__all__ = ["Accepted", "DeadLetter", "Intake", "IntakeCounts", "rows_of"]


class Accepted(NamedTuple):
    """An accepted insert or retraction, its place among the messages, and its Sync.  Reading: R7."""

    position: int
    message: Insert | Retract
    sync: Time


@dataclass(slots=True)
class IntakeCounts:
    """What came in, and what became of it."""

    received: int = 0
    duplicates: int = 0
    regressing_guarantees: int = 0
    unknown: int = 0
    """Retractions of rows that are unknown or forgotten, and that no insert can bring any more.  Reading: R37."""


@dataclass(slots=True)
class _Waiting:
    """A retraction whose insert has not come, and the guarantee of its provider when it arrived."""

    position: int
    message: Retract
    guarantee: Time
    settled: bool = False


class Intake:
    """Receives messages in arrival order.  Used by every host, so that all agree on what was said.

    >>> from cedr.model.event import primitive
    >>> from cedr.model.stream import insert
    >>> intake = Intake(EventTypes())
    >>> for message in (insert(primitive("A", "a", 7)), Guarantee(7), insert(primitive("A", "b", 5))):
    ...     letter = intake.receive(message)
    >>> letter.code, intake.guarantee, [event.id for event in intake.rows()["A"]]
    ('broken-guarantee', 7, ['a'])
    """

    def __init__(self, catalog: EventTypes, providers: Iterable[str] = ()) -> None:
        self.catalog = catalog
        self.accepted: list[Accepted] = []
        """In the order in which they took effect: a retraction that waited for its insert stands after it."""
        self.high: Time = BEGINNING
        """h: the largest Sync or guarantee so far, without dead letters.  Reading: R33."""
        self.counts = IntakeCounts()
        self._providers = Providers(providers)
        self._lineages: dict[LineageKey, Lineage] = {}
        self._live: dict[tuple[str, str, Time], LineageKey] = {}
        self._waiting: dict[LineageKey, list[_Waiting]] = {}
        self._expiring: list[tuple[Time, int, _Waiting]] = []
        self._dead: list[DeadLetter] = []

    @property
    def guarantee(self) -> Time:
        """g: the smallest guarantee of the providers known so far; it never goes back.  Reading: R33."""
        return self._providers.guarantee

    def receive(self, message: Message, position: int | None = None) -> DeadLetter | None:
        """Take the next message; the dead letter if it is one.  Positions count from 1 unless given."""
        self.counts.received += 1
        place = self.counts.received if position is None else position
        if not (isinstance(message, Guarantee) and message.provider is None):
            self._providers.join(message.provider)
        fault = misfit(message)
        if fault is not None:
            return self._bury(fault, message, place)
        if isinstance(message, Guarantee):
            self._promise(message)
            return None
        if isinstance(message, Insert):
            return self._insert(message, place)
        return self._retract(message, place)

    def rows(self) -> Rows:
        """The rows of each stream as of now: reduced, closed by modifications, late revisions left out.

        Readings: R4, R5, R37.
        """
        return rows_of_lineages(self._lineages.values(), self.catalog)[0]

    def dead_letters(self, *, final: bool = False) -> list[DeadLetter]:
        """All dead letters so far by position; with ``final`` also the retractions that still wait.

        Late revisions are judged anew each time, on all messages received: the removal of a version can make room for
        another one.  Reading: R37.
        """
        letters = list(self._dead)
        for revision in rows_of_lineages(self._lineages.values(), self.catalog)[1]:
            letters.append(late(revision.occurred, revision.allowed).letter(revision.message, revision.position))
        if final:
            waiting = (waiting for group in self._waiting.values() for waiting in group)
            letters.extend(abandoned(each.message).letter(each.message, each.position) for each in waiting)
        return sorted(letters, key=lambda letter: letter.position)

    def _insert(self, message: Insert, place: int) -> DeadLetter | None:
        known = self._lineages.get(message.lineage_key)
        if known is not None:
            if known.event == message.event:
                self.counts.duplicates += 1
                return None
            reason = f'the key "{message.lineage_key}" already stands for another row'
            return self._bury(Fault("key-reused", reason), message, place)
        fault = self._insert_fault(message)
        if fault is not None:
            return self._bury(fault, message, place)
        lineage = self._lineages[message.lineage_key] = Lineage.of(message, place)
        self._accept(place, message, message.event.occurrence_start)
        if lineage.live:
            self._live[_row_name(message.event)] = message.lineage_key
        for waiting in self._waiting.pop(message.lineage_key, ()):
            waiting.settled = True
            self._apply(lineage, waiting)
        return None

    def _insert_fault(self, message: Insert) -> Fault | None:
        event = message.event
        sync = event.occurrence_start
        guarantee = self._providers.of(message.provider)
        if sync <= guarantee:
            return broken(sync, guarantee)
        bound = plus(event.valid_start, revisable(self.catalog, event.stream))
        if sync > bound:  # later than its own Vs allows: no other version can help
            return late(sync, bound)
        other = self._live.get(_row_name(event))
        if other is not None and event.occurrence_end > sync:
            reason = f'event "{event.id}" already has a row with Os {sync}, under the key "{other}"'
            return Fault("second-live-row", reason)
        return None

    def _retract(self, message: Retract, place: int) -> DeadLetter | None:
        waiting = _Waiting(place, message, self._providers.of(message.provider))
        lineage = self._lineages.get(message.lineage_key)
        return self._wait(waiting) if lineage is None else self._apply(lineage, waiting)

    def _wait(self, waiting: _Waiting) -> DeadLetter | None:
        """Reading: R41: a retraction before its insert waits for it, until g reaches its Sync.

        Only one that names an Oe has a Sync that is known before the row: the others have the row's Os or later.
        Reading: R37: its ends count for h at once; where its key names an Os that no insert can have any more, it does
        not wait.
        """
        message = waiting.message
        sync = FOREVER if message.occurrence_end is None else message.occurrence_end
        if sync <= waiting.guarantee:
            return self._bury(broken(sync, waiting.guarantee), message, waiting.position)
        if any(same_ends(other.message, message) for other in self._waiting.get(message.lineage_key, ())):
            self.counts.duplicates += 1
            return None
        self.high = max(self.high, BEGINNING if message.first_end is None else message.first_end)
        if start_in(message.lineage_key) <= self.guarantee:
            self.counts.unknown += 1
            return None
        self._waiting.setdefault(message.lineage_key, []).append(waiting)
        heappush(self._expiring, (sync, self.counts.received, waiting))
        return None

    def _apply(self, lineage: Lineage, waiting: _Waiting) -> DeadLetter | None:
        message, place = waiting.message, waiting.position
        if repeats(lineage, message):
            self.counts.duplicates += 1
            return None
        sync = sync_of(lineage.event, message)
        fault = retract_fault(lineage.event, message, self.catalog)
        if fault is None and sync <= waiting.guarantee:
            fault = broken(sync, waiting.guarantee)
        if fault is not None:
            return self._bury(fault, message, place)
        self._accept(place, message, sync)
        was_live = lineage.live
        lineage.retract(message, place)
        if was_live and not lineage.live:
            del self._live[_row_name(lineage.event)]
        return None

    def _promise(self, message: Guarantee) -> None:
        before = self._providers.of(message.provider)
        if message.time <= before:
            self.counts.duplicates += message.time == before
            self.counts.regressing_guarantees += message.time < before
            return
        self._providers.promise(message.provider, message.time)
        self.high = max(self.high, message.time)
        while self._expiring and self._expiring[0][0] <= self.guarantee:
            self._expire(heappop(self._expiring)[2])

    def _expire(self, waiting: _Waiting) -> None:
        if waiting.settled:
            return
        group = self._waiting[waiting.message.lineage_key]
        group.remove(waiting)
        if not group:
            del self._waiting[waiting.message.lineage_key]
        self._bury(abandoned(waiting.message), waiting.message, waiting.position)

    def _accept(self, place: int, message: Insert | Retract, sync: Time) -> None:
        self.accepted.append(Accepted(place, message, sync))
        self.high = max(self.high, sync)

    def _bury(self, fault: Fault, message: Message, place: int) -> DeadLetter:
        letter = fault.letter(message, place)
        self._dead.append(letter)
        return letter


def _row_name(event: Event) -> tuple[str, str, Time]:
    return event.stream, event.id, event.occurrence_start
