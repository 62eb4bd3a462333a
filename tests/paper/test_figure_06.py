"""Figure 6: the annotated history table.  Reading: R7."""

from __future__ import annotations

from cedr.model.equivalence import SyncPoint, is_sync_point, out_of_order, sync_points
from cedr.testing.difference import assert_same_table
from cedr.testing.tables import annotated_table, history_table

FIGURE_6 = """
| K | Sync | $O_s$ | $O_e$ | $C_s$ | $C_e$ | ... |
|----|----|----|----|----|----|----|
| E0 | 1 | 1 | 10 | 0 | 7 | ... |
| **E0** | **5** | **1** | **5** | **7** | **10** | ... |
"""


def test_annotation() -> None:
    """Figure 6: "For insertions Sync = Os; for retractions Sync = Oe".  Reading: R7."""
    assert history_table(FIGURE_6).annotated() == annotated_table(FIGURE_6)
    assert_same_table(history_table(FIGURE_6).annotated(), FIGURE_6)


def test_nothing_is_out_of_order() -> None:
    """Figure 6: sorted by Cs and by <Sync, Cs> the rows stand alike."""
    assert not out_of_order(annotated_table(FIGURE_6))
    assert not out_of_order(history_table(FIGURE_6))


def test_swapped_arrival_is_out_of_order() -> None:
    """Figure 6 with an event that occurred at 3 and came at 8, after the retraction to 5."""
    late = FIGURE_6 + "| E1 | 3 | 3 | ∞ | 8 | ∞ | ... |\n"
    assert out_of_order(annotated_table(late))
    assert sync_points(annotated_table(late)) == [SyncPoint(1, 0), SyncPoint(5, 8)]


def test_each_row_is_a_sync_point() -> None:
    """Figure 6, Definition 2."""
    annotated = annotated_table(FIGURE_6)
    assert sync_points(annotated) == [SyncPoint(1, 0), SyncPoint(5, 7)]
    assert is_sync_point(annotated, 4, 6)
    assert not is_sync_point(annotated, 5, 6)
