"""Definition 8: selection.  ``σ_f(S) = {(e.Vs, e.Ve, e.Payload) | e ∈ E(S) where f(e.Payload)}``."""

from __future__ import annotations

from cedr.testing.difference import assert_same_table
from tests.paper.asking import rows

TYPE = "TYPE P (price INTEGER);"
PRICES = """
    | ID | Vs | Ve | Payload    |
    | e0 | 1  | 5  | price=2    |
    | e1 | 4  | 9  | price=3    |
    | e2 | 4  | 4  | price=5    |
    | e3 | 6  | ∞  | price=null |
"""


def test_selection_keeps_what_satisfies_f() -> None:
    """Definition 8: times and payload stay; what is not *true* does not pass (R20)."""
    assert_same_table(
        rows(f"{TYPE} EVENT Q FROM P AS p WHERE p.price > 2", P=PRICES),
        "| ID | Vs | Ve | Payload |\n| e1 | 4 | 9 | price=3 |\n| e2 | 4 | 4 | price=5 |",
    )
    assert_same_table(
        rows(f"{TYPE} EVENT Q FROM P AS p WHERE NOT p.price > 2", P=PRICES),
        "| ID | Vs | Ve | Payload |\n| e0 | 1 | 5 | price=2 |",
    )


def test_selections_compose() -> None:
    """Definition 8: σ_f(σ_g(S)) = σ_{f and g}(S)."""
    nested = f"{TYPE} EVENT G FROM P AS p WHERE p.price > 2; EVENT Q FROM G AS g WHERE g.price < 5"
    both = f"{TYPE} EVENT Q FROM P AS p WHERE p.price > 2 AND p.price < 5"
    assert_same_table(rows(nested, P=PRICES), rows(both, P=PRICES), ["ID", "Vs", "Ve", "Payload"])
    assert [row.id for row in rows(nested, P=PRICES)] == ["e1"]
