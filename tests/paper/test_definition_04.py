"""Definition 4: middle consistency.

"for sync points (to, TS1), (to, TS2) in the two output streams, the query output streams at these sync points are
logically equivalent to to at CEDR times TS1 and TS2 … The only difference is that not every event is a sync point."
"""

from __future__ import annotations

from cedr.model.equivalence import is_sync_point, logically_equivalent_to, sync_points
from cedr.model.level import MIDDLE, STRONG
from cedr.testing.difference import assert_same_table
from tests.paper.asking import annotated, output, table
from tests.paper.test_definition_03 import DETOURS, IN_ORDER, QUERY, SAID


def test_optimistic_state_is_retracted_between_sync_points() -> None:
    """Definition 4: early output, taken back when b1 cancels a2, and when the wrong row goes."""
    said = [(c.kind, c.event.id) for c in output(QUERY, MIDDLE, DETOURS) if c.event is not None]
    assert said == [
        ("insert", "a3"),
        ("insert", "a2"),
        ("insert", "x"),
        ("retract", "a2"),
        ("insert", "a1"),
        ("retract", "x"),
    ]


def test_not_every_entry_is_a_sync_point() -> None:
    """Definition 4 lacks condition 2 of Definition 3."""
    said = annotated(output(QUERY, MIDDLE, DETOURS))
    assert not all(is_sync_point(said, entry.sync, entry.cedr_start) for entry in said)


def test_equivalent_to_every_sync_point() -> None:
    """Definition 4: whatever the order, the state to a common sync point is the same, and strong's."""
    one, other, strong = (
        table(output(QUERY, level, arrived))
        for level, arrived in ((MIDDLE, IN_ORDER), (MIDDLE, DETOURS), (STRONG, IN_ORDER))
    )
    for time in (0, 1, 5, 9, 30):
        assert logically_equivalent_to(one, other, time, valid_too=True)
        assert logically_equivalent_to(one, strong, time, valid_too=True)
    assert sync_points(other)[-1].occurrence_time == 9
    assert_same_table(other.ideal(), SAID)
