"""Events about which more than one plain insert was said: their messages, one by one.

Paper: Sections 2 and 4.  Readings: R3 to R5 (retractions, versions, reduction), R37 (late revisions), R41 (delivery
faults).  A plain event is a row of its table and nothing more; it becomes a ``Story`` when something else arrives.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from cedr.model.belief import stated_in_time
from cedr.model.event import Event
from cedr.model.lineage import Lineage, TooLate, lineages_of, rows_of_lineages
from cedr.model.schema import EventTypes
from cedr.model.stream import Insert, LineageKey, Retract
from cedr.model.sync import sync_of
from cedr.model.time import BEGINNING, FOREVER, Time

EventName = tuple[str, str]
"""Stream and ID."""


class Said(NamedTuple):
    """An accepted message: its place among all, its Sync, and its number among what was accepted."""

    position: int
    message: Insert | Retract
    sync: Time
    serial: int


class Version(NamedTuple):
    """A row that an event amounts to: the insert it comes from, and how it stands now."""

    key: LineageKey
    valid_end: Time
    occurrence_end: Time
    plain: bool


class Story:
    """All that was accepted about one event, and the rows of the table that hold what was inserted.

    ``rows`` names the row that holds the insert of a key, ``versions`` the row that holds a version; a row of the
    latter kind may be left out and is then made anew.
    """

    __slots__ = (
        "id",
        "largest_start",
        "largest_sync",
        "lineages",
        "live",
        "reported",
        "rows",
        "said",
        "segment",
        "stream",
        "versions",
    )

    def __init__(self, stream: str, id_: str) -> None:
        self.stream = stream
        self.id = id_
        self.said: list[Said] = []
        self.lineages: dict[LineageKey, Lineage] = {}
        self.live: dict[Time, LineageKey] = {}
        self.rows: dict[LineageKey, int] = {}
        self.versions: dict[Version, int] = {}
        self.largest_start: Time = BEGINNING
        self.largest_sync: Time = BEGINNING
        self.segment = -1
        """The saved segment in which it still is a plain event."""
        self.reported: set[int] = set()
        """Positions of late revisions that have been handed out as dead letters."""

    @property
    def name(self) -> EventName:
        """Stream and ID."""
        return self.stream, self.id

    @property
    def valid_end(self) -> Time:
        """The largest Ve of its rows; BEGINNING where there are none."""
        return max((self.lineages[key].valid_end for key in self.live.values()), default=BEGINNING)

    def insert(self, said: Said) -> Lineage:
        """An accepted insert."""
        assert isinstance(said.message, Insert)
        event, key = said.message.event, said.message.lineage_key
        lineage = self.lineages[key] = Lineage.of(said.message, said.position)
        self._say(said)
        self.largest_start = max(self.largest_start, event.valid_start)
        if lineage.live:
            self.live[event.occurrence_start] = key
        return lineage

    def retract(self, said: Said) -> None:
        """An accepted retraction."""
        assert isinstance(said.message, Retract)
        lineage = self.lineages[said.message.lineage_key]
        was_live = lineage.live
        lineage.retract(said.message, said.position)
        self._say(said)
        if was_live and not lineage.live:
            del self.live[lineage.event.occurrence_start]

    def _say(self, said: Said) -> None:
        self.said.append(said)
        self.largest_sync = max(self.largest_sync, said.sync)

    def late(self, catalog: EventTypes) -> list[TooLate]:
        """The revisions that count as not sent, judged on all that was accepted.  Reading: R37."""
        if len(self.lineages) == 1 and not any(lineage.occurrence_end < FOREVER for lineage in self.lineages.values()):
            return []
        return rows_of_lineages(self.lineages.values(), catalog)[1]

    def says_the_same(self, one: Version, other: Version) -> bool:
        """Whether two versions differ in nothing but their key.  Reading: R6."""
        if one[1:] != other[1:]:
            return False
        first, second = self.lineages[one.key].event, self.lineages[other.key].event
        return first.occurrence_start == second.occurrence_start and first.content == replace(
            second.content, valid_end=first.valid_end
        )

    def modifies(self, lineage: Lineage) -> bool:
        """Whether the event has an accepted version with a smaller Os.  Paper: Section 2.  Reading: R34."""
        start = lineage.event.occurrence_start
        return any(other.event.occurrence_start < start for other in self.lineages.values())


def versions_of(said: Iterable[Said], catalog: EventTypes) -> list[Version]:
    """The rows that some of the messages about one event amount to.  Readings: R4, R5, R37."""
    lineages = lineages_of(item.message for item in said)
    tables = rows_of_lineages(lineages.values(), catalog)[0]
    rows = [row for table in tables.values() for row in table]
    keys = {lineage.event.occurrence_start: key for key, lineage in lineages.items() if lineage.live}
    plain = len(rows) == 1 and rows[0].occurrence_end == FOREVER and stated_in_time(rows[0])
    return [Version(keys[row.occurrence_start], row.valid_end, row.occurrence_end, plain) for row in rows]


def inserted_version(event: Event, key: LineageKey) -> Version:
    """An insert as the only version of its event."""
    plain = event.occurrence_end == FOREVER and stated_in_time(event)
    return Version(key, event.valid_end, event.occurrence_end, plain)


def removes(lineage: Lineage, message: Retract) -> bool:
    """Whether a retraction removes the row: its Sync is the row's Os.  Readings: R5, R7."""
    return sync_of(lineage.event, message) <= lineage.event.occurrence_start
