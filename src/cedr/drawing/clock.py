"""How times are written, and the ticks of the axis: numbers, or timestamps in UTC that name the day once.

Reading: R1 (a time is a number of microseconds since the epoch, or a plain tick).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise

from cedr.drawing.words import width
from cedr.model.time import DAY, FOREVER, HOUR, MILLISECOND, MINUTE, SECOND, Time, format_time, format_timestamp

FIRST_TIMESTAMP = 10**14
"""From here on (1973) a number is taken for a timestamp, as in the tables of ``cedr eval``."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = (datetime(2, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_LAST = (datetime(9998, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONDAY = 4 * DAY
"""The first Monday after the epoch."""
_SHORTEST_MONTH = 28 * DAY

SIZE, GAP = 11.0, 26.0
"""The size of tick labels, and the least room between two of them."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on the axis; ``context`` is what the label leaves out, such as the day."""

    time: Time
    label: str
    context: str = ""


@dataclass(frozen=True, slots=True)
class Clock:
    """Numbers or timestamps."""

    timestamps: bool

    @classmethod
    def of(cls, times: Iterable[Time], timestamps: bool | None = None) -> Clock:  # noqa: FBT001 - passed on
        """As asked for; unless asked, timestamps as soon as one time is far enough from zero to be one."""
        chosen = any(FIRST_TIMESTAMP <= time < FOREVER for time in times) if timestamps is None else timestamps
        return cls(chosen)

    def show(self, time: Time) -> str:
        """A time as text; ∞ for FOREVER."""
        return format_timestamp(time) if self.timestamps and time != FOREVER else format_time(time)

    def span(self, duration: int) -> str:
        """A length of time for the eye, such as 3 min or 12 s; in ticks it is a number."""
        if not self.timestamps:
            return f"{duration:,}"
        for size, unit in ((DAY, "d"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s"), (MILLISECOND, "ms")):
            if duration >= size:
                return f"{duration / size:,.1f}".removesuffix(".0") + f" {unit}"
        return f"{duration} µs"

    @property
    def unit(self) -> str:
        """What the axis counts in."""
        return "UTC" if self.timestamps else "ticks"

    def ticks(self, start: Time, end: Time, room: float) -> list[Tick]:
        """As many ticks as fit on an axis of some pixels, on round times."""
        dated = self.timestamps and start > _FIRST and end < _LAST
        pixels = room / max(1, end - start)
        ticks: list[Tick] = []
        for grid in _of_dates() if dated else _of_numbers():
            if grid.least * pixels < GAP:
                continue
            ticks = [grid.tick(time) for time in grid.times(start, end)]
            if _fits(ticks, pixels):
                break
        return ticks


@dataclass(frozen=True, slots=True)
class _Grid:
    """A way to make ticks: the least time between two of them, the times, and the tick of a time."""

    least: int
    times: Callable[[Time, Time], Iterable[Time]]
    tick: Callable[[Time], Tick]


def _fits(ticks: list[Tick], pixels: float) -> bool:
    ends = [(tick.time - ticks[0].time, width(tick.label, SIZE) / 2) for tick in ticks]
    return all((b - a) * pixels >= half + other + GAP for (a, half), (b, other) in pairwise(ends))


def _of_numbers() -> Iterator[_Grid]:
    power = 1
    while power < FOREVER:
        for factor in (1, 2, 5):
            step = factor * power
            yield _Grid(step, partial(_every, step), lambda time: Tick(time, f"{time:,}"))
        power *= 10


def _of_dates() -> Iterator[_Grid]:
    for unit in (1, 10, 100, MILLISECOND, 10 * MILLISECOND, 100 * MILLISECOND):
        for factor in (1, 2, 5):
            yield _within_days(unit * factor)
    for unit in (SECOND, MINUTE):
        for factor in (1, 2, 5, 10, 15, 30):
            yield _within_days(unit * factor)
    for factor in (1, 2, 3, 6, 12):
        yield _within_days(HOUR * factor)
    for days in (1, 2, 7, 14):
        yield _Grid(days * DAY, partial(_every, days * DAY, offset=0 if days < 7 else _MONDAY), _day)
    for months in (1, 2, 3, 6):
        yield _Grid(months * _SHORTEST_MONTH, partial(_every_month, months), _month)
    for power in (1, 10, 100, 1000):
        for factor in (1, 2, 5):
            months = 12 * factor * power
            yield _Grid(months * _SHORTEST_MONTH, partial(_every_month, months), _year)


def _within_days(step: int) -> _Grid:
    return _Grid(step, partial(_every, step), partial(_time_of_day, step))


def _every(step: int, start: Time, end: Time, offset: int = 0) -> range:
    first = -((offset - start) // step) * step + offset
    return range(first, end + 1, step)


def _every_month(step: int, start: Time, end: Time) -> Iterator[Time]:
    """The first instants of every so many months, counted from year 0."""
    first = _moment(start)
    number = -(-(first.year * 12 + first.month - 1) // step) * step
    while number < 9999 * 12:
        time = (datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
        if time > end:
            return
        if time >= start:
            yield time
        number += step


def _moment(time: Time) -> datetime:
    return _EPOCH + timedelta(microseconds=time)


def _time_of_day(step: int, time: Time) -> Tick:
    day, clock = f"{_moment(time):%Y-%m-%d %H:%M:%S.%f}".split(" ")
    length = 5 if step >= MINUTE else 8 if step >= SECOND else 12 if step >= MILLISECOND else 15
    return Tick(time, clock[:length], day)


def _day(time: Time) -> Tick:
    moment = _moment(time)
    return Tick(time, f"{moment.day} {_MONTHS[moment.month - 1]}", str(moment.year))


def _month(time: Time) -> Tick:
    moment = _moment(time)
    return Tick(time, _MONTHS[moment.month - 1], str(moment.year))


def _year(time: Time) -> Tick:
    return Tick(time, str(_moment(time).year))
