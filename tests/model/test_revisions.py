"""How far back events may be revised.  Reading: R37."""

from __future__ import annotations

from itertools import permutations

import pytest

from cedr.model.event import Event, primitive
from cedr.model.intake import Intake, rows_of
from cedr.model.schema import EventType, EventTypes
from cedr.model.stream import Message, Retract, insert
from cedr.model.time import FOREVER
from cedr.testing.difference import assert_same_table


def allowing(duration: int) -> EventTypes:
    return EventTypes({"S": EventType("S", revisable=duration)})


def version(vs: int, os: int, *, ve: int = FOREVER, oe: int = FOREVER, id_: str = "a") -> Event:
    return primitive("S", id_, vs, ve, occurrence_start=os, occurrence_end=oe)


def outcome(messages: list[Message], catalog: EventTypes) -> tuple[list[tuple[int, int, int]], list[Message]]:
    """Vs, Os, Oe of the rows and the messages that were too late; the same for every arrival order."""
    found = set()
    for arrival in permutations(messages):
        intake = Intake(catalog)
        for message in arrival:
            intake.receive(message)
        letters = [each for each in intake.dead_letters(final=True) if each.code == "revision-too-late"]
        rows = intake.rows().get("S", [])
        assert rows == rows_of([each.message for each in intake.accepted], catalog).get("S", [])
        late = frozenset(letter.message for letter in letters)
        found.add((tuple((e.valid_start, e.occurrence_start, e.occurrence_end) for e in rows), late))
    ((shown, late),) = found
    return list(shown), [message for message in messages if message in late]


@pytest.mark.parametrize(("os", "late"), [(10, False), (14, False), (15, False), (16, True)])
def test_a_modification_until_d_after_the_start(os: int, late: bool) -> None:
    """Reading: R37: Os <= Vs + d, here 10 + 5."""
    first, second = insert(version(10, 10 - 5)), insert(version(10, os))
    shown, too_late = outcome([first, second], allowing(5))
    assert too_late == ([second] if late else [])
    assert shown == ([(10, 5, FOREVER)] if late else [(10, 5, os), (10, os, FOREVER)])


@pytest.mark.parametrize(("os", "late"), [(15, False), (16, True)])
def test_a_statement_after_the_fact(os: int, late: bool) -> None:
    """Reading: R37: a first version with Os > Vs is a revision."""
    said = insert(version(10, os))
    shown, too_late = outcome([said], allowing(5))
    assert (shown, too_late) == (([], [said]) if late else ([(10, os, FOREVER)], []))


def test_undeclared_types_are_not_revisable() -> None:
    """Reading: R37: d = 0; an unknown stream likewise.  At the very Vs it is still in time."""
    said = [insert(version(10, 8)), insert(version(10, 10, ve=20)), insert(version(10, 11, ve=30))]
    for catalog in (allowing(0), EventTypes(), EventTypes(open=True)):
        shown, too_late = outcome(list(said), catalog)
        assert shown == [(10, 8, 10), (10, 10, FOREVER)]
        assert too_late == [said[2]]


def test_the_smallest_start_so_far_counts() -> None:
    """Reading: R37: the new version's Vs is included; a later Vs does not give more time."""
    moved_back = [insert(version(10, 2)), insert(version(4, 8))]
    assert outcome(list(moved_back), allowing(5))[1] == []
    assert outcome(list(moved_back), allowing(3))[1] == [moved_back[1]]
    moved_on = [insert(version(10, 2)), insert(version(30, 14)), insert(version(30, 17))]
    assert outcome(list(moved_on), allowing(5))[1] == [moved_on[2]]


def test_what_came_too_late_moves_no_bound() -> None:
    """Reading: R37: a dead letter counts as not sent, also for the versions after it."""
    said = [insert(version(10, 2)), insert(version(3, 9)), insert(version(10, 11))]
    shown, too_late = outcome(list(said), allowing(5))
    assert too_late == [said[1]]
    assert shown == [(10, 2, 11), (10, 11, FOREVER)]


