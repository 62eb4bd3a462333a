"""Versions of events, and what is believed when.

Paper: Section 2 (an insert and its modifications share one ID), Section 3.3.2 (operators see inputs of one instant of
occurrence time).  Readings: R4 (a modification closes the version before it), R9 (what counts as believed), R10 (the
latest belief).

All functions take the rows of *one* stream, as ``cedr.model.intake`` gives them: IDs are unique within a stream only.
What an operator makes of the beliefs is not said here but in the semantics.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter

from cedr.model.event import Event
from cedr.model.time import BEGINNING, FOREVER, Interval, Time


@dataclass(frozen=True, slots=True)
class Belief:
    """A version of an event and the occurrence instants ``[start, end)`` at which it is believed.  Reading: R9."""

    start: Time
    end: Time
    event: Event

    @property
    def interval(self) -> Interval:
        """``[start, end)``."""
        return Interval(self.start, self.end)

    def holds(self, instant: Time) -> bool:
        """Whether the version is believed at an occurrence instant."""
        return self.start <= instant < self.end


def versions(events: Iterable[Event]) -> dict[str, tuple[Event, ...]]:
    """The versions of each event by ID, in the order of Os, each closed at the start of the next.

    Paper: Section 2, Figure 1: the tuple with the smallest Os is the insert, the others are modifications.
    Reading: R4: a version ends at its own Oe or at the next one's Os, whichever comes first.

    >>> from cedr.model.event import primitive
    >>> first, second = primitive("A", "a", 1), primitive("A", "a", 1, 10, occurrence_start=5)
    >>> [(e.occurrence_start, e.occurrence_end == FOREVER) for e in versions([second, first])["a"]]
    [(1, False), (5, True)]
    """
    grouped: dict[str, list[Event]] = {}
    for event in events:
        grouped.setdefault(event.id, []).append(event)
    return {id_: closed(of_event) for id_, of_event in grouped.items()}


def closed(versions_of_event: list[Event]) -> tuple[Event, ...]:
    """The versions of one event in the order of Os, each closed at the start of the next.  Reading: R4."""
    if len(versions_of_event) < 2:
        return tuple(versions_of_event)
    ordered = sorted(versions_of_event, key=attrgetter("occurrence_start"))
    ended = (
        replace(event, occurrence_end=following.occurrence_start)
        if following.occurrence_start < event.occurrence_end
        else event
        for event, following in pairwise(ordered)
    )
    return (*ended, ordered[-1])


def beliefs(events: Iterable[Event]) -> list[Belief]:
    """What is believed when: each version from its Os to its Oe, a first one stated in time from the beginning.

    Reading: R9: "that something has not happened yet is not a belief that it will not happen".  Stated in time is a
    first version with Os <= Vs; one stated after the fact is a change of belief at its Os.
    """
    believed: list[Belief] = []
    for first, *modifications in versions(events).values():
        start = BEGINNING if stated_in_time(first) else first.occurrence_start
        believed.append(Belief(start, first.occurrence_end, first))
        believed.extend(Belief(event.occurrence_start, event.occurrence_end, event) for event in modifications)
    return believed


def stated_in_time(event: Event) -> bool:
    """Whether a row was stated no later than it became valid: Os <= Vs.  Reading: R9."""
    return event.occurrence_start <= event.valid_start


def first_occurrence(events: Iterable[Event]) -> dict[str, Time]:
    """The smallest Os of each event by ID: when its insert occurred.  Paper: Section 2.  Reading: R10."""
    first: dict[str, Time] = {}
    for event in events:
        known = first.get(event.id)
        if known is None or event.occurrence_start < known:
            first[event.id] = event.occurrence_start
    return first


def latest_belief(events: Iterable[Event]) -> list[Event]:
    """The versions that nothing has closed: Oe = FOREVER.  Reading: R10."""
    return [event for row in versions(events).values() for event in row if event.occurrence_end == FOREVER]


def plain(events: Iterable[Event]) -> bool:
    """Whether there is nothing but the unitemporal meaning: one version each, stated in time, never closed.

    Reading: R9: on plain streams there is one run of beliefs.
    """
    seen: set[str] = set()
    for event in events:
        if event.id in seen or event.occurrence_end != FOREVER or not stated_in_time(event):
            return False
        seen.add(event.id)
    return True
