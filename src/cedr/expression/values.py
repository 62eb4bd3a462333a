"""Values as expressions see them: kinds, ranges, equality and order.

Reading: R20.  A value is NULL (``None``) or of one *kind*; two values compare only within a kind, and everything else
is NULL, so that a wrong value in a stream never stops a query.  Numbers of different types compare exactly; times and
durations are integers here, their type is known to the tree only.  Neither NaN nor an infinity is a value: read from a
payload or computed, they are NULL.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

from cedr.model.event import Payload, Value
from cedr.model.time import BEGINNING, FOREVER

Truth = bool | None
"""TRUE, FALSE or unknown (NULL)."""

KINDS: Final[Mapping[type, str]] = {
    bool: "boolean",
    int: "number",
    float: "number",
    Decimal: "number",
    str: "text",
    bytes: "binary",
    date: "date",
    tuple: "list",
    Payload: "struct",
}
"""The kind of a value, by its exact Python type."""

_QUICK: Final = frozenset({int, str, float, bool, date, bytes})

OPAQUE: Final = frozenset({"list", "struct"})
"""Kinds that have no order."""

DIGITS: Final = 38
"""Significant digits of a DECIMAL result."""

LARGEST_EXPONENT: Final = 6144
"""A DECIMAL beyond ten to this power, or below its inverse, is out of range."""

DECIMALS: Final = Context(prec=DIGITS, rounding=ROUND_HALF_UP, traps=[])
"""DECIMAL arithmetic of our own, whatever the caller's decimal context says; trouble gives NaN, hence NULL."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BASES: Final[tuple[Any, ...]] = (int, float, Decimal, str, bytes, tuple)
_PLAIN: Final = frozenset({type(None), bool, int, str, bytes, date, tuple, Payload})


def plain(value: object) -> Value:
    """A value of a payload as an expression uses it: only the types of ``KINDS``, no NaN, no infinity.

    >>> plain(float("nan")), plain(1.5), plain(datetime(1970, 1, 1, 0, 0, 1))
    (None, 1.5, 1000000)
    """
    if type(value) in _PLAIN:
        return value  # type: ignore[return-value]  # _PLAIN names types of Value only
    if type(value) in KINDS:
        return _in_range(value)
    return _unusual(value)


def _unusual(value: Any) -> Value:
    """Subclasses of the plain types, as other libraries like to make them, and date times."""
    if isinstance(value, datetime):
        return instant(value) if value == value else None  # noqa: PLR0124 - a missing date time is not itself
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    base = next((base for base in _BASES if isinstance(value, base)), None)
    return None if base is None else _in_range(base(value))


def instant(moment: datetime) -> int:
    """Microseconds since the epoch; without a zone it is UTC.  Reading: R1."""
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // timedelta(microseconds=1)


def _in_range(value: Any) -> Value:
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) is Decimal:
        small = value.is_finite() and (not value or abs(value.adjusted()) <= LARGEST_EXPONENT)
        return value if small else None
    return value  # type: ignore[no-any-return]


def fit(value: Value) -> Value:
    """A computed value, or NULL where it leaves the range of its type (64 bits, finite, ``LARGEST_EXPONENT``)."""
    if type(value) is int:
        return value if BEGINNING <= value <= FOREVER else None
    return _in_range(value)


def kind(value: Value) -> str:
    """The kind of a value that is not NULL."""
    return KINDS.get(type(value), "other")


def comparable(left: Value, right: Value, *, ordered: bool = False) -> bool:
    """Whether two values, neither NULL, are of one kind, and of one that has an order where that is asked."""
    found = kind(left)
    return found == kind(right) and not (ordered and found in OPAQUE)


def _comparison(compare: Callable[[Any, Any], bool], *, ordered: bool) -> Callable[[Value, Value], Truth]:
    def compared(left: Value, right: Value) -> Truth:
        if type(left) is type(right) and type(left) in _QUICK:
            return compare(left, right)
        if left is None or right is None or not comparable(left, right, ordered=ordered):
            return None
        try:
            return compare(left, right)
        except (TypeError, ArithmeticError):  # a signalling NaN or a mixture deep inside a list
            return None

    return compared


COMPARISONS: Final[Mapping[str, Callable[[Value, Value], Truth]]] = {
    "=": _comparison(operator.eq, ordered=False),
    "<>": _comparison(operator.ne, ordered=False),
    "<": _comparison(operator.lt, ordered=True),
    "<=": _comparison(operator.le, ordered=True),
    ">": _comparison(operator.gt, ordered=True),
    ">=": _comparison(operator.ge, ordered=True),
}
"""The comparisons, by their sign."""

equal = COMPARISONS["="]


def negation(truth: Value) -> Truth:
    """NOT: unknown stays unknown, and what is no truth value is unknown."""
    return (not truth) if isinstance(truth, bool) else None


def canonical_order(value: Value) -> tuple[str, Any, str]:
    """A key that sorts values of any kinds, equal ones by how they are written: the same for every order of events."""
    found = kind(value)
    return found, (repr(value) if found in OPAQUE or found == "other" else value), repr(value)
