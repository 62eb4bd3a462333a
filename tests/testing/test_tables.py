"""Tables as text in the paper's notation."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.model.event import Event, Payload, Value, primitive
from cedr.model.history import HistoryTable
from cedr.model.time import BEGINNING, FOREVER
from cedr.testing.grid import format_payload, read_grids, read_payload, read_time
from cedr.testing.tables import (
    annotated_table,
    events_table,
    format_table,
    history_table,
    history_tables,
)
from tests.model.strategies import Path, paths, tables


def test_columns_may_stand_in_any_order_and_notation() -> None:
    """Figure 2's notation, and plainer ones."""
    plain = history_table("|ID|Vs|Oe|\n|e0|1|inf|")
    for text in (
        "| $O_e$ | **ID** | $V_{s}$ | ... |\n|:--|--:|---|---|\n| **∞** | e0 | 1 | |",
        "Some words before.\n\n  | oe | id | vs | … | |\n  | FOREVER | e0 | 1 | … | x |\nand after.",
    ):
        assert history_table(text) == plain


def test_missing_cells_are_not_shown() -> None:
    (row,) = history_table("| ID | Vs | (Payload) | K |\n| e0 | 1 | … |  |")
    assert (row.payload, row.lineage_key) == (None, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no table", "there is no table"),
        ("| ID | When |\n| e0 | 1 |", 'no column is called "When": there are ID, K, Sync'),
        ("| ID | Vs |\n| e0 | 1 | 2 |", "a row has 3 cells where the head has 2"),
        ("| ID | Vs |\n| e0 | soon |", '"soon" is not a time'),
        ("| ID | Payload |\n| e0 | 1=a |", '"1=a" is not a payload'),
    ],
)
def test_a_text_that_is_no_table_says_why(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        history_table(text)


def test_tables_side_by_side() -> None:
    """Figure 3 shows two; a repeated name starts the next."""
    text = "| K | Os | | K | Os | ID |\n|---|---|---|---|---|---|\n| E0 | 1 | | E1 | 2 | e1 |"
    left, right = history_tables(text)
    assert (left, right) == (history_table("| K | Os |\n| E0 | 1 |"), history_table("| K | Os | ID |\n| E1 | 2 | e1 |"))
    with pytest.raises(ValueError, match="2 tables side by side"):
        history_table(text)


def test_events_have_their_defaults() -> None:
    """Reading: R2."""
    text = "| ID | Vs | Ve | Payload |\n| a | 3 | | x=1 |\n| b | 4 | 9 | |"
    assert events_table(text, "A") == [primitive("A", "a", 3, payload={"x": 1}), primitive("A", "b", 4, 9)]


def test_times() -> None:
    """Reading: R1."""
    assert [read_time(cell) for cell in ("∞", "Inf", "-∞", "-7")] == [FOREVER, FOREVER, BEGINNING, -7]


def test_payloads() -> None:
    assert read_payload("P1") == Payload({"p": "P1"})
    assert read_payload("a = 1, b='x, y', c=true, d=null, e=2.5, f=two words") == Payload(
        {"a": 1, "b": "x, y", "c": True, "d": None, "e": 2.5, "f": "two words"}
    )
    shown = Payload({"d": Decimal("1.50"), "t": date(2007, 1, 7), "l": [1, "a"], "b": b"x", "n": None, "s": "null"})
    assert format_payload(shown) == "b=b'x', d=1.50, l=(1, 'a'), n=null, s='null', t=2007-01-07"


values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8"))


@given(st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*", fullmatch=True), values, min_size=1))
def test_a_payload_survives_a_table(items: dict[str, Value]) -> None:
    payload = Payload(items)
    assert read_payload(format_payload(payload)) == payload
    ((cells,),) = (grid.rows for grid in read_grids(f"| ID | Payload |\n| e0 | {format_payload(payload)} |"))
    assert read_payload(cells[1]) == payload


@given(paths())
def test_a_history_table_survives_a_text(path: Path) -> None:
    table = HistoryTable.from_messages(path.winding)
    if len(table):
        assert history_table(format_table(table)) == table
        assert annotated_table(format_table(table.annotated())) == table.annotated()


@given(tables().filter(bool))
def test_events_survive_a_text(events: list[Event]) -> None:
    assert events_table(format_table(events), "S") == events


def test_a_table_is_written_aligned_and_shows_its_contributors() -> None:
    """Section 3.3.1: cbt[], flattened, in pattern order."""
    a, b, c = (primitive("A", name, time) for name, time in (("a1", 1), ("b1", 2), ("c1", 3)))
    inner = Event("Q", "ab", 2, 9, 2, FOREVER, 1, (a, b))
    outer = Event("R", "abc", 3, FOREVER, 3, FOREVER, 1, (inner, c), Payload({"x": "y"}))
    expected = """
| ID  | Vs | Ve | Os | Oe | Rt | cbt        | Payload |
|-----|----|----|----|----|----|------------|---------|
| abc | 3  | ∞  | 3  | ∞  | 1  | a1, b1, c1 | x=y     |
"""
    assert format_table([outer]) == expected.strip()
    assert format_table([outer], ("ID", "Sync")) == "| ID  | Sync |\n|-----|------|\n| abc |      |"
