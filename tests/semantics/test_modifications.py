"""Modifications by hand: a SEQUENCE, an UNLESS, a join, a count whose input is modified, closed, stated after the fact.

Paper: Sections 2 and 6 ("a technical challenge").  Readings: R4, R9, R10, R24.  The same tables are shown in
docs/explanation/modifications.md.
"""

from __future__ import annotations

from tests.semantics.running import INF, beliefs, bitemporal, lifetimes, result

SEQUENCE = "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 10) OUTPUT a.v AS v"
UNLESS = "EVENT Q WHEN UNLESS(A AS a, B AS b, 10)"
JOIN = "EVENT Q FROM A AS a JOIN B AS b ON a.k = b.k OUTPUT a.v AS v"
COUNT = "EVENT Q FROM A OUTPUT COUNT(*) AS n"


def counts(events: str) -> list[tuple[object, ...]]:
    rows = bitemporal(COUNT, events)
    return sorted((r.valid_start, r.valid_end, r.occurrence_start, r.occurrence_end, r.payload["n"]) for r in rows)


def test_sequence_whose_first_event_is_modified() -> None:
    """R9, R10: the start of a moves from 1 to 3 at occurrence time 8: the detection at 5 is believed with two ends."""
    rows = bitemporal(SEQUENCE, "A a 1 @1 v=1\nA a 3 @8 v=1\nB b 5")
    assert beliefs(rows) == [("a b", 5, 11, 5, 8), ("a b", 5, 13, 8, INF)]


def test_a_modification_before_anything_follows_leaves_one_row() -> None:
    """R10: what was believed only before it happened is no row."""
    assert beliefs(bitemporal(SEQUENCE, "A a 1 @1 v=1\nA a 3 @4 v=1\nB b 5")) == [("a b", 5, 13, 5, INF)]


def test_a_modification_that_the_output_hides_gives_one_row_with_the_first_os() -> None:
    """R10: the payload w is not in the output; nor is the Ve of a contributor."""
    assert beliefs(bitemporal(SEQUENCE, "A a 1 @1 v=1 w=1\nA a 1..9 @8 v=1 w=2\nB b 5")) == [("a b", 5, 11, 5, INF)]


def test_sequence_whose_event_is_closed() -> None:
    """R3, R10: closed at 7 with no next version: the row ends there and the latest belief is empty."""
    rows = bitemporal(SEQUENCE, "A a 1 @1..7 v=1\nB b 5")
    assert beliefs(rows) == [("a b", 5, 11, 5, 7)]
    assert result(SEQUENCE, "A a 1 @1..7 v=1\nB b 5") == []


def test_sequence_stated_after_the_fact() -> None:
    """R9: b happened at 5 but was stated at 9: a change of belief at 9."""
    assert beliefs(bitemporal(SEQUENCE, "A a 1 v=1\nB b 5 @9")) == [("a b", 5, 11, 9, INF)]


def test_unless_whose_canceller_is_stated_after_the_fact_and_then_closed() -> None:
    """R9: a holds as of 1; at 15 one learns of b at 4; at 20 b is withdrawn by its provider."""
    rows = bitemporal(UNLESS, "A a 1\nB b 4 @15..20")
    assert beliefs(rows) == [("a", 1, 11, 1, 15), ("a", 1, 11, 20, INF)]


def test_unless_with_a_canceller_in_time_never_was() -> None:
    """R9: "that something has not happened yet is not a belief that it will not happen"."""
    assert bitemporal(UNLESS, "A a 1\nB b 4") == []


def test_unless_whose_canceller_moves_out_of_the_scope() -> None:
    """R9: from 6 on, b is believed to happen at 12, outside (1, 11)."""
    assert beliefs(bitemporal(UNLESS, "A a 1\nB b 4 @4\nB b 12 @6")) == [("a", 1, 11, 6, INF)]


def test_unless_keeps_the_id_of_its_operand_over_modifications() -> None:
    """R8, R10: the versions of an output share an ID."""
    rows = bitemporal(UNLESS, "A a 1 @1\nA a 2 @9")
    assert beliefs(rows) == [("a", 1, 11, 1, 9), ("a", 2, 12, 9, INF)]
    assert {r.id for r in rows} == {"a"}


