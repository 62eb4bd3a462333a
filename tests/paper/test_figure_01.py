"""Figure 1: the conceptual representation of a stream, with modifications.  Readings: R1, R2, R4, R9, R10."""

from __future__ import annotations

import pytest

from cedr.model.belief import beliefs, first_occurrence, latest_belief, plain, versions
from cedr.model.event import Event, primitive
from cedr.model.history import HistoryTable
from cedr.model.intake import Intake, rows_of
from cedr.model.schema import EventType, EventTypes
from cedr.model.stream import Insert, Retract, insert
from cedr.model.time import BEGINNING, FOREVER
from cedr.testing.difference import assert_same_table
from cedr.testing.tables import events_table, history_table

FIGURE_1 = """
| ID | $V_s$ | $V_e$ | $O_s$ | $O_e$ | (Payload) |
|----|-------|-------|-------|-------|-----------|
| e0 | 1 | ∞ | 1 | 2 | … |
| e0 | 1 | 10 | 2 | 3 | … |
| e0 | 1 | 5 | 3 | ∞ | … |
| e1 | 4 | 9 | 3 | ∞ | … |
"""

REVISABLE = EventTypes({"S": EventType("S", revisable=FOREVER)})


def said_at_once() -> list[Insert]:
    """The scenario as the text tells it: at 1, 2 and 3 something is said; nobody closes anything by hand (R4)."""
    rows = (
        primitive("S", "e0", 1),
        primitive("S", "e0", 1, 10, occurrence_start=2),
        primitive("S", "e0", 1, 5, occurrence_start=3),
        primitive("S", "e1", 4, 9, occurrence_start=3),
    )
    return [insert(row) for row in rows]


def test_the_insert_is_the_version_with_the_smallest_occurrence_start() -> None:
    """Figure 1, Section 2: "An insert event … is the tuple with minimum occurrence start time value"."""
    of_event = versions(events_table(FIGURE_1, "S"))
    assert [event.occurrence_start for event in of_event["e0"]] == [1, 2, 3]
    assert [event.occurrence_start for event in of_event["e1"]] == [3]
    assert first_occurrence(events_table(FIGURE_1, "S")) == {"e0": 1, "e1": 3}


@pytest.mark.parametrize(
    ("instant", "believed"),
    [
        (1, {("e0", 1, FOREVER), ("e1", 4, 9)}),
        (2, {("e0", 1, 10), ("e1", 4, 9)}),
        (3, {("e0", 1, 5), ("e1", 4, 9)}),
    ],
)
def test_what_is_believed_at_each_time(instant: int, believed: set[tuple[str, int, int]]) -> None:
    """Figure 1.  Reading: R9: e1 was stated in time (3 <= 4), so that it comes was never disbelieved."""
    held = [belief.event for belief in beliefs(events_table(FIGURE_1, "S")) if belief.holds(instant)]
    assert {(event.id, event.valid_start, event.valid_end) for event in held} == believed


def test_first_versions_stated_in_time_are_believed_from_the_beginning() -> None:
    """Figure 1.  Reading: R9."""
    found = [(b.event.id, b.start, b.end) for b in beliefs(events_table(FIGURE_1, "S"))]
    assert found == [("e0", BEGINNING, 2), ("e0", 2, 3), ("e0", 3, FOREVER), ("e1", BEGINNING, FOREVER)]


def test_modifications_close_the_versions_before_them() -> None:
    """Figure 1 from the messages of its story, in any order.  Reading: R4."""
    messages = said_at_once()
    for arrival in (messages, messages[::-1]):
        assert_same_table(rows_of(arrival, REVISABLE)["S"], FIGURE_1)
        assert_same_table(HistoryTable.from_messages(arrival).closed(), FIGURE_1)


def test_closing_by_hand_says_the_same() -> None:
    """Figure 1, Readings: R3, R4: a provider may also close the earlier version itself."""
    intake = Intake(REVISABLE)
    first, second, third, other = said_at_once()
    by_hand = (Retract(first.lineage_key, occurrence_end=2), Retract(second.lineage_key, occurrence_end=3))
    for message in (first, by_hand[0], second, by_hand[1], third, other):
        assert intake.receive(message) is None
    assert_same_table(intake.rows()["S"], FIGURE_1)


def test_the_latest_belief() -> None:
    """Figure 1.  Reading: R10: the rows with Oe = FOREVER."""
    assert_same_table(
        latest_belief(events_table(FIGURE_1, "S")),
        """
        | ID | Vs | Ve | Os | Oe |
        | e0 | 1  | 5  | 3  | ∞  |
        | e1 | 4  | 9  | 3  | ∞  |
        """,
    )


def test_a_stream_with_modifications_is_not_plain() -> None:
    """Figure 1.  Reading: R9."""
    assert not plain(events_table(FIGURE_1, "S"))


def test_all_intervals_are_half_open() -> None:
    """Figure 1 writes "[1, 10]" in its text and 10 in the table.  Reading: R1: 10 is not in it."""
    modified = events_table(FIGURE_1, "S")[1]
    assert modified.valid.holds(9)
    assert not modified.valid.holds(10)


def test_the_table_is_bitemporal() -> None:
    """Figure 1: (ID, Vs, Ve, Os, Oe, Payload), no CEDR time.  Reading: R2: Rt = Vs, no contributors."""
    table = history_table(FIGURE_1)
    assert all(row.cedr_start is None and row.lineage_key is None for row in table)
    first: Event = table.events("S")[0]
    assert (first.root_time, first.contributors) == (1, ())
