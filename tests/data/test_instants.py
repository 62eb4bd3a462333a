"""Columns of times.  Readings: R1, R50."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.data.instants import Read, read_times
from cedr.model.time import parse_timestamp

NOON = parse_timestamp("2026-01-31T12:00:00Z")


def read(values: Any, of: pa.DataType | None = None, **words: Any) -> Read:
    options = {"unit": None, "form": None, "zone": "UTC", **words}
    truncate = options.pop("truncate", False)
    found = read_times(pa.array(values, of), options["unit"], options["form"], options["zone"], truncate=truncate)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T12:00:00Z",
        "2026-01-31 12:00:00",
        "2026-01-31T12:00:00.000",
        "2026-01-31 12:00",
        "2026-01-31T14:00:00+02:00",
        "2026-01-31T14:00:00+0200",
        "2026-01-31T14:00:00+02",
        "2026-01-31 12:00:00 UTC",
        "2026-01-31T12:00:00z",
        " 2026-01-31T12:00:00Z ",
        "2026-01-31T12:00:00.000000000Z",
    ],
)
def test_iso_timestamps_are_read_however_they_are_written(text: str) -> None:
    assert read([text]).times.tolist() == [NOON]
    assert read([text, "2026-01-31T12:00:00Z", "2026-01-31 12:00:00"]).times.tolist() == [NOON] * 3


def test_zones_may_be_mixed_and_those_without_one_are_counted() -> None:
    found = read(["2026-01-31T12:00:00Z", "2026-01-31T13:00:00+01:00", "2026-01-31 13:00:00"], zone="Europe/Berlin")
    assert found.times.tolist() == [NOON] * 3
    assert found.zoneless == 1


def test_far_years_are_times_too() -> None:
    assert read(["9999-12-31T00:00:00Z", "x"]).times[0] == parse_timestamp("9999-12-31T00:00:00Z")


@pytest.mark.parametrize(("unit", "factor"), [("s", 1_000_000), ("ms", 1_000), ("us", 1), ("ticks", 1), (None, 1)])
def test_whole_numbers_have_the_declared_unit(unit: str | None, factor: int) -> None:
    """R50"""
    for values in ([3, 5], ["3", "5"], [3.0, 5.0]):
        found = read(values, unit=unit)
        assert found.times.tolist() == [3 * factor, 5 * factor]
        assert found.timestamps == (unit not in (None, "ticks"))


def test_seconds_with_a_fraction_are_read_to_the_microsecond() -> None:
    assert read([1.5, 2.000001], unit="s").times.tolist() == [1_500_000, 2_000_001]
    assert read_times(pa.array([1.5]), None, None, "UTC") is None


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1_000, 1_500], pa.timestamp("ns")),
        pa.array(["1970-01-01 00:00:00.000001000", "1970-01-01 00:00:00.000001500"]),
        pa.array(["1970-01-01T00:00:00.000001Z", "1970-01-01T00:00:00.000001500Z"]),
    ],
)
def test_nothing_is_rounded_unless_it_is_asked_for(values: pa.Array) -> None:
    """R50"""
    kept = read(values)
    assert kept.missing is not None
    assert (kept.times[0], kept.missing.tolist(), kept.fine) == (1, [False, True], 1)
    assert read(values, truncate=True).times.tolist() == [1, 1]


def test_nanoseconds_as_whole_numbers() -> None:
    """R50"""
    found = read([1_000, 1_500, None], unit="ns")
    assert found.missing is not None
    assert (found.times[0], found.missing.tolist(), found.fine) == (1, [False, True, True], 1)


def test_a_format_of_ones_own() -> None:
    found = read(["31.01.2026 12:00", "soon"], form="%d.%m.%Y %H:%M")
    assert found.missing is not None
    assert (found.times[0], found.missing.tolist()) == (NOON, [False, True])
    assert read(["31.01.2026 13:00"], form="%d.%m.%Y %H:%M", zone="Europe/Berlin").times.tolist() == [NOON]


def test_typed_times() -> None:
    moment = datetime(2026, 1, 31, 12, tzinfo=UTC)
    for of in (pa.timestamp("s", "UTC"), pa.timestamp("ms"), pa.timestamp("us", "Asia/Tokyo"), pa.timestamp("ns")):
        assert read([moment], of).times.tolist() == [NOON]
    assert read([date(2026, 1, 31)]).times.tolist() == [NOON - 12 * 3_600_000_000]
    assert read([datetime(2026, 1, 31, 13)], pa.timestamp("us"), zone="Europe/Berlin").times.tolist() == [NOON]  # noqa: DTZ001


def test_what_is_no_time_is_none() -> None:
    assert read_times(pa.array([True]), None, None, "UTC") is None
    assert read(["soon", None, ""]).missing is not None
    assert read([None, None]).missing is not None


@given(st.lists(st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1)), min_size=1), st.booleans())  # noqa: DTZ001
def test_texts_are_read_as_python_reads_them(moments: list[datetime], zoned: bool) -> None:
    texts = [moment.isoformat() + ("Z" if zoned and place % 2 else "") for place, moment in enumerate(moments)]
    assert np.array_equal(read(texts).times, [parse_timestamp(text) for text in texts])
