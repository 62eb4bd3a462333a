"""Places in a line of JSON: which characters a field stands on.

Reading JSON forgets where things stood.  That is only missed when something is wrong, so it is looked up again then,
in the text of the one line that is at fault.  Nothing here decides what is right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from cedr.diagnostics.span import Source, Span

Path = tuple[str | int, ...]
"""The way from the whole line to a value: ``("insert", "payload", "price")``."""

_SCANNER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, strict=False)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN|-?\d[\d.eE+-]*')
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class LineSource(Source):
    """One line of a long file, as a source of its own that knows its number."""

    number: int = 1

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        return self.number, offset + 1

    def line(self, number: int) -> str:  # noqa: ARG002 - there is only this line
        """The text, with characters that would disturb a terminal replaced one by one."""
        return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", self.text)


@dataclass(frozen=True)
class Position:
    """Where a message stands: file, line and, looked up when asked for, column.  Prints as ``file:line:column``."""

    file: str
    line: int
    text: str = field(default="", repr=False, compare=False)

    @cached_property
    def span(self) -> Span:
        """The message itself: what stands behind "insert", "retract" or "guarantee"."""
        for kind in ("insert", "retract", "guarantee"):
            start, end = locate(self.text, (kind,))
            if start:
                return self.at(start, end)
        return self.at(0, len(self.text))

    @property
    def column(self) -> int:
        """Column of the message, from 1."""
        return self.span.column

    def at(self, start: int, end: int) -> Span:
        """A range of characters of the line."""
        return Span(LineSource(self.file, self.text, self.line), start, max(start, end))

    def field(self, path: Path, *, key: bool = False) -> Span:
        """The characters of the value at a path, or of its key."""
        return self.at(*locate(self.text, path, key=key))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class _Member:
    name: str | int
    key: tuple[int, int]
    value: tuple[int, int]


def locate(text: str, path: Path, *, key: bool = False) -> tuple[int, int]:
    """Start and end of the value at a path, or of its key; where a step is missing, of the value that lacks it."""
    try:
        start = _skip(text, 0)
        place = (start, len(text.rstrip()))
        for step in path:
            found = next((member for member in _members(text, place[0]) if member.name == step), None)
            if found is None:
                return place
            place = found.key if key and step == path[-1] else found.value
    except (ValueError, IndexError, RecursionError):
        return (0, len(text))
    return place


def duplicate(text: str) -> tuple[str, int, int] | None:
    """The first key that stands twice in one object of a line: its name, start and end."""
    try:
        return _duplicate(text, _skip(text, 0))
    except (ValueError, IndexError, RecursionError):
        return None


def token(text: str, wanted: str) -> tuple[int, int]:
    """Start and end of a number or constant as it is written in a line."""
    return next((found.span() for found in _TOKEN.finditer(text) if found[0] == wanted), (0, len(text)))


def _duplicate(text: str, at: int) -> tuple[str, int, int] | None:
    seen: set[str | int] = set()
    for member in _members(text, at):
        if member.name in seen:
            return str(member.name), *member.key
        seen.add(member.name)
        inner = _duplicate(text, member.value[0])
        if inner is not None:
            return inner
    return None


def _members(text: str, at: int) -> Iterator[_Member]:
    """The members of the object, or the items of the list, that starts at an offset; none of any other value."""
    if text[at] not in "{[":
        return
    named = text[at] == "{"
    at, number = _skip(text, at + 1), 0
    while text[at] not in "}]":
        name: str | int = number
        key = (at, at)
        if named:
            name, end = _SCANNER.raw_decode(text, at)
            key, at = (at, end), _skip(text, _skip(text, end) + 1)
        _, end = _SCANNER.raw_decode(text, at)
        yield _Member(name, key if named else (at, end), (at, end))
        at, number = _skip(text, end), number + 1
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
