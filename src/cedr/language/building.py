"""What the three builders of the tree have in common: places, reports, clauses.

The parser calls a method of the builder for each rule of the grammar, with the place of the whole and its parts.
Signs and keywords are left out of the parts, except for the rules in ``RAW``, which want to see them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.span import Span
from cedr.language.tokens import Token

DEEPEST = 150
"""How deep the tree of an expression may be: every function over trees may then recurse without fear."""

_VALUES = frozenset({"NAME", "INTEGER", "FLOAT", "DURATION", "STRING", "BINARY"})


class Clause(NamedTuple):
    """A part that is no node of the tree by itself: its kind, what it says, and its place."""

    kind: str
    value: Any
    span: Span


class Building:
    """The errors found while one statement is built, and the ways to find places."""

    RAW: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.errors: list[Diagnostic] = []
        self.depths: dict[int, int] = {}
        self.edges: list[Span] = []

    def begin(self) -> None:
        """Forget the statement before."""
        self.errors, self.depths, self.edges = [], {}, []

    def report(self, code: str, primary: str, span: Span, label: str = "", *, detail: str = "", hint: str = "") -> None:
        """Take down an error and go on, so that the others are found too."""
        self.errors.append(Diagnostic(code, primary, span, label, detail, hint))

    def callback(self, name: str | None) -> Callable[[list[Any]], Any] | None:
        """The function that makes the value of a rule of its parts; none for a rule that passes its part on."""
        if name is None:
            return None
        method = getattr(self, name)
        if name in self.RAW:
            return lambda children: method(_span(children), *children)

        def call(children: list[Any]) -> Any:
            parts = [c for c in children if not (isinstance(c, Token) and c.type not in _VALUES)]
            return method(_span(children), *parts)

        return call


def _span(children: list[Any]) -> Span:
    first, last = children[0], children[-1]
    return Span(_source(first), _start(first), _end(last))


def _source(part: Any) -> Any:
    return part.source if isinstance(part, Token) else part.span.source


def _start(part: Any) -> int:
    return int(part.start if isinstance(part, Token) else part.span.start)


def _end(part: Any) -> int:
    return int(part.end if isinstance(part, Token) else part.span.end)


def last_character(span: Span) -> Span:
    """The place of the last character of a place: the closing parenthesis of an operator."""
    return Span(span.source, span.end - 1, span.end)


def clauses(parts: tuple[Any, ...]) -> dict[str, Clause]:
    """The clauses among the parts, by kind."""
    return {part.kind: part for part in parts if isinstance(part, Clause)}


def listed(words: list[str], last: str = "or") -> str:
    """Words as a sentence lists them: a, b or c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
