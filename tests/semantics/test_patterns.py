"""The pattern operators, by hand.  Paper: Section 3.3.2."""

from __future__ import annotations

import pytest

from tests.semantics.running import INF, ids, lifetimes, matches, result, values


def test_sequence_wants_strictly_increasing_starts_within_the_scope() -> None:
    """R11: equal times never follow each other; at distance exactly w the lifetime is empty and still a detection."""
    events = """
        A a1 1
        B b1 1
        B b2 2
        B b3 11
        B b4 12
    """
    rows = result("EVENT Q WHEN SEQUENCE(A AS a, B AS b, 10)", events)
    assert lifetimes(rows) == [("a1 b2", 2, 11), ("a1 b3", 11, 11)]
    assert {r.root_time for r in rows} == {1}


def test_sequence_of_three_measures_the_scope_from_the_first() -> None:
    """R11."""
    events = "A a 1\nB b 5\nC c1 11\nC c2 12"
    assert matches("EVENT Q WHEN SEQUENCE(A, B, C, 10)", events) == {"a b c1"}


def test_a_nested_sequence_has_the_start_of_its_last_contributor() -> None:
    """R11: SEQUENCE(A, SEQUENCE(B, C, w), w) lets B come before A."""
    assert matches("EVENT Q WHEN SEQUENCE(A, SEQUENCE(B, C, 10), 10)", "B b 1\nA a 2\nC c 3") == {"a b c"}


def test_at_least_takes_n_different_parameters_in_any_order() -> None:
    """R12: contributors in time order; one output per list of contributors."""
    events = "A a 3\nB b 1\nC c 20"
    rows = result("EVENT Q WHEN ATLEAST(2, A AS x, B AS y, C AS z, 17)", events)
    assert lifetimes(rows) == [("a c", 20, 20), ("b a", 3, 18)]


def test_at_least_binds_by_the_first_assignment_that_satisfies_the_predicates() -> None:
    """R12: where a type fills several parameters there is one output per list of contributors."""
    events = "A a1 1 v=5\nA a2 2 v=3"
    query = "EVENT Q WHEN ATLEAST(2, A AS x, A AS y, 10) {where} OUTPUT x.v AS x, y.v AS y"
    assert values(result(query.format(where=""), events)) == [{"x": 5, "y": 3}]
    assert values(result(query.format(where="WHERE x.v < y.v"), events)) == [{"x": 3, "y": 5}]


def test_one_output_per_list_of_contributors_also_by_different_attributes() -> None:
    """R12, R8: an event that fits both parameters by different attributes makes no second row of one ID."""
    events = "A a1 1 k=1 v=1\nA a2 2 k=1 v=1"
    assert len(result("EVENT Q WHEN ALL(A AS x, A AS y, 10) WHERE x.k = y.v", events)) == 1


def test_exactly_wants_no_event_of_a_parameter_that_is_left_out() -> None:
    """R46: from the first contributor to w after it, both instants included; the header is that of ATLEAST."""
    query = "EVENT Q WHEN EXACTLY(2, A AS x, B AS y, C AS z, 10)"
    assert lifetimes(result(query, "A a 1\nB b 3\nC c 12")) == [("a b", 3, 11), ("b c", 12, 13)]
    assert matches(query, "A a 1\nB b 3\nC c 11") == {"b c"}
    assert matches(query, "C c 1\nA a 1\nB b 3") == set()
    assert matches(query, "C c 0\nA a 1\nB b 3") == {"a b"}


def test_exactly_counts_further_events_of_its_own_parameters_for_nothing() -> None:
    """R46: only parameters that are left out; and a contributor is never an event beside itself."""
    assert matches("EVENT Q WHEN EXACTLY(1, A AS x, B AS y, 5)", "A a1 1\nA a2 2\nB b 20") == {"a1", "a2", "b"}
    assert matches("EVENT Q WHEN EXACTLY(1, A AS x, A AS y, 5)", "A a1 1\nA a2 2\nA a3 20") == {"a2", "a3"}
    assert matches("EVENT Q WHEN EXACTLY(2, A AS x, B AS y, 5)", "A a1 1\nA a2 2\nB b 3") == {"a1 b", "a2 b"}


