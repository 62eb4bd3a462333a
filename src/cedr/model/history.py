"""History tables: a stream as a table with up to three clocks, and the forms the paper gives it.

Paper: Section 4, Figures 2 to 5; Section 3.3.2 (shredded form); Section 6, Figure 10, Definition 10.

A row states what was said at one CEDR time: the insert of a lineage key K, or a retraction of it.  The forms, each a
method named by the paper's own participle and each giving a new table:

    as_of(T)           what had been said at CEDR time T                                   R24
    reduced()          per K the smallest Oe and the smallest Ve; what never was is gone    R5
    truncated_to(t)    rows with Os > t go, Oe becomes min(Oe, t)                           R5
    canonical_to(t)    reduced, then truncated
    canonical_at(t)    of those, the rows that lived up to t                                R5
    closed()           each version closed by the next one of its ID                        R4
    annotated()        with the column Sync                                                 R7
    ideal()            canonical to infinity, without CEDR time and K
    unitemporal()      the latest belief of the ideal table, without occurrence time        R10
    coalesced()        the paper's star: meeting intervals of one payload become one        Definition 10
    shredded(horizon)  one row for each instant of occurrence time                          Section 3.3.2

A column that a figure does not show is ``None`` in every row.  Where occurrence time is not shown the table is
unitemporal, and "in this context" all of Section 4 is said of valid time (Section 6): ``Os`` and ``Oe`` above then
stand for Vs and Ve.

The forms are literal: in particular ``canonical_to`` does not close versions by their modifications, a provider's table
either does that by hand (Figure 2) or asks for ``closed()``.  What the rows of a stream amount to for a query is
``cedr.model.lineage.rows_of``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from cedr.model.annotated import AnnotatedRow, AnnotatedTable
from cedr.model.event import Event, Payload
from cedr.model.physical import physical_rows
from cedr.model.row import HistoryRow
from cedr.model.stream import Message
from cedr.model.sync import sync_of_ends
from cedr.model.time import FOREVER, Interval, Time

__all__ = ["HistoryRow", "HistoryTable"]


@dataclass(frozen=True, slots=True)
class HistoryTable:
    """An immutable table of history rows.  Paper: Section 4, Figure 2.

    >>> figure_3 = HistoryTable(
    ...     (
    ...         HistoryRow(lineage_key="E0", occurrence_start=1, occurrence_end=5, cedr_start=1, cedr_end=3),
    ...         HistoryRow(lineage_key="E0", occurrence_start=1, occurrence_end=3, cedr_start=3),
    ...     )
    ... )
    >>> [(row.occurrence_end, row.cedr_start) for row in figure_3.reduced()]
    [(3, 3)]
    """

    rows: tuple[HistoryRow, ...] = ()

    @classmethod
    def from_messages(
        cls, messages: Iterable[Message], cedr_times: Iterable[Time] | None = None, *, stream: str | None = None
    ) -> HistoryTable:
        """The physical table of a stream of messages in arrival order.

        Paper: Section 4, Figures 2 and 3.  An insert is a row; a retraction is a further row of its K, which closes
        the CEDR time of the one before.  CEDR times are 1, 2, 3, … unless given.  Guarantees take a CEDR time but
        make no row.  With ``stream`` only that stream's rows.
        """
        return cls(physical_rows(messages, cedr_times, stream))

    @classmethod
    def from_events(cls, events: Iterable[Event]) -> HistoryTable:
        """The bitemporal table of event rows: no CEDR time, no K."""
        return cls(tuple(HistoryRow.from_event(event) for event in events))

    def __iter__(self) -> Iterator[HistoryRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def events(self, stream: str) -> list[Event]:
        """The rows as events of a stream; what is not shown has its default.  Reading: R2."""
        return [row.event(stream) for row in self.rows]

    def as_of(self, cedr_time: Time) -> HistoryTable:
        """What had been said at a CEDR time: rows with Cs <= T.  Paper: Section 4, Figure 2.  Reading: R24."""
        return HistoryTable(tuple(row for row in self.rows if row.cedr_start is None or row.cedr_start <= cedr_time))

    def reduced(self) -> HistoryTable:
        """Per K the smallest Oe and the smallest Ve; rows that never were are gone.

        Paper: Section 4, Figure 4.  Reading: R5.  Gone are rows with Oe <= Os, and rows whose Ve was *retracted* to
        Vs; a row inserted with Ve = Vs is a detection and stays.
        """
        reduced = (_reduce(rows) for rows in self._by_lineage().values())
        return HistoryTable(tuple(row for row in reduced if row is not None))

    def truncated_to(self, time: Time, *, valid_too: bool = False) -> HistoryTable:
        """Rows with Os > t go, Oe becomes min(Oe, t).

        Paper: Section 4, Figure 5.  Reading: R5.  With ``valid_too`` Ve is cut like Oe, as where levels are judged.
        """
        kept = (row for row in self.rows if row.occurrence.start <= time)
        return HistoryTable(tuple(_truncate(row, time, valid_too=valid_too) for row in kept))

    def canonical_to(self, time: Time, *, valid_too: bool = False) -> HistoryTable:
        """The canonical history table to an occurrence time.  Paper: Section 4, Figure 5.  Reading: R5."""
        return self.reduced().truncated_to(time, valid_too=valid_too)

    def canonical_at(self, time: Time, *, valid_too: bool = False) -> HistoryTable:
        """Of the canonical table to t the rows that lived up to t: reduced Oe >= t.

        Paper: Section 4, "the rows whose occurrence time interval do not intersect t removed".  Reading: R5: so that
        Figure 3's streams are equivalent to 3 *and* at 3.  With ``valid_too`` also Ve >= t.
        """
        alive = (row for row in self.reduced() if row.occurrence.end >= time)
        if valid_too:
            alive = (row for row in alive if row.valid_end is None or row.valid_end >= time)
        return HistoryTable(tuple(alive)).truncated_to(time, valid_too=valid_too)

    def closed(self) -> HistoryTable:
        """Each version closed where the next version of its ID starts.  Paper: Section 2, Figure 1.  Reading: R4."""
        following: dict[int, Time] = {}
        by_id: dict[str, list[int]] = {}
        for number, row in enumerate(self.rows):
            if row.id is not None:
                by_id.setdefault(row.id, []).append(number)
        for numbers in by_id.values():
            ordered = sorted(numbers, key=lambda number: self.rows[number].occurrence.start)
            following.update((one, self.rows[other].occurrence.start) for one, other in pairwise(ordered))
        return HistoryTable(tuple(_close(row, following.get(number)) for number, row in enumerate(self.rows)))

    def annotated(self) -> AnnotatedTable:
        """The table with the column Sync.  Paper: Section 4, Figure 6.  Reading: R7.

        The first row of a K is its insert, Sync = Os; every later one is a retraction.
        """
        previous: dict[Hashable, HistoryRow] = {}
        annotated: dict[int, AnnotatedRow] = {}
        for number in sorted(range(len(self.rows)), key=self._arrival):
            row = self.rows[number]
            lineage = row.lineage(number)
            annotated[number] = AnnotatedRow(_sync(previous.get(lineage), row), row)
            previous[lineage] = row
        return AnnotatedTable(tuple(annotated[number] for number in range(len(self.rows))))

    def ideal(self) -> HistoryTable:
        """Canonical to infinity, CEDR time projected out.

        Paper: Section 6, "ideal history tables".  Reading: R6: K goes too; where a table has no ID, it stands for it.
        """
        return HistoryTable(tuple(row.without_cedr_time() for row in self.canonical_to(FOREVER)))

    def unitemporal(self) -> HistoryTable:
        """The latest belief of the ideal table, occurrence time projected out.

        Paper: Section 6, Figure 10, "unitemporal ideal history tables".  Reading: R10: rows with Oe = FOREVER.
        """
        latest = (row for row in self.ideal() if row.occurrence_end in (None, FOREVER))
        return HistoryTable(tuple(replace(row, occurrence_start=None, occurrence_end=None) for row in latest))

    def coalesced(self) -> HistoryTable:
        """The paper's star: rows of one payload whose valid intervals meet become one, again and again.

        Paper: Definition 10.  The rows are (Vs, Ve, Payload) in this order; IDs, which the definition's events do not
        have, are gone.  Where several rows end at the instant at which one starts, the earliest takes it.
        """
        spans: dict[Payload | None, list[Interval]] = {}
        for row in self.unitemporal():
            spans.setdefault(row.payload, []).append(row.valid)
        rows = (
            HistoryRow(valid_start=interval.start, valid_end=interval.end, payload=payload)
            for payload, intervals in spans.items()
            for interval in _coalesce(intervals)
        )
        return HistoryTable(tuple(sorted(rows, key=_coalesced_order)))

    def shredded(self, horizon: Time) -> HistoryTable:
        """One row for each instant of occurrence time before the horizon, alike in all else.

        Paper: Section 3.3.2, "their CEDR intervals are of length 1 but are all different; the union of these … is
        [Os, Oe)": occurrence intervals are meant.  The horizon makes open rows finite.
        """
        return HistoryTable(
            tuple(
                row.with_occurrence(Interval(instant, instant + 1))
                for row in self.reduced()
                for instant in range(row.occurrence.start, min(row.occurrence.end, horizon))
            )
        )

    def _by_lineage(self) -> dict[Hashable, list[HistoryRow]]:
        grouped: dict[Hashable, list[HistoryRow]] = {}
        for number, row in enumerate(self.rows):
            grouped.setdefault(row.lineage(number), []).append(row)
        return grouped

    def _arrival(self, number: int) -> tuple[Time, int]:
        return self.rows[number].cedr_start or 0, number


def _reduce(rows: list[HistoryRow]) -> HistoryRow | None:
    """The retained entry of one K with the smallest ends of all, or None if the row never was."""
    kept = min(rows, key=lambda row: (row.occurrence.end, row.valid_end or 0))
    if kept.valid_end is not None:
        ends = [row.valid_end for row in rows if row.valid_end is not None]
        kept = replace(kept, valid_end=min(ends))
        if min(ends) <= kept.valid.start < max(ends):
            return None
    unitemporal = kept.occurrence_start is None
    return None if kept.occurrence.empty and not unitemporal else kept


def _truncate(row: HistoryRow, time: Time, *, valid_too: bool) -> HistoryRow:
    occurrence = row.occurrence
    row = row.with_occurrence(Interval(occurrence.start, min(occurrence.end, time)))
    if valid_too and row.valid_start is not None:
        row = replace(row, valid_end=min(row.valid.end, max(time, row.valid_start)))
    return row


def _close(row: HistoryRow, following: Time | None) -> HistoryRow:
    occurrence = row.occurrence
    if following is None or following >= occurrence.end:
        return row
    return row.with_occurrence(Interval(occurrence.start, following))


def _sync(before: HistoryRow | None, row: HistoryRow) -> Time:
    if before is None:
        return row.occurrence.start
    shortened = before.occurrence.end != row.occurrence.end
    valid_end = row.valid_end if before.valid_end != row.valid_end else None
    occurrence_end = row.occurrence.end if shortened or valid_end is None else None
    return sync_of_ends(row.occurrence, before.valid, occurrence_end, valid_end)


def _coalesce(intervals: Iterable[Interval]) -> list[Interval]:
    """Paper: Definition 10, on the intervals of one payload."""
    chains: list[Interval] = []
    ending: dict[Time, deque[int]] = {}
    for interval in sorted(intervals):
        meeting = ending.get(interval.start)
        if meeting:
            number = meeting.popleft()
            chains[number] = Interval(chains[number].start, interval.end)
        else:
            number = len(chains)
            chains.append(interval)
        ending.setdefault(interval.end, deque()).append(number)
    return chains


def _coalesced_order(row: HistoryRow) -> tuple[Time, Time, str]:
    return row.valid.start, row.valid.end, repr(row.payload)
