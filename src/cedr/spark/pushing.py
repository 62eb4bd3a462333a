"""Predicates on single events as Spark columns, so that Catalyst prunes before anything reaches Python.

Reading: R21.  What is pushed only has to keep every event for which the predicate can be true: the query asks again.
So a part that Spark might judge otherwise than we do is taken as true, and nothing stands under a NOT.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pyspark.sql import functions as F

from cedr.expression.tree import Attribute, Between, Binary, Expression, In, IsNull, Literal
from cedr.model.schema import DataType

Column = Any

_SAFE: Final = (DataType.INTEGER, DataType.STRING, DataType.BOOLEAN)
"""Types on whose order and equality Spark and we agree to the letter."""
_SWAPPED: Final = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def pushed(predicates: Iterable[Expression], columns: Mapping[str, tuple[Column, DataType]]) -> Column | None:
    """The disjunction of predicates over the columns of one event type; None where that would keep everything."""
    found: Column | None = None
    for predicate in predicates:
        each = _column(predicate, columns)
        if each is None:
            return None
        found = each if found is None else found | each
    return found


def _column(expression: Expression, columns: Mapping[str, tuple[Column, DataType]]) -> Column | None:
    """A column that is true wherever the expression is; None if there is none but "true"."""
    match expression:
        case Binary(operator="AND", left=left, right=right):
            sides = [side for side in (_column(left, columns), _column(right, columns)) if side is not None]
            return None if not sides else sides[0] if len(sides) == 1 else sides[0] & sides[1]
        case Binary(operator="OR", left=left, right=right):
            one, two = _column(left, columns), _column(right, columns)
            return None if one is None or two is None else one | two
        case Binary(operator=operator, left=Attribute() as attribute, right=Literal() as literal):
            return _compared(operator, attribute, literal, columns)
        case Binary(operator=operator, left=Literal() as literal, right=Attribute() as attribute):
            return _compared(_SWAPPED.get(operator, ""), attribute, literal, columns)
        case Between(operand=Attribute() as attribute, low=Literal() as low, high=Literal() as high, negated=False):
            sides = [_compared(op, attribute, end, columns) for op, end in ((">=", low), ("<=", high))]
            return None if any(side is None for side in sides) else sides[0] & sides[1]
        case In(operand=Attribute() as attribute, items=items, negated=False):
            return _among(attribute, items, columns)
        case IsNull(operand=Attribute() as attribute, negated=negated) if attribute.name in columns:
            column = columns[attribute.name][0]
            return column.isNotNull() if negated else column.isNull()
        case _:
            return None


def _compared(
    operator: str, attribute: Attribute, literal: Literal, columns: Mapping[str, tuple[Column, DataType]]
) -> Column | None:
    column, of = columns.get(attribute.name, (None, None))
    if operator not in _SWAPPED or column is None or of not in _SAFE or literal.type is not of:
        return None
    value = F.lit(literal.value)
    plain = column.cast("string") if of is DataType.STRING else column  # a collation would compare otherwise
    found: dict[str, Column] = {
        "=": plain == value,
        "<>": plain != value,
        "<": plain < value,
        "<=": plain <= value,
        ">": plain > value,
        ">=": plain >= value,
    }
    return found[operator]


def _among(
    attribute: Attribute, items: tuple[Expression, ...], columns: Mapping[str, tuple[Column, DataType]]
) -> Column | None:
    parts = [_compared("=", attribute, item, columns) if isinstance(item, Literal) else None for item in items]
    if not parts or any(part is None for part in parts):
        return None
    found = parts[0]
    for part in parts[1:]:
        found = found | part  # type: ignore[operator]
    return found