def test_conjuncts_say_which_events_must_not_be_beside() -> None:
    """R46, R21: as in NOT; a NULL agrees with nothing, so it is beside nothing (R22)."""
    query = "EVENT Q WHEN EXACTLY(1, A AS x, B AS y, 5) WHERE CorrelationKey(k, EQUAL)"
    assert matches(query, "A a1 1 k=1\nA a2 1 k=2\nB b 3 k=1") == {"a2", "b"}
    assert matches(query, "A a1 1\nB b 3") == {"a1", "b"}
    query = "EVENT Q WHEN EXACTLY(2, A AS x, B AS y, C AS z, 5) WHERE {z.v > x.v} AND {z.v > y.v}"
    assert matches(query, "A a 1 v=1\nB b 2 v=3\nC c 3 v=2") == {"a b", "a c"}
    assert matches(query, "A a 1 v=1\nB b 2 v=3\nC c 3 v=4") == {"b c"}


def test_exactly_with_ties() -> None:
    """R46, R49: Vs need only not decrease."""
    query = "EVENT Q WHEN EXACTLY(2, A AS x, B AS y, C AS z, 5{})"
    assert matches(query.format(""), "A a 1\nB b 1") == set()
    assert matches(query.format(" WITH TIES"), "A a 1\nB b 1") == {"a b"}
    assert matches(query.format(" WITH TIES"), "A a 1\nB b 1\nC c 6") == set()


def test_selection_and_disjoint_choose_among_what_stands_alone() -> None:
    """R46, R25, R27: an instance that another event keeps out takes part in no choice."""
    events = "A a1 1\nC c 3\nA a2 6\nB b 7"
    assert matches("EVENT Q WHEN EXACTLY(2, FIRST A AS x, B AS y, C AS z, 9)", events) == {"a2 b"}
    assert matches("EVENT Q WHEN EXACTLY(2, A AS x, B AS y, C AS z, 9) DISJOINT", "A a 1\nB b 2\nA c 3\nB d 4") == {
        "a b",
        "c d",
    }


def test_all_and_any_are_at_least() -> None:
    """R13: ANY gives [e.Vs, e.Vs + 1)."""
    events = "A a 5\nB b 2"
    assert lifetimes(result("EVENT Q WHEN ALL(A, B, 10)", events)) == [("b a", 5, 12)]
    assert lifetimes(result("EVENT Q WHEN ANY(A, B)", events)) == [("a", 5, 6), ("b", 2, 3)]


def test_a_conjunct_constrains_only_instances_in_which_all_its_variables_are_bound() -> None:
    """R21: ATLEAST leaves some unbound."""
    events = "A a 1 v=1\nB b 2 v=2\nC c 3 v=1"
    query = "EVENT Q WHEN ATLEAST(2, A AS x, B AS y, C AS z, 10) WHERE {x.v = y.v}"
    assert matches(query, events) == {"a c", "b c"}


def test_at_most_counts_over_the_scope_before_each_event() -> None:
    """R14: Vs in (e.Vs - w, e.Vs]; the event itself counts, and so do simultaneous ones."""
    events = "A a1 0\nA a2 5\nA a3 10\nB b 10"
    assert matches("EVENT Q WHEN ATMOST(2, A, B, 10)", events) == {"a1", "a2"}
    assert lifetimes(result("EVENT Q WHEN ATMOST(3, A, B, 10)", events)) == [
        ("a1", 0, 10),
        ("a2", 5, 15),
        ("a3", 10, 20),
        ("b", 10, 20),
    ]


def test_weights_adjust_the_counting() -> None:
    """R14: WEIGHT c makes an event count c; one that fits two parameters counts for both."""
    assert matches("EVENT Q WHEN ATMOST(2, A, B WEIGHT 2, 10)", "A a 0\nB b 1") == {"a"}
    assert matches("EVENT Q WHEN ATMOST(2, A, B WEIGHT 0, 10)", "A a 0\nB b 1") == {"a", "b"}
    assert matches("EVENT Q WHEN ATMOST(1, A AS x, A AS y, 10)", "A a 0") == set()
    assert matches("EVENT Q WHEN ATMOST(2, A AS x, A AS y, 10)", "A a 0") == {"a"}


