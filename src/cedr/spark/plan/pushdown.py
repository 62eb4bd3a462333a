"""Predicates on single events as Spark columns, so that Catalyst prunes before anything reaches Python.

Reading: R21.  A filter only has to keep every event for which the predicate can be true: the query evaluates it again.
So a part that Spark might evaluate differently is taken as true, and nothing under a NOT is pushed down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from pyspark.sql import functions as F

from cedr.expression.tree import Attribute, Between, Binary, Expression, Field, In, IsNull, Literal, Way, way_of
from cedr.model.schema import DataType

Column = Any
Columns = Callable[[Way], tuple[Column, DataType] | None]
"""Finds the column of an attribute or of a field in it, with our type; None if there is none."""

_SAFE: Final = (DataType.INTEGER, DataType.STRING, DataType.BOOLEAN)
"""Types whose order and equality are the same in Spark and here."""
_SWAPPED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def filter_for(predicates: Iterable[Expression], columns: Columns) -> Column | None:
    """The disjunction of predicates over the columns of one event type; None if it would keep everything."""
    disjunction: Column | None = None
    for predicate in predicates:
        each = _column(predicate, columns)
        if each is None:
            return None
        disjunction = each if disjunction is None else disjunction | each
    return disjunction


def _column(expression: Expression, columns: Columns) -> Column | None:
    """A column that is true wherever the expression is; None if only the constant true is."""
    match expression:
        case Binary(operator="AND", left=left, right=right):
            sides = [side for side in (_column(left, columns), _column(right, columns)) if side is not None]
            return None if not sides else sides[0] if len(sides) == 1 else sides[0] & sides[1]
        case Binary(operator="OR", left=left, right=right):
            one, two = _column(left, columns), _column(right, columns)
            return None if one is None or two is None else one | two
        case Binary(operator=operator, left=(Attribute() | Field()) as attribute, right=Literal() as literal):
            return _compared(operator, attribute, literal, columns)
        case Binary(operator=operator, left=Literal() as literal, right=(Attribute() | Field()) as attribute):
            return _compared(_SWAPPED.get(operator, ""), attribute, literal, columns)
        case Between(operand=Attribute() | Field() as one, low=Literal() as low, high=Literal() as top, negated=False):
            sides = [_compared(op, one, end, columns) for op, end in ((">=", low), ("<=", top))]
            return None if any(side is None for side in sides) else sides[0] & sides[1]
        case In(operand=(Attribute() | Field()) as attribute, items=items, negated=False):
            return _among(attribute, items, columns)
        case IsNull(operand=(Attribute() | Field()) as attribute, negated=negated):
            column, _ = _column_of(attribute, columns)
            return None if column is None else column.isNotNull() if negated else column.isNull()
        case _:
            return None


def _column_of(expression: Expression, columns: Columns) -> tuple[Column, DataType | None]:
    """The column of an attribute or of a field in it, with its type."""
    way = way_of(expression)
    return (None if way is None else columns(way[1])) or (None, None)


def _compared(operator: str, attribute: Expression, literal: Literal, columns: Columns) -> Column | None:
    column, kind = _column_of(attribute, columns)
    if operator not in _SWAPPED or column is None or kind not in _SAFE or literal.type is not kind:
        return None
    value = F.lit(literal.value)
    plain = column.cast("string") if kind is DataType.STRING else column  # a collation would compare otherwise
    compared: dict[str, Column] = {
        "=": plain == value,
        "<>": plain != value,
        "<": plain < value,
        "<=": plain <= value,
        ">": plain > value,
        ">=": plain >= value,
    }
    return compared[operator]


def _among(attribute: Expression, items: tuple[Expression, ...], columns: Columns) -> Column | None:
    parts = [_compared("=", attribute, item, columns) if isinstance(item, Literal) else None for item in items]
    if not parts or any(part is None for part in parts):
        return None
    among = parts[0]
    for part in parts[1:]:
        among = among | part  # type: ignore[operator]
    return among
