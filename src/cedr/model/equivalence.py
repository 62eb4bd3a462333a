"""Relations between history tables: logical equivalence, order of arrival, sync points.

Paper: Section 4, Definitions 1 and 2.  Readings: R5 (canonical form), R6 (what is compared), R7 (Sync).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from itertools import pairwise
from typing import NamedTuple

from cedr.model.annotated import AnnotatedTable
from cedr.model.history import HistoryRow, HistoryTable
from cedr.model.sync import sync_of
from cedr.model.time import Time

__all__ = [
    "SyncPoint",
    "is_sync_point",
    "logically_equivalent_at",
    "logically_equivalent_to",
    "out_of_order",
    "projected",
    "sync_of",
    "sync_points",
]


def logically_equivalent_to(one: HistoryTable, other: HistoryTable, time: Time, *, valid_too: bool = False) -> bool:
    """Whether two streams describe the same state up to an occurrence time.

    Paper: Definition 1, Section 4: their canonical history tables to t, projected on all attributes other than Cs and
    Ce, are equal.  Reading: R6.  With ``valid_too`` Ve is cut at t like Oe, as where levels are judged (R5).
    """
    left, right = (table.canonical_to(time, valid_too=valid_too) for table in (one, other))
    return projected(left) == projected(right)


def logically_equivalent_at(one: HistoryTable, other: HistoryTable, time: Time, *, valid_too: bool = False) -> bool:
    """Whether two streams describe the same state at an occurrence time.

    Paper: Definition 1, Section 4.  Readings: R5 (what is in the canonical table at t), R6.
    """
    left, right = (table.canonical_at(time, valid_too=valid_too) for table in (one, other))
    return projected(left) == projected(right)


def projected(table: HistoryTable) -> Counter[Hashable]:
    """The rows without Cs, Ce and K, as a bag.

    Paper: Definition 1, "where X includes all attributes other than Cs and Ce".  Reading: R6: K only groups physical
    rows; where a table has no ID it stands for it.  Contributors count as references, which is what cbt[] holds.
    """
    return Counter(_attributes(row) for row in table)


def _attributes(row: HistoryRow) -> Hashable:
    contributors = tuple(event.reference for event in row.contributors)
    times = (row.valid_start, row.valid_end, row.occurrence_start, row.occurrence_end, row.root_time)
    return row.identity, times, contributors, row.payload


class SyncPoint(NamedTuple):
    """A pair of occurrence time and CEDR time.  Paper: Definition 2."""

    occurrence_time: Time
    cedr_time: Time


def is_sync_point(table: AnnotatedTable, occurrence_time: Time, cedr_time: Time) -> bool:
    """Whether the pair cleanly separates the past from the future in both clocks.

    Paper: Definition 2, Section 4: for each e, either e.Cs <= T and e.Sync <= t, or e.Cs > T and e.Sync > t.
    """
    return all((row.cedr_start <= cedr_time) == (row.sync <= occurrence_time) for row in table)


def sync_points(table: AnnotatedTable | HistoryTable) -> list[SyncPoint]:
    """The sync points of a table, for each way to split it the earliest: the largest Sync and Cs of the past.

    Paper: Definition 2, Section 4.  The split with an empty past is left out.  Between one of these and the next row's
    Sync and Cs lie all others.
    """
    annotated = table.annotated() if isinstance(table, HistoryTable) else table
    rows = sorted(annotated, key=lambda row: row.cedr_start)
    smallest_later = _smallest_from_the_end([row.sync for row in rows])
    points: list[SyncPoint] = []
    largest: Time | None = None
    for number, row in enumerate(rows):
        largest = row.sync if largest is None else max(largest, row.sync)
        last = number + 1 == len(rows)
        if last or (rows[number + 1].cedr_start > row.cedr_start and smallest_later[number + 1] > largest):
            points.append(SyncPoint(largest, row.cedr_start))
    return points


def _smallest_from_the_end(syncs: list[Time]) -> list[Time]:
    smallest = list(syncs)
    for number in range(len(syncs) - 2, -1, -1):
        smallest[number] = min(smallest[number], smallest[number + 1])
    return smallest


def out_of_order(table: AnnotatedTable | HistoryTable) -> bool:
    """Whether any event arrived out of order.

    Paper: Section 4: there are none if and only if the ordering by Cs is identical to the ordering by <Sync, Cs>.
    Rows of one CEDR time (R40) have no order among themselves.
    """
    annotated = table.annotated() if isinstance(table, HistoryTable) else table
    ordered = sorted(annotated, key=lambda row: (row.sync, row.cedr_start))
    return any(later.cedr_start < row.cedr_start for row, later in pairwise(ordered))
