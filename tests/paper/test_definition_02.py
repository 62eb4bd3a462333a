"""Definition 2: sync points.  Reading: R7, R40."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.model.annotated import AnnotatedRow, AnnotatedTable
from cedr.model.equivalence import SyncPoint, is_sync_point, out_of_order, sync_points
from cedr.model.history import HistoryRow, HistoryTable
from cedr.testing.tables import annotated_table, history_table

DISORDERED = """
| K  | Sync | Os | Oe | Cs |
| E0 | 1    | 1  | ∞  | 1  |
| E2 | 7    | 7  | ∞  | 2  |
| E1 | 4    | 4  | ∞  | 3  |
| E3 | 9    | 9  | ∞  | 4  |
"""


def test_a_sync_point_separates_past_and_future_in_both_clocks() -> None:
    """Definition 2."""
    table = annotated_table(DISORDERED)
    assert is_sync_point(table, 1, 1)
    assert is_sync_point(table, 3, 1)
    assert not is_sync_point(table, 7, 2)  # E1 is still to come, with Sync 4
    assert not is_sync_point(table, 4, 3)  # E2 has come already, with Sync 7
    assert is_sync_point(table, 8, 3)
    assert is_sync_point(table, 0, 0)  # nothing has come


def test_the_sync_points_of_a_table() -> None:
    """Definition 2: for each split the earliest."""
    assert sync_points(annotated_table(DISORDERED)) == [SyncPoint(1, 1), SyncPoint(7, 3), SyncPoint(9, 4)]
    assert sync_points(history_table(DISORDERED)) == sync_points(annotated_table(DISORDERED))
    assert sync_points(HistoryTable()) == []


def test_rows_of_one_batch_are_not_separated() -> None:
    """Definition 2.  Reading: R40: one batch has one CEDR time."""
    batch = annotated_table("| K | Sync | Cs |\n| E0 | 5 | 1 |\n| E1 | 3 | 1 |\n| E2 | 6 | 2 |")
    assert sync_points(batch) == [SyncPoint(5, 1), SyncPoint(6, 2)]
    assert not out_of_order(batch)


def test_cedr_time_is_needed() -> None:
    """Definition 2 speaks of Cs."""
    with pytest.raises(ValueError, match="needs Cs"):
        sync_points(history_table("| K | Os |\n| E0 | 1 |"))


annotated_tables = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=6).map(
    lambda rows: AnnotatedTable(
        tuple(AnnotatedRow(sync, HistoryRow(lineage_key=f"E{n}", cedr_start=cs)) for n, (sync, cs) in enumerate(rows))
    )
)


@given(annotated_tables)
def test_the_listed_points_are_the_definition(table: AnnotatedTable) -> None:
    """Definition 2: listed is exactly the smallest pair of each class of sync points with a past."""
    listed = set(sync_points(table))
    for row in table:
        for point in (SyncPoint(other.sync, row.cedr_start) for other in table):
            past = [each for each in table if each.cedr_start <= point.cedr_time]
            tight = point.occurrence_time == max(each.sync for each in past)
            assert (point in listed) == (is_sync_point(table, *point) and tight)


@given(annotated_tables)
def test_in_order_means_a_sync_point_at_every_cedr_time_unless_syncs_are_equal(table: AnnotatedTable) -> None:
    """Definition 2, Section 4: with distinct Syncs, no disorder and a sync point at each Cs are the same thing."""
    if len({row.sync for row in table}) == len(table):
        everywhere = {point.cedr_time for point in sync_points(table)} == {row.cedr_start for row in table}
        assert everywhere == (not out_of_order(table))
