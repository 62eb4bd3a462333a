"""Short words for building expressions and environments in tests."""

from __future__ import annotations

from typing import Any

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.expression.evaluate import evaluate
from cedr.expression.signature import literal
from cedr.expression.tree import Attribute, Binary, Call, Cast, Expression, Header, HeaderField, Literal, Unary
from cedr.expression.typing import infer
from cedr.model.event import Event, Value, primitive
from cedr.model.schema import DataType

NULL = Literal(None, DataType.NULL)


def lit(value: Any, of: DataType | None = None) -> Expression:
    """A literal; an expression stays as it is."""
    return value if isinstance(value, Expression) else literal(value, of)


def time(ticks: int) -> Literal:
    return Literal(ticks, DataType.TIMESTAMP)


def duration(ticks: int) -> Literal:
    return Literal(ticks, DataType.DURATION)


def attribute(name: str, of: DataType = DataType.ANY, variable: str = "x") -> Attribute:
    return Attribute(variable, name, of)


def header(field: HeaderField, variable: str = "x") -> Header:
    return Header(variable, field)


def binary(left: Any, sign: str, right: Any) -> Binary:
    return Binary(sign, lit(left), lit(right))


def negated(operand: Any) -> Unary:
    return Unary("NOT", lit(operand))


def call(function: str, *arguments: Any) -> Call:
    return Call(function, tuple(lit(argument) for argument in arguments))


def cast(value: Any, to: DataType) -> Cast:
    return Cast(lit(value), to)


def event(**payload: object) -> Event:
    return primitive("A", "a1", 5, 9, payload=payload)


def value(expression: Expression, **payload: object) -> Value:
    """The value of an expression where x is an event with that payload."""
    return evaluate(expression, {"x": event(**payload)})


def of(left: Any, sign: str, right: Any) -> Value:
    """The value of ``left sign right``."""
    return value(binary(left, sign, right))


def kind_of(expression: Expression) -> tuple[DataType, list[Diagnostic]]:
    """The type of an expression and what was reported."""
    found: list[Diagnostic] = []
    return infer(expression, found.append), found
