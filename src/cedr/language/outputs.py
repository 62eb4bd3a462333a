"""OUTPUT: names of items, the items where there is no OUTPUT, and the type they make.

Reading: R23.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cedr.diagnostics.span import Span
from cedr.expression.tree import Aggregate, Attribute, Call, Expression, Field, Header, shape_of
from cedr.expression.typing import infer
from cedr.language.problems import Problems
from cedr.language.scope import Variable
from cedr.language.syntax import OutputItem
from cedr.model.schema import DataType, EventType, Shape


def named(items: Sequence[OutputItem]) -> tuple[OutputItem, ...]:
    """The items, each with a name: its own, else that of the attribute or function, else its number."""
    return tuple(
        item if item.name is not None else replace(item, name=name_of(item.expression) or f"column{position}")
        for position, item in enumerate(items, start=1)
    )


def name_of(expression: Expression) -> str | None:
    """The name that an expression suggests."""
    match expression:
        case Attribute() | Field():
            return expression.name
        case Header():
            return expression.field.value
        case Call() | Aggregate():
            return expression.function.lower()
    return None


def all_fields(variables: Iterable[Variable], *, prefixed: bool, span: Span | None) -> tuple[OutputItem, ...]:
    """Every known field of some variables, under its own name or as ``variable_field``."""
    return tuple(
        OutputItem(
            Attribute(variable.name, name, of, variable.type.shapes.get(name), span=span),
            f"{variable.name}_{name}" if prefixed else name,
            span=span,
        )
        for variable in variables
        for name, of in variable.type.attributes.items()
    )


def output_type(name: str, items: Sequence[OutputItem], problems: Problems, *, sound: bool = True) -> EventType:
    """The event type that the items make; complains of names that come twice.  What is not ``sound`` stays open."""
    attributes: dict[str, DataType] = {}
    shapes: dict[str, Shape] = {}
    first: dict[str, Span | None] = {}
    for item in items:
        assert item.name is not None
        of = infer(item.expression, problems.report)
        if item.name in attributes:
            problems.error(
                "duplicate-output",
                f'two items of the output are called "{item.name}"',
                item.span,
                hint="give one of them another name with AS",
                related=((first[item.name], "the first one"),) if first[item.name] != item.span else (),
            )
        attributes[item.name] = of
        if shape_of(item.expression).nested:
            shapes[item.name] = shape_of(item.expression)
        first.setdefault(item.name, item.span)
    return EventType(name, attributes, open=not sound, shapes=shapes)
