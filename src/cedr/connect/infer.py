"""Event types inferred from messages.

Reading: R37.  An attribute has the type of its values; INTEGER and FLOAT together are FLOAT, any other mixture is ANY.
A type is REVISABLE, without limit, where the messages hold revisions of its events: a second version, a statement after
the fact, a closing.  What was declared is never inferred.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal

from cedr.connect.values import fit
from cedr.model.event import Event, Payload, Value
from cedr.model.schema import DataType, EventType
from cedr.model.stream import Guarantee, Insert, LineageKey, Message, Retract
from cedr.model.time import FOREVER, Time

_TYPES: Mapping[type, DataType] = {
    type(None): DataType.NULL,
    bool: DataType.BOOLEAN,
    int: DataType.INTEGER,
    float: DataType.FLOAT,
    Decimal: DataType.DECIMAL,
    str: DataType.STRING,
    bytes: DataType.BINARY,
    date: DataType.DATE,
    Payload: DataType.STRUCT,
    tuple: DataType.LIST,
}


def type_of(value: Value) -> DataType:
    """The data type of one value."""
    return _TYPES.get(type(value), DataType.ANY)


def widened(first: DataType, second: DataType) -> DataType:
    """The data type that holds values of both.

    >>> print(widened(DataType.INTEGER, DataType.FLOAT), widened(DataType.NULL, DataType.STRING))
    FLOAT STRING
    """
    if second in (first, DataType.NULL):
        return first
    if first == DataType.NULL:
        return second
    return DataType.FLOAT if {first, second} == {DataType.INTEGER, DataType.FLOAT} else DataType.ANY


class Inference:
    """Collects what messages show of the types that are not declared.  Reading: R37."""

    def __init__(self, declared: frozenset[str] = frozenset()) -> None:
        self._declared = declared
        self._attributes: dict[str, dict[str, DataType]] = {}
        self._revised: set[str] = set()
        self._starts: dict[tuple[str, str], Time] = {}
        self._rows: dict[LineageKey, Event] = {}
        self._closings: list[tuple[LineageKey, Time]] = []

    def observe(self, message: Message) -> None:
        """Take a message into account."""
        if isinstance(message, Retract):
            if message.occurrence_end is not None:
                self._closings.append((message.lineage_key, message.occurrence_end))
        elif not isinstance(message, Guarantee) and message.event.stream not in self._declared:
            self._observe_insert(message)

    def _observe_insert(self, message: Insert) -> None:
        event = message.event
        known = self._attributes.setdefault(event.stream, {})
        for name, value in event.payload.items():
            known[name] = widened(known.get(name, DataType.NULL), type_of(value))
        self._rows[message.lineage_key] = event
        first = self._starts.setdefault(event.reference, event.occurrence_start)
        stated_late = event.occurrence_start > event.valid_start
        if stated_late or first != event.occurrence_start or event.occurrence_end != FOREVER:
            self._revised.add(event.stream)

    def types(self) -> dict[str, EventType]:
        """The types seen, each open where none of its messages has an attribute."""
        closed = (self._rows[key].stream for key, end in self._closings if key in self._rows and self._closes(key, end))
        revised = self._revised.union(closed)
        return {
            name: EventType(name, _known(attributes), FOREVER if name in revised else 0, open=not attributes)
            for name, attributes in self._attributes.items()
        }

    def _closes(self, key: LineageKey, end: Time) -> bool:
        return end > self._rows[key].occurrence_start


def _known(attributes: Mapping[str, DataType]) -> dict[str, DataType]:
    return {name: DataType.ANY if data == DataType.NULL else data for name, data in attributes.items()}


def conform(message: Message, types: Mapping[str, EventType]) -> Message:
    """A message whose payload has every attribute of its inferred type, NULL where missing, in one order."""
    if not isinstance(message, Insert) or message.event.stream not in types:
        return message
    attributes = types[message.event.stream].attributes
    payload = message.event.payload
    if len(payload) == len(attributes) and all(map(_fits, payload.items(), attributes.items())):
        return message
    fitting = {name: _as_float(payload.get(name), data_type) for name, data_type in attributes.items()}
    return replace(message, event=replace(message.event, payload=Payload(fitting)))


def _fits(given: tuple[str, Value], wanted: tuple[str, DataType]) -> bool:
    return given[0] == wanted[0] and not (wanted[1] == DataType.FLOAT and isinstance(given[1], int))


def _as_float(value: Value, data_type: DataType) -> Value:
    return fit(value, data_type) if data_type == DataType.FLOAT else value
