"""Time, intervals and durations.  Reading: R1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.model.time import (
    BEGINNING,
    DAY,
    FOREVER,
    HOUR,
    MILLISECOND,
    MINUTE,
    SECOND,
    WEEK,
    Interval,
    format_duration,
    format_time,
    format_timestamp,
    parse_timestamp,
    plus,
)

instants = st.integers(BEGINNING, FOREVER)


def test_time_is_64_bits() -> None:
    """Reading: R1: FOREVER is the largest value."""
    assert (BEGINNING, FOREVER) == (-(2**63), 2**63 - 1)


@given(instants, instants)
def test_sums_stay_within_64_bits_and_forever_absorbs(time: int, duration: int) -> None:
    """Reading: R1."""
    total = plus(time, duration)
    assert BEGINNING <= total <= FOREVER
    if FOREVER in (time, duration):
        assert total == FOREVER
    elif BEGINNING <= time + duration <= FOREVER:
        assert total == time + duration


def test_intervals_are_half_open() -> None:
    """Reading: R1."""
    interval = Interval(1, 10)
    assert [interval.holds(time) for time in (0, 1, 9, 10)] == [False, True, True, False]
    assert not interval.empty
    assert Interval(3, 3).empty
    assert not Interval(3, 3).holds(3)
    assert interval.intersect(Interval(5, 20)) == Interval(5, 10)
    assert interval.intersect(Interval(10, 20)).empty


def test_times_are_written_as_the_paper_writes_them() -> None:
    assert [format_time(time) for time in (7, -7, FOREVER, BEGINNING)] == ["7", "-7", "∞", "-∞"]


def test_timestamps() -> None:
    """Reading: R1: microseconds since the epoch."""
    assert format_timestamp(1_500_000) == "1970-01-01 00:00:01.500000Z"
    assert format_timestamp(FOREVER) == "∞"
    assert format_timestamp(10**18) == str(10**18)
    assert parse_timestamp("1970-01-01 00:00:01") == parse_timestamp("1970-01-01T01:00:01+01:00") == SECOND
    with pytest.raises(ValueError, match="soon"):
        parse_timestamp("soon")


@given(st.integers(-(2**55), 2**55))
def test_a_timestamp_survives_being_written(time: int) -> None:
    assert parse_timestamp(format_timestamp(time)) == time


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0, "0"),
        (7, "7"),
        (SECOND, "1 second"),
        (90 * SECOND, "90 seconds"),
        (5 * MINUTE, "5 minutes"),
        (12 * HOUR, "12 hours"),
        (DAY, "1 day"),
        (2 * WEEK, "2 weeks"),
        (3 * MILLISECOND, "3 ms"),
        (FOREVER, "FOREVER"),
    ],
)
def test_durations(duration: int, text: str) -> None:
    assert format_duration(duration) == text
