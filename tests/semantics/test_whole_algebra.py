"""Everything that FROM can say has a meaning, and so have FROM and WHEN over each other.  R29 to R32, R45."""

from __future__ import annotations

import pytest

import cedr
from tests.semantics.running import lifetimes, result

TYPES = "TYPE A (k INT, v INT); TYPE B (k INT, v INT); "
EVENTS = "A a1 1..9 k=1 v=5\nA a2 3..6 k=2 v=2\nB b1 2..5 k=1 v=3\nB b2 4..8 k=2 v=7"

QUERIES = {
    "equality": ("FROM A AS a JOIN B AS b ON a.k = b.k", [(2, 5), (4, 6)]),
    "inequality": ("FROM A AS a JOIN B AS b ON a.v < b.v", [(4, 6), (4, 8), (3, 5)]),
    "band": ("FROM A AS a JOIN B AS b ON b.v BETWEEN a.v - 2 AND a.v + 2", [(2, 5), (4, 8), (3, 5)]),
    "any condition": ("FROM A AS a JOIN B AS b ON a.v * b.v % 2 = 1 OR a.k = 9", [(2, 5), (4, 8)]),
    "left": ("FROM A AS a LEFT JOIN B AS b ON a.v > b.v AND a.k <> b.k", [(1, 9), (3, 6)]),
    "anti": ("FROM A AS a ANTI JOIN B AS b ON a.v < b.v", [(1, 4), (8, 9)]),
    "union": ("FROM A UNION B", [(1, 9), (2, 5), (3, 6), (4, 8)]),
    "except": ("FROM (FROM A AS x OUTPUT k) AS a EXCEPT (FROM B AS x OUTPUT k) AS b", [(1, 2), (5, 9), (3, 4)]),
    "distinct": ("FROM A UNION B OUTPUT DISTINCT k", [(1, 9), (3, 8)]),
    "having": ("FROM A GROUP BY k HAVING SUM(v) > 3 OUTPUT k", [(1, 9)]),
    "moving": ("FROM A WINDOW MOVING 2", [(1, 3), (3, 5)]),
    "hopping": ("FROM A WINDOW HOPPING 4 EVERY 2", [(2, 6), (4, 8)]),
    "tumbling": ("FROM A WINDOW TUMBLING 4", [(4, 8), (4, 8)]),
    "session": ("FROM A WINDOW SESSION 3 OUTPUT COUNT(*) AS n", [(1, 6)]),
    "lifetime": ("FROM A AS a WINDOW LIFETIME a.Ve - 1, a.v", [(8, 13), (5, 7)]),
    "inserts": ("FROM A WINDOW INSERTS", [(1, cedr.FOREVER), (3, cedr.FOREVER)]),
    "deletes": ("FROM A WINDOW DELETES", [(6, cedr.FOREVER), (9, cedr.FOREVER)]),
    "coalesced": ("FROM (FROM A AS x WINDOW MOVING 2 OUTPUT 1 AS one) AS a WINDOW COALESCED", [(1, 5)]),
    "snapshot": ("FROM A OUTPUT COUNT(*) AS n", [(1, 3), (3, 6), (6, 9)]),
    "top": ("FROM A TOP 1 BY v", [(1, 3), (3, 6), (6, 9)]),
}


@pytest.mark.parametrize("name", QUERIES)
def test_every_operator_of_section_6(name: str) -> None:
    body, expected = QUERIES[name]
    found = sorted((start, end) for _, start, end in lifetimes(result(f"{TYPES} EVENT Q {body}", EVENTS)))
    assert found == sorted(expected)


def test_patterns_over_aggregates_over_patterns() -> None:
    """R32: nested at will."""
    text = f"""{TYPES}
        EVENT Pair WHEN SEQUENCE(A AS a, B AS b, 9) OUTPUT a.k AS k, b.v AS v;
        EVENT Many FROM Pair AS p OUTPUT COUNT(*) AS n, MAX(p.v) AS v;
        EVENT Grown WHEN SEQUENCE(LAST Many AS x, FIRST Many AS y, 5) WHERE {{y.n > x.n}}
        OUTPUT x.n AS before, y.n AS after;
        EVENT Q FROM Grown AS g WINDOW INSERTS OUTPUT COUNT(*) AS n
    """
    assert [(start, end) for _, start, end in lifetimes(result(text, EVENTS))] == [(4, cedr.FOREVER)]


def test_slices_and_as_of() -> None:
    """R24: over a relation as over a pattern."""
    messages = [
        {"insert": {"type": "A", "id": "a", "vs": 1, "ve": 9, "payload": {"k": 1, "v": 5}}},
        {"insert": {"type": "A", "id": "b", "vs": 3, "ve": 6, "payload": {"k": 2, "v": 2}}},
    ]
    query = f"{TYPES} EVENT Q FROM A OUTPUT COUNT(*) AS n"
    spans = {
        " # [7, 8]": [(6, 9)],
        " @ [0, 2]": [(1, 3)],
        " AS OF 1": [(1, None)],  # its end was not due yet (R33)
        "": [(1, 3), (3, 6), (6, 9)],
    }
    for slice_, expected in spans.items():
        rows = cedr.evaluate(query + slice_, messages, host="oracle").to_dicts()
        assert sorted((row["vs"], row["ve"]) for row in rows) == expected, slice_
