"""``cedr.events``: describes which columns of a DataFrame are the header of an event.

Paper: Section 3.3.1 (the header).  Readings: R2 (what may be left out), R3 (messages), R33 (guarantees and providers).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from pyspark.sql import functions as F
from pyspark.sql import types as st

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import LanguageError, StreamError
from cedr.hosts.queries import parse_level
from cedr.spark.sources.clocks import FRACTIONS, TimeWords, micros
from cedr.spark.sources.datatypes import WHOLE, ours

DataFrame = Any
"""A DataFrame of classic PySpark or of Spark Connect."""
Column = Any
Given = Any
"""A column by its name, or an expression."""

_CLOCKS: Final = ("time", "valid_end", "occurrence_start", "occurrence_end", "guarantee", "arrival")
_TEXTS: Final = ("type", "key", "change", "provider")


@dataclass(frozen=True, eq=False)
class EventSource:
    """One DataFrame, and how its rows are read as messages."""

    frame: DataFrame
    name: str | None
    """The event type of all rows; None if a column has it."""
    header: Mapping[str, Column]
    clocks: Mapping[str, st.DataType]
    payload: Mapping[str, st.DataType]
    provider: str | None = None
    disorder: int | None = None
    idle: int | None = None
    stable_key: bool = False
    identity: st.DataType = field(default_factory=st.StringType)
    files: Any = None
    """The files with the rows, if workers can read them."""
    words: TimeWords = field(default_factory=TimeWords)
    """The options that describe the times."""
    disorder_has_unit: bool = False

    @property
    def streaming(self) -> bool:
        """Whether the DataFrame is a stream."""
        return bool(self.frame.isStreaming)

    @property
    def instants(self) -> bool:
        """Whether times are points in time, not ticks.  Reading: R50."""
        return self.words.instants(self.clocks["time"])

    def micros(self, part: str) -> Column:
        """A clock in microseconds or ticks."""
        return micros(self.header[part], self.clocks[part], self.words)


@dataclass(frozen=True, eq=False)
class Events:
    """The input of a query: one or several DataFrames, read as messages.  Join two with ``|``."""

    sources: tuple[EventSource, ...]

    def __or__(self, other: Events) -> Events:
        return Events((*self.sources, *other.sources))

    @property
    def streaming(self) -> bool:
        """Whether one of the DataFrames is a stream."""
        return any(source.streaming for source in self.sources)

    @property
    def instants(self) -> bool:
        """Whether times are timestamps.  Raises ``StreamError`` if sources differ in this."""
        kinds = {source.instants for source in self.sources}
        if len(kinds) > 1:
            primary = "some sources have timestamps and others whole numbers without a unit as their times"
            hint = 'say time_unit="s", "ms", "us" or "ns" of those with whole numbers'
            raise StreamError(Diagnostic("wrong-column-type", primary, hint=hint))
        return kinds.pop()


def events(  # noqa: PLR0913 - the header has as many parts
    frame: DataFrame | Mapping[str, DataFrame],
    *,
    type: Given = None,  # noqa: A002 - the paper's word
    time: Given = "time",
    time_unit: str | None = None,
    time_format: str | None = None,
    zone: str | None = None,
    truncate: bool = False,
    id: Given = None,  # noqa: A002 - the paper's word
    valid_end: Given = None,
    occurrence_start: Given = None,
    occurrence_end: Given = None,
    key: Given = None,
    change: Given = None,
    guarantee: Given = None,
    arrival: Given = None,
    provider: Given = None,
    attributes: Iterable[str] | None = None,
    disorder: str | int | timedelta | None = None,
    idle: str | int | timedelta | None = None,
    stable_key: bool = False,
) -> Events:
    """Rows of a DataFrame, or of one DataFrame for each event type, as messages.

    A column is given by name or as an expression.  Leave out ``type`` if each type has its own DataFrame.  If no column
    has that name, or with quotes around it (``"'TX'"``), it is the event type of all rows.  Without ``id`` the content
    of its row identifies an event.  Other parts that are left out, or NULL, have their defaults (R2).

    Times are timestamps, dates, whole numbers or texts.  Whole numbers have the ``time_unit`` s, ms, us, ns or ticks;
    without one they are ticks (R50).  Texts are in ISO 8601, or in ``time_format``, which is written as for strptime.
    Times without a zone are in ``zone``, by default UTC.  A time between two microseconds makes a dead letter; with
    ``truncate`` it is truncated.

    ``change`` is "insert" (or NULL), "retract" or "guarantee" (R3).  A retraction names its row by ``key`` or
    by type, ID and Os, has the new end in ``occurrence_end`` or ``valid_end``, and carries the attributes by which the
    query is split.  A guarantee has its time in ``time``.  ``guarantee`` is a column in which every row carries one.

    ``disorder``: no event is later than this behind the newest one of its source; ``idle``: a source that is silent for
    this long, by Spark's clock, has sent all events up to its newest one.  ``provider`` is a column, or with quotes
    around it (``"'plant 1'"``) the name of one.  ``arrival`` is the CEDR time of a recorded history.  ``stable_key``:
    versions of an event keep the attribute by which a query is split, so that revisable events can be split too.

    Raises ``StreamError`` for a column that does not exist, or whose type does not fit its part.
    """
    given = {
        "type": type,
        "time": time,
        "id": id,
        "valid_end": valid_end,
        "occurrence_start": occurrence_start,
        "occurrence_end": occurrence_end,
        "key": key,
        "change": change,
        "guarantee": guarantee,
        "arrival": arrival,
    }
    words = TimeWords(time_unit, time_format, zone, truncate)
    constant = _constant(provider)
    if provider is not None and constant is None:
        given["provider"] = provider
    bounds: dict[str, Any] = {"disorder": _ticks(disorder), "idle": _ticks(idle), "words": words}
    bounds["disorder_has_unit"] = bool(bounds["disorder"]) and not isinstance(disorder, int)
    frames = frame if isinstance(frame, Mapping) else {None: frame}
    for each in frames.values():
        _check_frame(each)
    if None in frames and isinstance(type, str) and (named := _constant(type) or _not_there(frame, type)):
        frames = {named: frame}
    if None in frames and type is None:
        hint = (
            'name the column, or the type of all rows: type="kind"; or give a DataFrame for each: {"INSTALL": frame, …}'
        )
        raise StreamError(Diagnostic("no-event-type", "no column tells the type of an event", hint=hint))
    listed = None if attributes is None else tuple(attributes)
    found = [
        _source(each, name, given, listed, provider=constant, stable_key=stable_key, **bounds)
        for name, each in frames.items()
    ]
    return Events(tuple(found))


def _source(
    frame: DataFrame, name: str | None, given: Mapping[str, Given], listed: tuple[str, ...] | None, **options: Any
) -> EventSource:
    named = {part: each for part, each in given.items() if each is not None and not (name and part == "type")}
    header = {part: _column(frame, each, part) for part, each in named.items()}
    taken = {_actual(frame, each) for each in named.values() if isinstance(each, str)}
    fields = {each.name: each.dataType for each in frame.schema.fields}
    attributes = [each for each in fields if each not in taken] if listed is None else list(listed)
    for attribute in attributes:
        _column(frame, attribute, "attributes")
    if "id" not in header:
        header["id"] = F.md5(F.to_json(F.struct(*(F.col(_quoted(each)) for each in fields))))
    types = {each.name: each.dataType for each in frame.select(*(c.alias(p) for p, c in header.items())).schema.fields}
    _check(types, given, options["words"])
    return EventSource(
        frame,
        name,
        header,
        {part: types[part] for part in _CLOCKS if part in types},
        {each: fields[each] for each in attributes if ours(fields[each]) is not None},
        identity=types["id"],
        **options,
    )


def _check_frame(frame: Any) -> None:
    """Raises ``StreamError`` for a value that is no DataFrame of Spark."""
    kind = type(frame)
    if hasattr(frame, "isStreaming") and hasattr(frame, "sparkSession"):
        return
    article = "an" if kind.__name__[:1].lower() in "aeiou" else "a"
    root = kind.__module__.partition(".")[0]
    name = kind.__name__ if root == "builtins" else f"{root} {kind.__name__}"
    primary = f"{article} {name} is no DataFrame of Spark"
    hint = "spark.createDataFrame(…) makes one of a list, pandas or Arrow; cedr.evaluate takes such data without Spark"
    raise StreamError(Diagnostic("wrong-data", primary, hint=hint))


def _not_there(frame: DataFrame, name: str) -> str | None:
    """The name, if no column has it; otherwise None."""
    return name if name and _actual(frame, name) is None else None


def _check(types: Mapping[str, st.DataType], given: Mapping[str, Given], words: TimeWords) -> None:
    wanted: dict[str, tuple[tuple[type[st.DataType], ...], str]] = {
        **{part: ((), "neither timestamps, whole numbers nor text") for part in _CLOCKS},
        **{part: ((st.StringType,), "not text") for part in _TEXTS},
        "id": ((st.StringType, *WHOLE), "neither text nor whole numbers"),
    }
    for part, found in types.items():
        kinds, otherwise = wanted[part]
        if not (words.accepts(found) if part in _CLOCKS else isinstance(found, kinds)):
            shown = given.get(part)
            what = f'column "{shown}"' if isinstance(shown, str) else "the expression"
            primary = f"{what} for {part}= is {found.simpleString()}, {otherwise}"
            fraction = part in _CLOCKS and isinstance(found, FRACTIONS)
            hint = 'numbers with a fraction are times with time_unit="s" or "ms"' if fraction else ""
            raise StreamError(Diagnostic("wrong-column-type", primary, hint=hint))


def _column(frame: DataFrame, given: Given, part: str) -> Column:
    if not isinstance(given, str):
        return given
    actual = _actual(frame, given)
    if actual is None:
        detail = f"the DataFrame has: {', '.join(frame.columns) or 'no columns'}"
        primary = f'there is no column "{given}", asked for by {part}='
        raise StreamError(Diagnostic("unknown-column", primary, detail=detail))
    return F.col(_quoted(actual))


def _actual(frame: DataFrame, name: str) -> str | None:
    """The column of a name; if none has exactly this name, the only one that differs in case."""
    if name in frame.columns:
        return name
    similar = [each for each in frame.columns if each.lower() == name.lower()]
    return similar[0] if len(similar) == 1 else None


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _constant(provider: Given) -> str | None:
    if isinstance(provider, str) and len(provider) > 2 and provider[0] == provider[-1] == "'":
        return provider[1:-1]
    return None


def _ticks(given: str | int | timedelta | None) -> int | None:
    """A duration in ticks; with a unit, in microseconds."""
    if given is None or isinstance(given, int):
        return given
    if isinstance(given, timedelta):
        return given // timedelta(microseconds=1)
    try:
        return parse_level(f"BLOCKING {given} MEMORY FOREVER").blocking.duration
    except LanguageError:
        primary = f'"{given}" is not a length of time'
        raise StreamError(
            Diagnostic("bad-duration", primary, hint='write "10 minutes", a timedelta or ticks')
        ) from None
