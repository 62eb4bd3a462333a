"""Instance selection and consumption, by hand.  Paper: Section 3.2."""

from __future__ import annotations

from tests.semantics.running import matches

AABB = "A a1 1\nA a2 2\nB b1 3\nB b2 4"


def test_selection_per_parameter() -> None:
    """R25: FIRST and LAST choose among instances that agree in all other parameters."""
    query = "EVENT Q WHEN SEQUENCE({} A AS a, {} B AS b, 10)"
    assert matches(query.format("EACH", "EACH"), AABB) == {"a1 b1", "a1 b2", "a2 b1", "a2 b2"}
    assert matches(query.format("EACH", "FIRST"), AABB) == {"a1 b1", "a2 b1"}
    assert matches(query.format("FIRST", "EACH"), AABB) == {"a1 b1", "a1 b2"}
    assert matches(query.format("LAST", "FIRST"), AABB) == {"a2 b1"}
    assert matches(query.format("EACH", "LAST"), AABB) == {"a1 b2", "a2 b2"}


def test_neighbouring_pairs() -> None:
    """R25: SEQUENCE(LAST A, FIRST B, w) gives neighbouring pairs."""
    events = "A a1 1\nB b1 2\nA a2 3\nA a3 4\nB b2 5\nB b3 6"
    assert matches("EVENT Q WHEN SEQUENCE(LAST A, FIRST B, 10)", events) == {"a1 b1", "a3 b2"}


def test_equal_times_are_decided_by_the_smaller_id() -> None:
    """R25: for FIRST and for LAST."""
    events = "A a2 1\nA a1 1\nB b1 2"
    assert matches("EVENT Q WHEN SEQUENCE(FIRST A, B, 10)", events) == {"a1 b1"}
    assert matches("EVENT Q WHEN SEQUENCE(LAST A, B, 10)", events) == {"a1 b1"}


def test_predicates_work_before_selection() -> None:
    """R21, R25: the first B that satisfies, not the first B if it satisfies."""
    events = "A a 1 v=1\nB b1 2 v=2\nB b2 3 v=1"
    assert matches("EVENT Q WHEN SEQUENCE(A AS a, FIRST B AS b, 10) WHERE a.v = b.v", events) == {"a b2"}


def test_selection_in_all() -> None:
    """R25: instances of ALL may be decided by either parameter."""
    events = "A a1 1\nB b1 2\nA a2 3\nB b2 4"
    assert matches("EVENT Q WHEN ALL(FIRST A, B, 10)", events) == {"a1 b1", "a1 b2"}
    assert matches("EVENT Q WHEN ALL(LAST A, B, 10)", events) == {"b1 a2", "a2 b2"}


def test_chronicle_consumes_in_order() -> None:
    """R26: each event serves once, oldest first."""
    query = "EVENT Q WHEN SEQUENCE(FIRST A CONSUME, B CONSUME, 10)"
    assert matches(query, AABB) == {"a1 b1", "a2 b2"}


def test_first_compares_with_what_was_available_when_it_was_taken() -> None:
    """R26: (a2, b1) was available when b1 was taken, so b2 is not the first B of a2, although b1 went to a1."""
    assert matches("EVENT Q WHEN SEQUENCE(A, FIRST B CONSUME, 10)", AABB) == {"a1 b1"}
    # a1 and a2 are consumed when a3 comes, so nothing stands between a3 and its first, a4
    events = "A a1 1\nA a2 2\nA a3 3\nA a4 4"
    assert matches("EVENT Q WHEN SEQUENCE(A AS x CONSUME, FIRST A AS y CONSUME, 10)", events) == {"a1 a2", "a3 a4"}


def test_a_consumed_event_is_gone_for_every_parameter_it_could_serve() -> None:
    """R26."""
    assert matches("EVENT Q WHEN SEQUENCE(A AS x CONSUME, A AS y CONSUME, 10)", "A a1 1\nA a2 2\nA a3 3\nA a4 4") == {
        "a1 a2",
        "a3 a4",
    }


def test_disjoint_lets_nothing_overlap() -> None:
    """R27: after an output only events after its detection contribute; SQL's SKIP PAST LAST ROW."""
    events = "A a1 1\nA a2 2\nB b1 3\nB b2 4\nA a3 5\nB b3 6"
    assert matches("EVENT Q WHEN SEQUENCE(A, B, 10) DISJOINT", events) == {"a1 b1", "a3 b3"}


def test_disjoint_acts_by_correlation_key() -> None:
    """R27: separately for each value of the CorrelationKey; without one, over the whole stream."""
    events = "A a1 1 k=1\nA a2 2 k=2\nB b1 3 k=1\nB b2 4 k=2"
    assert matches("EVENT Q WHEN SEQUENCE(A AS a, B AS b, 10) DISJOINT WHERE a.k = b.k", events) == {"a1 b1"}
    keyed = "EVENT Q WHEN SEQUENCE(A, B, 10) DISJOINT WHERE CorrelationKey(k, EQUAL)"
    assert matches(keyed, events) == {"a1 b1", "a2 b2"}


def test_disjoint_after_negation_and_at_most() -> None:
    """R27: after any operator; what began up to the detection is consumed."""
    events = "A a1 1\nA a2 2\nA a3 9"
    assert matches("EVENT Q WHEN UNLESS(A, B, 1, 5) DISJOINT", events) == {"a1", "a3"}
    assert matches("EVENT Q WHEN ANY(A) DISJOINT", "A a1 1\nA a2 1\nA a3 2") == {"a1", "a3"}
    assert matches("EVENT Q WHEN ATMOST(9, A, 5) DISJOINT", "A a1 1\nA a2 1\nA a3 2") == {"a1", "a3"}
    assert matches("EVENT Q WHEN NOT(C, SEQUENCE(A, B, 9)) DISJOINT", "A a1 1\nA a2 2\nB b1 3") == {"a1 b1"}
    assert matches("EVENT Q WHEN CANCEL-WHEN(SEQUENCE(A, B, 9), C) DISJOINT", "A a1 1\nA a2 2\nB b1 3") == {"a1 b1"}


def test_the_choice_is_made_again_when_the_chosen_event_is_withdrawn() -> None:
    """R28: selection and consumption are functions of the history."""
    query = "EVENT Q WHEN SEQUENCE(FIRST A CONSUME, B CONSUME, 10)"
    assert matches(query, AABB.replace("A a1 1\n", "")) == {"a2 b1"}
