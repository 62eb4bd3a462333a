"""Versions and beliefs.  Readings: R4, R9, R10."""

from __future__ import annotations

from hypothesis import given

from cedr.model.belief import Belief, beliefs, first_occurrence, latest_belief, plain, versions
from cedr.model.event import Event, primitive
from cedr.model.time import BEGINNING, FOREVER, Interval
from tests.model.strategies import tables, times


def test_stated_after_the_fact_is_a_change_of_belief() -> None:
    """Reading: R9: first Os > Vs."""
    event = primitive("A", "a", 1, occurrence_start=4)
    assert beliefs([event]) == [Belief(4, FOREVER, event)]
    assert beliefs([event])[0].interval == Interval(4, FOREVER)
    assert not plain([event])


def test_stated_at_its_very_start_is_stated_in_time() -> None:
    """Reading: R9: Os <= Vs."""
    assert beliefs([primitive("A", "a", 4)])[0].start == BEGINNING


def test_a_closed_event_is_believed_until_its_end() -> None:
    """Readings: R4, R9: a provider may close an event for good, or leave a gap between two versions."""
    first = primitive("A", "a", 1, occurrence_end=3)
    second = primitive("A", "a", 1, 9, occurrence_start=5)
    assert [(b.start, b.end) for b in beliefs([second, first])] == [(BEGINNING, 3), (5, FOREVER)]
    assert latest_belief([first]) == []
    assert not plain([first])


def test_only_the_first_version_reaches_back() -> None:
    """Reading: R9: a modification stated before the new Vs is still a change of belief."""
    rows = [primitive("A", "a", 1), primitive("A", "a", 20, occurrence_start=5)]
    assert [(b.start, b.end) for b in beliefs(rows)] == [(BEGINNING, 5), (5, FOREVER)]


def test_first_occurrence_is_the_insert_in_any_order() -> None:
    """Reading: R10."""
    rows = [primitive("A", "a", 1, occurrence_start=os) for os in (5, 2, 9)]
    assert first_occurrence(rows) == {"a": 2}


def test_plain_streams() -> None:
    """Reading: R9: one version per event, stated in time, never closed."""
    assert plain([])
    assert plain([primitive("A", "a", 1), primitive("A", "b", 1, 5)])
    assert not plain([primitive("A", "a", 1), primitive("A", "a", 1, 5, occurrence_start=1)])


@given(tables(), times)
def test_at_each_instant_at_most_one_version_is_believed(rows: list[Event], instant: int) -> None:
    """Readings: R4, R9."""
    held = [belief.event.id for belief in beliefs(rows) if belief.holds(instant)]
    assert len(held) == len(set(held))


@given(tables())
def test_closing_versions_is_idempotent(rows: list[Event]) -> None:
    """Reading: R4."""
    once = versions(rows)
    assert versions([event for of_event in once.values() for event in of_event]) == once
    assert {event.id for event in latest_belief(rows)} <= set(once)