def test_at_most_counts_by_correlation_key() -> None:
    """R14, R22: with CorrelationKey EQUAL, events count together if they agree; a NULL agrees with nothing."""
    events = "A a1 0 u=1\nA a2 1 u=2\nA a3 2 u=1\nA a4 3 u=null\nA a5 4 u=null"
    assert matches("EVENT Q WHEN ATMOST(1, A AS x, 10) WHERE CorrelationKey(u, EQUAL)", events) == {
        "a1",
        "a2",
        "a4",
        "a5",
    }


@pytest.mark.parametrize(("restart", "found"), [(5, True), (6, False), (9, False), (10, True)])
def test_unless_looks_strictly_inside_its_scope(restart: int, found: bool) -> None:
    """R15: no e2 in e1.Vs < e2.Vs < e1.Vs + w."""
    rows = result("EVENT Q WHEN UNLESS(A, B, 5)", f"A a 5\nB b {restart}")
    assert lifetimes(rows) == ([("a", 5, 10)] if found else [])


def test_unless_with_a_contributor_number() -> None:
    """R16: the scope starts at cbt[n]; Vs = max(cbt[n].Vs + w, Vs), Ve = Vs + w."""
    query = "EVENT Q WHEN UNLESS(SEQUENCE(A, B, 10), C, {n}, 6)"
    assert lifetimes(result(query.format(n=1), "A a 1\nB b 3")) == [("a b", 7, 13)]
    assert lifetimes(result(query.format(n=1), "A a 1\nB b 9")) == [("a b", 9, 15)]
    assert lifetimes(result(query.format(n=2), "A a 1\nB b 3")) == [("a b", 9, 15)]
    assert matches(query.format(n=1), "A a 1\nB b 3\nC c 6") == set()
    assert matches(query.format(n=1), "A a 1\nB b 3\nC c 7") == {"a b"}
    assert lifetimes(result("EVENT Q WHEN UNLESS(A, C, 1, 6)", "A a 1")) == [("a", 7, 13)]


def test_not_looks_strictly_between_first_and_last_contributor() -> None:
    """R17."""
    query = "EVENT Q WHEN NOT(C, SEQUENCE(A, B, 10))"
    base = "A a 2\nB b 6\n"
    assert [matches(query, base + f"C c {t}") for t in (2, 3, 5, 6)] == [{"a b"}, set(), set(), {"a b"}]


def test_cancel_when_looks_from_the_root_to_the_detection() -> None:
    """R18: e1.Rt < e2.Vs < e1.Vs; FROM ROOT also wants e1.Rt < e2.Rt."""
    query = "EVENT Q WHEN CANCEL-WHEN(SEQUENCE(A, B, 10), {canceller})"
    base = "A a 2\nB b 6\n"
    assert [matches(query.format(canceller="C"), base + f"C c {t}") for t in (2, 4, 6)] == [{"a b"}, set(), {"a b"}]
    composite = "SEQUENCE(C, D, 10)"
    early = base + "C c 1\nD d 4"
    assert matches(query.format(canceller=composite), early) == set()
    assert matches(query.format(canceller=composite + " FROM ROOT"), early) == {"a b"}


def test_lifetimes_of_outputs() -> None:
    """R19: VALID FOREVER, VALID WITH LAST."""
    events = "A a 1..4\nB b 2..7"
    assert lifetimes(result("EVENT Q WHEN SEQUENCE(A, B, 10)", events)) == [("a b", 2, 11)]
    assert lifetimes(result("EVENT Q WHEN SEQUENCE(A, B, 10) VALID FOREVER", events)) == [("a b", 2, INF)]
    assert lifetimes(result("EVENT Q WHEN SEQUENCE(A, B, 10) VALID WITH LAST", events)) == [("a b", 2, 7)]


def test_variables_of_composites_have_header_fields_and_their_contributors_payload() -> None:
    """R20: s.Vs, s.Rt, s.x_v."""
    query = """EVENT Q WHEN SEQUENCE(SEQUENCE(A AS x, B AS y, 10) AS s, C AS c, 20)
               WHERE {s.x_v = c.v} AND {s.Vs + 5 > c.Vs} OUTPUT s.Rt AS root, s.x_v AS v"""
    assert values(result(query, "A a 1 v=7\nB b 3\nC c1 6 v=7\nC c2 9 v=7\nC c3 5 v=8")) == [{"root": 1, "v": 7}]


