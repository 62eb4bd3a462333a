"""Frozen rows that were said before a restart and are meant no longer: known by what was said of them alone.

Readings: R34 ("an unfrozen row replaces, in one step, a frozen one of the same ID and Os"), R8 (K).  The events that
such a row was made of may be forgotten; so it is stored as an event, and taken back as one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from cedr.consistency.emission.columns import payload_column
from cedr.consistency.encoding import Json, decode_event, encode_event
from cedr.model.event import Event, primitive_contributors
from cedr.model.stream import Change, Retract
from cedr.model.sync import sync_of
from cedr.model.time import Time

Name = tuple[int, int, Time]
"""The digest of an ID, and Os: at most one row of a table has both."""

EmittedName = tuple[str, Time, Time]
"""ID, Os and the CEDR time at which a row was emitted: what K is made of."""


class Ghost(NamedTuple):
    """A row as it was said, and when."""

    event: Event
    said: Time

    def alike(self, other: Event) -> bool:
        """Whether a row looks the same but for its ends."""
        mine, theirs = self.event, other
        return (mine.valid_start, mine.root_time, mine.payload) == (
            theirs.valid_start,
            theirs.root_time,
            theirs.payload,
        )

    def outlasts(self, oe: Time, ve: Time) -> bool:
        """Whether other ends only shorten it.  Reading: R3."""
        event = self.event
        vanishes = ve <= event.valid_start < event.valid_end
        return oe <= event.occurrence_end and ve <= event.valid_end and not vanishes

    def taken_back(self, cedr_time: Time) -> Change:
        """What is said when another row takes its place."""
        return Change(Retract(self._key), cedr_time, self.event)

    def shortened(self, oe: Time, ve: Time, cedr_time: Time) -> Change:
        """What is said when it ends earlier."""
        event = self.event
        ends = (oe if oe != event.occurrence_end else None, ve if ve != event.valid_end else None)
        return Change(Retract(self._key, *ends), cedr_time, event)

    @property
    def _key(self) -> str:
        return f"{self.event.id}@{self.event.occurrence_start}/{self.said}"


class Known(NamedTuple):
    """What was emitted before, by the names of rows: when, with which Oe and Ve; frozen rows; how many were frozen."""

    rows: dict[Name, tuple[Time, Time, Time]]
    ghosts: dict[Name, Ghost]
    frozen: int


def sync_of_retraction(change: Change) -> Time:
    """Reading: R7."""
    assert isinstance(change.message, Retract)
    assert change.event is not None
    return sync_of(change.event, change.message)


def ghosts_as_json(ghosts: Iterable[tuple[Name, Ghost]]) -> Json:
    """Ghosts with their names."""
    return [[*name, ghost.said, encode_event(ghost.event)] for name, ghost in ghosts]


def ghosts_from_json(written: Json) -> dict[Name, Ghost]:
    """The ghosts that were written."""
    return {(high, low, os): Ghost(decode_event(event), said) for high, low, os, said, event in written}


def recalled_row(change: Change) -> dict[str, object]:
    """The retraction of a ghost by the names of columns, as ``Changes.to_arrow`` has them."""
    message, event = change.message, change.event
    assert isinstance(message, Retract)
    assert event is not None
    oe = event.occurrence_end if message.occurrence_end is None else message.occurrence_end
    ve = event.valid_end if message.valid_end is None else message.valid_end
    return {
        "change": "retract",
        "id": event.id,
        "said": int(message.lineage_key.rpartition("/")[2]),
        "Vs": event.valid_start,
        "Ve": ve,
        "Os": event.occurrence_start,
        "Oe": event.occurrence_start if message.removes else oe,
        "Cs": change.cedr_time,
        "Rt": event.root_time,
        "contributors": [{"type": leaf.stream, "id": leaf.id} for leaf in primitive_contributors(event)],
        **{payload_column(name): value for name, value in event.payload.items()},
    }
