"""Which data types go together: promotion, comparison, arithmetic.

Reading: R20.  INTEGER < DECIMAL < FLOAT; TIMESTAMP, DURATION and INTEGER are all ticks and compare with each other.
ANY and NULL fit everywhere.  Arithmetic is one table; an operand of unknown type takes part as every type that fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from cedr.model.schema import DataType

ANY, NULL, BOOLEAN, STRING = DataType.ANY, DataType.NULL, DataType.BOOLEAN, DataType.STRING
INTEGER, DECIMAL, FLOAT = DataType.INTEGER, DataType.DECIMAL, DataType.FLOAT
TIMESTAMP, DURATION, DATE = DataType.TIMESTAMP, DataType.DURATION, DataType.DATE
BINARY, STRUCT, LIST = DataType.BINARY, DataType.STRUCT, DataType.LIST

NUMBERS: Final = (INTEGER, DECIMAL, FLOAT)
"""The number types, from narrow to wide."""

TICKS: Final = frozenset({INTEGER, TIMESTAMP, DURATION})
"""Types whose values are ticks of time."""

UNKNOWN: Final = frozenset({ANY, NULL})
"""Types that fit everywhere."""

OPAQUE: Final = frozenset({STRUCT, LIST})
"""Types that only pass through, and compare with = and <>."""

ORDERED: Final = frozenset(set(DataType) - OPAQUE)
"""Types that < and MIN work on."""


def comparable(left: DataType, right: DataType) -> bool:
    """Whether = has a meaning between the two types.

    >>> comparable(INTEGER, TIMESTAMP), comparable(DATE, TIMESTAMP), comparable(STRING, ANY)
    (True, False, True)
    """
    pair = {left, right}
    if len(pair) == 1 or pair & UNKNOWN or pair <= TICKS or pair <= set(NUMBERS):
        return True
    return DURATION in pair and pair <= {DURATION, *NUMBERS}


def unify(types: Iterable[DataType]) -> DataType | None:
    """The one type of several branches, or None where they have none in common.

    >>> unify([INTEGER, NULL, FLOAT]) is FLOAT, unify([STRING, INTEGER]) is None, unify([NULL]) is NULL
    (True, True, True)
    """
    found = set(types) - {NULL}
    if not found:
        return NULL
    if ANY in found:
        return ANY
    if found <= set(NUMBERS):
        return max(found, key=NUMBERS.index)
    found -= {INTEGER} if found & {TIMESTAMP, DURATION} else set()
    return found.pop() if len(found) == 1 else None


def _numbers() -> Iterator[tuple[str, DataType, DataType, DataType]]:
    for left in NUMBERS:
        for right in NUMBERS:
            wider = max(left, right, key=NUMBERS.index)
            yield from ((sign, left, right, wider) for sign in ("+", "-", "*", "%"))
            yield "DIV", left, right, INTEGER
            yield "/", left, right, FLOAT if wider is INTEGER else wider


def _times() -> Iterator[tuple[str, DataType, DataType, DataType]]:
    for amount in (INTEGER, DURATION):
        yield "+", TIMESTAMP, amount, TIMESTAMP
        yield "+", amount, TIMESTAMP, TIMESTAMP
        yield "-", TIMESTAMP, amount, TIMESTAMP
        yield "DIV", TIMESTAMP, amount, INTEGER
        yield "%", TIMESTAMP, amount, DURATION
        for sign in ("+", "-", "%"):
            yield sign, DURATION, amount, DURATION
            yield sign, amount, DURATION, DURATION
    yield "-", TIMESTAMP, TIMESTAMP, DURATION


def _durations() -> Iterator[tuple[str, DataType, DataType, DataType]]:
    for number in NUMBERS:
        yield "*", DURATION, number, DURATION
        yield "*", number, DURATION, DURATION
        yield "/", DURATION, number, DURATION
    yield "/", DURATION, DURATION, FLOAT
    yield "DIV", DURATION, DURATION, INTEGER
    yield "DIV", INTEGER, DURATION, INTEGER
    yield "DIV", DURATION, INTEGER, DURATION


def _others() -> Iterator[tuple[str, DataType, DataType, DataType]]:
    yield "+", DATE, INTEGER, DATE
    yield "+", INTEGER, DATE, DATE
    yield "-", DATE, INTEGER, DATE
    yield "-", DATE, DATE, INTEGER
    yield "||", STRING, STRING, STRING
    yield "||", BINARY, BINARY, BINARY


ARITHMETIC: Final[Mapping[tuple[str, DataType, DataType], DataType]] = {
    (sign, left, right): result
    for rows in (_numbers(), _times(), _durations(), _others())
    for sign, left, right, result in rows
}
"""(operator, left, right) → result, for operands of known type."""


@cache
def arithmetic(sign: str, left: DataType, right: DataType) -> DataType | None:
    """The type of ``left sign right``, or None where there is none; ANY where an unknown operand leaves it open."""
    fitting = {
        result
        for (row, first, second), result in ARITHMETIC.items()
        if row == sign and left in (first, *UNKNOWN) and right in (second, *UNKNOWN)
    }
    if not fitting:
        return None
    return fitting.pop() if len(fitting) == 1 else ANY


def partners(sign: str, left: DataType) -> tuple[DataType, ...]:
    """The types that may stand right of the operator when that type stands left of it."""
    return tuple(other for row, first, other in ARITHMETIC if row == sign and first is left)
