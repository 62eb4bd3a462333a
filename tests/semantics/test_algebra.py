"""The algebra of Section 6, by hand."""

from __future__ import annotations

import pytest

from tests.semantics.running import INF, ids, lifetimes, matches, result, timeline, values

TYPES = "TYPE S (k INT, v INT); TYPE T (k INT, v INT); "


def test_definition_7_projection() -> None:
    """Paper: Definition 7: f transforms the payload and cannot affect the times."""
    rows = result(TYPES + "EVENT Q FROM S AS s OUTPUT s.v * 2 AS double, s.k AS k", "S s1 1..5 k=1 v=3")
    assert timeline(rows, "double", "k") == [(1, 5, 6, 1)]
    assert [r.id for r in rows] == ["s1"]


def test_definition_8_selection() -> None:
    """Paper: Definition 8."""
    events = "S s1 1..5 v=3\nS s2 2..9 v=4\nS s3 3 v=null"
    assert timeline(result(TYPES + "EVENT Q FROM S WHERE v > 3", events), "v") == [(2, 9, 4)]


def test_definition_9_join() -> None:
    """Paper: Definition 9: the intersection of the lifetimes, where it is not empty."""
    query = TYPES + "EVENT Q FROM S AS s JOIN T AS t ON s.k = t.k OUTPUT s.v AS l, t.v AS r"
    events = "S s1 1..5 k=1 v=10\nS s2 4..9 k=2 v=20\nT t1 3..8 k=1 v=30\nT t2 5..8 k=1 v=40\nT t3 6 k=2 v=50"
    rows = result(query, events)
    assert timeline(rows, "l", "r") == [(3, 5, 10, 30), (6, 9, 20, 50)]
    assert {ids(r) for r in rows} == {"s1 t1", "s2 t3"}


def test_join_without_output_names_fields_by_variable() -> None:
    """R23, as for a pattern."""
    rows = result(TYPES + "EVENT Q FROM S AS s JOIN T AS t ON s.k = t.k", "S s 1 k=1 v=2\nT t 1 k=1 v=3")
    assert values(rows) == [{"s_k": 1, "s_v": 2, "t_k": 1, "t_v": 3}]


def test_left_join_keeps_what_has_no_partner_and_anti_join_gives_only_that() -> None:
    """Definition 9's relatives, per instant as all view-update operators are (Section 6)."""
    query = TYPES + "EVENT Q FROM S AS s {} JOIN T AS t ON s.k = t.k OUTPUT s.v AS l, t.v AS r"
    events = "S s1 1..10 k=1 v=10\nT t1 3..5 k=1 v=30\nT t2 4..7 k=1 v=40"
    pairs = [(3, 5, 10, 30), (4, 7, 10, 40)]
    alone = [(1, 3, 10, None), (7, 10, 10, None)]
    assert set(timeline(result(query.format("LEFT"), events), "l", "r")) == {*pairs, *alone}
    anti = TYPES + "EVENT Q FROM S AS s ANTI JOIN T AS t ON s.k = t.k OUTPUT s.v AS l"
    assert timeline(result(anti, events), "l") == [(1, 3, 10), (7, 10, 10)]


def test_conditions_on_what_a_left_join_left_without_partner_see_null() -> None:
    """R20: only true passes; IS NULL finds what has no partner, also in a further join."""
    query = TYPES + "EVENT Q FROM S AS s LEFT JOIN T AS t ON s.k = t.k {} OUTPUT s.v AS l, t.v AS r"
    events = "S s1 1..5 k=1 v=10\nS s2 1..5 k=2 v=20\nT t1 1..5 k=1 v=30"
    assert timeline(result(query.format("WHERE s.v > 1 AND t.v > 3"), events), "l", "r") == [(1, 5, 10, 30)]
    assert timeline(result(query.format("WHERE t.k IS NULL"), events), "l", "r") == [(1, 5, 20, None)]
    further = query.format("JOIN T AS u ON t.k = u.k")
    assert timeline(result(further, events), "l", "r") == [(1, 5, 10, 30)]


def test_union_adds_bags() -> None:
    """R29, R8: the ID of a row of a union is made of branch and ID, so duplicates stay."""
    rows = result(TYPES + "EVENT Q FROM S AS s UNION T AS t", "S x 1..3 k=1 v=1\nT x 1..3 k=1 v=1")
    assert timeline(rows, "k", "v") == [(1, 3, 1, 1), (1, 3, 1, 1)]
    assert len({r.id for r in rows}) == 2
    assert {ids(r) for r in rows} == {"x"}


def test_difference_is_per_instant() -> None:
    """R29: a payload of S1 is there while no equal payload is alive in S2."""
    events = "S s1 1..10 k=1 v=1\nS s2 1..10 k=2 v=1\nT t1 3..5 k=1 v=1\nT t2 4..6 k=1 v=1"
    rows = result(TYPES + "EVENT Q FROM S AS s EXCEPT T AS t", events)
    assert timeline(rows, "k") == [(1, 3, 1), (1, 10, 2), (6, 10, 1)]


