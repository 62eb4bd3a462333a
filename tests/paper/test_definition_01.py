"""Definition 1: logical equivalence to and at a time.  Readings: R5, R6."""

from __future__ import annotations

from hypothesis import given

from cedr.model.equivalence import logically_equivalent_at, logically_equivalent_to
from cedr.model.event import Payload, primitive
from cedr.model.history import HistoryRow, HistoryTable
from cedr.model.time import FOREVER
from cedr.testing.tables import history_table
from tests.model.strategies import Path, paths, times

STATED = """
| ID | Vs | Ve | Os | Oe | Cs | Ce | K  | Payload |
| e0 | 1  | ∞  | 1  | ∞  | 1  | ∞  | E0 | P1      |
"""


def test_cedr_time_and_key_do_not_count() -> None:
    """Definition 1.  Reading: R6."""
    other = STATED.replace("| 1  | ∞  | E0", "| 7  | 9  | F7")
    assert logically_equivalent_to(history_table(STATED), history_table(other), FOREVER)


def test_every_other_attribute_counts() -> None:
    """Definition 1.  Reading: R6."""
    for was, becomes in (("e0", "e1"), ("P1", "P2"), ("| 1  | ∞  | 1  |", "| 0  | ∞  | 1  |")):
        other = history_table(STATED.replace(was, becomes, 1))
        assert not logically_equivalent_to(history_table(STATED), other, FOREVER)


def test_root_time_and_contributors_count_as_references() -> None:
    """Definition 1, Section 3.3.1: cbt[] is "a sequence … of event references".  Reading: R6."""
    one, later = primitive("A", "a", 1), primitive("A", "a", 1, 9)
    rows = [
        HistoryRow(id="x", occurrence_start=1, root_time=1, contributors=contributors, payload=Payload())
        for contributors in ((one,), (later,), ())
    ]
    same, version, none = (HistoryTable((row,)) for row in rows)
    assert logically_equivalent_to(same, version, 5)
    assert not logically_equivalent_to(same, none, 5)


def test_key_stands_for_the_id_where_there_is_none() -> None:
    """Definition 1.  Reading: R6."""
    one, other = (history_table(f"| K | Os |\n| {key} | 1 |") for key in ("E0", "E1"))
    assert logically_equivalent_to(one, one, 5)
    assert not logically_equivalent_to(one, other, 5)


def test_rows_are_a_bag() -> None:
    """Definition 1: a table with a row twice is not the table with that row once."""
    once, twice = (
        history_table("| ID | Os | K |\n" + rows) for rows in ("| e | 1 | A |", "| e | 1 | A |\n| e | 1 | B |")
    )
    assert not logically_equivalent_to(once, twice, 5)


def test_at_forgets_what_ended_before() -> None:
    """Definition 1, "at": weak consistency may forget the past, middle may not.  Reading: R5."""
    long_gone = history_table("| ID | Os | Oe |\n| e0 | 1 | 3 |\n| e1 | 2 | ∞ |")
    forgotten = history_table("| ID | Os | Oe |\n| e1 | 2 | ∞ |")
    assert logically_equivalent_at(long_gone, forgotten, 4)
    assert not logically_equivalent_at(long_gone, forgotten, 3)
    assert not logically_equivalent_to(long_gone, forgotten, 4)


def test_where_levels_are_judged_valid_time_is_cut_too() -> None:
    """Definition 1 as Definitions 3 to 5 use it.  Reading: R5: Ve is cut at t like Oe, and at t wants Ve >= t."""
    said = history_table("| ID | Vs | Ve | Os |\n| e0 | 1 | ∞ | 1 |")
    shortened = history_table("| ID | Vs | Ve | Os |\n| e0 | 1 | 6 | 1 |")
    assert not logically_equivalent_to(said, shortened, 6)
    assert logically_equivalent_to(said, shortened, 6, valid_too=True)
    assert logically_equivalent_at(said, shortened, 6, valid_too=True)
    assert not logically_equivalent_to(said, shortened, 7, valid_too=True)
    assert logically_equivalent_at(HistoryTable(), shortened, 7, valid_too=True)


@given(paths(), times)
def test_any_retraction_path_of_one_state_is_equivalent(path: Path, time: int) -> None:
    """Definition 1: the order of arrival and the steps of retraction do not count.  Readings: R3, R5."""
    direct, winding = HistoryTable.from_messages(path.direct), HistoryTable.from_messages(path.winding)
    assert logically_equivalent_to(direct, winding, FOREVER)
    assert logically_equivalent_to(direct, winding, time)
    assert logically_equivalent_at(direct, winding, time)
    assert logically_equivalent_to(direct, winding, time, valid_too=True)
    assert logically_equivalent_at(direct, winding, time, valid_too=True)
