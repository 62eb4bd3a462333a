"""History tables and their forms.  Paper: Sections 3.3.2 and 4.  Readings: R3, R4, R5, R7, R24."""

from __future__ import annotations

import pytest
from hypothesis import given

from cedr.model.event import Event, Payload, primitive
from cedr.model.history import HistoryRow, HistoryTable
from cedr.model.stream import Guarantee, Message, Retract, insert
from cedr.model.time import FOREVER
from cedr.testing.difference import assert_same_table
from cedr.testing.tables import history_table
from tests.model.strategies import Path, paths, tables, times


def test_reduction_keeps_the_smallest_of_each_end() -> None:
    """Reading: R5: the smallest Oe and the smallest Ve of a K, also from different rows."""
    table = history_table("""
        | K  | Vs | Ve | Os | Oe | Cs |
        | E0 | 1  | 9  | 1  | ∞  | 1  |
        | E0 | 1  | 9  | 1  | 5  | 2  |
        | E0 | 1  | 4  | 1  | ∞  | 3  |
    """)
    assert_same_table(table.reduced(), "| K | Vs | Ve | Os | Oe |\n| E0 | 1 | 4 | 1 | 5 |")


def test_a_row_whose_valid_end_was_retracted_to_its_start_is_gone() -> None:
    """Reading: R5: it never was; a row inserted so is a detection and stays."""
    table = history_table("""
        | K  | Vs | Ve | Os | Oe | Cs |
        | E0 | 3  | 9  | 3  | ∞  | 1  |
        | E0 | 3  | 3  | 3  | ∞  | 2  |
        | E1 | 5  | 5  | 5  | ∞  | 3  |
    """)
    assert [row.lineage_key for row in table.reduced()] == ["E1"]


def test_without_key_rows_are_grouped_by_id_and_occurrence_start() -> None:
    """Reading: R3: K defaults to (ID, Os); a row with neither stands for itself."""
    keyless = history_table("| ID | Os | Oe |\n| e0 | 1 | 9 |\n| e0 | 1 | 4 |\n| e0 | 2 | 9 |")
    assert [row.occurrence_end for row in keyless.reduced()] == [4, 9]
    nameless = history_table("| Os | Oe |\n| 1 | 9 |\n| 1 | 4 |")
    assert nameless.reduced() == nameless


def test_truncation_drops_what_starts_later() -> None:
    """Reading: R5: a row with Os = t stays."""
    table = history_table("| K | Os | Oe |\n| E0 | 1 | 9 |\n| E1 | 3 | ∞ |\n| E2 | 4 | ∞ |")
    assert_same_table(table.canonical_to(3), "| K | Os | Oe |\n| E0 | 1 | 3 |\n| E1 | 3 | 3 |")


def test_truncation_of_valid_time_never_ends_before_the_start() -> None:
    """Reading: R5: a row stated before it is valid."""
    table = history_table("| ID | Vs | Ve | Os |\n| e0 | 8 | 20 | 1 |")
    assert_same_table(table.canonical_to(3, valid_too=True), "| ID | Vs | Ve | Os |\n| e0 | 8 | 8 | 1 |")
    bare = history_table("| ID | Os |\n| e0 | 1 |")
    assert bare.canonical_at(3, valid_too=True) == bare.canonical_at(3)


def test_closing_versions_of_one_id() -> None:
    """Reading: R4: at its own Oe or at the next Os; other IDs, and rows without one, are left alone."""
    table = history_table("""
        | ID | Os | Oe | K  |
        | e0 | 5  | ∞  | E2 |
        | e0 | 1  | ∞  | E0 |
        | e0 | 3  | 4  | E1 |
        | e1 | 2  | ∞  | E3 |
        |    | 2  | ∞  | E4 |
        |    | 3  | ∞  | E5 |
    """)
    assert [row.occurrence_end for row in table.closed()] == [FOREVER, 3, 4, FOREVER, FOREVER, FOREVER]


def test_as_of() -> None:
    """Reading: R24: what the stream said at a CEDR time; a table without CEDR time has said it all."""
    table = history_table("| K | Os | Cs |\n| E0 | 1 | 1 |\n| E1 | 2 | 4 |")
    assert [len(table.as_of(time)) for time in (0, 1, 3, 4)] == [0, 1, 1, 2]
    bitemporal = history_table("| ID | Os |\n| e0 | 1 |")
    assert bitemporal.as_of(-5) == bitemporal


def test_shredding() -> None:
    """Paper: Section 3.3.2: a row of Oe - Os instants becomes that many rows, alike in all else."""
    table = history_table("| ID | Vs | Ve | Os | Oe |\n| e0 | 1 | ∞ | 1 | 4 |\n| e1 | 9 | ∞ | 5 | ∞ |")
    assert_same_table(
        table.shredded(horizon=7),
        """
        | ID | Vs | Ve | Os | Oe |
        | e0 | 1  | ∞  | 1  | 2  |
        | e0 | 1  | ∞  | 2  | 3  |
        | e0 | 1  | ∞  | 3  | 4  |
        | e1 | 9  | ∞  | 5  | 6  |
        | e1 | 9  | ∞  | 6  | 7  |
        """,
    )