def test_distinct_removes_duplicates_per_instant() -> None:
    """R29."""
    events = "S s1 1..4 k=1 v=1\nS s2 3..6 k=1 v=2\nS s3 8..9 k=1 v=3"
    rows = result(TYPES + "EVENT Q FROM S AS s OUTPUT DISTINCT s.k AS k", events)
    assert timeline(rows, "k") == [(1, 6, 1), (8, 9, 1)]


def test_group_by_gives_maximal_intervals_of_equal_value() -> None:
    """R30: for each group at each instant; no row where nothing is alive; NULLs as in SQL."""
    events = "S s1 1..4 k=1 v=5\nS s2 3..6 k=1 v=null\nS s3 6..8 k=1 v=5\nS s4 2..3 k=2 v=1"
    query = TYPES + "EVENT Q FROM S AS s GROUP BY s.k OUTPUT s.k AS k, COUNT(*) AS n, SUM(s.v) AS sum"
    assert timeline(result(query, events), "k", "n", "sum") == [
        (1, 3, 1, 1, 5),
        (2, 3, 2, 1, 1),
        (3, 4, 1, 2, 5),
        (4, 6, 1, 1, None),
        (6, 8, 1, 1, 5),
    ]
    steady = TYPES + "EVENT Q FROM S AS s WHERE s.k = 1 GROUP BY s.k OUTPUT MAX(s.v) AS top"
    assert timeline(result(steady, "S a 1..4 k=1 v=5\nS b 2..9 k=1 v=5"), "top") == [(1, 9, 5)]


def test_aggregates_without_group_are_over_everything_and_have_no_contributors() -> None:
    """R8, R30: the ID is made of place, group and Vs."""
    rows = result(TYPES + "EVENT Q FROM S OUTPUT COUNT(*) AS n", "S a 1..3 v=1\nS b 2..3 v=2")
    assert timeline(rows, "n") == [(1, 2, 1), (2, 3, 2)]
    assert all(not r.contributors for r in rows)
    assert len({r.id for r in rows}) == 2


def test_having_selects_groups() -> None:
    """R30."""
    query = TYPES + "EVENT Q FROM S AS s GROUP BY s.k AS key HAVING COUNT(*) > 1 OUTPUT key AS key, AVG(s.v) AS mean"
    assert timeline(result(query, "S a 1..9 k=1 v=1\nS b 2..4 k=1 v=4\nS c 1..9 k=2 v=1"), "key", "mean") == [
        (2, 4, 1, 2.5)
    ]


def test_projection_and_having_merge_nothing() -> None:
    """R30: maximal intervals of equal value of all aggregates that the query names together; COALESCED merges."""
    events = "S a 1..9 v=1\nS b 3..6 v=2"
    positive = TYPES + "EVENT P FROM S OUTPUT COUNT(*) > 0 AS some; "
    assert timeline(result(positive, events), "some") == [(1, 3, True), (3, 6, True), (6, 9, True)]
    having = TYPES + "EVENT Q FROM S HAVING COUNT(*) > 0 OUTPUT MIN(v) AS low"
    assert timeline(result(having, events), "low") == [(1, 3, 1), (3, 6, 1), (6, 9, 1)]
    assert timeline(result(positive + "EVENT Q FROM P WINDOW COALESCED", events), "some") == [(1, 9, True)]
    assert timeline(result(TYPES + "EVENT Q FROM S OUTPUT MIN(v) AS low", events), "low") == [(1, 9, 1)]


def test_aggregates_of_r45() -> None:
    """R45: FIRST and LAST by Vs, LIST in order, quantiles, the sample's variance, truth."""
    events = "S a 1..9 v=4\nS b 3..6 v=2\nS c 3..6 v=null"
    query = """EVENT Q FROM S OUTPUT FIRST(v) AS f, LAST(v) AS l, LIST(v) AS all, QUANTILE(0.9, v) AS q,
        MEDIAN(v) AS m, VARIANCE(v) AS s, BOOL_AND(v > 3) AS every, BOOL_OR(v > 3) AS some, COUNT(DISTINCT k) AS n"""
    rows = timeline(result(TYPES + query, events), "f", "l", "all", "q", "m", "s", "every", "some", "n")
    alone = (4, 4, (4,), 4, 4, None, True, True, 0)
    assert rows == [(1, 3, *alone), (3, 6, 4, 2, (2, 4), 4, 2, 2.0, False, True, 0), (6, 9, *alone)]


def test_aggregates_of_r45_over_contributors() -> None:
    """R23, R45: FIRST and LAST by the Vs of the contributors."""
    query = TYPES + "EVENT Q WHEN ALL(S AS s, T AS t, 9) OUTPUT FIRST(v) AS f, LAST(v) AS l, QUANTILE(0.5, v) AS q"
    assert values(result(query, "S s 5 v=1\nT t 2 v=7")) == [{"f": 7, "l": 1, "q": 1}]


