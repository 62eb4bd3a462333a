"""TOP, by hand.  Reading: R45."""

from __future__ import annotations

import pytest

from cedr.model.level import MIDDLE
from tests.semantics.running import result, timeline
from tests.semantics.stepping import transcript

TYPES = "TYPE S (k INT, v INT); "
THREE = "S a 1..10 k=1 v=5\nS b 3..6 k=1 v=3\nS c 4..8 k=2 v=3"


def test_a_row_is_in_while_fewer_than_k_rows_come_before_it() -> None:
    """R45: rows of equal value are in or out together; a row that comes back is a piece of its own."""
    rows = result(TYPES + "EVENT Q FROM S AS s TOP 1 BY s.v OUTPUT s.v AS v", THREE)
    assert timeline(rows, "v") == [(1, 3, 5), (3, 6, 3), (4, 8, 3), (8, 10, 5)]
    assert len({row.id for row in rows}) == 4
    rows = result(TYPES + "EVENT Q FROM S AS s TOP 2 BY s.v OUTPUT s.v AS v", THREE)
    assert timeline(rows, "v") == [(1, 4, 5), (3, 6, 3), (4, 8, 3), (6, 10, 5)]


def test_descending() -> None:
    """R45."""
    rows = result(TYPES + "EVENT Q FROM S AS s TOP 1 BY s.v DESC OUTPUT s.v AS v", THREE)
    assert timeline(rows, "v") == [(1, 10, 5)]


def test_by_group() -> None:
    """R45: per group where there is GROUP BY."""
    rows = result(TYPES + "EVENT Q FROM S AS s GROUP BY s.k TOP 1 BY s.v OUTPUT k, s.v AS v", THREE)
    assert timeline(rows, "k", "v") == [(1, 3, 1, 5), (3, 6, 1, 3), (4, 8, 2, 3), (6, 10, 1, 5)]


@pytest.mark.parametrize("direction", ["", " DESC"])
def test_null_comes_last(direction: str) -> None:
    """R45: ascending and descending."""
    events = "S a 1..10 v=5\nS n 1..4 v=null\nS m 3..6 v=null"
    rows = result(TYPES + f"EVENT Q FROM S AS s TOP 1 BY s.v{direction} OUTPUT s.v AS v", events)
    assert timeline(rows, "v") == [(1, 10, 5)]
    rows = result(TYPES + f"EVENT Q FROM S AS s TOP 2 BY s.v{direction} OUTPUT s.v AS v", events)
    assert timeline(rows, "v") == [(1, 4, None), (1, 10, 5), (3, 6, None)]


def test_what_meets_does_not_crowd() -> None:
    """R45: half-open: where one row before ends another one begins; an empty lifetime is never alive."""
    events = "S a 1..5 v=1\nS b 5..9 v=1\nS c 1..9 v=2\nS e 4..4 v=0"
    rows = result(TYPES + "EVENT Q FROM S AS s TOP 2 BY s.v OUTPUT s.v AS v", events)
    assert timeline(rows, "v") == [(1, 5, 1), (1, 9, 2), (5, 9, 1)]


def test_of_groups_by_a_query_around_them() -> None:
    """R45, R32: the first groups."""
    counts = "FROM S AS s GROUP BY s.k OUTPUT s.k AS k, COUNT(*) AS n"
    query = f"EVENT Q FROM ({counts}) AS g TOP 1 BY g.n DESC OUTPUT g.k AS k, g.n AS n"
    rows = result(TYPES + query, "S a 1..9 k=1\nS b 2..5 k=1\nS c 3..7 k=2")
    assert timeline(rows, "k", "n") == [(1, 2, 1, 1), (2, 5, 1, 2), (5, 7, 2, 1), (5, 9, 1, 1)]


def test_ends_are_told_when_they_are_due() -> None:
    """R45, R33: as in group-by."""
    events = "S a 1..9 v=2\nS b 4..6 v=1\nguarantee 20"
    said = transcript(TYPES + "EVENT Q FROM S AS s TOP 1 BY s.v", MIDDLE, events)
    assert said == ["+a [1,∞)", "~a Ve=4 +b [4,∞)", "~b Ve=6 +a [6,9) !20"]
