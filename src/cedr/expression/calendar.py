"""Parts of times and dates: EXTRACT, DATE_TRUNC, and durations as text.  All in UTC.

Reading: R1.  A TIMESTAMP is microseconds since the epoch.  Calendar units exist for the years 1 to 9999; outside of
them, and for ``FOREVER``, a part is NULL.  Weeks are those of ISO 8601: they start on Monday.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Final

from cedr.expression.values import instant
from cedr.model.event import Value
from cedr.model.time import DAY, FOREVER, HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND, WEEK

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_PARTS: Final[Mapping[str, Callable[[datetime], int | float]]] = {
    "YEAR": lambda t: t.year,
    "QUARTER": lambda t: (t.month + 2) // 3,
    "MONTH": lambda t: t.month,
    "WEEK": lambda t: t.isocalendar().week,
    "DAY": lambda t: t.day,
    "DOW": lambda t: t.isoweekday() % 7,
    "DOY": lambda t: t.timetuple().tm_yday,
    "HOUR": lambda t: t.hour,
    "MINUTE": lambda t: t.minute,
    "SECOND": lambda t: t.second,
    "MILLISECOND": lambda t: t.second * 1_000 + t.microsecond // 1_000,
    "MICROSECOND": lambda t: t.second * 1_000_000 + t.microsecond,
    "EPOCH": lambda t: instant(t) / SECOND,
}
EXTRACT_UNITS: Final = tuple(_PARTS)
"""What EXTRACT gives; all INTEGER but EPOCH, the seconds since 1970 as FLOAT."""

_TICKS: Final = {"DAY": DAY, "HOUR": HOUR, "MINUTE": MINUTE, "SECOND": SECOND}
_SMALL: Final[Mapping[str, int]] = {**_TICKS, "MILLISECOND": MILLISECOND, "MICROSECOND": MICROSECOND}
_LARGE: Final[Mapping[str, Callable[[date], date]]] = {
    "YEAR": lambda d: d.replace(month=1, day=1),
    "QUARTER": lambda d: d.replace(month=(d.month - 1) // 3 * 3 + 1, day=1),
    "MONTH": lambda d: d.replace(day=1),
    "WEEK": lambda d: d - timedelta(days=d.weekday()),
}
TRUNCATE_UNITS: Final = (*_LARGE, *_SMALL)
"""What DATE_TRUNC cuts to."""


def moment(ticks: int) -> datetime | None:
    """The date and time of a TIMESTAMP, or None outside of the years 1 to 9999."""
    try:
        return _EPOCH + timedelta(microseconds=ticks)
    except OverflowError:
        return None


def midnight(day: date) -> int:
    """The TIMESTAMP at which a date begins."""
    return instant(datetime.combine(day, time(), UTC))


def extract(unit: Value, value: Value) -> Value:
    """A part of a timestamp or date; NULL where it has none.

    >>> extract("HOUR", 3 * HOUR + 5), extract("YEAR", date(2026, 1, 31)), extract("YEAR", FOREVER)
    (3, 2026, None)
    """
    part = _PARTS.get(unit.upper()) if type(unit) is str else None
    if type(value) is date:
        value = midnight(value)
    found = moment(value) if type(value) is int else None
    return None if part is None or found is None else part(found)


def truncate(unit: Value, value: Value) -> Value:
    """The start of the unit that a timestamp or date lies in; FOREVER stays FOREVER.

    >>> truncate("HOUR", 3 * HOUR + 5) == 3 * HOUR, truncate("MONTH", date(2026, 1, 31))
    (True, datetime.date(2026, 1, 1))
    """
    name = unit.upper() if type(unit) is str else ""
    if name not in TRUNCATE_UNITS or type(value) not in (int, date):
        return None
    if type(value) is date:
        return _truncated_date(name, value)
    return FOREVER if value == FOREVER else _truncated_ticks(name, value)  # type: ignore[arg-type]  # an int by now


def _truncated_date(unit: str, day: date) -> date:
    return (
        _LARGE[unit](day) if unit in _LARGE else day
    )  # the first day of the year 1 is a Monday: no week starts before


def _truncated_ticks(unit: str, ticks: int) -> int | None:
    if unit in _SMALL:
        return ticks // _SMALL[unit] * _SMALL[unit]
    found = moment(ticks)
    return None if found is None else midnight(_truncated_date(unit, found.date()))


_DURATION = re.compile(r"\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*([a-zµμ]+)?\s*", re.IGNORECASE)
_UNITS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("week", "weeks", "w"), WEEK),
    **dict.fromkeys(("day", "days", "d"), DAY),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "h"), HOUR),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), MINUTE),
    **dict.fromkeys(("second", "seconds", "sec", "secs", "s"), SECOND),
    **dict.fromkeys(("millisecond", "milliseconds", "millis", "ms"), MILLISECOND),
    **dict.fromkeys(("microsecond", "microseconds", "micros", "us", "µs", "μs"), MICROSECOND),
}


def parse_duration(text: str) -> int | None:
    """A duration as the language writes it, or None where the text is none or is no whole number of ticks.

    >>> parse_duration("1.5 seconds"), parse_duration("7"), parse_duration("1 moon")
    (1500000, 7, None)
    """
    if text.strip().upper() == "FOREVER":
        return FOREVER
    found = _DURATION.fullmatch(text)
    size = _UNITS.get((found[2] or "us").lower()) if found else None
    if found is None or size is None or len(found[1]) > 40:
        return None
    ticks = Fraction(Decimal(found[1])) * size
    return int(ticks) if ticks.denominator == 1 else None
