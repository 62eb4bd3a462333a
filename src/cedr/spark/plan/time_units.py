"""Checks that the durations of a query fit the times of its events.

Reading: R50.  "5 minutes" has no meaning for ticks, and 10 ticks are hardly meant for timestamps.
"""

from __future__ import annotations

from collections.abc import Iterable

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.diagnostics.span import Span
from cedr.language.units import WrittenDuration
from cedr.spark.sources.events import Events, EventSource


def check_units(durations: Iterable[WrittenDuration], events: Events) -> None:
    """Raises ``StreamError`` if a duration has a unit and the times have none, or the other way round."""
    instants = events.instants
    source = events.sources[0]
    for each in durations:
        if each.unit and not instants:
            raise StreamError(_missing(each.text, source, each.span))
        if not each.unit and instants:
            raise StreamError(_unexpected(f'"{each.text}" is a number of ticks', source, each.span))
    for source in events.sources:
        if source.disorder and source.disorder_has_unit and not instants:
            raise StreamError(_missing("disorder=", source, None))
        if source.disorder and not source.disorder_has_unit and instants:
            raise StreamError(_unexpected(f"disorder={source.disorder} is a number of ticks", source, None))


def _missing(text: str, source: EventSource, span: Span | None) -> Diagnostic:
    shown = text if text.endswith("=") else f'"{text}"'
    primary = f"{shown} is a length of time, but the times of {_whose(source)} are whole numbers without a unit"
    return Diagnostic("time-unit-missing", primary, span, hint='say time_unit="s", "ms", "us" or "ns"')


def _unexpected(what: str, source: EventSource, span: Span | None) -> Diagnostic:
    primary = f"{what}, but the times of {_whose(source)} are points in time"
    hint = "write it with a unit: 10 minutes, 250 ms"
    return Diagnostic("time-unit-unexpected", primary, span, hint=hint)


def _whose(source: EventSource) -> str:
    return source.name or "the events"
