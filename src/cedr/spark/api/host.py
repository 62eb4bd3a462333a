"""The host ``spark`` of ``cedr eval`` and ``cedr.evaluate``: runs a query on the messages of a file with Spark.

Readings: R10, R24, R33.  It uses the running session, or starts a local one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import types as st

from cedr.connect.outgoing import message_as_line
from cedr.data.change_log import change_of
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.host import Answer, Job, Stream, in_order, said_by
from cedr.model.dead_letter import DeadLetter
from cedr.model.event import Event, Payload
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract
from cedr.model.time import FOREVER, Time
from cedr.plan.analyses.reads import types_read
from cedr.spark.api.query import query
from cedr.spark.session.session import spark_session
from cedr.spark.sources.datatypes import sparks
from cedr.spark.sources.events import Events, events

_HEADER = ("id", "time", "valid_end", "occurrence_start", "occurrence_end", "key", "change", "provider", "arrival")
_TEXTS = ("id", "key", "change", "provider")


def evaluate(job: Job) -> Answer:
    """Run a job: the rows come from a bounded query, the changes from its history, with one message in each step."""
    given = as_events(job.messages, job.types, job.query.plan, session())
    letters = _Letters(job.messages)
    if job.query.as_of is None:
        table = _collected(job, given, changes=False)
        rows = [_event(row, job) for row in table if row["code"] is None]
        refused = letters.of(table)
    else:
        stream = _stream(job, given)
        rows, refused = said_by(stream.changes, job.query.as_of), list(stream.dead_letters)
    return Answer(rows, refused, lambda _: _stream(job, given))


def session() -> SparkSession:
    """The running session, or a local one."""
    return SparkSession.getActiveSession() or spark_session("local[2]")


# -- messages as DataFrames -------------------------------------------------------------------------------------------


def as_events(
    messages: Sequence[Message],
    types: EventTypes,
    plan: Any,
    session: SparkSession,
    arrivals: Sequence[Time] | None = None,
) -> Events:
    """Messages, in the order of arrival, as a DataFrame for each event type; each message has its own CEDR time."""
    known = {**types.types, **{name: of for name, of in types_read(plan).items() if name not in types.types}}
    inserted = {m.lineage_key: m.event for m in reversed(messages) if isinstance(m, Insert)}
    known = {name: _settled(of, inserted.values()) for name, of in known.items()}
    rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in known}
    some = next(iter(types_read(plan)), next(iter(known), ""))
    times = range(1, len(messages) + 1) if arrivals is None else arrivals
    for number, message in zip(times, messages, strict=True):
        event = message.event if isinstance(message, Insert) else None
        if isinstance(message, Retract):
            event = inserted.get(message.lineage_key)
        name = some if event is None else event.stream
        if name not in known:
            known[name], rows[name] = EventType(name), []
        rows[name].append(_row(message, event, known[name], number))
    frames = {name: session.createDataFrame(rows[name], _schema(of)) for name, of in known.items()}
    columns: dict[str, Any] = {name: f"${name}" for name in _HEADER}
    return events(frames, **columns, attributes=None, stable_key=_keeps_payloads(messages))


def _settled(of: EventType, events: Iterable[Event]) -> EventType:
    """Attributes of no known type that no event has are NULL as texts: columns of data that no query reads."""
    unknown = {name for name, kind in of.attributes.items() if kind is DataType.ANY}
    for event in events if unknown else ():
        if event.stream == of.name:
            unknown -= event.payload.keys()
    settled = {name: DataType.STRING if name in unknown else kind for name, kind in of.attributes.items()}
    return replace(of, attributes=settled)


def _keeps_payloads(messages: Iterable[Message]) -> bool:
    """Whether all versions of each event have the same payload, and so the same key."""
    seen: dict[tuple[str, str], Payload] = {}
    inserted = (message.event for message in messages if isinstance(message, Insert))
    return all(seen.setdefault(event.reference, event.payload) == event.payload for event in inserted)


def _row(message: Message, event: Event | None, of: EventType, number: int) -> tuple[Any, ...]:
    payload = tuple(None if event is None else _plain(event.payload.get(name)) for name in of.attributes)
    if isinstance(message, Guarantee):
        return (None, message.time, None, None, None, None, "guarantee", message.provider, number, *payload)
    known = (None, None, None) if event is None else (event.id, event.valid_start, event.occurrence_start)
    id_, vs, os_ = known
    if isinstance(message, Retract):
        ends = (message.valid_end, message.occurrence_end)
        return (id_, vs, ends[0], os_, ends[1], message.lineage_key, "retract", message.provider, number, *payload)
    row = message.event
    ends = (row.valid_end, row.occurrence_end)
    return (id_, vs, ends[0], os_, ends[1], message.lineage_key, None, message.provider, number, *payload)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _schema(of: EventType) -> st.StructType:
    header = [st.StructField(f"${name}", st.StringType() if name in _TEXTS else st.LongType()) for name in _HEADER]
    return st.StructType([*header, *(_field(of, name, kind) for name, kind in of.attributes.items())])


def _field(of: EventType, name: str, kind: DataType) -> st.StructField:
    counted = kind in (DataType.TIMESTAMP, DataType.DURATION)  # in messages these are whole numbers
    found = st.LongType() if counted else sparks(kind)
    if found is None:
        primary = f"{of.name}.{name} is of type {kind}, which no single Spark type is"
        raise HostError(Diagnostic("no-spark-type", primary, hint="declare its type, or use the host local"))
    return st.StructField(name, found)


# -- results as events ------------------------------------------------------------------------------------------------


_ALL = ("*", "contributor_types")


def _collected(job: Job, given: Events, *, changes: bool) -> list[Any]:
    level = job.level if changes else None
    frame = query(
        job.query, given, consistency=level, changes=changes, catalog=job.types, dead_letters=True, columns=_ALL
    )
    return list(frame.collect())


def _event(row: Any, job: Job) -> Event:
    names = list(job.query.output.attributes)
    first = list(row.__fields__).index("contributors") + 1
    payload = Payload(zip(names, map(_value, row[first : first + len(names)]), strict=True))
    parts = _contributors(row)
    return Event(job.query.name, row["id"], row["Vs"], row["Ve"], row["Os"], row["Oe"], row["Rt"], parts, payload)


def _value(value: Any) -> Any:
    """A value as it is in messages: timestamps and durations in microseconds.  Reading: R1."""
    if isinstance(value, datetime):
        return (value.astimezone(UTC) - _EPOCH) // _MICROSECOND
    if isinstance(value, timedelta):
        return value // _MICROSECOND
    if isinstance(value, st.Row):
        return {name: _value(part) for name, part in value.asDict().items()}
    return (
        tuple(map(_value, value))
        if isinstance(value, list)
        else bytes(value)
        if isinstance(value, bytearray)
        else value
    )


_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


def _contributors(row: Any) -> tuple[Event, ...]:
    """The primitive contributors of a row; only their type and ID are known."""
    found = zip(row["contributor_types"], row["contributors"], strict=True)
    return tuple(Event(of, id_, 0, FOREVER, 0, FOREVER, 0) for of, id_ in found)


def _stream(job: Job, given: Events) -> Stream:
    """The changes, step by step; the guarantee of the query is the smallest of its buckets.  Reading: R36."""
    rows = _collected(job, given, changes=True)
    steps: defaultdict[Time, list[Any]] = defaultdict(list)
    for row in rows:
        if row["code"] is None:
            steps[row["Cs"]].append(row)
    letters = _Letters(job.messages).of([row for row in rows if row["code"] is not None])
    return Stream([*_changes(job, steps)], letters)


def _changes(job: Job, steps: Mapping[Time, Iterable[Any]]) -> Iterator[Change]:
    emitted: dict[str, Event] = {}
    guarantees: dict[str, Time] = {}
    before = None
    for time in sorted(steps):
        rows = [row for row in steps[time] if row["change"] != "guarantee"]
        changes = [change_of(row["K"], row["change"], _event(row, job), time, emitted) for row in rows]
        yield from in_order(changes)
        for row in steps[time]:
            if row["change"] == "guarantee":
                guarantees[row["K"]] = row["Os"]
        whole = int(next(iter(guarantees)).partition("/")[2]) if guarantees else 0
        now = min(guarantees.values()) if whole and len(guarantees) == whole else None
        if now is not None and (before is None or now > before):
            before = now
            yield Change(Guarantee(now), time)


class _Letters:
    """Finds the message of each dead letter."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for number, message in reversed([*enumerate(messages, 1)]):
            self._places[message_as_line(message)].append(number)

    def of(self, rows: Iterable[Any]) -> list[DeadLetter]:
        """The dead letters among some rows, in the order of their messages."""
        found = []
        for row in rows:
            places = self._places.get(row["message"]) if row["code"] is not None else None
            if places:
                place = places.pop() if len(places) > 1 else places[0]
                found.append(DeadLetter(row["code"], row["reason"], self._messages[place - 1], place))
        return sorted(found, key=lambda letter: letter.position)