def test_predicates_reach_negated_expressions() -> None:
    """R21: a conjunct that names a negated variable becomes part of "there does not exist"."""
    query = "EVENT Q WHEN UNLESS(A AS a, B AS b, 10) WHERE {a.k = b.k} AND {b.v > 3}"
    assert matches(query, "A a 1 k=1\nB b1 2 k=2 v=9\nB b2 3 k=1 v=3") == {"a"}
    assert matches(query, "A a 1 k=1\nB b1 2 k=1 v=4") == set()


def test_correlation_keys() -> None:
    """R22: EQUAL, UNIQUE, a value for all; negated ones included; a NULL neither agrees nor differs."""
    events = "A a 1 k=1\nB b1 2 k=1\nB b2 3 k=2\nB b3 4 k=null\nC c 5 k=1"
    pattern = "EVENT Q WHEN {} WHERE {}"
    sequence, unless = "SEQUENCE(A, B, 10)", "UNLESS(SEQUENCE(A, B, 10), C, 10)"
    assert matches(pattern.format(sequence, "CorrelationKey(k, EQUAL)"), events) == {"a b1"}
    assert matches(pattern.format(sequence, "CorrelationKey(k, UNIQUE)"), events) == {"a b2"}
    assert matches(pattern.format(unless, "CorrelationKey(k, EQUAL)"), events) == set()
    assert matches(pattern.format(unless, "CorrelationKey(k, UNIQUE)"), events) == {"a b2"}
    assert matches(pattern.format(sequence, "[k EQUAL 1]"), events) == {"a b1"}
    assert matches(pattern.format("UNLESS(A, C, 10)", "[k EQUAL 2]"), events) == set()


def test_three_valued_logic_only_true_passes() -> None:
    """R20: NULL comparisons are not true, nor is their negation."""
    events = "A a1 1 v=null\nA a2 2 v=5"
    assert matches("EVENT Q WHEN ANY(A AS a) WHERE {a.v > 3}", events) == {"a2"}
    assert matches("EVENT Q WHEN ANY(A AS a) WHERE {NOT (a.v > 3)}", events) == set()
    assert matches("EVENT Q WHEN ANY(A AS a) WHERE {a.v IS NULL}", events) == {"a1"}
    assert matches("EVENT Q WHEN ANY(A AS a) WHERE {1 = 2}", events) == set()


def test_output_of_headers_and_aggregates_over_contributors() -> None:
    """R23: AVG(v) takes every contributor that has v; AVG(a.v, b.v) the named ones."""
    query = """EVENT Q WHEN SEQUENCE(A AS a, B AS b, C AS c, 10)
               OUTPUT AVG(v) AS mean, MAX(a.v, b.v) AS high, COUNT(*) AS n, b.Vs AS at, a.v + 1 AS more"""
    rows = result("TYPE A (v INT); TYPE B (v INT); TYPE C (w INT);" + query, "A a 1 v=2\nB b 2 v=4\nC c 3 w=100")
    assert values(rows) == [{"mean": 3.0, "high": 4, "n": 3, "at": 2, "more": 3}]


def test_output_defaults_to_all_payloads_by_variable_or_numbered_type() -> None:
    """R23."""
    types = "TYPE A (v INT); TYPE B (v INT, w INT);"
    rows = result(types + "EVENT Q WHEN SEQUENCE(A, B AS b, A, 10)", "A a1 1 v=1\nB b 2 v=2 w=3\nA a2 3 v=4")
    assert values(rows) == [{"A1_v": 1, "b_v": 2, "b_w": 3, "A2_v": 4}]


def test_ids_are_made_of_place_and_contributors() -> None:
    """R8: deterministic, different for different contributors; negation keeps the ID of its first operand."""
    sequence = result("EVENT Q WHEN SEQUENCE(A, B, 10)", "A a 1\nB b1 2\nB b2 3")
    assert len({r.id for r in sequence}) == 2
    assert all(len(r.id) == 32 for r in sequence)
    again = result("EVENT Q WHEN SEQUENCE(A, B, 10)", "B b2 3\nB b1 2\nA a 1")
    assert {(ids(r), r.id) for r in again} == {(ids(r), r.id) for r in sequence}
    (alone,) = result("EVENT Q WHEN UNLESS(A, B, 3)", "A a 1")
    assert alone.id == "a"
