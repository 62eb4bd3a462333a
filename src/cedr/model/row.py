"""One row of a history table.

Paper: Section 4, Figure 2: ID, Vs, Ve, Os, Oe, Cs, Ce, K and the payload; Section 3.3.1 for Rt and cbt[].
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from cedr.model.event import EMPTY, Event, Payload
from cedr.model.time import FOREVER, Interval, Time


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRow:
    """What was said of one K at one CEDR time.  Paper: Section 4, Figure 2.

    ``None`` is a column that the table does not show.
    """

    id: str | None = None
    valid_start: Time | None = None
    valid_end: Time | None = None
    occurrence_start: Time | None = None
    occurrence_end: Time | None = None
    cedr_start: Time | None = None
    cedr_end: Time | None = None
    lineage_key: str | None = None
    payload: Payload | None = None
    root_time: Time | None = None
    contributors: tuple[Event, ...] = ()

    @classmethod
    def from_event(cls, event: Event) -> HistoryRow:
        """The bitemporal row of an event."""
        return cls(
            id=event.id,
            valid_start=event.valid_start,
            valid_end=event.valid_end,
            occurrence_start=event.occurrence_start,
            occurrence_end=event.occurrence_end,
            payload=event.payload,
            root_time=event.root_time,
            contributors=event.contributors,
        )

    @property
    def valid(self) -> Interval:
        """``[Vs, Ve)``; where valid time is not shown, the occurrence interval."""
        if self.valid_start is None:
            return self.occurrence
        return Interval(self.valid_start, FOREVER if self.valid_end is None else self.valid_end)

    @property
    def occurrence(self) -> Interval:
        """``[Os, Oe)``; where occurrence time is not shown, the valid interval (Section 6 makes the two one)."""
        if self.occurrence_start is not None:
            return Interval(self.occurrence_start, FOREVER if self.occurrence_end is None else self.occurrence_end)
        if self.valid_start is None:
            message = f"a history row needs Os or Vs: {self}"
            raise ValueError(message)
        return self.valid

    def with_occurrence(self, occurrence: Interval) -> HistoryRow:
        """The row with another occurrence interval, or valid interval where occurrence time is not shown."""
        if self.occurrence_start is None:
            return replace(self, valid_start=occurrence.start, valid_end=occurrence.end)
        return replace(self, occurrence_start=occurrence.start, occurrence_end=occurrence.end)

    @property
    def identity(self) -> str | None:
        """The ID; K stands for it where the table has none.  Reading: R6."""
        return self.lineage_key if self.id is None else self.id

    def lineage(self, otherwise: Hashable) -> Hashable:
        """What groups physical rows: K, by default (ID, Os) (R3); ``otherwise`` if the table shows neither."""
        if self.lineage_key is not None:
            return "K", self.lineage_key
        return otherwise if self.id is None else (self.id, self.occurrence.start)

    def without_cedr_time(self) -> HistoryRow:
        """CEDR time and K projected out.  Paper: Section 6.  Reading: R6."""
        return replace(self, id=self.identity, cedr_start=None, cedr_end=None, lineage_key=None)

    def event(self, stream: str) -> Event:
        """The row as an event; what is not shown has its default.  Reading: R2."""
        if self.identity is None:
            message = f"an event needs an ID or K: {self}"
            raise ValueError(message)
        valid = self.valid
        occurrence = Interval(valid.start, FOREVER) if self.occurrence_start is None else self.occurrence
        return Event(
            stream,
            self.identity,
            valid.start,
            valid.end,
            occurrence.start,
            occurrence.end,
            valid.start if self.root_time is None else self.root_time,
            self.contributors,
            EMPTY if self.payload is None else self.payload,
        )
