"""Payload values: from JSON to the data type that an event type declares, and back.

A value must be of its type; what JSON cannot write is written as text: DECIMAL, TIMESTAMP and DATE as strings, BINARY
in base64.  An integer serves as FLOAT or DECIMAL.  Nothing is rounded, cut or guessed.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Never

from cedr.connect.jsonlines import Fault, WrittenFloat
from cedr.connect.places import Path
from cedr.model.event import Payload, Value, freeze
from cedr.model.schema import UNKNOWN_SHAPE, DataType, EventType, Shape
from cedr.model.time import BEGINNING, FOREVER, Time, parse_timestamp

SMALLEST, LARGEST = -(2**63), 2**63 - 1
_LARGEST_EXPONENT = 999


class Misfit(ValueError):
    """A value is not of the type that was asked for; the text says why."""


class OutOfRange(Misfit):
    """An integer that 64 bits cannot hold."""


def payload_of(raw: Mapping[str, object], event_type: EventType | None, path: Path = ()) -> Payload:
    """A payload with the attributes of a declared type, in its order, NULL where missing; of no type: as it is."""
    attributes = {} if event_type is None else event_type.attributes
    if event_type is not None and not event_type.open:
        _check_names(raw, event_type, path)
    shapes = {} if event_type is None else event_type.shapes
    given = {
        name: _fit(value, shapes.get(name) or Shape(attributes.get(name, DataType.ANY)), (*path, name), name)
        for name, value in raw.items()
    }
    return Payload({**dict.fromkeys(attributes), **given})


def _check_names(raw: Mapping[str, object], event_type: EventType, path: Path) -> None:
    for name in raw:
        if name not in event_type.attributes:
            known = ", ".join(event_type.attributes) or "no attributes"
            raise Fault(
                "unknown-attribute",
                f'event type "{event_type.name}" has no attribute "{name}"',
                (*path, name),
                key=True,
                detail=f"{event_type.name} has: {known}",
            )


def _fit(value: object, shape: Shape, path: Path, shown: str) -> Value:
    """A value of a declared type, with what is inside of it where that is declared too."""
    if isinstance(value, Mapping) and shape.type is DataType.STRUCT and shape.nested:
        fields = {str(name): (item, shape.field(str(name)) or UNKNOWN_SHAPE) for name, item in value.items()}
        given = {name: _fit(item, of, (*path, name), f"{shown}.{name}") for name, (item, of) in fields.items()}
        return Payload({**dict.fromkeys(shape.fields or ()), **given})
    if isinstance(value, list | tuple) and shape.type is DataType.LIST and shape.nested:
        of = shape.item()
        return tuple(_fit(item, of, (*path, at), f"{shown}[{at + 1}]") for at, item in enumerate(value))
    try:
        return fit(value, shape.type)
    except Misfit as misfit:
        reason = f'attribute "{shown}" is {shape.type}: {misfit}'
        raise Fault("wrong-value", reason, path) from None


def fit(value: object, data_type: DataType) -> Value:
    """A value as a data type keeps it; None stays None.  Raises ``Misfit``."""
    return None if value is None else _FITS[data_type](value)


def describe(value: object) -> str:
    """A value for a message: what it is, cut where it is long."""
    kinds = {bool: "a boolean", int: "an integer", str: "a string", dict: "an object", list: "a list"}
    if value is None:
        return "null"
    kind = "a number" if isinstance(value, float) else kinds.get(type(value), f"a {type(value).__name__}")
    shown = value.text if isinstance(value, WrittenFloat) else repr(value)
    return kind if isinstance(value, dict | list) else f"{kind}, {shown if len(shown) <= 40 else shown[:39] + '…'}"


def time_of(value: object) -> Time:
    """A time: an integer in 64 bits or an ISO timestamp.  Raises ``Misfit``."""
    if isinstance(value, datetime):
        value = value.isoformat()
    if isinstance(value, str):
        try:
            return parse_timestamp(value)
        except (ValueError, OverflowError):
            message = f"{describe(value)}, is no ISO timestamp such as 2026-01-31T12:00:00Z"
            raise Misfit(message) from None
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"{describe(value)}, is neither an integer nor an ISO timestamp"
        raise Misfit(message)
    if not BEGINNING < value <= FOREVER:
        message = f"{value} is beyond 64 bits"
        raise OutOfRange(message)
    return value


def _integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _not("an integer", value)
    if not SMALLEST <= value <= LARGEST:
        message = f"{value} is beyond 64 bits"
        raise OutOfRange(message)
    return value


def _float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise _not("a number", value)
    return float(_integer(value)) if isinstance(value, int) else float(value)


def _decimal(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise _not("a number or a string with one", value)
    text = value.text if isinstance(value, WrittenFloat) else str(value)
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise _not("a number or a string with one", value) from None
    if not number.is_finite() or abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise _not("a number within range", value)
    return number


def _string(value: object) -> str:
    return value if isinstance(value, str) else _refuse("a string", value)


def _boolean(value: object) -> bool:
    return value if isinstance(value, bool) else _refuse("true or false", value)


def _date(value: object) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        return date.fromisoformat(_string(value))
    except ValueError:
        raise _not("a date such as 2026-01-31", value) from None


def _binary(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return base64.b64decode(_string(value), validate=True)
    except (binascii.Error, ValueError):
        raise _not("a string in base64", value) from None


def _struct(value: object) -> Value:
    return _any(value) if isinstance(value, Mapping) else _refuse("an object", value)


def _list(value: object) -> Value:
    return _any(value) if isinstance(value, list | tuple) else _refuse("a list", value)


def _any(value: object) -> Value:
    """Any value, its numbers as 64 bits keep them; the nesting of a message is bounded."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return Payload({str(name): _any(item) for name, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(_any(item) for item in value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _integer(value)
    try:
        return freeze(value)
    except TypeError as error:
        raise Misfit(str(error)) from None


def _null(value: object) -> None:
    raise _not("null", value)


def _refuse(wanted: str, value: object) -> Never:
    raise _not(wanted, value)


def _not(wanted: str, value: object) -> Misfit:
    return Misfit(f"{describe(value)}, is not {wanted}")


_FITS: Mapping[DataType, Callable[[object], Value]] = {
    DataType.INTEGER: _integer,
    DataType.FLOAT: _float,
    DataType.DECIMAL: _decimal,
    DataType.STRING: _string,
    DataType.BOOLEAN: _boolean,
    DataType.TIMESTAMP: time_of,
    DataType.DURATION: _integer,
    DataType.DATE: _date,
    DataType.BINARY: _binary,
    DataType.STRUCT: _struct,
    DataType.LIST: _list,
    DataType.NULL: _null,
    DataType.ANY: _any,
}


def as_json(value: Value) -> object:
    """A payload value as JSON writes it: DECIMAL and DATE as strings, BINARY in base64, times as integers.

    What JSON has no number for (infinity, not a number) is a string too.
    """
    if isinstance(value, Payload):
        return {name: as_json(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    endless = isinstance(value, float) and not isfinite(value)
    return str(value) if endless or isinstance(value, Decimal | date) else value
