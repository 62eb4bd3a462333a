"""Bounds that a join's predicate sets: comparisons of a number of one side with a number of the other.

Paper: Section 6, Definition 9.  This changes no meaning, only which pairs are looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from cedr.expression.tree import Between, Binary, Expression, Literal, variables
from cedr.expression.typing import infer
from cedr.model.schema import DataType

_NUMBERS = {DataType.INTEGER, DataType.FLOAT, DataType.DECIMAL, DataType.TIMESTAMP, DataType.DURATION}
_SHIFTED = {DataType.INTEGER, DataType.FLOAT}
_LARGE = 2.0**52
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


class Bound(NamedTuple):
    """What bounds an expression: another one, less a number."""

    expression: Expression
    less: float = 0.0


@dataclass(frozen=True, slots=True)
class Band:
    """Bounds of an expression over one side by some over the other: it is not below the ones, not above the others."""

    bounded: Expression
    low: tuple[Bound, ...] = ()
    high: tuple[Bound, ...] = ()


def band_of(predicates: Iterable[Expression], own: Collection[str], other: Collection[str]) -> Band | None:
    """The expression over a side's variables that has most bounds by those of the other side; None: none has one."""
    found: dict[Expression, Band] = {}
    for left, sign, right in (each for part in predicates for each in _comparisons(part)):
        if _is_number_of(left, own) and _is_number_of(right, other):
            bounded, less = _without_number(left)
            band, bound = found.get(bounded, Band(bounded)), Bound(right, less)
            low = (*band.low, bound) if sign in (">", ">=", "=") else band.low
            high = (*band.high, bound) if sign in ("<", "<=", "=") else band.high
            found[bounded] = Band(bounded, low, high)
    return max(found.values(), key=lambda band: bool(band.low) + bool(band.high), default=None)


def _without_number(expression: Expression) -> tuple[Expression, float]:
    """What a number is added to, and the number.  Times stop at FOREVER: they are left as they are."""
    match expression:
        case Binary(operator="+" | "-" as sign, left=left, right=Literal(value=int() | float() as value)):
            if _type(left) in _SHIFTED and abs(value) < _LARGE:
                return left, float(value if sign == "+" else -value)
        case Binary(operator="+", left=Literal(value=int() | float() as value), right=right):
            if _type(right) in _SHIFTED and abs(value) < _LARGE:
                return right, float(value)
    return expression, 0.0


def _type(expression: Expression) -> DataType:
    return infer(expression, lambda _: None)


def _comparisons(part: Expression) -> Iterable[tuple[Expression, str, Expression]]:
    """What a conjunct compares, both ways round."""
    match part:
        case Binary(operator=sign, left=left, right=right) if sign in _FLIPPED:
            pairs = [(left, sign, right)]
        case Between(operand=operand, low=low, high=high, negated=False):
            pairs = [(operand, ">=", low), (operand, "<=", high)]
        case _:
            pairs = []
    return [*pairs, *((right, _FLIPPED[sign], left) for left, sign, right in pairs)]


def _is_number_of(expression: Expression, names: Collection[str]) -> bool:
    read = variables(expression)
    return bool(read) and read <= set(names) and _type(expression) in _NUMBERS
