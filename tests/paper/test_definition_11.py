"""Definition 11: view update compliance.

"A unary CEDR operator O is view update compliant iff for all R, S s.t. *(R) and *(S) are identical, *(O(R)) and *(O(S))
are also identical."  The property for all relations is properties/test_view_update_compliance.py.
"""

from __future__ import annotations

import pytest

from cedr.model.history import HistoryTable
from cedr.testing.difference import assert_same_table, difference_of
from tests.paper.asking import rows

WHOLE = """
    | ID | Vs | Ve | Payload  |
    | r1 | 1  | 9  | k=1, v=5 |
    | r2 | 3  | 6  | k=1, v=7 |
"""
CHOPPED = """
    | ID | Vs | Ve | Payload  |
    | s1 | 1  | 4  | k=1, v=5 |
    | s2 | 4  | 5  | k=1, v=5 |
    | s3 | 5  | 9  | k=1, v=5 |
    | s4 | 3  | 6  | k=1, v=7 |
"""
OTHER = "| ID | Vs | Ve | Payload |\n| o | 2 | 8 | k=1, v=5 |"


def star(query: str, table: str) -> HistoryTable:
    """*(O(R))."""
    types = "TYPE R (k INTEGER, v INTEGER); TYPE O (k INTEGER, v INTEGER);"
    return HistoryTable.from_events(rows(f"{types} EVENT Q {query}", R=table, O=OTHER)).coalesced()


def test_the_inputs_are_the_same_relation() -> None:
    """Definition 10: *(R) and *(S) are identical."""
    assert_same_table(star("FROM R", WHOLE), star("FROM R", CHOPPED))


@pytest.mark.parametrize(
    "query",
    [
        "FROM R WHERE v > 5",
        "FROM R AS r OUTPUT r.v + 1 AS v, r.k AS k",
        "FROM R AS r JOIN O AS o ON r.k = o.k",
        "FROM R AS r LEFT JOIN O AS o ON r.v = o.v",
        "FROM R AS r ANTI JOIN O AS o ON r.v = o.v",
        "FROM R EXCEPT O",
        "FROM R AS r OUTPUT DISTINCT r.k AS k",
        "FROM R AS r GROUP BY r.k OUTPUT r.k AS k, COUNT(*) AS n, MAX(r.v) AS v",
        "FROM R AS r WINDOW COALESCED",
    ],
)
def test_the_algebra_is_compliant(query: str) -> None:
    """Definition 11: "insensitive to the way that changes in state are packaged"."""
    assert_same_table(star(query, WHOLE), star(query, CHOPPED))


@pytest.mark.parametrize("window", ["MOVING 2", "HOPPING 4 EVERY 2", "TUMBLING 2", "INSERTS", "DELETES"])
def test_windows_are_not(window: str) -> None:
    """Definition 11: "like windows, and the separation of inserts and deletes, are not view update compliant"."""
    assert difference_of(star(f"FROM R WINDOW {window}", WHOLE), star(f"FROM R WINDOW {window}", CHOPPED))


def test_a_moving_window_by_hand() -> None:
    """Definition 11: each piece of the chopped lifetime gets a window of its own."""
    assert_same_table(
        star("FROM R WINDOW MOVING 2", WHOLE),
        "| Vs | Ve | Payload |\n| 1 | 3 | k=1, v=5 |\n| 3 | 5 | k=1, v=7 |",
    )
    assert_same_table(
        star("FROM R WINDOW MOVING 2", CHOPPED),
        "| Vs | Ve | Payload |\n| 1 | 3 | k=1, v=5 |\n| 3 | 5 | k=1, v=7 |\n| 4 | 7 | k=1, v=5 |",
    )