@pytest.mark.parametrize(("oe", "late"), [(15, False), (16, True)])
def test_a_closing(oe: int, late: bool) -> None:
    """Reading: R37: by retraction, or stated with the row, which then stays open."""
    expected = [(10, 5, FOREVER if late else oe)]
    closing = Retract("K", occurrence_end=oe)
    shown, too_late = outcome([insert(version(10, 5), "K"), closing], allowing(5))
    assert (shown, too_late) == (expected, [closing] if late else [])
    stated = insert(version(10, 5, oe=oe))
    shown, too_late = outcome([stated], allowing(5))
    assert (shown, too_late) == (expected, [stated] if late else [])


def test_a_closing_is_judged_with_the_versions_before_it() -> None:
    """Reading: R37: the event once had an earlier Vs."""
    closing = Retract("L", occurrence_end=12)
    messages: list[Message] = [insert(version(4, 1)), insert(version(10, 6), "L"), closing]
    assert outcome(messages, allowing(8))[1] == []
    shown, too_late = outcome(messages, allowing(7))
    assert (shown, too_late) == ([(4, 1, 6), (10, 6, FOREVER)], [closing])


def test_of_several_closings_those_in_time_count() -> None:
    """Reading: R37: the late one counts as not sent, with all that it says."""
    both = Retract("K", occurrence_end=20, valid_end=30)
    messages: list[Message] = [insert(version(10, 5), "K"), both, Retract("K", occurrence_end=14)]
    shown, too_late = outcome(messages, allowing(5))
    assert (shown, too_late) == ([(10, 5, 14)], [both])


def test_a_late_closing_of_a_later_version_takes_its_whole_message_along() -> None:
    """Reading: R37: judged with the smaller Vs of the version before."""
    both = Retract("L", occurrence_end=12, valid_end=30)
    kept = Retract("L", valid_end=40)
    messages: list[Message] = [insert(version(4, 1)), insert(version(10, 6), "L"), both, kept]
    assert outcome(messages, allowing(7))[1] == [both]
    assert_same_table(
        rows_of(messages, allowing(7))["S"],
        """
        | ID | Vs | Ve | Os | Oe |
        | a  | 4  | ∞  | 1  | 6  |
        | a  | 10 | 40 | 6  | ∞  |
        """,
    )


def test_removal_and_shortening_are_no_revisions() -> None:
    """Reading: R37: a row that never was, or is valid for less long, is not a change of belief."""
    messages: list[Message] = [insert(version(10, 5), "K"), Retract("K", valid_end=40)]
    assert outcome(messages, allowing(0)) == ([(10, 5, FOREVER)], [])
    for removal in (Retract("K"), Retract("K", occurrence_end=5), Retract("K", valid_end=10)):
        assert outcome([messages[0], removal], allowing(0)) == ([], [])


def test_a_removal_makes_room() -> None:
    """Reading: R37: judged on the messages: a version that never was moves no bound."""
    early = insert(version(1, 1), "K")
    late = insert(version(10, 8))
    assert outcome([early, late], allowing(5))[1] == [late]
    assert outcome([early, late, Retract("K")], allowing(5)) == ([(10, 8, FOREVER)], [])


def test_times_before_and_at_zero() -> None:
    """Readings: R1, R37: zero is a time like others."""
    closing = Retract("K", occurrence_end=0)
    shown, too_late = outcome([insert(version(-5, -6), "K"), closing], allowing(2))
    assert (shown, too_late) == ([(-5, -6, FOREVER)], [closing])


def test_always_revisable() -> None:
    """Reading: R37: REVISABLE without FOR."""
    messages: list[Message] = [insert(version(1, 1)), insert(version(1, 10**9)), insert(version(2, 5, id_="b"))]
    assert outcome(messages, allowing(FOREVER))[1] == []


def test_nothing_may_be_left_of_a_stream() -> None:
    """Reading: R37: the pure function judges revisions too."""
    assert rows_of([insert(version(10, 16))], allowing(5)) == {}
