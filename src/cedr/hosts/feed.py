"""Messages as they come, one after the other, in any of their forms.

Readings: R2, R3.  A message is an object, a dictionary in the form of the file, or a batch of columns; a list of them
is one batch.  What cannot be read is a dead letter with the number of its message, and the stream goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, TypeGuard

from cedr.connect.files import open_file
from cedr.connect.jsonlines import Fault, Line, lines, parse
from cedr.connect.messages import checked, decode
from cedr.connect.outgoing import message_as_line
from cedr.connect.places import Position
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.model.event import Payload, Value
from cedr.model.schema import DataType, EventTypes
from cedr.model.stream import Guarantee, Insert, Message, Retract

if TYPE_CHECKING:
    from cedr.consistency.batch import EventBatch

NAME = "<messages>"
_KEPT_AS: Mapping[DataType, type] = {
    DataType.INTEGER: int,
    DataType.STRING: str,
    DataType.BOOLEAN: bool,
    DataType.TIMESTAMP: int,
    DataType.DURATION: int,
}
"""The types whose values can be told at a glance; all others are looked at closely."""


class Feed:
    """Turns what is given into messages; keeps what could not be read."""

    def __init__(self, types: EventTypes) -> None:
        self.faults: list[Diagnostic] = []
        self.count = 0
        """How many were given, the unreadable ones included; each row of a batch of columns is one."""
        self._unread: list[int] = []
        self.learn(types)

    def learn(self, types: EventTypes) -> None:
        """The event types from now on."""
        self._types = EventTypes(dict(types.types))
        self._shapes = {
            name: tuple((attribute, _KEPT_AS.get(data)) for attribute, data in event_type.attributes.items())
            for name, event_type in types.types.items()
            if not event_type.open
        }

    def take(self, given: object) -> Message | EventBatch | None:
        """A message as the hosts take it; None if it cannot be read."""
        self.count += 1
        try:
            if isinstance(given, Insert):
                return given if self._fits(given) else checked(given, self._types)
            if isinstance(given, Retract | Guarantee):
                return given
            if isinstance(given, Line):
                return self._line(given)
            if not isinstance(given, Mapping) and _is_batch(given):
                self.count += len(given) - 1
                return given
            return decode(given, self._types)
        except Fault as fault:
            self.faults.append(fault.diagnostic(self._place(given)))
            self._unread.append(self.count)
            return None

    def number(self, position: int) -> int:
        """The number, among all that was given, of the message at a position among those that could be read."""
        for unread in self._unread:
            position += unread <= position
        return position

    def _fits(self, given: Insert) -> bool:
        """Whether an insert is as its declared type wants it: the quick way past a look at every value."""
        event = given.event
        if event.valid_end < event.valid_start or event.occurrence_end < event.occurrence_start:
            return False
        shape = self._shapes.get(event.stream)
        if shape is None:
            return event.stream not in self._types.types
        return _has_shape(event.payload, shape)

    def _line(self, line: Line) -> Message:
        if line.fault is not None:
            raise line.fault
        return decode(parse(line.position.text), self._types)

    def _place(self, given: object) -> Position:
        return given.position if isinstance(given, Line) else Position(NAME, self.count, _shown(given))


def file_lines(path: str | PathLike[str]) -> Iterator[Line]:
    """The lines of a file of messages as they are read; "-" is standard input.  Raises ``StreamError``."""
    name = fspath(path)
    stream = open_file(name, "the messages")  # now, not with the first message: a wrong name is an error of the call

    def read() -> Iterator[Line]:
        with stream:
            yield from lines(stream, name)

    return read()


def _has_shape(payload: Payload, shape: tuple[tuple[str, type | None], ...]) -> bool:
    if len(payload) != len(shape):
        return False
    return all(
        name == wanted and kept is not None and (value is None or type(value) is kept)
        for (name, value), (wanted, kept) in zip(_items(payload), shape, strict=True)
    )


def _items(payload: Payload) -> Iterator[tuple[str, Value]]:
    return iter(payload.items())


def _is_batch(given: object) -> TypeGuard[EventBatch]:
    """Without an import of Arrow, which only those who have such a batch need."""
    return type(given).__name__ == "EventBatch" and hasattr(given, "inserts")


def _shown(given: object) -> str:
    """A message at hand as a line of text, to point into."""
    if isinstance(given, Insert | Retract | Guarantee):
        return message_as_line(given)
    try:
        return json.dumps(given, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(given)
