"""From messages to rows: what an insert and its retractions amount to, and which revisions count.

Paper: Section 4 (reduction: "for each K, only the entry with earliest Oe time is retained"), Section 2 (modifications).
Readings: R3 to R5 (retractions, versions, reduction), R37 (how far back a type may be revised).

``rows_of`` is a pure function of a set of messages: their order does not matter.  It judges revisions and nothing
else: whether a message may be heard at all is for ``cedr.model.intake`` to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import NamedTuple

from cedr.model.belief import closed
from cedr.model.event import Event
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, LineageKey, Message, Retract
from cedr.model.time import FOREVER, Time, plus

Rows = dict[str, list[Event]]
"""The rows of each stream, in the order of (Vs, ID, Os)."""


class Retraction(NamedTuple):
    """A retraction and where it stood among the messages."""

    position: int
    message: Retract


class Closing(NamedTuple):
    """A message that ends a row's occurrence: an insert with an Oe, or a retraction to one."""

    position: int
    message: Insert | Retract
    end: Time


@dataclass(slots=True)
class Lineage:
    """What was said under one lineage key K: an insert and its retractions.  Paper: Section 4.  Readings: R3, R5."""

    insert: Insert
    position: int
    occurrence_end: Time
    valid_end: Time
    removed: bool = False
    retractions: list[Retraction] = field(default_factory=list)

    @classmethod
    def of(cls, insert: Insert, position: int = 0) -> Lineage:
        """The lineage that an insert begins."""
        return cls(insert, position, insert.event.occurrence_end, insert.event.valid_end)

    @property
    def event(self) -> Event:
        """The row as it was inserted."""
        return self.insert.event

    @property
    def live(self) -> bool:
        """Whether there is a row: not removed, Oe after Os, Ve not retracted to Vs.  Reading: R5."""
        row = self.insert.event
        never_valid = self.valid_end <= row.valid_start < row.valid_end
        return not (self.removed or self.occurrence_end <= row.occurrence_start or never_valid)

    def retract(self, message: Retract, position: int = 0) -> None:
        """Reduce: the smallest Oe and the smallest Ve count, whatever the order.  Reading: R5."""
        self.retractions.append(Retraction(position, message))
        self.removed = self.removed or message.removes
        if message.occurrence_end is not None:
            self.occurrence_end = min(self.occurrence_end, message.occurrence_end)
        if message.valid_end is not None:
            self.valid_end = min(self.valid_end, message.valid_end)

    def row(self) -> Event:
        """The reduced row."""
        event = self.insert.event
        if self.occurrence_end == event.occurrence_end and self.valid_end == event.valid_end:
            return event
        return replace(event, occurrence_end=self.occurrence_end, valid_end=self.valid_end)

    def closings(self) -> Iterator[Closing]:
        """The messages that state an end of the row's occurrence."""
        if self.insert.event.occurrence_end < FOREVER:
            yield Closing(self.position, self.insert, self.insert.event.occurrence_end)
        for position, message in self.retractions:
            if message.occurrence_end is not None:
                yield Closing(position, message, message.occurrence_end)

    def without(self, closings: Iterable[Closing]) -> Lineage:
        """The same lineage as if these closings had not been sent; an insert that states one stays open instead."""
        gone = [closing.message for closing in closings]
        insert = self.insert
        if insert in gone:
            insert = replace(insert, event=replace(insert.event, occurrence_end=FOREVER))
        kept = Lineage.of(insert, self.position)
        for position, message in self.retractions:
            if message not in gone:
                kept.retract(message, position)
        return kept


class TooLate(NamedTuple):
    """A revision later than its type allows: version or closing, when it occurred, until when it was allowed."""

    position: int
    message: Insert | Retract
    occurred: Time
    allowed: Time


