"""EXTRACT, DATE_TRUNC and durations as text.  R1."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.calendar import EXTRACT_UNITS, TRUNCATE_UNITS, extract, moment, parse_duration, truncate
from cedr.model.time import BEGINNING, FOREVER, HOUR, format_duration, parse_timestamp
from tests.expression.strategies import dates, integers

SUNDAY = parse_timestamp("2026-02-01 13:14:15.678901Z")


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("YEAR", 2026),
        ("QUARTER", 1),
        ("MONTH", 2),
        ("WEEK", 5),
        ("DAY", 1),
        ("DOW", 0),
        ("DOY", 32),
        ("HOUR", 13),
        ("MINUTE", 14),
        ("SECOND", 15),
        ("MILLISECOND", 15_678),
        ("MICROSECOND", 15_678_901),
        ("EPOCH", SUNDAY / 1_000_000),
        ("year", 2026),
    ],
)
def test_extract(unit: str, expected: Any) -> None:
    assert extract(unit, SUNDAY) == expected


def test_every_unit_of_a_date() -> None:
    assert extract("EPOCH", date(1970, 1, 2)) == 86_400.0
    assert extract("HOUR", date(2026, 1, 31)) == 0
    assert all(extract(unit, date(2026, 12, 31)) is not None for unit in EXTRACT_UNITS)


@pytest.mark.parametrize("ticks", [FOREVER, BEGINNING, FOREVER - 1])
def test_what_is_on_no_calendar_has_no_parts(ticks: int) -> None:
    assert all(extract(unit, ticks) is None for unit in EXTRACT_UNITS)
    assert moment(ticks) is None


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("YEAR", "2026-01-01 00:00:00Z"),
        ("QUARTER", "2026-01-01 00:00:00Z"),
        ("MONTH", "2026-02-01 00:00:00Z"),
        ("WEEK", "2026-01-26 00:00:00Z"),
        ("DAY", "2026-02-01 00:00:00Z"),
        ("HOUR", "2026-02-01 13:00:00Z"),
        ("MINUTE", "2026-02-01 13:14:00Z"),
        ("SECOND", "2026-02-01 13:14:15Z"),
        ("MILLISECOND", "2026-02-01 13:14:15.678Z"),
        ("MICROSECOND", "2026-02-01 13:14:15.678901Z"),
    ],
)
def test_truncate(unit: str, expected: str) -> None:
    assert truncate(unit, SUNDAY) == parse_timestamp(expected)


@pytest.mark.parametrize(
    ("unit", "value", "expected"),
    [
        ("WEEK", date(2026, 2, 1), date(2026, 1, 26)),
        ("QUARTER", date(2026, 12, 31), date(2026, 10, 1)),
        ("HOUR", date(2026, 2, 1), date(2026, 2, 1)),
        ("YEAR", FOREVER, FOREVER),
        ("HOUR", -1, -HOUR),
        ("YEAR", FOREVER - 1, None),
        ("WEEK", date.min, date.min),
        ("WEEK", parse_timestamp("0001-01-01 00:00:00Z"), parse_timestamp("0001-01-01 00:00:00Z")),
        ("DOW", SUNDAY, None),
        (5, SUNDAY, None),
        ("DAY", "2026", None),
    ],
)
def test_truncate_edges(unit: Any, value: Any, expected: Any) -> None:
    assert truncate(unit, value) == expected


def test_extract_of_what_is_no_time() -> None:
    assert extract("DAY", "2026-01-31") is None
    assert extract(5, SUNDAY) is None
    assert extract("CENTURY", SUNDAY) is None


@given(st.sampled_from(TRUNCATE_UNITS), integers | dates)
def test_truncated_is_not_later_and_stays(unit: str, value: Any) -> None:
    once = truncate(unit, value)
    if once is not None:
        assert once <= value  # type: ignore[operator]  # of the same type as the value
        assert truncate(unit, once) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12 hours", 12 * HOUR),
        ("1.5 seconds", 1_500_000),
        (" 250ms ", 250_000),
        ("-3 days", -72 * HOUR),
        ("2 WEEKS", 14 * 24 * HOUR),
        ("7", 7),
        ("7 us", 7),
        ("forever", FOREVER),
        ("0.5", None),
        ("1 moon", None),
        ("hours", None),
        ("", None),
        ("9" * 50, None),
    ],
)
def test_parse_duration(text: str, expected: int | None) -> None:
    assert parse_duration(text) == expected


@given(integers)
def test_a_duration_is_read_as_it_is_written(ticks: int) -> None:
    assert parse_duration(format_duration(ticks)) == ticks
