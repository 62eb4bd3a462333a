"""Converts the times of events to microseconds with Spark: whole numbers of a unit, texts, and times without a zone.

Readings: R1, R50.  Nothing is rounded silently.  A value that is no time, or lies between two microseconds, is marked,
and the bucket that receives it makes a dead letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pyspark.sql import functions as F
from pyspark.sql import types as st

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.spark.layout.layout import BAD_TIME, TOO_FINE
from cedr.spark.sources.datatypes import TIMES, WHOLE

Column = Any

UNITS: Final = {"s": 1_000_000, "ms": 1_000, "us": 1, "ns": 1_000, "ticks": 1}
"""Microseconds in a unit; for ns, nanoseconds in a microsecond."""
FRACTIONS: Final = (st.FloatType, st.DoubleType, st.DecimalType)
_ZONED: Final = r"(Z|z|UTC|:\d{2}(\.\d+)?\s?[+-]\d{2}(:?\d{2})?)$"
_FINE: Final = r"\.\d{6}0*[1-9]"
_LETTERS: Final = {
    "Y": "y",
    "m": "M",
    "d": "d",
    "e": "d",
    "H": "H",
    "I": "h",
    "M": "m",
    "S": "s",
    "j": "D",
}
"""Numeric parts of a strptime format, and their letters in a pattern of Spark."""
_OTHERS: Final = {"y": "yy", "b": "MMM", "B": "MMMM", "p": "a", "f": "SSSSSS", "z": "[XXX][XX][X]", "%": "%"}
_TOGETHER: Final = {"T": "%H:%M:%S", "R": "%H:%M", "F": "%Y-%m-%d", "D": "%m/%d/%y"}


@dataclass(frozen=True, slots=True)
class TimeWords:
    """The options that describe the times of a source."""

    unit: str | None = None
    format: str | None = None
    zone: str | None = None
    """The zone of times without one; None: UTC, and for files the zone of the session."""
    truncate: bool = False

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in UNITS:
            primary = f"time_unit= must be one of {', '.join(UNITS)}, not {self.unit!r}"
            raise StreamError(Diagnostic("bad-word", primary))
        if self.format is not None:
            spark_pattern(self.format)
        try:
            ZoneInfo(self.zone or "UTC")
        except (ZoneInfoNotFoundError, ValueError, OSError):
            primary = f'zone= must be a zone such as "UTC" or "Europe/Berlin", not {self.zone!r}'
            raise StreamError(Diagnostic("bad-word", primary)) from None

    def instants(self, of: st.DataType) -> bool:
        """Whether a column of this type has points in time, and not ticks."""
        if isinstance(of, (*WHOLE, *FRACTIONS)):
            return self.unit not in (None, "ticks")
        return isinstance(of, (*TIMES, st.StringType))

    def accepts(self, of: st.DataType) -> bool:
        """Whether a column of this type can have times."""
        return isinstance(of, (*TIMES, *WHOLE, st.StringType)) or (
            isinstance(of, FRACTIONS) and self.unit in ("s", "ms")
        )

    def plain(self, of: st.DataType) -> bool:
        """Whether each value of a column of this type is a time, so that none needs a mark."""
        return isinstance(of, TIMES) or (isinstance(of, WHOLE) and self.unit in (None, "us", "ticks"))


def readable(words: TimeWords, of: st.DataType) -> bool:
    """Whether workers that read files can convert times of this type; texts only without a zone and a fraction."""
    if isinstance(of, st.StringType):
        return words.format is not None and not re.search("%[fzZp%]", words.format)
    return not isinstance(of, FRACTIONS)


def micros(column: Column, of: st.DataType, words: TimeWords | None = None) -> Column:
    """A time in microseconds or ticks; ``BAD_TIME`` or ``TOO_FINE`` if it is none.

    Leave out ``words`` for a column that was converted before.
    """
    how = words or TimeWords()
    match of:
        case st.TimestampType():
            return F.unix_micros(column)
        case st.TimestampNTZType() | st.DateType():
            return _local(column.cast("timestamp_ntz"), how.zone)
        case st.StringType():
            return _text(column, how)
        case st.FloatType() | st.DoubleType() | st.DecimalType():
            size = F.round(column.cast("double") * F.lit(float(UNITS[how.unit or "s"]))).try_cast("long")
            return _or_bad(column, size)
    whole = column.cast("long")
    match how.unit:
        case "s" | "ms":
            return _or_bad(column, F.try_multiply(whole, F.lit(UNITS[how.unit]).cast("long")))
        case "ns":
            rest = F.pmod(whole, F.lit(1_000).cast("long"))
            cut = F.call_function("div", whole - rest, F.lit(1_000).cast("long"))
            return cut if how.truncate else F.when(rest != 0, F.lit(TOO_FINE)).otherwise(cut)
        case _:
            return whole


def _local(column: Column, zone: str | None) -> Column:
    """Microseconds of times without a zone."""
    moved = column if zone in (None, "UTC") else F.convert_timezone(F.lit(zone), F.lit("UTC"), column)
    return F.timestamp_diff("MICROSECOND", F.expr("TIMESTAMP_NTZ'1970-01-01 00:00:00'"), moved)


def _text(column: Column, how: TimeWords) -> Column:
    text = F.trim(column)
    given = F.when(text != "", text)
    if how.format is not None:
        pattern = spark_pattern(how.format)
        if "%z" not in how.format:
            pattern, text = f"{pattern} VV", F.concat(text, F.lit(f" {how.zone or 'UTC'}"))
        return _or_bad(given, F.unix_micros(F.try_to_timestamp(text, F.lit(pattern))))
    zoned = F.unix_micros(given.try_cast("timestamp"))
    found = F.when(given.rlike(_ZONED), zoned).otherwise(_local(given.try_cast("timestamp_ntz"), how.zone))
    if not how.truncate:
        found = F.when(given.rlike(_FINE), F.lit(TOO_FINE)).otherwise(found)
    return _or_bad(given, found)


def _or_bad(given: Column, found: Column) -> Column:
    return F.when(given.isNotNull(), F.coalesce(found, F.lit(BAD_TIME)))


def is_bad(column: Column) -> Column:
    """Whether a time is marked as unusable."""
    return column.between(F.lit(TOO_FINE), F.lit(BAD_TIME))


# -- formats ----------------------------------------------------------------------------------------------------------


def spark_pattern(form: str) -> str:
    """The pattern of Spark for a strptime format.

    >>> spark_pattern("%d.%m.%Y um %H:%M"), spark_pattern("%Y%m%d")
    ("d.M.y' um 'H:m", 'yyyyMMdd')
    """
    for letter, meant in _TOGETHER.items():
        form = form.replace(f"%{letter}", meant)
    parts = re.findall(r"%.|[^%]+|%", form)
    found = []
    for place, part in enumerate(parts):
        if not part.startswith("%"):
            found.append(_literal(part))
            continue
        letter = part[1:]
        if letter in _LETTERS:
            found.append(_number(_LETTERS[letter], alone=not any(_digits(parts, place))))
        elif letter in _OTHERS:
            found.append(_OTHERS[letter])
        else:
            known = ", ".join(f"%{each}" for each in (*_LETTERS, *_OTHERS, *_TOGETHER))
            primary = f'time_format= has "{part}", which Spark cannot read'
            raise StreamError(Diagnostic("bad-word", primary, detail=f"it reads: {known}"))
    return "".join(found)


def _digits(parts: list[str], place: int) -> Iterator[bool]:
    """Whether a number stands directly before or after another one."""
    for near in (place - 1, place + 1):
        yield 0 <= near < len(parts) and parts[near].startswith("%") and parts[near][1:] in (*_LETTERS, "f", "y")


def _number(letter: str, *, alone: bool) -> str:
    """The pattern of a number: of any length if another character ends it, otherwise with all its digits."""
    widths = {"y": 4, "D": 3}
    return letter if alone else letter * widths.get(letter, 2)


def _literal(text: str) -> str:
    """The pattern of literal text; letters need quotes."""
    quoted = text.replace("'", "''")
    return f"'{quoted}'" if re.search(r"[A-Za-z\[\]{}#]", text) else quoted
