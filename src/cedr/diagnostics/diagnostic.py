"""One thing that is wrong, as a value that can be drawn, sent and compared.

A diagnostic has a stable ``code``, a ``primary`` sentence in lower case, and optionally a ``detail`` (what exists
instead), a ``hint`` (what to do) and a ``span`` that is drawn with a caret, in plain characters so that it survives
logs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cedr.diagnostics.span import Span

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
