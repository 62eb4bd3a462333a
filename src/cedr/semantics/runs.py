"""Runs of beliefs: how a unitemporal meaning becomes a bitemporal table.

Paper: Section 3.3.2 (the shredded canonical form) and Section 6 ("a technical challenge to define precisely the
semantics of our operators in the presence of modifications").  Readings: R9, R10.

At each occurrence instant an operator means its unitemporal meaning on the versions of its inputs believed then.
Between two changes of belief nothing changes, so the meaning is taken once for each run of instants instead of once for
each instant; an output row holds over maximal runs.  Plain streams have one run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from cedr.model.belief import Belief, beliefs, first_occurrence
from cedr.model.event import Event, primitive_contributors
from cedr.model.time import BEGINNING, FOREVER, Time

Table = Sequence[Event]
"""A bitemporal table: rows are versions of events."""

Meaning = Callable[[Sequence[Sequence[Event]]], list[Event]]
"""A unitemporal meaning: believed events of each input to outputs, whose occurrence interval is not yet known."""

Partition = Callable[[Sequence[Sequence[Belief]]], Iterable[Sequence[Sequence[Belief]]]]
"""Splits the beliefs of the inputs into groups that cannot bear on each other's outputs."""


def whole(inputs: Sequence[Sequence[Belief]]) -> Iterable[Sequence[Sequence[Belief]]]:
    """No partition: everything together."""
    return (inputs,)


def by_belief(
    tables: Sequence[Table], meaning: Meaning, *, partition: Partition = whole, lineage: bool = True
) -> list[Event]:
    """The bitemporal table of an operator from its unitemporal meaning.  Readings: R9, R10.

    ``lineage``: whether Os also waits for the first Os of the row's contributors; AlterLifetime and the aggregates have
    none of their own.
    """
    first = _first_occurrences(tables) if lineage else {}
    rows: list[Event] = []
    for group in partition([beliefs(table) for table in tables]):
        rows.extend(_group_rows(group, meaning, first))
    return rows


def _first_occurrences(tables: Sequence[Table]) -> dict[tuple[str, str], Time]:
    first: dict[tuple[str, str], Time] = {}
    for table in tables:
        occurrences = first_occurrence(table)
        for event in table:  # one type may fill several parameters, each selected in its own way
            first[event.reference] = min(occurrences[event.id], first.get(event.reference, FOREVER))
    return first


def _group_rows(
    group: Sequence[Sequence[Belief]], meaning: Meaning, first: dict[tuple[str, str], Time]
) -> Iterator[Event]:
    held: dict[Event, list[tuple[Time, Time]]] = {}
    periods = runs(group)
    for start, end in periods:
        believed = [[b.event for b in beliefs_ if b.start <= start < b.end] for beliefs_ in group]
        rows = meaning(believed)
        if len(periods) == 1:  # a plain group: one run, nothing to merge
            yield from _with_headers(((row, start, end) for row in rows), first)
            return
        for row in rows:
            _extend(held.setdefault(row.content, []), start, end)
    yield from _with_headers(((row, start, end) for row, parts in held.items() for start, end in parts), first)


def runs(group: Sequence[Sequence[Belief]]) -> list[tuple[Time, Time]]:
    """The maximal intervals of occurrence time in which no belief of the group changes."""
    cuts = {BEGINNING, FOREVER}
    for beliefs_ in group:
        for belief in beliefs_:
            cuts.update((belief.start, belief.end))
    return list(pairwise(sorted(cuts)))


def _extend(intervals: list[tuple[Time, Time]], start: Time, end: Time) -> None:
    if intervals and intervals[-1][1] == start:
        intervals[-1] = (intervals[-1][0], end)
    else:
        intervals.append((start, end))


def _with_headers(rows: Iterable[tuple[Event, Time, Time]], first: dict[tuple[str, str], Time]) -> Iterator[Event]:
    """Reading: R10: Os is the latest of the run's start, Vs and the contributors' first Os; Oe the end of the run."""
    for content, start, end in rows:
        known = [first[c.reference] for c in content.contributors if c.reference in first]
        occurrence_start = max(start, content.valid_start, *known)
        if end > occurrence_start:
            yield replace(content, occurrence_start=occurrence_start, occurrence_end=end)


def row_by_row(table: Table, change: Callable[[Event], Event | None]) -> list[Event]:
    """An operator that keeps the input's occurrence interval: selection, projection, renaming.  Reading: R10.

    Where the change hides what a modification changed, the versions become one row with the first Os.  Contributors
    count as references there, not by their own versions.
    """
    held: dict[object, list[Event]] = {}
    for event in sorted(table, key=lambda e: e.occurrence_start):
        row = change(event)
        if row is not None:
            _append(held.setdefault(visible(row), []), row)
    return [row for rows in held.values() for row in rows]


def visible(row: Event) -> object:
    """What tells two rows apart for whoever reads the table: everything but the occurrence interval.

    Contributors are references (Section 3.3.1), so a new version of one that shows nowhere else is no new row.
    """
    lineage = tuple(leaf.reference for leaf in primitive_contributors(row)) if row.contributors else ()
    header = (row.stream, row.id, row.valid_start, row.valid_end, row.root_time, lineage)
    return header, row.payload, row.bindings


def _append(rows: list[Event], row: Event) -> None:
    if rows and rows[-1].occurrence_end >= row.occurrence_start:
        end = max(rows[-1].occurrence_end, row.occurrence_end)
        rows[-1] = replace(row, occurrence_start=rows[-1].occurrence_start, occurrence_end=end)
    else:
        rows.append(row)
