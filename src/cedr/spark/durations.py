"""Whether the durations of a query, and the times of its events, have the same kind of unit.

Reading: R50.  "5 minutes" means nothing among ticks, and 10 ticks are next to nothing among timestamps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from cedr.errors import Diagnostic, Span, StreamError
from cedr.language.syntax import File
from cedr.language.tokens import Token, tokens
from cedr.spark.events import Events, EventSource

_SCOPED: Final = frozenset({"SEQUENCE", "ALL", "ATLEAST", "ATMOST", "UNLESS", "EXACTLY"})
_BEFORE: Final = frozenset({"MOVING", "HOPPING", "TUMBLING", "SESSION", "EVERY", "BLOCKING", "MEMORY", "FOR"})
"""Words after which a duration stands."""


@dataclass(frozen=True, slots=True)
class WrittenDuration:
    """A duration of a text: as it was written, with a unit or not, and where."""

    text: str
    unit: bool
    span: Span | None


def check_units(durations: Iterable[WrittenDuration], events: Events) -> None:
    """Raises ``StreamError`` where a query or ``disorder=`` speaks of other units than the times of the events do."""
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


# -- until the language tells it --------------------------------------------------------------------------------------


def written_durations(file: File) -> tuple[WrittenDuration, ...]:
    """The durations of a text, but for zero and FOREVER; of a query that was built in Python none.

    >>> from cedr.language.parse import parse
    >>> found = written_durations(parse("EVENT Q WHEN UNLESS(ATLEAST(2, A, B, 7), C, 5 min) WHERE A.x > 7"))
    >>> [(each.text, each.unit) for each in found]
    [('7', False), ('5 min', True)]
    """
    return () if file.span is None else tuple(_written(list(tokens(file.span.source))))


def _written(given: list[Token]) -> Iterator[WrittenDuration]:
    opened: list[str] = []
    for place, token in enumerate(given):
        before, after = (given[each].word if 0 <= each < len(given) else "" for each in (place - 1, place + 1))
        if token.word == "(":
            opened.append(before)
        elif token.word == ")" and opened:
            opened.pop()
        elif after == "OF":  # of CEDR time, which always has units
            continue
        elif token.kind == "DURATION":
            yield WrittenDuration(token.span.text, unit=True, span=token.span)
        elif token.kind == "INTEGER" and int(token.value):
            scope = after == ")" and before == "," and bool(opened) and opened[-1] in _SCOPED
            if scope or before in _BEFORE:
                yield WrittenDuration(token.value, unit=False, span=token.span)
