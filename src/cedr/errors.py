"""Errors as values with a place: one ``Diagnostic`` and the whole exception tree.

    CedrError
      LanguageError     the text of a query is wrong (syntax, names, types, scopes)
      PlanError         the query is well formed but cannot be planned
      StreamError       a message or a file of messages cannot be used
      HostError         a host (local, spark) failed
        MissingExtraError   a part of CEDR needs packages that an extra installs
      InternalError     our bug: says so and asks for a report

Every exception carries one or more diagnostics.  A diagnostic has a stable ``code``, a ``primary``
sentence in lower case, and optionally a ``detail`` (what exists instead), a ``hint`` (what to do) and a
``span`` that is drawn with a caret, in plain characters so that it survives logs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Source:
    """A named text that spans point into."""

    name: str
    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins."""
        return [0, *(i + 1 for i, c in enumerate(self.text) if c == "\n")]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its end."""
        start = self.line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end < 0 else end].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range ``[start, end)`` of characters in a source."""

    source: Source = field(repr=False)
    start: int
    end: int

    @property
    def line(self) -> int:
        """Line of the first character, from 1."""
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        """Column of the first character, from 1."""
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        """The characters of the span."""
        return self.source.text[self.start : self.end]


_WIDEST = 160


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong, where, and what to do about it."""

    code: str
    primary: str
    span: Span | None = None
    label: str = ""
    detail: str = ""
    hint: str = ""
    related: tuple[tuple[Span, str], ...] = ()
    severity: str = "error"

    def render(self) -> str:
        """The message as text, with the place drawn."""
        lines = [f"{self.severity}[{self.code}]: {self.primary}"]
        places = [] if self.span is None else [(self.span, self.label)]
        for span, label in (*places, *self.related):
            lines.extend(_draw(span, label))
        lines.extend(f"    = {text}" for text in (self.detail, self.hint and f"hint: {self.hint}") if text)
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        """The same as plain data, for editors and services."""
        place: dict[str, Any] = {}
        if self.span is not None:
            place = {"file": self.span.source.name, "line": self.span.line, "column": self.span.column}
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.primary,
            "detail": self.detail,
            "hint": self.hint,
            **place,
        }


def _draw(span: Span, label: str) -> list[str]:
    line, column = span.source.position(span.start)
    text = span.source.line(line).replace("\t", " ")
    width = max(1, min(span.end - span.start, len(text) - column + 1))
    if len(text) > _WIDEST:  # a very long line: show the neighbourhood of the place only
        left = max(0, column - 1 - _WIDEST // 2)
        text, column = text[left : left + _WIDEST], column - left
        width = max(1, min(width, len(text) - column + 1))
    gutter = max(3, len(str(line)))
    mark = " " * (column - 1) + "^" * width
    return [
        f"{' ' * (gutter - 1)}--> {span.source.name}:{line}:{span.column}",
        f"{' ' * gutter} |",
        f"{line:>{gutter}} | {text}",
        f"{' ' * gutter} | {mark}{' ' + label if label else ''}",
    ]


class CedrError(Exception):
    """Base of all errors of this package; carries its diagnostics."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        given = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        super().__init__("\n\n".join(d.render() for d in given))
        self.diagnostics: tuple[Diagnostic, ...] = given

    def __reduce__(self) -> tuple[type[CedrError], tuple[tuple[Diagnostic, ...]]]:
        """As it was made, so that an error of another process arrives whole."""
        return type(self), (self.diagnostics,)


class LanguageError(CedrError):
    """The text of a query is wrong; fix the text at the places drawn."""


class PlanError(CedrError):
    """The query is well formed but has no plan; the message says which part and why."""


class StreamError(CedrError):
    """A message cannot be used; the message says which one and why."""


def unwritable(path: object, error: OSError) -> StreamError:
    """The error for a file that cannot be written."""
    reason = error.strerror or str(error)
    return StreamError(Diagnostic("cannot-write", f'cannot write "{path}": {reason[:1].lower()}{reason[1:]}'))


class HostError(CedrError):
    """A host failed while running a query."""


class MissingExtraError(HostError, ModuleNotFoundError):
    """A part of CEDR needs packages that are not installed; the message says how to install them."""


class InternalError(CedrError):
    """A defect of CEDR itself; please report it with the text shown."""
