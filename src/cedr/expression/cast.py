"""CAST: from one data type to another; what cannot be said in the other type is NULL.

Reading: R20.  A standing query must not die of one row, so a failing cast gives NULL like every other failure on data.
Where the type of the operand is not known, an integer is taken for an INTEGER, or for ticks where a time is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Final

from cedr.expression.calendar import midnight, moment, parse_duration
from cedr.expression.lattice import (
    ANY,
    BINARY,
    BOOLEAN,
    DATE,
    DECIMAL,
    DURATION,
    FLOAT,
    INTEGER,
    LIST,
    NULL,
    STRING,
    STRUCT,
    TIMESTAMP,
    UNKNOWN,
)
from cedr.expression.values import DECIMALS, KINDS, fit
from cedr.model.event import Payload, Value
from cedr.model.schema import DataType
from cedr.model.time import FOREVER, format_duration, format_timestamp, parse_timestamp

_TO_NUMBER: Final = frozenset({INTEGER, FLOAT, DECIMAL, STRING, BOOLEAN, TIMESTAMP, DURATION})

SOURCES: Final[Mapping[DataType, frozenset[DataType]]] = {
    INTEGER: _TO_NUMBER,
    FLOAT: _TO_NUMBER,
    DECIMAL: _TO_NUMBER,
    STRING: frozenset(set(DataType) - {STRUCT, LIST}),
    BOOLEAN: frozenset({BOOLEAN, STRING, INTEGER}),
    TIMESTAMP: frozenset({TIMESTAMP, INTEGER, DURATION, STRING, DATE}),
    DURATION: frozenset({DURATION, INTEGER, STRING}),
    DATE: frozenset({DATE, STRING, TIMESTAMP}),
    BINARY: frozenset({BINARY, STRING}),
    STRUCT: frozenset({STRUCT}),
    LIST: frozenset({LIST}),
    ANY: frozenset(DataType),
    NULL: frozenset({NULL}),
}
"""For each type, the types that can be cast to it; ANY and NULL always can."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_TRUTHS: Final[Mapping[str, bool]] = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}


def castable(source: DataType, target: DataType) -> bool:
    """Whether CAST from one type to the other is allowed."""
    return source in UNKNOWN or source in SOURCES[target]


def caster(source: DataType, target: DataType) -> Callable[[Value], Value]:
    """The function that casts values of one type to another; it never raises."""
    change = _to_string(source) if target is STRING else _CASTS[target]

    def cast(value: Value) -> Value:
        if value is None:
            return None
        try:
            return fit(change(value))
        except (ArithmeticError, ValueError):
            return None

    return cast


def _to_integer(value: Value) -> Value:
    if isinstance(value, bool | int | float | Decimal):
        return int(value)
    text = value.strip() if isinstance(value, str) else ""
    return int(text) if _INTEGER.fullmatch(text) else None


def _to_float(value: Value) -> Value:
    if isinstance(value, bool | int | float | Decimal):
        return float(value)
    text = value.strip() if isinstance(value, str) else ""
    return float(text) if _NUMBER.fullmatch(text) else None


def _to_decimal(value: Value) -> Value:
    if isinstance(value, bool | int | Decimal):
        return DECIMALS.create_decimal(int(value) if isinstance(value, bool) else value)
    text = repr(value) if isinstance(value, float) else value.strip() if isinstance(value, str) else ""
    return DECIMALS.create_decimal(text) if _NUMBER.fullmatch(text) else None


def _to_boolean(value: Value) -> Value:
    if isinstance(value, bool | int):
        return bool(value)
    return _TRUTHS.get(value.strip().lower()) if isinstance(value, str) else None


def _to_timestamp(value: Value) -> Value:
    if type(value) is int:
        return value
    if isinstance(value, date):
        return midnight(value)
    if not isinstance(value, str):
        return None
    return FOREVER if value.strip().upper() == "FOREVER" else parse_timestamp(value)


def _to_duration(value: Value) -> Value:
    if isinstance(value, str):
        return parse_duration(value)
    return value if type(value) is int else None


def _to_date(value: Value) -> Value:
    if type(value) is int:
        found = moment(value)
        return None if found is None else found.date()
    if isinstance(value, str):
        return date.fromisoformat(value.strip())
    return value if isinstance(value, date) else None


def _to_binary(value: Value) -> Value:
    if isinstance(value, str):
        return value.encode()
    return value if isinstance(value, bytes) else None


def _to_string(source: DataType) -> Callable[[Value], Value]:
    if source is TIMESTAMP:
        return lambda value: _timestamp_text(value) if type(value) is int else None
    if source is DURATION:
        return lambda value: format_duration(value) if type(value) is int else None
    return _text


def _timestamp_text(ticks: int) -> str:
    return "FOREVER" if ticks == FOREVER else format_timestamp(ticks)


def _text(value: Value) -> Value:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, str | int | float) else None


def _opaque(wanted: type) -> Callable[[Value], Value]:
    return lambda value: value if type(value) is wanted else None


_CASTS: Final[Mapping[DataType, Callable[[Value], Value]]] = {
    INTEGER: _to_integer,
    FLOAT: _to_float,
    DECIMAL: _to_decimal,
    BOOLEAN: _to_boolean,
    TIMESTAMP: _to_timestamp,
    DURATION: _to_duration,
    DATE: _to_date,
    BINARY: _to_binary,
    STRUCT: _opaque(Payload),
    LIST: _opaque(tuple),
    ANY: lambda value: value if type(value) in KINDS else None,
    NULL: lambda _: None,
}
