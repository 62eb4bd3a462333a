"""Scalar expressions as data.

Paper: Section 3.1 (WHERE, OUTPUT) and Section 6 (the functions f and θ of projection, selection, join).
Reading: R20.  One small frozen class per form; the same tree is made by the language and by the Python builder.
``Name`` is what a text says; resolution (``language.check``) turns every name into an ``Attribute`` of a variable's
payload or a ``Header`` field of it.  Spans are for messages only and never take part in comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any, TypeVar

from cedr.diagnostics.span import Span
from cedr.expression.owned import Owned
from cedr.model.event import Value
from cedr.model.schema import UNKNOWN_SHAPE, DataType, Shape

E = TypeVar("E", bound="Expression")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """Base of all scalar expressions."""

    span: Span | None = field(default=None, compare=False, repr=False)


class HeaderField(Enum):
    """The header fields of every variable (R20), named as the paper does."""

    ID = "ID"
    VS = "Vs"
    VE = "Ve"
    OS = "Os"
    OE = "Oe"
    RT = "Rt"


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A constant.  Times and durations are integers with the type TIMESTAMP or DURATION."""

    value: Value
    type: DataType


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A name as written: ``x.Machine_Id`` is ("x", "Machine_Id"), ``price`` is ("price",)."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attribute(Expression):
    """A payload attribute of the event that a variable stands for.  The variable "" is the row itself."""

    variable: str
    name: str
    type: DataType = DataType.ANY
    shape: Shape | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Field(Expression):
    """``x.name`` or ``x['name']``: a field of a STRUCT, NULL where there is none."""

    operand: Expression
    name: str
    type: DataType = DataType.ANY
    shape: Shape | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Item(Expression):
    """``x[n]``: an element of a LIST, the first is 1, the last is -1; NULL beyond the ends."""

    operand: Expression
    index: Expression
    type: DataType = DataType.ANY
    shape: Shape | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Header(Expression):
    """A header field of the event that a variable stands for.  The variable "" is the row itself."""

    variable: str
    field: HeaderField


@dataclass(frozen=True, slots=True)
class Unary(Expression):
    """``-x`` or ``NOT x``: operator is "-" or "NOT"."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True)
class Binary(Expression):
    """Operator is one of + - * / % DIV || = <> < <= > >= AND OR."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Between(Expression):
    """``x [NOT] BETWEEN low AND high``, both ends included."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class In(Expression):
    """``x [NOT] IN (item, …)``."""

    operand: Expression
    items: tuple[Expression, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like(Expression):
    """``x [NOT] LIKE pattern``: % any text, _ one character, backslash escapes."""

    operand: Expression
    pattern: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsNull(Expression):
    """``x IS [NOT] NULL``."""

    operand: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """``CASE WHEN condition THEN result … ELSE default END``; the default may be missing (NULL)."""

    branches: tuple[tuple[Expression, Expression], ...]
    default: Expression | None = None


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    """``CAST(x AS type)``."""

    operand: Expression
    type: DataType


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A scalar function by its upper-case name.  EXTRACT and DATE_TRUNC take their unit as a first string literal.

    ``own`` is the definition, where a user gave it; lowering puts it there.
    """

    function: str
    arguments: tuple[Expression, ...]
    own: Owned | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Aggregate(Expression):
    """An aggregate by its upper-case name.

    In a pattern's OUTPUT it runs over its arguments, one for each contributor (R23); under GROUP BY over the one
    argument's values in the group (R30).  ``star`` is COUNT(*).  ``parameter`` is p of QUANTILE(p, x).  ``starts`` has
    the Vs of each argument, for FIRST and LAST (R45).
    """

    function: str
    arguments: tuple[Expression, ...]
    distinct: bool = False
    star: bool = False
    parameter: Expression | None = None
    starts: tuple[Expression, ...] = ()
    own: Owned | None = field(default=None, repr=False)


TRUE = Literal(True, DataType.BOOLEAN)  # noqa: FBT003 - the literal itself


def children(expression: Expression) -> Iterator[Expression]:
    """The direct sub-expressions, in order."""
    for item in fields(expression):
        yield from _expressions(getattr(expression, item.name))


