"""Text to tokens: words, numbers, strings and signs with their places, before any grammar.

Nothing here fails: what cannot be a token becomes a token of kind BAD (or UNTERMINATED), so that the places of all
errors are known before anything is parsed.  Whether a word is a keyword or a name is decided later, by what the
grammar has at that place (lexer.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from cedr.diagnostics.span import Source, Span
from cedr.model.time import DAY, FOREVER, HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND, WEEK

UNITS = {
    **dict.fromkeys(("week", "weeks", "w"), WEEK),
    **dict.fromkeys(("day", "days", "d"), DAY),
    **dict.fromkeys(("hour", "hours", "hr", "hrs", "h"), HOUR),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), MINUTE),
    **dict.fromkeys(("second", "seconds", "sec", "secs", "s"), SECOND),
    **dict.fromkeys(("millisecond", "milliseconds", "millis", "ms"), MILLISECOND),
    **dict.fromkeys(("microsecond", "microseconds", "micros", "us", "µs", "μs"), MICROSECOND),
}
"""The units of durations, in lower case, in microseconds."""

WORD, QUOTED, SIGN, BAD, UNTERMINATED = "WORD", "QUOTED", "SIGN", "BAD", "UNTERMINATED"

_TOKEN = re.compile(
    rf"""
      (?P<SKIP>\s+|--[^\n]*)
    | (?P<DURATION>[0-9]+(?:\.[0-9]+)?\s*(?ai:{"|".join(sorted(UNITS, key=len, reverse=True))})(?!\w))
    | (?P<FLOAT>[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+))
    | (?P<INTEGER>[0-9]+)
    | (?P<BINARY>[xX]'[^']*')
    | (?P<WORD>(?ai:cancel\s*-\s*when)(?!\w)|[^\W\d]\w*)
    | (?P<QUOTED>"[^"]*(?:""[^"]*)*")
    | (?P<STRING>'[^']*(?:\'\'[^']*)*')
    | (?P<SIGN><>|!=|<=|>=|\|\||[-+*/%=<>(){{}}\[\],.;@\#])
    | (?P<UNTERMINATED>["'].*)
    | (?P<BAD>[^\w\s"'<>=|+*/%(){{}}\[\],.;@\#-]+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_LONGEST_NUMBER = 25  # digits: more than any number of microseconds has, fewer than Decimal rounds at
_DURATION = re.compile(r"([0-9.]+)\s*(\S+)")
_WRITTEN_DURATION = re.compile(rf"[0-9]+(?:\.[0-9]+)?\s*(?:{'|'.join(UNITS)})")


class Token:
    """One token: its kind, its text without quotes, its place.

    ``word`` is how a sign or keyword is written, nothing for what cannot be one; ``type`` is the grammar's terminal,
    once that is known.
    """

    __slots__ = ("end", "kind", "source", "start", "type", "value", "word")

    def __init__(self, kind: str, value: str, source: Source, start: int, end: int) -> None:
        self.kind = kind
        self.type = kind
        self.value = value
        self.word = value if kind == SIGN else value.upper() if kind == WORD and value.isascii() else ""
        self.source = source
        self.start = start
        self.end = end

    @property
    def span(self) -> Span:
        """The place of the token."""
        return Span(self.source, self.start, self.end)


def tokens(source: Source) -> Iterator[Token]:
    """All tokens of a text, in order."""
    for match in _TOKEN.finditer(source.text):
        kind = match.lastgroup
        if kind == "SKIP":
            continue
        value = match.group()
        assert kind is not None
        yield Token(kind, _plain(kind, value), source, match.start(), match.end())


def _plain(kind: str, value: str) -> str:
    """The text of a token without its quotes, signs in one spelling."""
    if kind == "STRING":
        return value[1:-1].replace("''", "'")
    if kind == QUOTED:
        return value[1:-1].replace('""', '"')
    if kind == "BINARY":
        return value[2:-1]
    if kind == SIGN:
        return "<>" if value == "!=" else value
    if kind == WORD and "-" in value:
        return "CANCEL-WHEN"
    return value


def ticks(text: str) -> int | None:
    """The microseconds of a duration as written, or None where they are no whole number or too many.

    >>> ticks("1.5 seconds"), ticks("2 weeks") == 2 * WEEK, ticks("0.0000001 s")
    (1500000, True, None)
    """
    match = _DURATION.fullmatch(text)
    assert match is not None
    if len(match[1]) > _LONGEST_NUMBER:
        return None
    exact = Decimal(match[1]) * UNITS[match[2].lower()]
    return int(exact) if exact == exact.to_integral_value() and exact <= FOREVER else None


def duration_of(text: str) -> int | None:
    """The microseconds of a text that is a duration and nothing else; None where it is not.

    >>> duration_of(" 5 minutes "), duration_of("soon")
    (300000000, None)
    """
    written = text.strip()
    return ticks(written) if _WRITTEN_DURATION.fullmatch(written.lower()) else None
