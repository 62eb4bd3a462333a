"""What one level has said so far: its rows, what it took back, and how long its answers were waited for.

Paper: Section 5, Figure 8 (blocking, output size).  Readings: R3 (how a row is taken back), R8 (K), R33 (h).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cedr.model.event import Event
from cedr.model.history import HistoryRow, HistoryTable
from cedr.model.stream import Change, Insert, LineageKey, Retract
from cedr.model.time import Time


class Told(NamedTuple):
    """An insert or a retraction as a row tells it: a retraction has the ends that it leaves."""

    level: str
    inserted: bool
    key: LineageKey
    event: Event

    @property
    def removes(self) -> bool:
        """Whether the row is gone as if it had never been."""
        event = self.event
        return not self.inserted and event.occurrence_end <= event.occurrence_start

    def as_change(self, time: Time, before: Event) -> Change:
        """The same as a message, given the row as it was."""
        if self.inserted:
            return Change(Insert(self.event, self.key), time, self.event)
        if self.removes:
            return Change(Retract(self.key), time, before)
        oe, ve = self.event.occurrence_end, self.event.valid_end
        moved = None if oe == before.occurrence_end else oe, None if ve == before.valid_end else ve
        return Change(Retract(self.key, *moved), time, before)


@dataclass(slots=True)
class Account:
    """The rows that a level has said, and what it cost to say them."""

    rows: dict[LineageKey, Event] = field(default_factory=dict)
    said: int = 0
    removed: int = 0
    """Rows taken back as if they had never been: by late input, or because input was withdrawn."""
    closed: int = 0
    """Rows that were believed up to some instant: their event was corrected."""
    waited: int = 0
    """In all, from when the last event of a row had come until the row was said, on the clock of the events."""
    longest: int = 0

    def take(self, told: Told, wait: int) -> Event:
        """One more change, and how long it was waited for; the row as it was before."""
        before = self.rows.get(told.key, told.event)
        if told.inserted:
            self.said += 1
            self.waited, self.longest = self.waited + wait, max(self.longest, wait)
            self.rows[told.key] = told.event
        elif told.removes:
            self.removed += 1
            del self.rows[told.key]
        else:
            self.closed += 1
            self.rows[told.key] = told.event
        return before

    @property
    def changes(self) -> int:
        """Inserts and retractions: the size of the output."""
        return self.said + self.removed + self.closed

    @property
    def usual_wait(self) -> int:
        """How long a row was waited for, on average."""
        return self.waited // self.said if self.said else 0

    def table(self) -> HistoryTable:
        """All rows that were said and not taken back; each K for itself, as rows may come again (R8)."""
        return HistoryTable(
            tuple(replace(HistoryRow.from_event(event), lineage_key=key) for key, event in self.rows.items())
        )
