"""Definition 12: AlterLifetime.  ``Π_fVs,fΔ(S) = {(|fVs(e)|, |fVs(e)| + |fΔ(e)|, e.Payload) | e ∈ E(S)}``.

R31: no absolute value is taken; a duration of zero or less, or a start of FOREVER, drops the event.
"""

from __future__ import annotations

import pytest

from cedr.testing.difference import assert_same_table
from tests.paper.asking import rows

EVENTS = """
    | ID | Vs | Ve | Payload |
    | e0 | 1  | 5  | v=3     |
    | e1 | 4  | ∞  | v=0     |
    | e2 | -3 | -1 | v=2     |
    | e3 | 6  | 6  | v=1     |
"""


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("LIFETIME Vs, 2", "| e0 | 1 | 3 |\n| e1 | 4 | 6 |\n| e2 | -3 | -1 |\n| e3 | 6 | 8 |"),
        ("LIFETIME Vs + 10, v", "| e0 | 11 | 14 |\n| e2 | 7 | 9 |\n| e3 | 16 | 17 |"),  # e1: a duration of zero
        ("LIFETIME v, 4", "| e0 | 3 | 7 |\n| e1 | 0 | 4 |\n| e2 | 2 | 6 |\n| e3 | 1 | 5 |"),
        ("LIFETIME Ve, 1", "| e0 | 5 | 6 |\n| e2 | -1 | 0 |\n| e3 | 6 | 7 |"),  # e1: a start of FOREVER
        ("LIFETIME Vs, v - 2", "| e0 | 1 | 2 |"),  # negative durations drop the event
        ("MOVING 3", "| e0 | 1 | 4 |\n| e1 | 4 | 7 |\n| e2 | -3 | -1 |"),
        ("INSERTS", "| e0 | 1 | ∞ |\n| e1 | 4 | ∞ |\n| e2 | -3 | ∞ |\n| e3 | 6 | ∞ |"),
        ("DELETES", "| e0 | 5 | ∞ |\n| e2 | -1 | ∞ |\n| e3 | 6 | ∞ |"),
        # windows [0, 4), [4, 8), [-4, 0): the result of each is valid for the 4 after it
        ("TUMBLING 4", "| e0 | 4 | 8 |\n| e1 | 8 | 12 |\n| e2 | 0 | 4 |\n| e3 | 8 | 12 |"),
        # size 5, hop 2: e0 at 1 is in the windows [-2, 3) and [0, 5), whose results are valid [3, 5) and [5, 7)
        ("HOPPING 5 EVERY 2", "| e0 | 3 | 7 |\n| e1 | 5 | 11 |\n| e2 | -1 | 3 |\n| e3 | 7 | 13 |"),
    ],
)
def test_lifetimes(window: str, expected: str) -> None:
    """Definition 12, R31."""
    found = rows(f"TYPE E (v INTEGER); EVENT Q FROM E WINDOW {window}", E=EVENTS)
    assert_same_table(found, f"| ID | Vs | Ve |\n{expected}")


def test_payload_and_id_stay() -> None:
    """Definition 12: "a constrained form of project on the temporal fields"."""
    found = rows("TYPE E (v INTEGER); EVENT Q FROM E WINDOW MOVING 1", E=EVENTS)
    assert {row.id: dict(row.payload) for row in found} == {"e0": {"v": 3}, "e1": {"v": 0}, "e2": {"v": 2}}


def test_hopping_by_count() -> None:
    """Definition 12, R31: a window of size 5 every 2, counted.  [-1, 5) is e2, then e0; equal values are one row."""
    query = "TYPE E (v INTEGER); EVENT Q FROM E WINDOW HOPPING 5 EVERY 2 OUTPUT COUNT(*) AS n"
    assert_same_table(
        rows(query, E=EVENTS),
        """
        | Vs | Ve | Payload |
        | -1 | 5  | n=1     |
        | 5  | 11 | n=2     |
        | 11 | 13 | n=1     |
        """,
    )
