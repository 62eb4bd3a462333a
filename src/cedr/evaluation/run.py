"""``cedr.evaluate``: a query on a finite file or list of messages.

Readings: R10 (what a query gives), R35 (the default level), R37 (types inferred from messages).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike

from cedr.connect.dead_letters import drawn
from cedr.connect.messages import MessageFile, read_messages, take_messages
from cedr.errors import Diagnostic
from cedr.evaluation.catalog import declared_types, merged
from cedr.evaluation.hosts import Job, Stream, host_named
from cedr.evaluation.queries import Builder, catalog_of, choose, parse_level, query_file
from cedr.evaluation.result import ChangeStream, Result
from cedr.language.syntax import File
from cedr.model.event import Event
from cedr.model.intake import DeadLetter
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.schema import Catalog, EventType
from cedr.model.stream import Message
from cedr.model.time import FOREVER, Time
from cedr.plan.compile import CompiledQuery, Program, compile_file
from cedr.plan.logical import Source, walk
from cedr.semantics.evaluate import latest

AnyQuery = str | PathLike[str] | Builder | File | Program | CompiledQuery
AnyMessages = str | PathLike[str] | Iterable[Message | Mapping[str, object]] | MessageFile


def evaluate(
    query: AnyQuery,
    messages: AnyMessages,
    *,
    host: str | None = None,
    consistency: ConsistencyLevel | str | None = None,
    event: str | None = None,
    catalog: Catalog | str | PathLike[str] | None = None,
) -> Result:
    """Evaluate a query on messages.

    ``query`` is a text, the path of a ``.cedr`` file, or a query built in Python; ``event`` chooses among several, by
    default the last one.  ``messages`` is the path of a JSON Lines file, or messages at hand, as objects or as
    dictionaries of that form.  Types come from the query, from ``catalog``, or are inferred from the messages.
    ``host`` is "oracle", "local" or "spark"; by default the oracle, for the changes of many messages whoever is faster.
    """
    run = host_named(host)
    level = parse_level(consistency) if isinstance(consistency, str) else consistency
    program, arrived = ready(query, messages, catalog)
    chosen = choose(program, event)
    sent = tuple(message for _, message in arrived.messages)
    job = Job(chosen, sent, level or chosen.consistency or MIDDLE, arrived.types)
    answer = run(job)
    return Result(
        chosen.name,
        _in_order(answer.rows if chosen.bitemporal else latest(answer.rows)),
        chosen.output,
        chosen.bitemporal,
        job.level,
        _dead_letters(arrived, answer.dead_letters),
        (*program.warnings, *_missing(chosen, arrived)),
        frozenset(source.name for source in sources(chosen)),
        lambda track: _stream(arrived, answer.changes(track)),
        sent,
    )


def ready(
    query: AnyQuery, messages: AnyMessages, catalog: Catalog | str | PathLike[str] | None
) -> tuple[Program, MessageFile]:
    """The compiled program and the messages, with all event types, declared and inferred."""
    declared = catalog_of(catalog)
    if isinstance(query, CompiledQuery):
        query = Program({query.name: query}, Catalog({source.name: source for source in sources(query)}))
    if isinstance(query, Program):
        known = Catalog({event_type.name: event_type for event_type in query.types if not event_type.open})
        return query, _messages(messages, merged(declared, known))
    file = query_file(query)
    known = merged(declared, declared_types(file))
    arrived = _messages(messages, known)
    return compile_file(file, Catalog(dict(arrived.types.types), open=not known.types)), arrived


def _messages(given: AnyMessages, known: Catalog) -> MessageFile:
    if isinstance(given, MessageFile):
        return given
    return read_messages(given, known) if isinstance(given, str | PathLike) else take_messages(given, known)


def _in_order(rows: Iterable[Event]) -> tuple[Event, ...]:
    return tuple(sorted(rows, key=lambda row: (row.occurrence_start, row.valid_start, row.id)))


def sources(query: CompiledQuery) -> list[EventType]:
    """The event types that a query is made of."""
    return [node.type for node in walk(query.plan) if isinstance(node, Source)]


def _missing(query: CompiledQuery, arrived: MessageFile) -> list[Diagnostic]:
    """Types that were not declared and of which nothing came: perhaps misspelt."""
    known = arrived.types.types
    missing = dict.fromkeys(source.name for source in sources(query) if source.name not in known)
    seen = f"messages are of: {', '.join(known) or 'no type at all'}"
    return [
        Diagnostic("no-messages", f'no messages of type "{name}"', detail=seen, severity="warning") for name in missing
    ]


def _stream(arrived: MessageFile, stream: Stream) -> ChangeStream:
    return ChangeStream(tuple(stream.changes), _dead_letters(arrived, stream.dead_letters), stream.measures)


def _dead_letters(arrived: MessageFile, refused: Iterable[DeadLetter]) -> tuple[Diagnostic, ...]:
    """What could not be read, and what the host refused, in the order of the file."""
    shown = drawn(refused, [position for position, _ in arrived.messages])
    return tuple(sorted([*arrived.dead_letters, *shown], key=_line))


def _line(letter: Diagnostic) -> Time:
    return FOREVER if letter.span is None else letter.span.line