def test_sync_of_each_kind_of_retraction() -> None:
    """Reading: R7: removal Os, otherwise the new Oe, or max(Os, the new Ve); of both the smaller."""
    table = history_table("""
        | K  | Vs | Ve | Os | Oe | Cs |
        | E0 | 0  | 9  | 3  | ∞  | 1  |
        | E0 | 0  | 8  | 3  | ∞  | 2  |
        | E0 | 0  | 2  | 3  | ∞  | 3  |
        | E0 | 0  | 2  | 3  | 7  | 4  |
        | E0 | 0  | 1  | 3  | 6  | 5  |
        | E0 | 0  | 0  | 3  | 6  | 6  |
        | E1 | 0  | 9  | 4  | 9  | 7  |
        | E1 | 0  | 9  | 4  | 4  | 8  |
        | E1 | 0  | 9  | 4  | 4  | 9  |
    """)
    assert [row.sync for row in table.annotated()] == [3, 8, 3, 7, 3, 3, 4, 4, 4]


def test_annotation_goes_by_cedr_time_not_by_place() -> None:
    """Reading: R7: the insert is the first row of its K in CEDR time; rows without K or ID are inserts."""
    table = history_table("| K | Os | Oe | Cs |\n| E0 | 1 | 5 | 2 |\n| E0 | 1 | ∞ | 1 |")
    assert [row.sync for row in table.annotated()] == [5, 1]
    assert [row.sync for row in history_table("| Os | Cs |\n| 2 | 1 |\n| 2 | 2 |").annotated()] == [2, 2]


def test_rows_from_messages() -> None:
    """Readings: R3, R41: guarantees make no row, removals end at Os, a retraction before its insert waits for it."""
    a, b = primitive("A", "a", 1, payload={"x": 1}), primitive("B", "b", 2, 9)
    messages: list[Message] = [
        Retract("KB", valid_end=5),
        insert(a, "KA"),
        Guarantee(1),
        insert(b, "KB"),
        Retract("KA"),
        Retract("KC"),
    ]
    assert_same_table(
        HistoryTable.from_messages(messages),
        """
        | ID | K  | Vs | Ve | Os | Oe | Cs | Ce | Rt | Payload |
        | a  | KA | 1  | ∞  | 1  | ∞  | 2  | 5  | 1  | x=1     |
        | b  | KB | 2  | 9  | 2  | ∞  | 4  | 4  | 2  |         |
        | b  | KB | 2  | 5  | 2  | ∞  | 4  | ∞  | 2  |         |
        | a  | KA | 1  | ∞  | 1  | 1  | 5  | ∞  | 1  | x=1     |
        """,
    )
    only_b = HistoryTable.from_messages(messages, stream="B")
    assert {row.id for row in only_b} == {"b"}


def test_rows_without_any_start_say_so() -> None:
    with pytest.raises(ValueError, match="needs Os or Vs"):
        HistoryTable((HistoryRow(id="e0"),)).reduced()


def test_rows_as_events() -> None:
    """Reading: R2: defaults for what a table does not show; K stands for the ID."""
    (event,) = HistoryTable((HistoryRow(lineage_key="E0", valid_start=4, payload=Payload({"x": 1})),)).events("A")
    assert event == primitive("A", "E0", 4, payload={"x": 1})
    (event,) = HistoryTable((HistoryRow(id="e", occurrence_start=4, occurrence_end=6, root_time=2),)).events("A")
    assert (event.valid_start, event.valid_end, event.occurrence_end, event.root_time) == (4, 6, 6, 2)
    with pytest.raises(ValueError, match="needs an ID"):
        HistoryRow(valid_start=1).event("A")


@given(tables())
def test_events_and_rows_say_the_same(events: list[Event]) -> None:
    """Reading: R2."""
    assert HistoryTable.from_events(events).events("S") == events


@given(paths())
def test_reduction_is_idempotent(path: Path) -> None:
    """Reading: R5."""
    reduced = HistoryTable.from_messages(path.winding).reduced()
    assert reduced.reduced() == reduced


@given(paths(), times, times)
def test_canonical_tables_are_prefixes_of_each_other(path: Path, one: int, other: int) -> None:
    """Reading: R5: the canonical table to t is all one needs to know for every time before t."""
    earlier, later = sorted((one, other))
    table = HistoryTable.from_messages(path.winding)
    for valid_too in (False, True):
        cut = table.canonical_to(later, valid_too=valid_too).truncated_to(earlier, valid_too=valid_too)
        assert cut == table.canonical_to(earlier, valid_too=valid_too)
        assert set(table.canonical_at(later, valid_too=valid_too)) <= set(
            table.canonical_to(later, valid_too=valid_too)
        )


@given(paths(), times)
def test_the_union_of_the_shreds_is_the_row(path: Path, horizon: int) -> None:
    """Paper: Section 3.3.2: "the union of these … intervals is [Os, Oe)"."""
    table = HistoryTable.from_messages(path.winding)
    shreds = table.shredded(horizon)
    assert all(shred.occurrence.end == shred.occurrence.start + 1 for shred in shreds)
    instants = {(shred.lineage_key, shred.occurrence.start) for shred in shreds}
    assert len(instants) == len(shreds)
    assert instants == {
        (row.lineage_key, instant)
        for row in table.canonical_to(horizon)
        for instant in range(row.occurrence.start, row.occurrence.end)
    }