def test_join_under_modification_closing_and_late_statement() -> None:
    """Definition 9 by belief (R9): the coupon's validity is cut at 6; the partner is stated late and then closed."""
    modified = bitemporal(JOIN, "A a 1..20 @1 k=1 v=1\nA a 1..8 @6 k=1 v=1\nB b 3..10 k=1")
    assert beliefs(modified) == [("a b", 3, 8, 6, INF), ("a b", 3, 10, 3, 6)]
    closed = bitemporal(JOIN, "A a 1..20 @1 k=1 v=1\nB b 3..10 @3..7 k=1")
    assert beliefs(closed) == [("a b", 3, 10, 3, 7)]
    late = bitemporal(JOIN, "A a 1..20 @1 k=1 v=1\nB b 3..10 @12 k=1")
    assert beliefs(late) == [("a b", 3, 10, 12, INF)]


def test_count_under_modification() -> None:
    """R30 by belief (R9): at 6 one learns that a ended at 4."""
    assert counts("A a 1..10 @1\nA a 1..4 @6\nA b 2..8") == [
        (1, 2, 1, INF, 1),
        (2, 4, 6, INF, 2),
        (2, 8, 2, 6, 2),
        (4, 8, 6, INF, 1),
    ]


def test_count_under_closing_and_late_statement() -> None:
    """R30 by belief (R9, R10): rows believed only before their start are none, here the count of 1 on [8, 10)."""
    assert counts("A a 1..10 @1..5\nA b 2..8") == [(1, 2, 1, 5, 1), (2, 8, 2, 5, 2), (2, 8, 5, INF, 1)]
    assert counts("A a 1..10\nA b 2..8 @12") == [
        (1, 2, 12, INF, 1),
        (1, 10, 1, 12, 1),
        (2, 8, 12, INF, 2),
        (8, 10, 12, INF, 1),
    ]


def test_the_first_os_of_a_contributor_is_that_of_the_event_whatever_a_parameter_selects() -> None:
    """R10: b fills x from 1 on, and y only from its modification at 4 on."""
    rows = bitemporal("EVENT Q WHEN ANY(B AS x, B AS y) WHERE y.k = 1 OUTPUT x.k AS k", "B b 1 k=0\nB b 1 @4 k=1")
    assert beliefs(rows) == [("b", 1, 2, 1, 4), ("b", 1, 2, 4, INF)]


def test_operators_compose_through_their_tables() -> None:
    """R9, R32: nested and named operators see the beliefs of their inputs' rows."""
    nested = "EVENT Q WHEN SEQUENCE(UNLESS(A AS a, B AS b, 5) AS u, C AS c, 20)"
    events = "A a 1\nB b 3 @10\nC c 7"
    assert beliefs(bitemporal(nested, events)) == [("a c", 7, 21, 7, 10)]
    named = "EVENT U WHEN UNLESS(A AS a, B AS b, 5); EVENT Q WHEN SEQUENCE(U AS u, C AS c, 20)"
    assert beliefs(bitemporal(named, events)) == [("a c", 7, 21, 7, 10)]


def test_slicing_the_bitemporal_table() -> None:
    """R24: rows that overlap the closed slices, not clipped; with @ closed rows are included."""
    query = UNLESS + " @ [{}, {}]"
    events = "A a 1\nB b 4 @15..20"
    assert beliefs(bitemporal(query.format(1, 14), events)) == [("a", 1, 11, 1, 15)]
    assert beliefs(bitemporal(query.format(15, 19), events)) == []
    assert beliefs(bitemporal(query.format(15, 20), events)) == [("a", 1, 11, 20, INF)]
    valid = "EVENT Q WHEN ANY(A AS a) VALID WITH LAST # [5, 8]"
    assert lifetimes(result(valid, "A a1 1..5\nA a2 1..6\nA a3 8..9\nA a4 9")) == [("a2", 1, 6), ("a3", 8, 9)]
    assert lifetimes(result("EVENT Q WHEN SEQUENCE(A, B, 4) # [5, 8]", "A a 1\nB b 5")) == [("a b", 5, 5)]