def lineages_of(messages: Iterable[Message]) -> dict[LineageKey, Lineage]:
    """The lineages of accepted messages, in any order; a retraction whose insert is not among them is ignored."""
    lineages: dict[LineageKey, Lineage] = {}
    retractions: list[Retract] = []
    for message in messages:
        if isinstance(message, Insert):
            lineages.setdefault(message.lineage_key, Lineage.of(message))
        elif not isinstance(message, Guarantee):
            retractions.append(message)
    for message in retractions:
        lineage = lineages.get(message.lineage_key)
        if lineage is not None:
            lineage.retract(message)
    return lineages


def rows_of(messages: Iterable[Message], catalog: EventTypes) -> Rows:
    """The rows that a set of accepted messages amounts to, by stream.

    Reduced by K, removed rows gone, versions closed by their modifications, revisions that came too late left out.
    Readings: R4, R5, R37.

    >>> from cedr.model.event import primitive
    >>> from cedr.model.stream import insert
    >>> rows = rows_of([Retract("K", valid_end=8), insert(primitive("A", "a", 1), "K")], EventTypes())
    >>> [(e.id, e.valid_start, e.valid_end) for e in rows["A"]]
    [('a', 1, 8)]
    """
    return rows_of_lineages(lineages_of(messages).values(), catalog)[0]


def rows_of_lineages(lineages: Iterable[Lineage], catalog: EventTypes) -> tuple[Rows, list[TooLate]]:
    """The rows of the lineages, and the revisions left out of them."""
    too_late: list[TooLate] = []
    rows: Rows = {}
    for stream, events in _by_event(lineages).items():
        allowed = revisable(catalog, stream)
        of_stream = [row for of_event in events.values() for row in _versions(of_event, allowed, too_late)]
        if of_stream:
            rows[stream] = sorted(of_stream, key=attrgetter("valid_start", "id", "occurrence_start"))
    return rows, too_late


def revisable(catalog: EventTypes, stream: str) -> int:
    """How long after its smallest Vs an event of the stream may be revised; an unknown stream is not.  Reading: R37."""
    event_type = catalog.get(stream)
    return 0 if event_type is None else event_type.revisable


def _by_event(lineages: Iterable[Lineage]) -> dict[str, dict[str, list[Lineage]]]:
    grouped: dict[str, dict[str, list[Lineage]]] = {}
    for lineage in lineages:
        if lineage.live:
            event = lineage.insert.event
            grouped.setdefault(event.stream, {}).setdefault(event.id, []).append(lineage)
    return grouped


def _versions(of_event: list[Lineage], allowed: int, too_late: list[TooLate]) -> Iterable[Event]:
    """The rows of one event.  Reading: R4."""
    only = of_event[0]
    if len(of_event) == 1 and only.occurrence_end == FOREVER and not _first_too_late(only.event, allowed):
        return (only.row(),)
    return closed(list(_in_time(of_event, allowed, too_late)))


def _first_too_late(event: Event, allowed: int) -> bool:
    return event.occurrence_start > plus(event.valid_start, allowed)


def _in_time(of_event: list[Lineage], allowed: int, too_late: list[TooLate]) -> Iterator[Event]:
    """The versions of one event that count, in the order of Os.

    Reading: R37: a version after the first, a first one stated after the fact and a closing must each occur no later
    than ``allowed`` after the smallest Vs that the event has had so far, the new version's included.  (A first version
    stated in time passes of itself: Os <= Vs.)  What comes later counts as not sent, so it moves no bound either.
    """
    smallest = FOREVER
    for lineage in sorted(of_event, key=lambda item: item.event.occurrence_start):
        event = lineage.event
        bound = plus(min(smallest, event.valid_start), allowed)
        if event.occurrence_start > bound:
            too_late.append(TooLate(lineage.position, lineage.insert, event.occurrence_start, bound))
            continue
        smallest = min(smallest, event.valid_start)
        yield _closed_in_time(lineage, bound, too_late)


def _closed_in_time(lineage: Lineage, bound: Time, too_late: list[TooLate]) -> Event:
    late = [closing for closing in lineage.closings() if closing.end > bound]
    too_late.extend(TooLate(closing.position, closing.message, closing.end, bound) for closing in late)
    return (lineage.without(late) if late else lineage).row()
