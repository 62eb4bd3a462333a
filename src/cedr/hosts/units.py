"""Units of time: the durations of a query and the times of its events must be of one kind.

Reading: R50.  Whole numbers without a unit are ticks: then "5 minutes" means nothing, and would match wrongly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from cedr.data.arriving import Arriving
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.hosts.queries import Parsed
from cedr.language.syntax import File
from cedr.language.units import WrittenDuration, written_durations
from cedr.model.stream import Insert, Message
from cedr.plan.compile import CompiledQuery, Program
from cedr.plan.logical import Query, Source, walk

UNITS: Final = "say what they count: time_unit = s, ms, us or ns"
_SECONDS, _MILLISECONDS = (10**9, 10**10), (10**12, 10**13)
"""Between 2001 and 2286, in seconds and in milliseconds since 1970."""


def check_units(query: CompiledQuery, file: File | None, arriving: Arriving) -> None:
    """Raises ``StreamError`` where times have a unit and durations have none, or the other way round."""
    kinds = {loaded.timestamps for loaded in arriving.sources if len(loaded.times)}
    if len(kinds) > 1:
        primary = "some sources have timestamps and others whole numbers without a unit as their times"
        raise StreamError(Diagnostic("time-unit-missing", primary, hint=UNITS))
    if not kinds:
        return
    (timestamps,) = kinds
    found = unfit_durations(query, file, timestamps=timestamps)
    for loaded in arriving.sources:
        words = loaded.source.words
        if words.disorder and words.disorder_has_unit != timestamps:
            found.append(_unfit(f"{words.disorder}", "disorder", None, timestamps=timestamps))
    if found:
        raise StreamError(found)


def unfit_durations(query: CompiledQuery, file: File | None, *, timestamps: bool) -> list[Diagnostic]:
    """What is wrong with the durations of a query, for events whose times are timestamps, or ticks."""
    if file is None:
        return []
    written = (each for each in durations_of(query, file) if each.unit != timestamps)
    return [_unfit(each.text, each.what, each, timestamps=timestamps) for each in written]


def durations_of(query: CompiledQuery, file: File) -> list[WrittenDuration]:
    """The durations that bear on a query: its own, those of the queries that it reads, and of its event types.

    The length of a LIFETIME may be ticks anywhere: ``LIFETIME a.Ve, 1`` is the shortest there is.
    """
    named = _named(query)
    found = (each for each in written_durations(file) if each.query in named)
    return [each for each in found if each.unit or each.what != "the length of a LIFETIME"]


def _named(query: CompiledQuery) -> set[str]:
    """The query, the ones that it reads, and its event types."""
    inner = {node.name for node in walk(query.plan) if isinstance(node, Query)}
    return {query.name, *inner, *(node.type.name for node in walk(query.plan) if isinstance(node, Source))}


def _unfit(text: str, what: str, written: WrittenDuration | None, *, timestamps: bool) -> Diagnostic:
    span = None if written is None else written.span
    if timestamps:
        primary = f"{what} is {text}, a number of ticks, but the times of the events are timestamps"
        hint = f"write it with a unit: {text} seconds" if text.isdecimal() else "write it with a unit"
        return Diagnostic("time-unit-unexpected", primary, span, hint=hint)
    primary = f"{what} is {text}, but the times of the events are whole numbers without a unit"
    return Diagnostic("time-unit-missing", primary, span, hint=UNITS)


def odd_times(query: CompiledQuery, text: Parsed, messages: Iterable[Message]) -> Iterator[Diagnostic]:
    """A warning where times of messages, which count microseconds, look like seconds or milliseconds since 1970."""
    if isinstance(text, Program) or not unfit_durations(query, text, timestamps=False):
        return
    starts = [message.event.valid_start for message in messages if isinstance(message, Insert)]
    for name, (low, high) in (("seconds", _SECONDS), ("milliseconds", _MILLISECONDS)):
        if starts and all(low <= start < high for start in starts):
            primary = f"the times of the messages look like {name} since 1970, and are read as microseconds"
            hint = "write them as timestamps, such as 2026-01-31T12:00:00Z, or in microseconds"
            yield Diagnostic("time-unit-missing", primary, hint=hint, severity="warning")
