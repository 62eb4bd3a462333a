"""Definition 7: SQL projection.  ``π_f(S) = {(e.Vs, e.Ve, f(e.Payload)) | e ∈ E(S)}``."""

from __future__ import annotations

from cedr.testing.difference import assert_same_table
from tests.paper.asking import rows

TRADES = """
    | ID | Vs | Ve | Payload            |
    | e0 | 1  | 5  | symbol=IBM, price=2 |
    | e1 | 4  | 9  | symbol=SUN, price=3 |
    | e2 | 4  | ∞  | symbol=IBM, price=2 |
"""


def test_projection_applies_f_to_each_payload() -> None:
    """Definition 7: an arbitrary function f; the schema may change, the times may not."""
    assert_same_table(
        rows("EVENT Q FROM TRADE AS t OUTPUT t.price * 10 AS cents, LOWER(t.symbol) AS name", TRADE=TRADES),
        """
        | ID | Vs | Ve | Payload            |
        | e0 | 1  | 5  | cents=20, name=ibm |
        | e1 | 4  | 9  | cents=30, name=sun |
        | e2 | 4  | ∞  | cents=20, name=ibm |
        """,
    )


def test_projection_keeps_duplicates() -> None:
    """Definition 7 on bags (R29): one output for each input."""
    assert_same_table(
        rows("EVENT Q FROM TRADE AS t OUTPUT 1 AS one", TRADE=TRADES),
        "| Vs | Ve | Payload |\n| 1 | 5 | one=1 |\n| 4 | 9 | one=1 |\n| 4 | ∞ | one=1 |",
    )
