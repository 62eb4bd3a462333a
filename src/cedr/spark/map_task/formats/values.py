"""Converts texts to values as Spark does: timestamps, dates, numbers.

Reading: R1 (times are microseconds).  Columns in ISO 8601 are converted as a whole; other texts one by one, by the
rules of Spark's CAST: months and days of one digit, missing parts, zones by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

INSTANT: Final = pa.timestamp("us", "UTC")
LOCAL: Final = pa.timestamp("us")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_TIMESTAMP: Final = re.compile(
    r"(?P<y>\d{4})(?:-(?P<mo>\d{1,2})(?:-(?P<d>\d{1,2})"
    r"(?:[ T](?P<h>\d{1,2})(?::(?P<mi>\d{1,2})(?::(?P<s>\d{1,2})(?:\.(?P<f>\d*))?(?P<zone>.*))?)?)?)?)?",
    re.ASCII,
)
_DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.ASCII)
_OFFSET: Final = re.compile(r"(?:UTC|GMT|UT)?(?P<sign>[+-])(?P<h>\d{1,2})(?::?(?P<m>\d{2})(?::?(?P<s>\d{2}))?)?")
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_ENDLESS: Final = {
    "NaN": "nan",
    **dict.fromkeys(("INF", "+INF", "Inf", "Infinity", "+Infinity"), "inf"),
    **dict.fromkeys(("-INF", "-Inf", "-Infinity"), "-inf"),
}


def instants(column: Any, zone: str) -> Any:
    """Convert texts to timestamps; texts without a zone are in ``zone``.  Raises ``ValueError`` if one is none."""
    try:
        return zoned(column.cast(LOCAL), zone)
    except pa.ArrowInvalid:
        pass
    try:
        return column.cast(INSTANT)
    except pa.ArrowInvalid:
        return one_by_one(column, lambda text: instant(text, zone), INSTANT)


def zoned(column: Any, zone: str) -> Any:
    """Convert local times of a zone to timestamps."""
    if zone in ("UTC", "Etc/UTC", "GMT", "Z"):
        return column.cast(INSTANT)
    try:
        return pc.assume_timezone(column, zone, ambiguous="earliest", nonexistent="raise").cast(INSTANT)
    except pa.ArrowInvalid:  # a local time that a zone skips is the next hour, as in Java
        return one_by_one(column, lambda time: _micros(time, zone_of(zone)), INSTANT)


def locals_of(column: Any) -> Any:
    """Convert texts to timestamps without a zone."""
    try:
        return column.cast(LOCAL)
    except pa.ArrowInvalid:
        return one_by_one(column, local, LOCAL)


def days(column: Any) -> Any:
    """Convert texts to dates."""
    try:
        return column.cast(pa.date32())
    except pa.ArrowInvalid:
        return one_by_one(column, day, pa.date32())


def joined(column: Any) -> Any:
    """A column in one chunk."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def decoded(column: Any) -> Any:
    """A column without a dictionary; the column of event types has one, and may also be an ID."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def one_by_one(column: Any, read: Callable[[Any], Any], of: pa.DataType) -> Any:
    """Convert each different value of a column once."""
    encoded = joined(column).dictionary_encode()
    found = pa.array([None if value is None else read(value) for value in encoded.dictionary.to_pylist()], of)
    return found.take(encoded.indices)


# -- one text ---------------------------------------------------------------------------------------------------------


def instant(text: str, zone: str) -> int:
    """Convert a text to microseconds since the epoch.

    >>> instant("1970-01-01 00:00:01.5+01:00", "UTC"), instant("1970-1-1", "America/New_York")
    (-3598500000, 18000000000)
    """
    time, named = _timestamp(text)
    return _micros(time, zone_of(named or zone))


def local(text: str) -> int:
    """Convert a text without a zone to microseconds since the epoch."""
    time, named = _timestamp(text)
    if named:
        message = f'"{text}" has a zone, and its column has none'
        raise ValueError(message)
    return _micros(time, UTC)


def day(text: str) -> date:
    """Convert a text to a date."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        message = f'"{text}" is not a date'
        raise ValueError(message)
    year, month, number = (int(part or 1) for part in match.groups())
    return date(year, month, number)


def whole(text: str, of: pa.DataType) -> int:
    """Convert a text to a whole number that fits its type."""
    if not _WHOLE.fullmatch(text):
        message = f'"{text}" is not a whole number'
        raise ValueError(message)
    value = int(text)
    bound = 1 << (of.bit_width - 1)
    if not -bound <= value < bound:
        message = f"{text} is too large for its column"
        raise ValueError(message)
    return value


def number(text: str) -> float:
    """Convert a text to a float."""
    if text not in _ENDLESS and not _NUMBER.fullmatch(text):
        message = f'"{text}" is not a number'
        raise ValueError(message)
    return float(_ENDLESS.get(text, text))


@lru_cache(maxsize=256)
def zone_of(name: str) -> tzinfo:
    """The zone with a name, or with an offset from UTC."""
    if name in ("Z", "UTC", "GMT", "UT"):
        return UTC
    match = _OFFSET.fullmatch(name)
    if match is None:
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            message = f'there is no time zone "{name}"'
            raise ValueError(message) from None
    parts = [int(match[part] or 0) for part in ("h", "m", "s")]
    distance = timedelta(hours=parts[0], minutes=parts[1], seconds=parts[2])
    return timezone(-distance if match["sign"] == "-" else distance)


def _timestamp(text: str) -> tuple[datetime, str]:
    """The local time in a text, and the zone that it names."""
    match = _TIMESTAMP.fullmatch(text.strip())
    if match is None:
        message = f'"{text}" is not a timestamp'
        raise ValueError(message)
    parts = [int(match[part] or default) for part, default in (("y", 0), ("mo", 1), ("d", 1))]
    clock = [int(match[part] or 0) for part in ("h", "mi", "s")]
    micros = int(((match["f"] or "") + "000000")[:6])
    time = datetime(parts[0], parts[1], parts[2], clock[0], clock[1], clock[2], micros, UTC)
    return time, (match["zone"] or "").strip()


def _micros(time: datetime, zone: tzinfo) -> int:
    return (time.replace(tzinfo=zone) - _EPOCH) // timedelta(microseconds=1)
