"""Values and messages as JSON that gives back exactly what was written, whatever the version of Python.

A value that JSON writes as it is (None, booleans, integers, texts, finite floats) stands for itself; every other one is
a list of its tag and its content.  Reading: R2 (what a payload holds).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from cedr.model.event import Event, Payload, Value
from cedr.model.level import Bound, ConsistencyLevel
from cedr.model.stream import Guarantee, Insert, Message, Retract

Json = Any


def as_bytes(data: Json) -> bytes:
    """Data as JSON, in bytes; what UTF-8 cannot write is escaped."""
    return json.dumps(data, separators=(",", ":")).encode("ascii")


def from_bytes(written: bytes) -> Json:
    """The data that ``as_bytes`` wrote."""
    return json.loads(written)


def encode(value: Value) -> Json:
    """A payload value.

    >>> encode((1, Decimal("1.50"))), decode(encode((1, Decimal("1.50"))))
    (['t', 1, ['n', '1.50']], (1, Decimal('1.50')))
    """
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, tuple):
        return ["t", *map(encode, value)]
    if isinstance(value, Payload):
        return ["p", *([name, encode(item)] for name, item in value.items())]
    if isinstance(value, bytes):
        return ["b", base64.b64encode(value).decode("ascii")]
    if isinstance(value, datetime):
        return ["m", value.isoformat()]
    tag = "f" if isinstance(value, float) else "n" if isinstance(value, Decimal) else "d"
    return [tag, value.isoformat() if isinstance(value, date) else str(value)]


def decode(data: Json) -> Value:
    """The value that ``encode`` wrote."""
    if not isinstance(data, list):
        plain: Value = data
        return plain
    tag, *content = data
    if tag == "t":
        return tuple(map(decode, content))
    if tag == "p":
        return Payload((name, decode(item)) for name, item in content)
    return _DECODERS[tag](content[0])


_DECODERS: Mapping[str, Callable[[str], Value]] = {
    "b": base64.b64decode,
    "m": datetime.fromisoformat,
    "f": float,
    "n": Decimal,
    "d": date.fromisoformat,
}


def encode_event(event: Event) -> Json:
    """An event with all that it is made of."""
    times = (event.valid_start, event.valid_end, event.occurrence_start, event.occurrence_end, event.root_time)
    data = [event.stream, event.id, *times, encode(event.payload)]
    if event.contributors or event.bindings:
        data.append([encode_event(part) for part in event.contributors])
        data.append([[name, encode_event(part)] for name, part in event.bindings])
    return data


def decode_event(data: Json) -> Event:
    """The event that ``encode_event`` wrote."""
    stream, id_, vs, ve, os, oe, rt, payload, *rest = data
    contributors, bindings = rest or ([], [])
    frozen = decode(payload)
    assert isinstance(frozen, Payload)
    bound = tuple((name, decode_event(part)) for name, part in bindings)
    return Event(stream, id_, vs, ve, os, oe, rt, tuple(map(decode_event, contributors)), frozen, bound)


def encode_message(message: Message) -> Json:
    """A message of any kind.

    >>> decode_message(encode_message(Retract("K", valid_end=5)))
    Retract(lineage_key='K', occurrence_end=None, valid_end=5, provider=None)
    """
    if isinstance(message, Insert):
        return ["i", message.lineage_key, message.provider, encode_event(message.event)]
    if isinstance(message, Retract):
        return ["r", message.lineage_key, message.provider, message.occurrence_end, message.valid_end]
    return ["g", message.time, message.provider]


def decode_message(data: Json) -> Message:
    """The message that ``encode_message`` wrote."""
    kind, *parts = data
    if kind == "i":
        return Insert(decode_event(parts[2]), parts[0], parts[1])
    if kind == "r":
        return Retract(parts[0], parts[2], parts[3], parts[1])
    return Guarantee(parts[0], parts[1])


def level_as_json(level: ConsistencyLevel) -> Json:
    """A level by its bounds."""
    return [[bound.duration, bound.cedr_time] for bound in (level.blocking, level.memory)]


def level_from_json(written: Json) -> ConsistencyLevel:
    """The level of some bounds."""
    blocking, memory = (Bound(duration, cedr_time) for duration, cedr_time in written)
    return ConsistencyLevel(blocking, memory)
