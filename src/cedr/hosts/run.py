"""``cedr.evaluate``: a query on a finite file or list of messages.

Readings: R10 (what a query gives), R35 (the default level), R37 (types inferred from messages).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from cedr.connect.dead_letters import drawn
from cedr.connect.messages import MessageFile
from cedr.connect.places import Position
from cedr.data.change_log import ChangeLog
from cedr.data.rejected import SHARE
from cedr.data.results import Shape
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.hosts.choice import DEFAULT, host_named
from cedr.hosts.declared_data import given_data
from cedr.hosts.event_types import declared_types, merged
from cedr.hosts.host import Job, Stream, sensible_batch
from cedr.hosts.inputs import Messages, messages_of
from cedr.hosts.noticing import of_ties
from cedr.hosts.preparing import Prepared, prepare
from cedr.hosts.queries import AnyQuery, Parsed, catalog_of, choose, folder_of, parse_level, parsed
from cedr.hosts.result import ChangeStream, Result, believed, timestamps_in
from cedr.hosts.tabular import evaluate_rows
from cedr.hosts.units import odd_times
from cedr.model.dead_letter import DeadLetter
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Insert
from cedr.model.time import FOREVER, Time
from cedr.plan.analyses.reads import types_read
from cedr.plan.compile import CompiledQuery, Program, compile_file


def evaluate(
    query: AnyQuery,
    data: Any = None,
    *,
    host: str | None = None,
    consistency: ConsistencyLevel | str | None = None,
    event: str | None = None,
    catalog: EventTypes | str | PathLike[str] | None = None,
    batch: int | None = None,
    bad_rows: float = SHARE,
    **words: Any,
) -> Result:
    """Evaluate a query on data.

    ``query`` is a text, the path of a ``.cedr`` file, or a query built in Python; ``event`` chooses among several, by
    default the last one.

    ``data`` is the path of a CSV, JSON Lines or Parquet file, a folder or a pattern of them; a pandas or polars data
    frame; an Arrow table or reader; rows as dictionaries; ``EventBatch`` objects; messages, as a file, as objects or as
    dictionaries; or a dictionary of such data by event type.  ``words`` say what the columns of data are, as in
    ``cedr.events``: ``type="TX", time="ts", id="tx_id"``.  Both may also stand in the query:
    ``TYPE TX FROM 'tx.csv' WITH (time = ts)``.  Up to the share ``bad_rows`` of the rows may be unusable.

    Types come from the query, from ``catalog``, or are inferred from the data.  ``host`` is "local", "oracle" or
    "spark"; by default local.  ``batch`` rows or messages make a step of the change stream: by default one for few
    of them, a thousandth for many.
    """
    level = parse_level(consistency) if isinstance(consistency, str) else consistency
    if host is not None:
        host_named(host)  # an unknown one is refused before anything is read
    asked = parsed(query)
    given = given_data(asked, data, words, folder_of(query))
    if given is not None:
        return evaluate_rows(prepare(asked, given, catalog, event, bad_rows), level, host, batch)
    program, arrived = _on_messages(asked, data, catalog)
    chosen = choose(program, event)
    sent = tuple(message for _, message in arrived.messages)
    job = Job(chosen, sent, level or chosen.consistency or MIDDLE, arrived.types, batch or sensible_batch(len(sent)))
    answer = host_named(DEFAULT if host is None else host).evaluate(job)
    primitive = frozenset(types_read(chosen.plan))
    clock = timestamps_in(message.event for message in sent if isinstance(message, Insert))
    shape = Shape(chosen.name, chosen.output, primitive, clock)
    return Result(
        shape,
        job.level,
        rows=believed(answer.rows, bitemporal=chosen.bitemporal),
        bitemporal=chosen.bitemporal,
        dead_letters=_dead_letters(arrived, answer.dead_letters),
        warnings=(
            *program.warnings,
            *_missing(chosen, arrived),
            *odd_times(chosen, asked, sent),
            *of_ties(answer.ties),
        ),
        stream=lambda track: _stream(arrived, answer.changes(track), shape, job.level),
        messages=lambda _: [(number // job.batch + 1, message) for number, message in enumerate(sent)],
    )


def ready(
    query: AnyQuery,
    messages: Messages,
    catalog: EventTypes | str | PathLike[str] | None,
    words: Mapping[str, Any] | None = None,
    event: str | None = None,
) -> tuple[Program, MessageFile]:
    """The compiled program and the messages, with all event types, declared and inferred; data as messages."""
    asked = parsed(query)
    given = given_data(asked, messages, words or {}, folder_of(query))
    if given is not None:
        return _data_as_messages(prepare(asked, given, catalog, event, SHARE))
    return _on_messages(asked, messages, catalog)


def _on_messages(
    query: Parsed, messages: Messages, catalog: EventTypes | str | PathLike[str] | None
) -> tuple[Program, MessageFile]:
    declared = catalog_of(catalog)
    if isinstance(query, Program):
        known = EventTypes({event_type.name: event_type for event_type in query.types if not event_type.open})
        return query, messages_of(messages, merged(declared, known))
    known = merged(declared, declared_types(query))
    arrived = messages_of(messages, known)
    return compile_file(query, EventTypes(dict(arrived.types.types), open=not known.types)), arrived


def _data_as_messages(prepared: Prepared) -> tuple[Program, MessageFile]:
    arrived = [(Position(name, row), message) for name, row, message in prepared.arriving.one_by_one()]
    letters = [*prepared.warnings, *prepared.rejects.summary()]
    return prepared.program, MessageFile("data", arrived, letters, prepared.types)


def _missing(query: CompiledQuery, arrived: MessageFile) -> list[Diagnostic]:
    """Types that were not declared and of which nothing came: perhaps misspelt."""
    known = arrived.types.types
    missing = [name for name in types_read(query.plan) if name not in known]
    seen = f"messages are of: {', '.join(known) or 'no type at all'}"
    return [
        Diagnostic("no-messages", f'no messages of type "{name}"', detail=seen, severity="warning") for name in missing
    ]


def _stream(arrived: MessageFile, stream: Stream, shape: Shape, level: ConsistencyLevel) -> ChangeStream:
    letters = _dead_letters(arrived, stream.dead_letters)
    return ChangeStream(ChangeLog(shape, stream.changes, level=level), letters, stream.measures)


def _dead_letters(arrived: MessageFile, refused: Iterable[DeadLetter]) -> tuple[Diagnostic, ...]:
    """What could not be read, and what the host refused, in the order of the file."""
    shown = drawn(refused, [position for position, _ in arrived.messages])
    return tuple(sorted([*arrived.dead_letters, *shown], key=_line))


def _line(letter: Diagnostic) -> Time:
    return FOREVER if letter.span is None else letter.span.line
