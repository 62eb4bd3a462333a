"""Differences between tables that can be read."""

from __future__ import annotations

import pytest

from cedr.model.event import primitive
from cedr.testing.difference import assert_same_table, difference_of
from cedr.testing.tables import annotated_table, history_table

TWO = "| ID | Vs | Payload |\n| e0 | 1 | b=1, a=2 |\n| e1 | 2 | |"


def test_the_order_of_rows_and_of_names_does_not_matter() -> None:
    assert_same_table(history_table(TWO), "| ID | Payload | Vs |\n| e1 | | 2 |\n| e0 | a=2, b=1 | 1 |")


def test_both_tables_are_shown_with_the_differing_rows_marked() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_same_table(history_table(TWO), "| ID | Vs |\n| e0 | 1 |\n| e2 | 2 |")
    assert str(caught.value) == (
        "the tables differ in the rows marked\n"
        "actual:\n"
        "  | ID | Vs |\n"
        "  |----|----|\n"
        "  | e0 | 1  |\n"
        "> | e1 | 2  |\n"
        "expected:\n"
        "  | ID | Vs |\n"
        "  |----|----|\n"
        "  | e0 | 1  |\n"
        "> | e2 | 2  |"
    )


def test_how_often_a_row_stands_there_matters() -> None:
    once, twice = (history_table("| Vs |" + "\n| 1 |" * times) for times in (1, 2))
    assert difference_of(twice, once).count("\n> ") == 1
    assert difference_of(once, once) == ""


def test_tables_compare_all_that_either_shows() -> None:
    events = [primitive("A", "a", 1, payload={"x": 1})]
    assert_same_table(events, [primitive("B", "a", 1, payload={"x": 1})])
    assert difference_of(events, [primitive("A", "a", 1)])
    assert difference_of(events, history_table("| ID | Vs |\n| a | 1 |"))
    assert_same_table(events, history_table("| ID | Vs |\n| a | 1 |"), ("ID", "Vs"))


def test_annotated_tables_compare_sync() -> None:
    """Figure 6's notation."""
    text = "| K | Sync | Os | Cs |\n| E0 | 1 | 1 | 1 |"
    assert_same_table(annotated_table(text), text)
    assert difference_of(annotated_table(text), text.replace("| E0 | 1 |", "| E0 | 2 |"))


def test_an_empty_table() -> None:
    assert_same_table([], "| ID | Vs |")
    assert difference_of([], TWO).count("\n> ") == 2
    assert difference_of([], [primitive("A", "a", 1)])
