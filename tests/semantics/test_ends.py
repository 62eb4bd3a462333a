"""Which rows are said with an open end, by hand.  Reading: R33."""

from __future__ import annotations

from cedr.model.level import MIDDLE
from tests.semantics.stepping import transcript

A_COUNTED = "EVENT N FROM A OUTPUT COUNT(*) AS n; "


def test_plain_rows_are_said_with_their_end() -> None:
    """R33: elsewhere Ve is said with the row."""
    assert transcript("EVENT Q FROM A AS a", MIDDLE, "A a 1..9") == ["+a [1,9)"]
    query = "EVENT Q FROM A AS a JOIN B AS b ON a.k = b.k OUTPUT a.k AS k"
    assert transcript(query, MIDDLE, "A a 1..9 k=1\nB b 3..20 k=1") == ["", "+a b [3,9)"]


def test_difference_and_anti_join_are_open() -> None:
    """R33: the end of a piece is said when it is due."""
    types = "TYPE A (k INT); TYPE B (k INT);"
    events = "A a 1..9 k=1\nB b 5..7 k=1\nguarantee 20"
    expected = ["+a [1,∞)", "~a Ve=5", "+a [7,9) !20"]
    assert transcript(types + "EVENT Q FROM A AS a EXCEPT B AS b", MIDDLE, events) == expected
    anti = types + "EVENT Q FROM A AS a ANTI JOIN B AS b ON a.k = b.k"
    assert transcript(anti, MIDDLE, events) == expected


def test_left_join_is_open_where_there_is_no_partner() -> None:
    """R33: pairs have both ends, what has no partner does not."""
    query = "EVENT Q FROM A AS a LEFT JOIN B AS b ON a.k = b.k OUTPUT a.k AS k"
    assert transcript(query, MIDDLE, "A a 1..9 k=1\nB b 5..7 k=1") == ["+a [1,∞)", "~a Ve=5 +a b [5,7)"]


def test_a_union_is_open_where_its_branch_is() -> None:
    """R33: rows that take their end from such a row."""
    query = A_COUNTED + "EVENT Q FROM N UNION B"
    types = "TYPE A (n INT); TYPE B (n INT); "
    said = transcript(types + query, MIDDLE, "B b 2..9 n=7\nA a 3..4 n=0")
    assert said[0] == "+b [2,9)"
    assert said[1].endswith("[3,∞)")


def test_windows_selections_and_joins_over_aggregates_are_open() -> None:
    """R33: AlterLifetime, selection, projection, join."""
    events = "A a 1..4\nB b 2..9"
    window = A_COUNTED + "EVENT Q FROM N WHERE n > 0 WINDOW INSERTS"
    assert transcript(window, MIDDLE, events)[0].endswith("[1,∞)")
    join = A_COUNTED + "EVENT Q FROM N JOIN B ON TRUE OUTPUT N.n AS n"
    assert transcript(join, MIDDLE, events)[1].endswith("[2,∞)")


def test_valid_with_last_takes_the_end_of_its_last_contributor() -> None:
    """R19, R33: open where the last contributor is a row of an aggregate."""
    query = A_COUNTED + "EVENT Q WHEN SEQUENCE(B AS b, N AS n, 10) VALID WITH LAST OUTPUT n.n AS n"
    assert transcript(query, MIDDLE, "B b 1\nA a 2..4")[1].endswith("[2,∞)")
    plain = "EVENT Q WHEN SEQUENCE(B AS b, A AS a, 10) VALID WITH LAST"
    assert transcript(plain, MIDDLE, "B b 1\nA a 2..4") == ["", "+b a [2,4)"]
