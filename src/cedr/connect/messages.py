"""A file of messages: JSON Lines in the order of arrival.

Paper: Sections 2 and 4.  Readings: R2 (defaults), R3 (the three messages and K), R39 and R41 (what cannot be used).

    {"insert": {"type": "INSTALL", "id": "e0", "vs": 1, "ve": 10, "os": 1, "oe": null, "k": "E0", "payload": {…}}}
    {"retract": {"k": "E0", "oe": 3}}     {"retract": {"k": "E0", "ve": 8}}     {"retract": {"k": "E0"}}
    {"guarantee": 12, "source": "s1"}

Only type, id and vs are required of an insert; null is FOREVER; a time is an integer or an ISO timestamp.  A retraction
names its row by K, or by type, id and os where the insert gave no K.  A line that cannot be used is a dead letter with
its place; the rest of the file is read.  What is wrong with the *order* of messages is found by ``model.intake``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from typing import BinaryIO

from cedr.connect.files import open_file
from cedr.connect.infer import Inference, conform
from cedr.connect.jsonlines import Fault, lines, parse
from cedr.connect.places import Path, Position
from cedr.connect.values import Misfit, OutOfRange, describe, payload_of, time_of
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.model.event import Event, Payload, primitive
from cedr.model.schema import EventType, EventTypes
from cedr.model.stream import Guarantee, Insert, LineageKey, Message, Retract, default_key, insert
from cedr.model.time import FOREVER, Interval, Time

KINDS = ("insert", "retract", "guarantee")
INSERT_FIELDS = ("type", "id", "vs", "ve", "os", "oe", "k", "payload", "source")
RETRACT_FIELDS = ("k", "type", "id", "os", "oe", "ve", "source")

Arrival = tuple[Position, Message]


@dataclass(frozen=True, slots=True)
class MessageFile:
    """What was read: messages with their places, dead letters, and the event types, declared and inferred."""

    name: str
    messages: list[Arrival] = field(default_factory=list)
    dead_letters: list[Diagnostic] = field(default_factory=list)
    types: EventTypes = field(default_factory=EventTypes)


def read_messages(path: str | PathLike[str], catalog: EventTypes | None = None) -> MessageFile:
    """Read a file of messages; "-" is standard input.  Raises ``StreamError`` only where the file cannot be read."""
    name = fspath(path)
    with open_file(name, "the messages") as stream:
        return read_stream(stream, name, catalog)


def read_stream(stream: BinaryIO, name: str, catalog: EventTypes | None = None) -> MessageFile:
    """Read messages from an open file."""
    reader = _Reader(name, catalog or EventTypes())
    for line in lines(stream, name):
        try:
            if line.fault is not None:
                raise line.fault
            reader.take(line.position, decode(parse(line.position.text), reader.declared))
        except Fault as fault:
            reader.result.dead_letters.append(fault.diagnostic(line.position))
    return reader.finish()


def take_messages(messages: Iterable[Message | Mapping[str, object]], catalog: EventTypes | None = None) -> MessageFile:
    """The same for messages at hand, as objects or as dictionaries in the form of the file."""
    reader = _Reader("<messages>", catalog or EventTypes())
    for number, given in enumerate(messages, 1):
        position = Position(reader.result.name, number, _shown(given))
        try:
            if isinstance(given, Insert | Retract | Guarantee):
                reader.take(position, checked(given, reader.declared))
            else:
                reader.take(position, decode(given, reader.declared))
        except Fault as fault:
            reader.result.dead_letters.append(fault.diagnostic(position))
    return reader.finish()


class _Reader:
    """Collects messages, and with them what is to be inferred."""

    def __init__(self, name: str, declared: EventTypes) -> None:
        self.declared = EventTypes(dict(declared.types))
        self.result = MessageFile(name, types=EventTypes(dict(declared.types), declared.open))
        self.inference = Inference(frozenset(declared.types))

    def take(self, position: Position, message: Message) -> None:
        self.inference.observe(message)
        self.result.messages.append((position, message))

    def finish(self) -> MessageFile:
        inferred = self.inference.types()
        self.result.types.types.update(inferred)
        if inferred:
            arrivals = self.result.messages
            arrivals[:] = [(position, conform(message, inferred)) for position, message in arrivals]
        return self.result


def decode(value: object, catalog: EventTypes) -> Message:
    """The message that a value read from JSON stands for.  Raises ``Fault``."""
    if not isinstance(value, Mapping):
        raise Fault("bad-message", f"a message is an object, this is {describe(value)}")
    kinds = [kind for kind in KINDS if kind in value]
    if len(kinds) != 1:
        raise _unknown_kind(value, kinds)
    kind = kinds[0]
    _check_fields(value, (kind, "source"), "a message", ())
    if kind == "guarantee":
        return Guarantee(_time(value["guarantee"], ("guarantee",)), _source(value, ()))
    fields = value[kind]
    if not isinstance(fields, Mapping):
        raise Fault("bad-message", f'"{kind}" must be an object, it is {describe(fields)}', (kind,))
    return _insert(fields, value, catalog) if kind == "insert" else _retract(fields, value)


def checked(message: Message, catalog: EventTypes) -> Message:
    """A message object held to the same rules as a line of a file.  Raises ``Fault``."""
    if not isinstance(message, Insert):
        return message
    event = message.event
    _check_intervals(event)
    declared = catalog.types.get(event.stream)
    return message if declared is None else replace(message, event=_typed(event, declared))


def _typed(event: Event, declared: EventType) -> Event:
    return replace(event, payload=payload_of(event.payload, declared, ("insert", "payload")))


def _unknown_kind(value: Mapping[str, object], kinds: list[str]) -> Fault:
    hint = 'a message is {"insert": {…}}, {"retract": {…}} or {"guarantee": time}'
    if kinds:
        reason = f"one message cannot be both {' and '.join(kinds)}"
        return Fault("bad-message", reason, (kinds[1],), key=True, hint=hint)
    other = next((name for name in value if name != "source"), None)
    if other is None:
        return Fault("bad-message", "the message says nothing", hint=hint)
    return Fault("unknown-message", f'there is no message "{other}"', (other,), key=True, hint=hint)


def _insert(fields: Mapping[str, object], outer: Mapping[str, object], catalog: EventTypes) -> Insert:
    _check_fields(fields, INSERT_FIELDS, "an insert", ("insert",))
    _require(fields, ("type", "id", "vs"), "an insert", "insert")
    times = {name: _time(fields[name], ("insert", name)) for name in ("vs", "ve", "os", "oe") if name in fields}
    stream = _text(fields, "type", "insert")
    event = primitive(
        stream,
        _word(fields, "id", "insert"),
        times["vs"],
        times.get("ve", FOREVER),
        occurrence_start=times.get("os"),
        occurrence_end=times.get("oe", FOREVER),
        payload=_payload(fields, catalog.types.get(stream)),
    )
    _check_intervals(event)
    key = None if fields.get("k") is None else _word(fields, "k", "insert")
    return insert(event, key, _provider(fields, outer, "insert"))


def _payload(fields: Mapping[str, object], declared: EventType | None) -> Payload:
    raw = fields.get("payload")
    if raw is None:
        raw = {}
    if not isinstance(raw, Mapping):
        reason = f'"payload" must be an object of attributes and values, it is {describe(raw)}'
        raise Fault("bad-message", reason, ("insert", "payload"))
    return payload_of(raw, declared, ("insert", "payload"))


def _check_intervals(event: Event) -> None:
    """Paper: Section 2.  Ve = Vs is an event without lifetime, Oe = Os one that never was; less is neither."""
    for word, start, end in (("valid", *_ends(event.valid)), ("occurrence", *_ends(event.occurrence))):
        letter = word[0]
        if start == FOREVER:
            hint = "leave os out to let it be vs" if letter == "o" else ""
            raise Fault("time-out-of-range", f'"{letter}s" must be before FOREVER', ("insert", f"{letter}s"), hint=hint)
        if end < start:
            reason = f"the event ends before it starts: {letter}e = {end} is less than {letter}s = {start}"
            code = f"{word}-end-before-start"
            raise Fault(code, reason, ("insert", f"{letter}e"))


def _ends(interval: Interval) -> tuple[Time, Time]:
    return interval.start, interval.end


def _retract(fields: Mapping[str, object], outer: Mapping[str, object]) -> Retract:
    _check_fields(fields, RETRACT_FIELDS, "a retraction", ("retract",))
    ends = {name: _time(fields[name], ("retract", name)) for name in ("oe", "ve") if name in fields}
    for name, end in ends.items():
        if end == FOREVER:
            hint = f'leave "{name}" out; with neither oe nor ve the row is removed'
            reason = f'a retraction only shortens, "{name}" cannot be FOREVER'
            raise Fault("lengthening-retraction", reason, ("retract", name), hint=hint)
    return Retract(_retracted_key(fields), ends.get("oe"), ends.get("ve"), _provider(fields, outer, "retract"))


def _retracted_key(fields: Mapping[str, object]) -> LineageKey:
    named = [name for name in ("type", "id", "os") if name in fields]
    if fields.get("k") is not None:
        if named:
            reason = f'a retraction names its row by "k" or by type, id and os, not by both "k" and "{named[0]}"'
            raise Fault("bad-message", reason, ("retract", named[0]), key=True)
        return _word(fields, "k", "retract")
    if not named:
        reason, hint = 'a retraction needs "k"', 'or "type", "id" and "os" of a row that was inserted without "k"'
        raise Fault("missing-field", reason, ("retract",), hint=hint)
    _require(fields, ("type", "id", "os"), 'a retraction without "k"', "retract")
    start = _time(fields["os"], ("retract", "os"))
    row = primitive(_text(fields, "type", "retract"), _word(fields, "id", "retract"), start)
    return default_key(row)


def _check_fields(given: Mapping[str, object], known: tuple[str, ...], what: str, path: Path) -> None:
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise Fault(
            "unknown-field",
            f'{what} has no field "{unknown}"',
            (*path, unknown),
            key=True,
            detail=f"the fields are: {', '.join(known)}",
            hint='attributes of the event go into "payload"' if path == ("insert",) else "",
        )


def _require(fields: Mapping[str, object], names: tuple[str, ...], what: str, kind: str) -> None:
    missing = [name for name in names if name not in fields]
    if missing:
        wanted = ", ".join(f'"{name}"' for name in missing)
        raise Fault("missing-field", f"{what} needs {wanted}", (kind,), detail=f"required are: {', '.join(names)}")


def _time(value: object, path: Path) -> Time:
    """A time; null is FOREVER."""
    if value is None:
        return FOREVER
    try:
        return time_of(value)
    except OutOfRange as misfit:
        raise Fault("time-out-of-range", f'"{path[-1]}" must be a time: {misfit}', path) from None
    except Misfit as misfit:
        raise Fault("bad-time", f'"{path[-1]}" must be a time: {misfit}', path) from None


def _text(fields: Mapping[str, object], name: str, kind: str) -> str:
    value = fields[name]
    if not isinstance(value, str) or not value:
        raise Fault("bad-message", f'"{name}" must be a string with a name, it is {describe(value)}', (kind, name))
    return value


def _word(fields: Mapping[str, object], name: str, kind: str) -> str:
    """An ID or a key: a string, or an integer, which stands for its decimal text."""
    value = fields[name]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return value
    raise Fault("bad-message", f'"{name}" must be a string or an integer, it is {describe(value)}', (kind, name))


def _provider(fields: Mapping[str, object], outer: Mapping[str, object], kind: str) -> str | None:
    inner = _source(fields, (kind,))
    beside = _source(outer, ())
    if inner is not None and beside is not None and inner != beside:
        raise Fault("bad-message", f'the source is both "{beside}" and "{inner}"', (kind, "source"))
    return inner if beside is None else beside


def _source(fields: Mapping[str, object], path: Path) -> str | None:
    value = fields.get("source")
    if value is None or isinstance(value, str):
        return value
    raise Fault("bad-message", f'"source" must be a string, it is {describe(value)}', (*path, "source"))


def _shown(given: object) -> str:
    """A message at hand as a line of text, to point into."""
    if isinstance(given, Insert):
        given = {"insert": {"type": given.event.stream, "id": given.event.id, **_times(given.event)}}
    elif isinstance(given, Retract):
        ends = {"oe": given.occurrence_end, "ve": given.valid_end}
        given = {"retract": {"k": given.lineage_key, **{name: end for name, end in ends.items() if end is not None}}}
    elif isinstance(given, Guarantee):
        given = {"guarantee": given.time}
    try:
        return json.dumps(given, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(given)


def _times(event: Event) -> dict[str, object]:
    times = {"vs": event.valid_start, "ve": event.valid_end, "os": event.occurrence_start, "oe": event.occurrence_end}
    finite = {name: None if time == FOREVER else time for name, time in times.items()}
    return {**finite, "payload": dict(event.payload)}
