"""Which durations of a text were written with a unit, and which as a bare number of ticks.

Reading: R50.  A unit means something only where the times of events are timestamps, ticks only where they are not: who
knows the times can say so with the place.  Zero and FOREVER have no unit: they mean the same for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from cedr.diagnostics.span import Span
from cedr.expression.render import render
from cedr.expression.tree import Expression, Literal, walk
from cedr.language.patterns import operator_name
from cedr.language.syntax import File, LifetimeWindow, Operator, Option, Query, Syntax, TypeDeclaration, Window, Written
from cedr.model.schema import DataType
from cedr.model.time import FOREVER


@dataclass(frozen=True, slots=True)
class WrittenDuration:
    """A duration of a text: as it was written, with a unit or not, where, what it is, and in which EVENT or TYPE.

    ``span`` is None in a query that was built in Python.
    """

    text: str
    unit: bool
    span: Span | None
    query: str
    what: str


def written_durations(file: File) -> tuple[WrittenDuration, ...]:
    """All durations of a file in the order of the text, but for zero and FOREVER.

    >>> from cedr.language.parse import parse
    >>> [(d.text, d.unit, d.what) for d in written_durations(parse("EVENT Q WHEN UNLESS(A, B, 5 min) WHERE A.x > 7"))]
    [('5 min', True, 'the scope of UNLESS')]
    """
    found = [
        WrittenDuration(written.text, written.unit, written.span, statement.name, what)
        for statement in file.statements
        for what, written in _durations(statement)
        if written.value not in (0, FOREVER)
    ]
    return tuple(sorted(found, key=lambda duration: duration.span.start if duration.span else 0))


def _durations(part: object) -> Iterator[tuple[str, Written]]:
    """The durations of a part of the tree and of what is below it."""
    if isinstance(part, tuple):
        for item in part:
            yield from _durations(item)
    elif isinstance(part, LifetimeWindow):
        yield from _expression(part.start)
        yield from _expression(part.duration, "the length of a LIFETIME")
    elif isinstance(part, Expression):
        yield from _expression(part)
    elif isinstance(part, Syntax):
        for field in fields(part):
            if field.name not in _ASIDE:
                yield from _durations(getattr(part, field.name))
        yield from ((_what(part, index), written) for index, written in enumerate(part.durations))


_ASIDE = frozenset({"span", "durations", "name_span", "variable_span", "mode_span", "count_span"})


def _what(part: Syntax, index: int) -> str:
    match part:
        case Operator():
            return f"the scope of {operator_name(part)}"
        case Query():
            return "MEMORY" if index else "BLOCKING"
        case TypeDeclaration():
            return "REVISABLE FOR"
        case Option():
            return f"the option {part.name}"
        case _:
            assert isinstance(part, Window)
            return "EVERY" if index else f"the window {type(part).__name__.removesuffix('Window').upper()}"


def _expression(expression: Expression, bare: str = "") -> Iterator[tuple[str, Written]]:
    """Durations with a unit in an expression; if the whole of it is a bare number of ticks, what that number is."""
    whole = _written(expression) if bare and isinstance(expression, Literal) else None
    if whole is not None:
        yield bare, whole
        return
    for part in walk(expression):
        if isinstance(part, Literal) and part.type is DataType.DURATION:
            found = _written(part)
            assert found is not None
            yield "a duration in an expression", found


def _written(literal: Literal) -> Written | None:
    value = literal.value
    if not isinstance(value, int) or literal.type not in (DataType.DURATION, DataType.INTEGER):
        return None
    text = render(replace(literal, span=None)) if literal.span is None else " ".join(literal.span.text.split())
    return Written(text, value, literal.type is DataType.DURATION, literal.span)