def test_definition_12_alter_lifetime() -> None:
    """Paper: Definition 12.  R31: zero or negative durations and a start of FOREVER drop the event."""
    query = TYPES + "EVENT Q FROM S AS s WINDOW LIFETIME s.Ve, s.v"
    events = "S a 1..5 v=3\nS b 1..5 v=0\nS c 1 v=3\nS d 1..6 v=null"
    assert timeline(result(query, events), "v") == [(5, 8, 3)]


def test_moving_window_inserts_and_deletes() -> None:
    """R31: W = Π(Vs, min(Ve - Vs, wl)); Inserts = Π(Vs, ∞); Deletes = Π(Ve, ∞)."""
    events = "S a 1..4\nS b -3..20\nS c 2"
    query = TYPES + "EVENT Q FROM S AS s WINDOW {}"
    assert lifetimes(result(query.format("MOVING 10"), events)) == [("a", 1, 4), ("b", -3, 7), ("c", 2, 12)]
    assert lifetimes(result(query.format("INSERTS"), events)) == [("a", 1, INF), ("b", -3, INF), ("c", 2, INF)]
    assert lifetimes(result(query.format("DELETES"), events)) == [("a", 4, INF), ("b", 20, INF)]


@pytest.mark.parametrize(("start", "lifetime"), [(0, (4, 12)), (3, (4, 12)), (4, (8, 16)), (-1, (0, 8))])
def test_hopping_window(start: int, lifetime: tuple[int, int]) -> None:
    """R31: size 8, hop 4: Vs = 0 counts in [-4, 4) and [0, 8), whose results are valid [4, 8) and [8, 12)."""
    rows = result(TYPES + "EVENT Q FROM S AS s WINDOW HOPPING 8 EVERY 4", f"S a {start}")
    assert lifetimes(rows) == [("a", *lifetime)]


def test_tumbling_window_counts() -> None:
    """R31: tumbling is a hop of the size; the result of [0, 10) is valid [10, 20)."""
    query = TYPES + "EVENT Q FROM S WINDOW TUMBLING 10 OUTPUT COUNT(*) AS n"
    assert timeline(result(query, "S a 0\nS b 9\nS c 10"), "n") == [(10, 20, 2), (20, 30, 1)]


def test_session_window() -> None:
    """R31's relative: each event lives as long as its session, by group; a gap of d or more begins another."""
    query = TYPES + "EVENT Q FROM S AS s WINDOW SESSION 5 GROUP BY s.k OUTPUT s.k AS k, COUNT(*) AS n"
    events = "S a 1 k=1\nS b 5 k=1\nS c 10 k=1\nS d 3 k=2"
    assert timeline(result(query, events), "k", "n") == [(1, 10, 1, 2), (3, 8, 2, 1), (10, 15, 1, 1)]


def test_definition_10_coalesce() -> None:
    """Paper: Definition 10: equal payloads whose lifetimes meet become one."""
    events = "S a 1..3 v=1\nS b 3..5 v=1\nS c 5..7 v=2\nS d 8..9 v=1\nS e 5..6 v=1"
    assert timeline(result(TYPES + "EVENT Q FROM S WINDOW COALESCED", events), "v") == [(1, 6, 1), (5, 7, 2), (8, 9, 1)]


def test_subqueries_and_names_compose() -> None:
    """R32: patterns over aggregates and aggregates over patterns."""
    text = (
        TYPES
        + """EVENT Busy FROM S AS s WINDOW MOVING 10 GROUP BY s.k HAVING COUNT(*) >= 2 OUTPUT s.k AS k;
             EVENT Pair WHEN SEQUENCE(Busy AS b, T AS t, 10) WHERE CorrelationKey(k, EQUAL);
             EVENT HowMany FROM (FROM Pair AS p OUTPUT p.b_k AS k) AS q GROUP BY q.k OUTPUT q.k AS k, COUNT(*) AS n"""
    )
    events = "S s1 1 k=1 v=0\nS s2 4 k=1 v=0\nT t1 6 k=1 v=0\nT t2 7 k=2 v=0"
    assert lifetimes(result(text, events, "Pair"))[0][1:] == (6, 14)
    assert timeline(result(text, events), "k", "n") == [(6, 14, 1, 1)]


def test_a_detection_with_empty_lifetime_is_never_alive() -> None:
    """R11 with R30: a sequence at distance exactly w is a detection that no aggregate over instants counts."""
    text = "EVENT P WHEN SEQUENCE(A, B, 5); EVENT N FROM P OUTPUT COUNT(*) AS n"
    assert matches(text.split(";")[0], "A a 1\nB b 6") == {"a b"}
    assert result(text, "A a 1\nB b 6") == []
