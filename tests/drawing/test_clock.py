"""Ticks on round times, as many as fit; the day is named once."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.drawing.clock import SIZE, Clock
from cedr.drawing.words import width
from cedr.model.time import DAY, FOREVER, HOUR, MINUTE, SECOND, parse_timestamp

NUMBERS, DATES = Clock(timestamps=False), Clock(timestamps=True)


def labels(start: str, end: str, room: float = 500) -> list[str]:
    ticks = DATES.ticks(parse_timestamp(start), parse_timestamp(end), room)
    return [f"{tick.label}|{tick.context}" for tick in ticks]


def test_times_are_timestamps_as_soon_as_one_is_far_from_zero() -> None:
    assert not Clock.of([1, -5, FOREVER]).timestamps
    assert Clock.of([1, parse_timestamp("2026-01-31")]).timestamps
    assert Clock.of([1], timestamps=True).timestamps
    assert not Clock.of([10**15], timestamps=False).timestamps


def test_numbers_have_ticks_of_one_two_five() -> None:
    assert [tick.label for tick in NUMBERS.ticks(-7, 34, 400)] == ["-5", "0", "5", "10", "15", "20", "25", "30"]
    assert [tick.label for tick in NUMBERS.ticks(0, 1, 400)] == ["0", "1"]
    assert [tick.label for tick in NUMBERS.ticks(0, 20_000, 200)] == ["0", "10,000", "20,000"]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ("2026-01-31T23:00", "2026-02-01T03:00", ["23:00|2026-01-31", "23:30|2026-01-31", "00:00|2026-02-01"]),
        ("2026-01-31T12:00:01", "2026-01-31T12:00:42", ["12:00:10|2026-01-31", "12:00:20|2026-01-31"]),
        ("2026-01-31T12:00:00", "2026-01-31T12:00:00.004", ["12:00:00.000|2026-01-31", "12:00:00.001|2026-01-31"]),
        ("2026-01-31T12:00:00", "2026-01-31T12:00:00.000004", ["12:00:00.000000|2026-01-31"]),
        ("2025-12-29T06:00", "2026-01-05", ["30 Dec|2025", "31 Dec|2025", "1 Jan|2026"]),
        ("2025-12-01", "2026-01-20", ["1 Dec|2025", "8 Dec|2025", "15 Dec|2025"]),
        ("2025-10-15", "2026-04-02", ["Nov|2025", "Dec|2025", "Jan|2026"]),
        ("1899-06-01", "1906-01-01", ["1900|", "1901|", "1902|"]),
        ("0100-06-01", "9000-01-01", ["1000|", "2000|", "3000|"]),
    ],
)
def test_timestamps_have_ticks_of_the_calendar(start: str, end: str, expected: list[str]) -> None:
    assert labels(start, end)[: len(expected)] == expected


def test_times_beyond_the_calendar_are_numbers() -> None:
    assert next(tick.label for tick in DATES.ticks(2**61, 2**62, 400)) == "3,000,000,000,000,000,000"


def test_spans_are_short() -> None:
    assert [DATES.span(d) for d in (7, 2_500, 3 * SECOND, 90 * SECOND, 3 * HOUR, 36 * HOUR, 400 * DAY)] == [
        "7 µs",
        "2.5 ms",
        "3 s",
        "1.5 min",
        "3 h",
        "1.5 d",
        "400 d",
    ]
    assert NUMBERS.span(MINUTE) == "60,000,000"


@given(
    start=st.integers(-(2**62), 2**62),
    length=st.one_of(st.integers(1, 1_000), st.integers(1, 2**62)),
    room=st.integers(300, 1_500),
    timestamps=st.booleans(),
)
def test_ticks_are_few_in_order_within_the_axis_and_do_not_touch(
    start: int, length: int, room: int, timestamps: bool
) -> None:
    ticks = Clock(timestamps).ticks(start, start + length, room)
    assert len(ticks) <= room / 26
    assert all(start <= tick.time <= start + length for tick in ticks)
    for before, after in pairwise(ticks):
        apart = (after.time - before.time) / length * room
        assert apart > (width(before.label, SIZE) + width(after.label, SIZE)) / 2
