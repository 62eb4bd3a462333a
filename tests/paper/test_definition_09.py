"""Definition 9: join.

``{(Vs, Ve, (e1.Payload concatenated with e2.Payload)) | e1 ∈ E(S1), e2 ∈ E(S2), Vs = max{e1.Vs, e2.Vs},
Ve = min{e1.Ve, e2.Ve}, where Vs < Ve, and θ(e1.Payload, e2.Payload)}``
"""

from __future__ import annotations

from cedr.testing.difference import assert_same_table
from tests.paper.asking import rows

AUCTIONS = """
    | ID | Vs | Ve | Payload |
    | a1 | 1  | 10 | item=1  |
    | a2 | 3  | 6  | item=2  |
"""
BIDS = """
    | ID | Vs | Ve | Payload         |
    | b1 | 2  | 4  | item=1, price=7 |
    | b2 | 8  | ∞  | item=1, price=8 |
    | b3 | 6  | 9  | item=2, price=9 |
    | b4 | 0  | 4  | item=2, price=5 |
    | b5 | 4  | 4  | item=1, price=1 |
"""


def test_join_intersects_lifetimes() -> None:
    """Definition 9: b3 meets a2 at 6 and shares no instant with it; b5 is never alive."""
    joined = rows(
        "EVENT Q FROM A AS a JOIN B AS b ON a.item = b.item OUTPUT a.item AS item, b.price AS price", A=AUCTIONS, B=BIDS
    )
    assert_same_table(
        joined,
        """
        | Vs | Ve | Payload         | cbt    |
        | 2  | 4  | item=1, price=7 | a1, b1 |
        | 8  | 10 | item=1, price=8 | a1, b2 |
        | 3  | 4  | item=2, price=5 | a2, b4 |
        """,
    )


def test_join_concatenates_payloads() -> None:
    """Definition 9: each field as variable_field where nothing else is asked (R23)."""
    types = "TYPE A (item INTEGER); TYPE B (item INTEGER, price INTEGER);"
    joined = rows(f"{types} EVENT Q FROM A AS a JOIN B AS b ON a.item = b.item AND b.price = 5", A=AUCTIONS, B=BIDS)
    assert_same_table(joined, "| Vs | Ve | Payload |\n| 3 | 4 | a_item=2, b_item=2, b_price=5 |")


def test_left_and_anti_join_fill_the_rest() -> None:
    """Definition 9, and what its view is without: the instants in which a row has no partner."""
    anti = rows("EVENT Q FROM A AS a ANTI JOIN B AS b ON a.item = b.item OUTPUT a.item AS item", A=AUCTIONS, B=BIDS)
    alone = """
        | Vs | Ve | Payload |
        | 1  | 2  | item=1  |
        | 4  | 8  | item=1  |
        | 4  | 6  | item=2  |
    """
    assert_same_table(anti, alone)
    left = rows(
        "EVENT Q FROM A AS a LEFT JOIN B AS b ON a.item = b.item OUTPUT a.item AS item, b.price AS p",
        A=AUCTIONS,
        B=BIDS,
    )
    assert_same_table([row for row in left if row.payload["p"] is None], anti, ["Vs", "Ve"])
    assert len(left) == 3 + 3