def _expressions(value: object) -> Iterator[Expression]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _expressions(part)


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything below it, without recursion limits."""
    todo = [expression]
    while todo:
        current = todo.pop()
        yield current
        todo.extend(children(current))


def transform(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """Rebuild an expression top-down; where ``change`` gives an expression it stands in place of the old one."""
    done: dict[int, Expression] = {}
    todo = [(expression, False)]
    while todo:
        node, visited = todo.pop()
        if visited:
            done[id(node)] = _rebuilt(node, done)
        elif (changed := change(node)) is not None:
            done[id(node)] = changed
        else:
            todo.append((node, True))
            todo.extend((part, False) for part in reversed([*children(node)]))
    return done[id(expression)]


def _rebuilt(expression: Expression, done: Mapping[int, Expression]) -> Expression:
    updates: dict[str, Any] = {}
    for item in fields(expression):
        value = getattr(expression, item.name)
        if isinstance(value, Expression | tuple):
            updates[item.name] = _replaced(value, done)
    return replace(expression, **updates) if updates else expression


def _replaced(value: object, done: Mapping[int, Expression]) -> object:
    if isinstance(value, Expression):
        return done[id(value)]
    if isinstance(value, tuple):
        return tuple(_replaced(part, done) for part in value)
    return value


def variables(expression: Expression) -> frozenset[str]:
    """The variables that an expression names."""
    return frozenset(e.variable for e in walk(expression) if isinstance(e, Attribute | Header))


Way = tuple[str, ...]
"""The name of an attribute and of the fields on the way down into it: ``a.card.no`` is ("card", "no")."""


def way_of(expression: Expression) -> tuple[str, Way] | None:
    """The variable and the way of an attribute or of a field inside of one; None for any other expression."""
    names: list[str] = []
    while isinstance(expression, Field):
        names.append(expression.name)
        expression = expression.operand
    return (expression.variable, (expression.name, *reversed(names))) if isinstance(expression, Attribute) else None


def ways_in(expression: Expression) -> frozenset[Way]:
    """The ways that an expression reads, each as far down as it goes."""
    found, todo = set(), [expression]
    while todo:
        part = todo.pop()
        way = way_of(part)
        if way is None:
            todo.extend(children(part))
        else:
            found.add(way[1])
    return frozenset(found)


def down(expression: Expression, names: Way) -> Expression:
    """A field of a field … of an expression."""
    for name in names:
        shape = shape_of(expression).field(name) or UNKNOWN_SHAPE
        expression = Field(expression, name, shape.type, shape if shape.nested else None, span=expression.span)
    return expression


def shape_of(expression: Expression) -> Shape:
    """What is known of the inside of a value."""
    if isinstance(expression, Attribute | Field | Item):
        return expression.shape or Shape(expression.type)
    if isinstance(expression, Aggregate) and expression.function == "LIST" and len(expression.arguments) == 1:
        element = shape_of(expression.arguments[0])
        return UNKNOWN_SHAPE if element.type is DataType.ANY else Shape(DataType.LIST, element=element)
    return UNKNOWN_SHAPE


def shaped(expression: Expression) -> Expression:
    """The expression with the types of fields and elements, as far as they are declared."""
    return transform(expression, _shaped)


def _shaped(part: Expression) -> Expression | None:
    if not isinstance(part, Field | Item):
        return None
    operand = shaped(part.operand)
    inside = shape_of(operand)
    shape = (inside.field(part.name) if isinstance(part, Field) else inside.item()) or UNKNOWN_SHAPE
    known = shape if shape.nested else None
    if isinstance(part, Field):
        return replace(part, operand=operand, type=shape.type, shape=known)
    return replace(part, operand=operand, index=shaped(part.index), type=shape.type, shape=known)


def aggregates(expression: Expression) -> tuple[Aggregate, ...]:
    """The aggregates inside an expression."""
    return tuple(e for e in walk(expression) if isinstance(e, Aggregate))


_LONG = 64


def conjunction(predicates: tuple[Expression, ...]) -> Expression:
    """All of the predicates, joined with AND; TRUE where there is none.  A long one is balanced, hence not deep."""
    level = list(predicates) or [TRUE]
    while len(level) > _LONG:
        pairs: list[Expression] = [Binary("AND", *pair) for pair in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(pairs) * 2 :]
    result = level[0]
    for predicate in level[1:]:
        result = Binary("AND", result, predicate)
    return result


def conjuncts(expression: Expression) -> tuple[Expression, ...]:
    """The parts of a conjunction, from left to right."""
    found, todo = [], [expression]
    while todo:
        part = todo.pop()
        if isinstance(part, Binary) and part.operator == "AND":
            todo.extend((part.right, part.left))
        else:
            found.append(part)
    return tuple(found)
