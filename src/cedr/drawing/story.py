"""What a drawing shows: a bar for each output row, a dot for each input event, with what happened to both.

Paper: Section 4 (retractions, out-of-order arrival).  Readings: R3 (messages), R5 (what a row and its retractions
amount to), R7 (Sync).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from cedr.model.event import Event
from cedr.model.lineage import Lineage
from cedr.model.stream import Change, Guarantee, Insert, LineageKey, Message, Retract
from cedr.model.sync import sync_of
from cedr.model.time import FOREVER, Time

Reference = tuple[str, str]
"""Stream and ID: what identifies an event (R4)."""

EARLIER = -1
"""The position of a lineage whose insert is not among the changes."""


class State(Enum):
    """What became of a row; the value is its class in the SVG."""

    STANDS = "stands"
    CLOSED = "closed"
    """Believed only until its Oe: a row of a bitemporal result."""
    AGAIN = "again"
    """Emitted, retracted, and emitted again."""
    RETRACTED = "retracted"
    STRAY = "stray"
    """Emitted and never retracted, but not in the result: what a level with a bounded memory cannot repair."""


IN_RESULT = frozenset({State.STANDS, State.CLOSED, State.AGAIN})


class Arrival(Enum):
    """How an event arrived; the value is its class in the SVG."""

    ON_TIME = "on-time"
    LATE = "late"
    UNKNOWN = "unknown"
    """The messages are not known."""
    DERIVED = "derived"
    """No message brought it: it is a row of another query."""


@dataclass(frozen=True, slots=True)
class Bar:
    """An output row with the lineages under which it was emitted; none where the changes are not known."""

    event: Event
    state: State = State.STANDS
    lineages: tuple[Lineage, ...] = ()

    @property
    def first_emitted(self) -> int:
        """The CEDR time of the first insert."""
        return min((lineage.position for lineage in self.lineages), default=EARLIER)

    @property
    def shortened(self) -> bool:
        """Whether a retraction moved the end of a row that stands."""
        return self.state in IN_RESULT and any(lineage.live and _shorter(lineage) for lineage in self.lineages)


@dataclass(frozen=True, slots=True)
class Dot:
    """An input event, or a row of another query that an output row is made of."""

    event: Event
    arrival: Arrival = Arrival.UNKNOWN
    high: Time | None = None
    """The largest Sync that arrived before a late event."""
    lineages: tuple[Lineage, ...] = ()

    @property
    def retracted(self) -> bool:
        """Whether nothing is left of the event."""
        return bool(self.lineages) and not any(lineage.live for lineage in self.lineages)

    @property
    def shortened(self) -> bool:
        """Whether a retraction moved the end of an event that stands."""
        return any(lineage.live and _shorter(lineage) for lineage in self.lineages)


def _shorter(lineage: Lineage) -> bool:
    return lineage.valid_end < lineage.event.valid_end


def bars_of(rows: Sequence[Event], changes: Iterable[Change]) -> list[Bar]:
    """A bar for each row, and one for each row that was emitted and is not in the result, in the order of Vs.

    A row that was retracted and emitted again unchanged is one bar.
    """
    emitted: dict[tuple[str, Time, Time], list[Lineage]] = {}
    for lineage in _emissions(changes):
        emitted.setdefault(_place(lineage.event), []).append(lineage)
    bars = []
    for row in rows:
        found = emitted.get(_place(row), [])
        own = [lineage for lineage in found if lineage.live or _same(lineage.event, row)]
        emitted[_place(row)] = [lineage for lineage in found if lineage not in own]
        bars.append(Bar(row, _state(row, own), tuple(own)))
    for rest in emitted.values():
        bars.extend(_without_row(rest))
    return sorted(bars, key=lambda bar: (bar.event.valid_start, bar.first_emitted, bar.event.id, bar.event.valid_end))


def _state(row: Event, own: Sequence[Lineage]) -> State:
    if row.occurrence_end != FOREVER:
        return State.CLOSED
    live = sum(lineage.live for lineage in own)
    return State.AGAIN if 0 < live < len(own) else State.STANDS


def _without_row(lineages: Iterable[Lineage]) -> Iterable[Bar]:
    """The bars of what was emitted and is not in the result, those of one content together."""
    alike: dict[tuple[bool, Event], list[Lineage]] = {}
    for lineage in lineages:
        stands = lineage.live and lineage.occurrence_end == FOREVER
        alike.setdefault((stands, lineage.event), []).append(lineage)
    for (stands, event), found in alike.items():
        yield Bar(event, State.STRAY if stands else State.RETRACTED, tuple(found))


def _place(event: Event) -> tuple[str, Time, Time]:
    return event.id, event.occurrence_start, event.valid_start


def _same(emitted: Event, row: Event) -> bool:
    return emitted.valid_end == row.valid_end and emitted.payload == row.payload


def _emissions(changes: Iterable[Change]) -> Iterable[Lineage]:
    """Each emitted row with its retractions; their positions are CEDR times."""
    found: dict[LineageKey, Lineage] = {}
    for change in changes:
        message = change.message
        if isinstance(message, Insert):
            found.setdefault(message.lineage_key, Lineage.of(message, change.cedr_time))
        elif isinstance(message, Retract):
            if message.lineage_key not in found and change.event is not None:
                found[message.lineage_key] = Lineage.of(Insert(change.event, message.lineage_key), EARLIER)
            if message.lineage_key in found:
                found[message.lineage_key].retract(message, change.cedr_time)
    return found.values()


def dots_of(messages: Iterable[tuple[int, Message]]) -> dict[Reference, Dot]:
    """A dot for each event that arrived, in the order of arrival: its newest version, as its retractions leave it.

    An event is late if its Sync is below the largest Sync that arrived before it.  Paper: Definition 2.  Reading: R7.
    """
    lineages: dict[LineageKey, Lineage] = {}
    late: dict[LineageKey, Time] = {}
    waiting: list[tuple[int, Retract]] = []
    high: Time | None = None
    for cedr_time, message in messages:
        if isinstance(message, Guarantee) or (isinstance(message, Insert) and message.lineage_key in lineages):
            continue  # a guarantee is no event, and a repeated insert is heard once (R41)
        if isinstance(message, Insert):
            lineages[message.lineage_key] = Lineage.of(message, cedr_time)
            sync = sync_of(message.event)
            if high is not None and sync < high:
                late[message.lineage_key] = high
        elif message.lineage_key in lineages:
            lineage = lineages[message.lineage_key]
            sync = sync_of(lineage.event, message)
            lineage.retract(message, cedr_time)
        else:
            waiting.append((cedr_time, message))
            continue
        high = sync if high is None else max(high, sync)
    for cedr_time, retraction in waiting:
        if retraction.lineage_key in lineages:
            lineages[retraction.lineage_key].retract(retraction, cedr_time)
    return _newest(lineages, late)


def _newest(lineages: dict[LineageKey, Lineage], late: dict[LineageKey, Time]) -> dict[Reference, Dot]:
    versions: dict[Reference, list[Lineage]] = {}
    for lineage in lineages.values():
        versions.setdefault(lineage.event.reference, []).append(lineage)
    dots = {}
    for reference, found in versions.items():
        newest = max(found, key=lambda lineage: (lineage.live, lineage.event.occurrence_start))
        high = late.get(newest.insert.lineage_key)
        event = newest.row() if newest.live else newest.event
        dots[reference] = Dot(event, Arrival.ON_TIME if high is None else Arrival.LATE, high, tuple(found))
    return dots
