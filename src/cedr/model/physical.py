"""The physical rows of a stream of messages: the tritemporal history table as it grows.

Paper: Section 4, Figures 2 and 3: "each unique value [of K] corresponds to an initial insert and all associated
retractions".  Readings: R3 (K, and what the paper's "reduce the Ce" means), R41 (a retraction before its insert waits).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import count

from cedr.model.row import HistoryRow
from cedr.model.stream import Guarantee, Insert, LineageKey, Message, Retract
from cedr.model.time import FOREVER, Time


def physical_rows(
    messages: Iterable[Message], cedr_times: Iterable[Time] | None, stream: str | None
) -> tuple[HistoryRow, ...]:
    """The rows in the order in which they were said; of one stream, or of all."""
    journal = _Journal()
    if cedr_times is None:
        timed = list(zip(count(1), messages, strict=False))
    else:
        timed = list(zip(cedr_times, messages, strict=True))
    for cedr_time, message in timed:
        if isinstance(message, Retract):
            journal.retract(message, cedr_time)
        elif isinstance(message, Guarantee) or (stream is not None and message.event.stream != stream):
            continue
        else:
            journal.insert(message, cedr_time)
    return tuple(journal.rows)


class _Journal:
    """The rows so far, where each K was last said, and the retractions that wait for their insert."""

    def __init__(self) -> None:
        self.rows: list[HistoryRow] = []
        self._last: dict[LineageKey, int] = {}
        self._waiting: dict[LineageKey, list[Retract]] = {}

    def insert(self, message: Insert, cedr_time: Time) -> None:
        row = HistoryRow.from_event(message.event)
        self._say(replace(row, cedr_start=cedr_time, cedr_end=FOREVER, lineage_key=message.lineage_key))
        for retraction in self._waiting.pop(message.lineage_key, ()):
            self.retract(retraction, cedr_time)

    def retract(self, message: Retract, cedr_time: Time) -> None:
        place = self._last.get(message.lineage_key)
        if place is None:
            self._waiting.setdefault(message.lineage_key, []).append(message)
            return
        before = self.rows[place]
        self.rows[place] = replace(before, cedr_end=cedr_time)
        self._say(replace(_retracted(before, message), cedr_start=cedr_time, cedr_end=FOREVER))

    def _say(self, row: HistoryRow) -> None:
        assert row.lineage_key is not None
        self._last[row.lineage_key] = len(self.rows)
        self.rows.append(row)


def _retracted(row: HistoryRow, message: Retract) -> HistoryRow:
    if message.removes:
        return replace(row, occurrence_end=row.occurrence_start)
    occurrence_end = row.occurrence_end if message.occurrence_end is None else message.occurrence_end
    valid_end = row.valid_end if message.valid_end is None else message.valid_end
    return replace(row, occurrence_end=occurrence_end, valid_end=valid_end)
