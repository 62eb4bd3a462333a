"""Scalar expressions in Python: ``col("x.price") * 2 > lit(10)``.

Reading: R20.  Operators make the trees of ``cedr.expression``; texts are read by the language's own parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TypeVar, overload

from cedr.expression import own
from cedr.expression.aggregate import aggregate_call
from cedr.expression.own import TypeName
from cedr.expression.render import render
from cedr.expression.tree import (
    Aggregate,
    Between,
    Binary,
    Call,
    Expression,
    Field,
    In,
    IsNull,
    Item,
    Like,
    Literal,
    Name,
    Unary,
)
from cedr.language.parse import parse
from cedr.language.syntax import AlgebraBody, PatternBody, Query, Unless, Written
from cedr.model.schema import DataType
from cedr.model.time import parse_timestamp

Declared = TypeVar("Declared", bound=type)

Duration = int | str | timedelta
"""A length of time: ticks, text as in the language ("12 hours"), or a timedelta."""


class Column:
    """An expression over the attributes and header fields of variables."""

    __slots__ = ("expression",)
    __hash__ = None  # type: ignore[assignment]  # == makes an expression
    __iter__ = None  # [] makes an expression: there would be no end

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    def __repr__(self) -> str:
        return f"Column({self.expression!r})"

    def __bool__(self) -> bool:
        message = "a column has no truth value: use & | ~ instead of and, or, not"
        raise TypeError(message)

    def _with(self, operator: str, other: object, *, swapped: bool = False) -> Column:
        left, right = self.expression, expression_of(other)
        return Column(Binary(operator, right, left) if swapped else Binary(operator, left, right))

    def __eq__(self, other: object) -> Column:  # type: ignore[override]
        return self._with("=", other)

    def __ne__(self, other: object) -> Column:  # type: ignore[override]
        return self._with("<>", other)

    def __lt__(self, other: object) -> Column:
        return self._with("<", other)

    def __le__(self, other: object) -> Column:
        return self._with("<=", other)

    def __gt__(self, other: object) -> Column:
        return self._with(">", other)

    def __ge__(self, other: object) -> Column:
        return self._with(">=", other)

    def __and__(self, other: object) -> Column:
        return self._with("AND", other)

    def __or__(self, other: object) -> Column:
        return self._with("OR", other)

    def __invert__(self) -> Column:
        return Column(Unary("NOT", self.expression))

    def __neg__(self) -> Column:
        return Column(Unary("-", self.expression))

    def __add__(self, other: object) -> Column:
        return self._with("+", other)

    def __radd__(self, other: object) -> Column:
        return self._with("+", other, swapped=True)

    def __sub__(self, other: object) -> Column:
        return self._with("-", other)

    def __rsub__(self, other: object) -> Column:
        return self._with("-", other, swapped=True)

    def __mul__(self, other: object) -> Column:
        return self._with("*", other)

    def __rmul__(self, other: object) -> Column:
        return self._with("*", other, swapped=True)

    def __truediv__(self, other: object) -> Column:
        return self._with("/", other)

    def __rtruediv__(self, other: object) -> Column:
        return self._with("/", other, swapped=True)

    def __floordiv__(self, other: object) -> Column:
        return self._with("DIV", other)

    def __mod__(self, other: object) -> Column:
        return self._with("%", other)

    def __getitem__(self, key: object) -> Column:
        """``self[n]``, the n-th element of a list, counted from 1; ``self["name"]``, a field of a struct."""
        if isinstance(key, str):
            return Column(Field(self.expression, key))
        return Column(Item(self.expression, expression_of(key)))

    def concat(self, other: object) -> Column:
        """``self || other``: text beside text."""
        return self._with("||", other)

    def is_null(self) -> Column:
        """``self IS NULL``."""
        return Column(IsNull(self.expression))

    def is_not_null(self) -> Column:
        """``self IS NOT NULL``."""
        return Column(IsNull(self.expression, negated=True))

    def isin(self, *items: object) -> Column:
        """``self IN (item, …)``."""
        return Column(In(self.expression, tuple(expression_of(item) for item in items)))

    def like(self, pattern: str) -> Column:
        """``self LIKE pattern``: % any text, _ one character."""
        return Column(Like(self.expression, expression_of(pattern)))

    def between(self, low: object, high: object) -> Column:
        """``self BETWEEN low AND high``, both ends included."""
        return Column(Between(self.expression, expression_of(low), expression_of(high)))


def col(name: str) -> Column:
    """An attribute or header field: ``col("x.Machine_Id")``, ``col("x.Vs")``, or ``col("price")`` where it is clear.

    ``col("x.card.no")`` is a field of a struct.  A name that has a dot itself stands in double quotes.
    """
    return Column(Name(names_in(name)))


def names_in(text: str) -> tuple[str, ...]:
    """The names in a text with dots between them.

    >>> names_in('x.card."a.b"')
    ('x', 'card', 'a.b')
    """
    found = re.findall(r'("(?:[^"]|"")+"|[^.]*)(?:\.|$)', text)
    parts = found if text.endswith(".") else found[: max(1, len(found) - 1)]
    return tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts)


def lit(value: object) -> Column:
    """A constant."""
    return Column(literal(value))


def expr(text: str) -> Column:
    """An expression as the language writes it: ``expr("x.price * 1.1")``."""
    return Column(parse_expression(text))


def call(function: str, *arguments: object) -> Column:
    """A scalar function: ``call("UPPER", col("x.name"))``."""
    return Column(Call(function.upper(), tuple(expression_of(argument) for argument in arguments)))


@overload
def aggregate(function: str, *arguments: object, distinct: bool = False) -> Column: ...


@overload
def aggregate(
    function: TypeName, *, returns: TypeName, name: str = "", arrow: bool = False
) -> Callable[[Declared], Declared]: ...


def aggregate(
    function: TypeName,
    *arguments: object,
    distinct: bool = False,
    returns: TypeName | None = None,
    name: str = "",
    arrow: bool = False,
) -> Column | Callable[[Declared], Declared]:
    """An aggregate: ``aggregate("AVG", col("t.price"))``; ``aggregate("COUNT")`` is COUNT(*).

    With ``returns`` it declares one: ``@cedr.aggregate("FLOAT", returns="FLOAT")`` over a class with accumulate, merge,
    value, and retract if it can.
    """
    if returns is not None:
        declared: Callable[[Declared], Declared] = own.aggregate(function, returns=returns, name=name, arrow=arrow)
        return declared
    function = str(function)
    parts = tuple(expression_of(argument) for argument in arguments)
    if not parts:
        return Column(Aggregate(function.upper(), (), distinct, star=True))
    return Column(aggregate_call(function.upper(), parts, distinct=distinct))


_LITERALS: tuple[tuple[type, DataType], ...] = (
    (bool, DataType.BOOLEAN),
    (int, DataType.INTEGER),
    (float, DataType.FLOAT),
    (Decimal, DataType.DECIMAL),
    (str, DataType.STRING),
    (bytes, DataType.BINARY),
)


def literal(value: object) -> Literal:
    """A Python value as a constant of the language."""
    if value is None:
        return Literal(None, DataType.NULL)
    if isinstance(value, timedelta):
        return Literal(value // timedelta(microseconds=1), DataType.DURATION)
    if isinstance(value, datetime):
        return Literal(parse_timestamp(value.isoformat()), DataType.TIMESTAMP)
    if isinstance(value, date):
        return Literal(value, DataType.DATE)
    for kind, data_type in _LITERALS:
        if isinstance(value, kind):
            return Literal(value, data_type)  # type: ignore[arg-type]
    message = f"{value!r} of type {type(value).__name__} is no constant of the language"
    raise TypeError(message)


def expression_of(value: object) -> Expression:
    """The expression of a column; any other value is a constant."""
    return value.expression if isinstance(value, Column) else literal(value)


def parse_expression(text: str) -> Expression:
    """An expression from its text.  Raises ``LanguageError``."""
    body = _statement(f"EVENT expression FROM stream OUTPUT\n{text}").body
    assert isinstance(body, AlgebraBody)
    assert body.output is not None
    if len(body.output) != 1 or body.output[0].name is not None:
        message = f"one expression is wanted, without AS: {text!r}"
        raise ValueError(message)
    return body.output[0].expression


def parse_conjuncts(text: str) -> PatternBody:
    """What stands after WHERE, as the language writes it.  Raises ``LanguageError``."""
    body = _statement(f"EVENT conjuncts WHEN ANY(stream) WHERE\n{text}").body
    assert isinstance(body, PatternBody)
    return body


def duration(length: Duration) -> Written:
    """A length of time, and whether it was given with a unit (R50).  Raises ``LanguageError`` for a text that is none.

    >>> duration("5 minutes").value, duration(timedelta(minutes=5)).unit, duration(300).unit
    (300000000, True, False)
    """
    if isinstance(length, timedelta):
        microseconds = length // timedelta(microseconds=1)
        return Written(render(Literal(microseconds, DataType.DURATION)), microseconds, unit=True)
    if isinstance(length, int):
        return Written(str(length), length, unit=False)
    body = _statement(f"EVENT duration WHEN UNLESS(a, b,\n{length})").body
    assert isinstance(body, PatternBody)
    assert isinstance(body.pattern.expression, Unless)
    (written,) = body.pattern.expression.durations
    return replace(written, span=None)


def _statement(text: str) -> Query:
    (statement,) = parse(text, "<python>").statements
    assert isinstance(statement, Query)
    return statement
