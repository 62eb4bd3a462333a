"""The scalar functions: one table, name → what it takes, what it gives, one line of documentation, one example.

Reading: R20.  Nothing here raises on data: a square root of a negative number, an overflow, a value of the wrong kind
is NULL.  To add a function, add a row; its check, its evaluation, its page and the test of its example follow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any, Final

from cedr.expression.arithmetic import EXACT
from cedr.expression.calendar import EXTRACT_UNITS, TRUNCATE_UNITS, extract, truncate
from cedr.expression.lattice import BINARY, BOOLEAN, DATE, DECIMAL, DURATION, FLOAT, INTEGER, STRING, TIMESTAMP
from cedr.expression.signature import Check, Function, Parameter, always, common, constant, example, literal, same
from cedr.expression.text import regexp_like, regular_expression, replace, substring
from cedr.expression.tree import Call
from cedr.expression.values import COMPARISONS, Truth, equal
from cedr.model.event import Value
from cedr.model.schema import DataType
from cedr.model.time import FOREVER, parse_timestamp

_NUMBER: Final = (INTEGER, DECIMAL, FLOAT)
_AMOUNT: Final = (*_NUMBER, DURATION)
_TEXT: Final = (STRING,)
_WHEN: Final = (TIMESTAMP, DATE)
_FAR: Final = 400
"""Rounding to more digits than this, either side of the point, has a trivial result for every FLOAT."""


def _absolute(value: Any) -> Value:
    return EXACT.abs(value) if type(value) is Decimal else abs(value)


def _floor(value: Any) -> Value:
    return _whole(value, ROUND_FLOOR)


def _ceiling(value: Any) -> Value:
    return _whole(value, ROUND_CEILING)


def _whole(value: Any, mode: str) -> Value:
    if type(value) is int:
        return value
    if type(value) is float:
        return float(math.floor(value) if mode == ROUND_FLOOR else math.ceil(value))
    whole: Decimal = value.to_integral_value(mode, context=EXACT)
    return whole


def _round(value: Any, digits: int = 0) -> Value:
    if value == FOREVER or digits > _FAR:
        return _unchanged(value)
    if type(value) is Decimal:
        return _rounded(value, digits)
    if digits < -_FAR:
        return 0.0 if type(value) is float else 0
    if type(value) is int:
        return int(_rounded(Decimal(value), digits))
    return float(_rounded(Decimal(repr(value)), digits))


def _unchanged(value: Value) -> Value:
    return value


def _rounded(value: Decimal, digits: int) -> Decimal:
    """A half goes away from zero; more digits than there are change nothing."""
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and -exponent <= digits:
        return value
    kept = max(digits, -7_000)  # no DECIMAL reaches that far
    shown = EXACT.quantize(value, Decimal((0, (1,), -kept)))
    return shown if kept >= 0 else EXACT.quantize(shown, Decimal(1))


def _least(*values: Value) -> Value:
    return _chosen("<", values)


def _greatest(*values: Value) -> Value:
    return _chosen(">", values)


def _chosen(sign: str, values: Sequence[Value]) -> Value:
    present = [value for value in values if value is not None]
    best = present[0] if present else None
    for value in present[1:]:
        better: Truth = COMPARISONS[sign](value, best)
        if better is None:
            return None
        best = value if better else best
    return best


def _first_present(*values: Value) -> Value:
    return next((value for value in values if value is not None), None)


def _null_if(value: Value, other: Value) -> Value:
    return None if equal(value, other) is True else value


def _concat(*values: Value) -> Value:
    present = [value for value in values if value is not None]
    return "".join(present) if all(type(value) is str for value in present) else None  # type: ignore[arg-type]


def _unit(units: tuple[str, ...]) -> Check:
    def check(call: Call) -> tuple[str, str, str] | None:
        given = constant(call.arguments[0])
        if isinstance(given, str) and given.upper() in units:
            return None
        shown = f'"{given}" is no unit' if isinstance(given, str) else "the unit must be written out"
        return "wrong-arguments", f"{shown} of {call.function}", f"units are: {', '.join(units)}"

    return check


def _pattern(call: Call) -> tuple[str, str, str] | None:
    pattern = constant(call.arguments[1])
    fault = regular_expression(pattern) if isinstance(pattern, str) else None
    return ("bad-pattern", "this is no regular expression", fault) if isinstance(fault, str) else None


def _extracted(call: Call, _: Sequence[DataType]) -> DataType:
    return FLOAT if str(constant(call.arguments[0])).upper() == "EPOCH" else INTEGER


def _truncated(_: Call, types: Sequence[DataType]) -> DataType:
    return types[1]


def _timestamp(text: str) -> Any:
    return literal(parse_timestamp(text), TIMESTAMP)


_X, _TEXT_PARAMETER = Parameter("x", _AMOUNT), Parameter("text", _TEXT)

_NUMERIC: Final = (
    Function("ABS", (_X,), same, _absolute, "Without its sign.", example((-3,), 3)),
    Function("FLOOR", (_X,), same, _floor, "The largest whole number not above.", example((-1.5,), -2.0)),
    Function("CEIL", (_X,), same, _ceiling, "The smallest whole number not below.", example((-1.5,), -1.0)),
    Function(
        "ROUND",
        (_X, Parameter("digits", (INTEGER,))),
        same,
        _round,
        "To so many digits after the point (none unless given, negative ones before it); a half goes away from zero.",
        example((2.345, 2), 2.35),
        optional=1,
    ),
    Function(
        "SQRT",
        (Parameter("x", _NUMBER),),
        always(FLOAT),
        math.sqrt,
        "The square root; NULL of a negative number.",
        example((2.25,), 1.5),
    ),
    Function(
        "POWER",
        (Parameter("x", _NUMBER), Parameter("y", _NUMBER)),
        always(FLOAT),
        math.pow,
        "x to the power y; NULL where there is no real one.",
        example((2, 10), 1024.0),
    ),
)

_CHOOSING: Final = (
    Function(
        "LEAST",
        (Parameter("x"),),
        common,
        _least,
        "The smallest argument; NULLs are ignored.",
        example((3, None, 2), 2),
        variadic=True,
        strict=False,
    ),
    Function(
        "GREATEST",
        (Parameter("x"),),
        common,
        _greatest,
        "The largest argument; NULLs are ignored.",
        example((3, None, 2), 3),
        variadic=True,
        strict=False,
    ),
    Function(
        "COALESCE",
        (Parameter("x"),),
        common,
        _first_present,
        "The first argument that is not NULL.",
        example((None, "a", "b"), "a"),
        variadic=True,
        strict=False,
    ),
    Function(
        "NULLIF",
        (Parameter("x"), Parameter("y")),
        same,
        _null_if,
        "NULL where x = y, else x.",
        example((5, 5), None),
        strict=False,
    ),
)

_TEXTUAL: Final = (
    Function(
        "LENGTH",
        (Parameter("text", (STRING, BINARY)),),
        always(INTEGER),
        len,
        "The number of characters, or of bytes of a BINARY.",
        example(("häuser",), 6),
    ),
    Function("UPPER", (_TEXT_PARAMETER,), always(STRING), str.upper, "In upper case.", example(("Ab",), "AB")),
    Function("LOWER", (_TEXT_PARAMETER,), always(STRING), str.lower, "In lower case.", example(("Ab",), "ab")),
    Function(
        "TRIM",
        (_TEXT_PARAMETER,),
        always(STRING),
        lambda text: text.strip(" "),
        "Without spaces at both ends.",
        example(("  a b ",), "a b"),
    ),
    Function(
        "SUBSTRING",
        (_TEXT_PARAMETER, Parameter("from", (INTEGER,)), Parameter("length", (INTEGER,))),
        always(STRING),
        substring,
        "The characters from a position on, counted from 1; so many, or all; NULL for a negative length.",
        example(("abcdef", 2, 3), "bcd"),
        optional=1,
    ),
    Function(
        "REPLACE",
        (_TEXT_PARAMETER, Parameter("old", _TEXT), Parameter("new", _TEXT)),
        always(STRING),
        replace,
        "Every occurrence of a text replaced by another; an empty text is never found.",
        example(("a-b-c", "-", "+"), "a+b+c"),
    ),
    Function(
        "CONCAT",
        (_TEXT_PARAMETER,),
        always(STRING),
        _concat,
        "The texts one after the other; NULLs are left out (`||` gives NULL instead).",
        example(("a", None, "b"), "ab"),
        variadic=True,
        strict=False,
    ),
    Function(
        "REGEXP_LIKE",
        (_TEXT_PARAMETER, Parameter("pattern", _TEXT)),
        always(BOOLEAN),
        regexp_like,
        "Whether a regular expression (Python's) fits somewhere in the text; NULL where it is none.",
        example(("BARGA_XP03", "XP[0-9]+$"), True),  # noqa: FBT003 - the value itself
        check=_pattern,
    ),
)

_CALENDAR: Final = (
    Function(
        "EXTRACT",
        (Parameter("unit", _TEXT), Parameter("t", _WHEN)),
        _extracted,
        extract,
        f"A part of a time or date, in UTC: {', '.join(EXTRACT_UNITS)}.",
        example(("HOUR", _timestamp("2026-01-31 12:30:00Z")), 12),
        check=_unit(EXTRACT_UNITS),
    ),
    Function(
        "DATE_TRUNC",
        (Parameter("unit", _TEXT), Parameter("t", _WHEN)),
        _truncated,
        truncate,
        f"The start of the unit that a time or date lies in: {', '.join(TRUNCATE_UNITS)}.",
        example(("MONTH", literal(date(2026, 1, 31))), literal(date(2026, 1, 1))),
        check=_unit(TRUNCATE_UNITS),
    ),
)

FUNCTIONS: Final[dict[str, Function]] = {
    function.name: function for function in (*_NUMERIC, *_CHOOSING, *_TEXTUAL, *_CALENDAR)
}
"""All scalar functions by their upper-case names, those of users included."""
