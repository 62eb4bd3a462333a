"""Time, intervals and durations.

Paper: Section 2.  Reading: R1.  Time is a 64-bit integer: microseconds since the epoch for timestamps, plain
ticks in examples.  ``FOREVER`` is the largest value and absorbs: anything added to it stays ``FOREVER``.
All intervals are half-open, also where the paper writes "[1, 10]" (Figure 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

Time = int

FOREVER: Final[Time] = 2**63 - 1
"""The end of time, the paper's infinity."""

BEGINNING: Final[Time] = -(2**63)
"""The beginning of time: only ever the start of a belief (R9), never a time of an event."""

MICROSECOND, MILLISECOND, SECOND = 1, 1_000, 1_000_000
MINUTE, HOUR, DAY, WEEK = 60 * SECOND, 3_600 * SECOND, 86_400 * SECOND, 604_800 * SECOND

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def plus(time: Time, duration: int) -> Time:
    """``time + duration`` in 64 bits: saturating at both ends, absorbing at ``FOREVER``.

    >>> plus(3, 4), plus(FOREVER, -1) == FOREVER, plus(5, FOREVER) == FOREVER
    (7, True, True)
    """
    if FOREVER in (time, duration):
        return FOREVER
    moved = time + duration
    if BEGINNING <= moved <= FOREVER:  # as a rule, and operators ask this all the time
        return moved
    return FOREVER if moved > 0 else BEGINNING


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """A half-open interval ``[start, end)``."""

    start: Time
    end: Time

    @property
    def empty(self) -> bool:
        """Holds no instant."""
        return self.end <= self.start

    def holds(self, time: Time) -> bool:
        """Whether an instant lies in it."""
        return self.start <= time < self.end

    def meets(self, other: Interval) -> bool:
        """Paper: Definition 10.  ``[T1, T2]`` and ``[T1', T2']`` meet iff ``T2 = T1'``."""
        return self.end == other.start

    def intersect(self, other: Interval) -> Interval:
        """The instants in both; may be empty."""
        return Interval(max(self.start, other.start), min(self.end, other.end))


def format_time(time: Time) -> str:
    """A time as the paper writes it: a number, or ∞."""
    if time == FOREVER:
        return "∞"
    return "-∞" if time == BEGINNING else str(time)


def format_timestamp(time: Time) -> str:
    """A time as an ISO timestamp in UTC where it has one, else as a number.

    >>> format_timestamp(0)
    '1970-01-01 00:00:00Z'
    """
    try:
        moment = _EPOCH + timedelta(microseconds=time)
    except OverflowError:
        return format_time(time)
    return moment.replace(tzinfo=None).isoformat(sep=" ") + "Z"


FIRST_TIMESTAMP: Final[Time] = 10**14
"""From here on (1973) a number of microseconds is taken for a timestamp; tests and examples count in small ticks."""


def format_instant(time: Time) -> str:
    """A time in a message, where nobody knows its unit: a timestamp as soon as it is far enough from zero to be one.

    >>> format_instant(7), format_instant(1_767_225_600_000_000)
    ('7', '2026-01-01 00:00:00Z')
    """
    return format_timestamp(time) if FIRST_TIMESTAMP <= time < FOREVER - 1 else format_time(time)


def parse_timestamp(text: str) -> Time:
    """Microseconds of an ISO timestamp; without a zone it is UTC.  Raises ``ValueError``.

    >>> parse_timestamp('1970-01-01 00:00:01.5Z')
    1500000
    """
    moment = datetime.fromisoformat(text.strip())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)


_UNITS = ((WEEK, "week"), (DAY, "day"), (HOUR, "hour"), (MINUTE, "minute"), (SECOND, "second"), (MILLISECOND, "ms"))


def format_duration(duration: int) -> str:
    """A duration in its largest whole unit; small and odd ones as bare ticks.

    >>> format_duration(12 * HOUR), format_duration(MINUTE), format_duration(7), format_duration(FOREVER)
    ('12 hours', '1 minute', '7', 'FOREVER')
    """
    if duration == FOREVER:
        return "FOREVER"
    for size, name in _UNITS:
        if duration and duration % size == 0:
            count = duration // size
            return f"{count} {name}{'s' if name != 'ms' and count != 1 else ''}"
    return str(duration)
