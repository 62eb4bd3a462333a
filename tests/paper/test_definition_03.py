"""Definition 3: strong consistency.

"1) for any two logically equivalent input streams S1 and S2, for sync points (to, TS1), (to, TS2) in the two output
streams, the query output streams at these sync points are logically equivalent to to at CEDR times TS1 and TS2.  2) for
each entry E in the annotated output history table, there exists a sync point (E.Sync, E.Cs)."
"""

from __future__ import annotations

from cedr.model.equivalence import is_sync_point, logically_equivalent_to, out_of_order, sync_points
from cedr.model.level import STRONG
from cedr.testing.difference import assert_same_table
from tests.paper.asking import annotated, output, table

QUERY = "EVENT Q WHEN UNLESS(A, B, 5)"

IN_ORDER = """
    A a1 1
    A a2 3
    B b1 7
    A a3 9
    guarantee 30
"""
DETOURS = """
    A a3 9
    A a2 3
    A x 2 K=wrong
    guarantee 0
    B b1 7
    A a1 1
    retract wrong
    guarantee 8
    guarantee 30
"""
SAID = """
    | ID | Vs | Ve |
    | a1 | 1  | 6  |
    | a3 | 9  | 14 |
"""


def test_equivalent_inputs_give_equivalent_outputs_at_common_sync_points() -> None:
    """Definition 3, condition 1."""
    one, other = (table(output(QUERY, STRONG, arrived)) for arrived in (IN_ORDER, DETOURS))
    first = {point.occurrence_time: point.cedr_time for point in sync_points(one)}
    second = {point.occurrence_time: point.cedr_time for point in sync_points(other)}
    common = first.keys() & second.keys()
    assert common == {1, 9}
    for time in common:
        assert logically_equivalent_to(one.as_of(first[time]), other.as_of(second[time]), time, valid_too=True)
    assert_same_table(one.ideal(), SAID)
    assert_same_table(other.ideal(), SAID)


def test_every_entry_is_a_sync_point() -> None:
    """Definition 3, condition 2: nothing is said before everything earlier is."""
    for arrived in (IN_ORDER, DETOURS):
        said = annotated(output(QUERY, STRONG, arrived))
        assert len(said) == 2
        assert all(is_sync_point(said, entry.sync, entry.cedr_start) for entry in said)
        assert not out_of_order(said)


def test_the_same_modifications_at_different_latency() -> None:
    """Definition 3: "exactly the same output state modifications, although there may be different delivery latency"."""
    one, other = (output(QUERY, STRONG, arrived) for arrived in (IN_ORDER, DETOURS))
    rows = [[(c.kind, c.event.id) for c in changes if c.event is not None] for changes in (one, other)]
    assert rows[0] == rows[1] == [("insert", "a1"), ("insert", "a3")]
    assert [c.cedr_time for c in one if c.event] == [5, 5]
    assert [c.cedr_time for c in other if c.event] == [8, 9]
