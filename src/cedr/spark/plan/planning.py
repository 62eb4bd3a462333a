"""Plans a query on given events: checks types, chooses the key, names the columns of the result.

Readings: R20 (types), R23 (outputs), R37 (revisable types).  It finds all errors that can be found before the start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from typing import Any

from pyspark.sql import types as st
from pyspark.sql.pandas.types import to_arrow_schema

from cedr.consistency.pipeline import Pipeline
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError, StreamError
from cedr.hosts.event_types import declared_types, merged
from cedr.hosts.queries import AnyQuery, catalog_of, choose, parse_level, parsed
from cedr.hosts.units import durations_of
from cedr.language.check import uses_of
from cedr.language.syntax import Query
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.schema import DataType, EventType, EventTypes, Shape
from cedr.plan.analyses.elements import Part
from cedr.plan.analyses.reads import types_read
from cedr.plan.compile import CompiledQuery, Program, compile_file
from cedr.plan.logical import ROW
from cedr.plan.splitting import Split, split_of
from cedr.spark.layout.layout import BUCKETS, Layout, SourceLayout, TypeLayout
from cedr.spark.layout.tokens import tokens
from cedr.spark.output.rows import LETTER, ON_DEMAND, header_fields
from cedr.spark.plan.columns import Slots, slots_of
from cedr.spark.plan.reads import attributes_read, fields_read
from cedr.spark.plan.time_units import check_units
from cedr.spark.sources.datatypes import fits, ours, shape_of, sparks
from cedr.spark.sources.events import Events, EventSource

Level = ConsistencyLevel | str


@dataclass(frozen=True)
class Planned:
    """A layout, and what else the driver needs."""

    layout: Layout
    slots: Slots
    split: Split
    closed: bool
    schema: st.StructType
    stages: tuple[Layout, ...] = ()
    """The layout of each stage, if the query runs in stages."""
    later: tuple[Split, ...] = ()
    """The splits of the stages after the first."""


@dataclass(frozen=True)
class Options:
    """The options of ``cedr.query``."""

    consistency: Level | Sequence[Level] | None
    event: str | None
    catalog: EventTypes | str | PathLike[str] | None
    providers: tuple[str, ...]
    buckets: int
    changes: bool
    letters: bool
    columns: tuple[str, ...] | None = None
    buckets_from_state: bool = False
    """Whether a stream takes the number of buckets from its checkpoint, because the user gave none."""


def plan(query: AnyQuery, events: Events, options: Options) -> Planned:
    """Check a query against its events.  Raises ``LanguageError``, ``StreamError`` or ``HostError``."""
    chosen, types, closed = compiled(query, events, options)
    levels, labelled = _levels(options.consistency, chosen)
    if not options.changes and not labelled and chosen.as_of is None:
        levels = [STRONG]  # the result is the same at all levels, and this one retracts nothing
    Pipeline(
        chosen.plan, levels, types, options.providers
    )  # so that a plan that cannot run fails here, not in a worker
    read = attributes_read(chosen.plan)
    slots = slots_of(events, read, fields_read(chosen.plan))
    split = split_of(chosen.plan, stable_key=all(source.stable_key for source in events.sources))
    form: dict[str, Any] = {"changes": options.changes, "labelled": labelled, "letters": options.letters}
    schema, shown = output_schema(chosen, events, slots, form)
    schema = _chosen(schema, options)
    buckets = 1 if split.whole else options.buckets
    layout = Layout(
        chosen,
        types,
        tuple(levels),
        tuple(_type_layout(name, attributes, slots, types) for name, attributes in read.items()),
        tuple(SourceLayout(s.provider, s.disorder, s.idle) for s in events.sources),
        options.providers,
        tokens(buckets),
        to_arrow_schema(schema, timezone="UTC"),
        tuple(chosen.output.attributes),
        shown,
        instants=events.instants,
        recorded=any("arrival" in source.header for source in events.sources),
        key=str(split),
        fingerprint=_fingerprint(chosen, types, split, buckets),
        buckets_from_state=options.buckets_from_state and not split.whole,
        **form,
    )
    return Planned(layout, slots, split, closed, schema)


def compiled(query: AnyQuery, events: Events, options: Options) -> tuple[CompiledQuery, EventTypes, bool]:
    """The compiled query, the types of its events, and whether no other types exist."""
    asked = parsed(query)
    if isinstance(asked, Program):
        chosen = choose(asked, options.event)
        declared_in_program = {t.name: t for t in asked.types if not t.open}
        for event_type in types_read(chosen.plan).values():
            declared_in_program.setdefault(event_type.name, event_type)
        types = merged(catalog_of(options.catalog), EventTypes(declared_in_program))
        _check(chosen, events)
        return chosen, types, False
    declared = merged(catalog_of(options.catalog), declared_types(asked))
    own = {source.name for source in events.sources if source.name is not None}
    closed = bool(declared.types) or None not in {source.name for source in events.sources}
    named = set(own)
    if not declared.types:  # only the query tells which values of the type column it means
        queries = {each.name: each for each in asked.statements if isinstance(each, Query)}
        meant = {name for each in queries.values() for name in uses_of(each)} - queries.keys()
        for name in sorted(meant - own) if closed else ():
            raise _no_frame(name, events)
        named |= meant
    inferred = EventTypes({name: _inferred(name, events) for name in sorted(named)})
    types = merged(inferred, declared)
    chosen = choose(compile_file(asked, types), options.event)
    check_units(durations_of(chosen, asked), events)
    _check(chosen, events)
    return chosen, types, closed


def _inferred(name: str, events: Events) -> EventType:
    """An event type, inferred from its columns."""
    attributes: dict[str, DataType] = {}
    shapes: dict[str, Shape] = {}
    for source in events.sources:
        if source.name in (None, name):
            attributes |= {each: kind for each, of in source.payload.items() if (kind := ours(of)) is not None}
            shapes |= {each: shape for each, of in source.payload.items() if (shape := shape_of(of)).nested}
    return EventType(name, attributes, shapes=shapes)


def _check(chosen: CompiledQuery, events: Events) -> None:
    """Raises ``StreamError`` unless every attribute of each type that the query reads has a column that fits."""
    check_types(types_read(chosen.plan).values(), events)


def check_types(types: Iterable[EventType], events: Events) -> None:
    """Raises ``StreamError`` unless every attribute of these types has a column that fits."""
    for event_type in types:
        own = [source for source in events.sources if source.name in (None, event_type.name)]
        if not own:
            raise _no_frame(event_type.name, events)
        for source in own:
            _check_source(event_type, source)


def _no_frame(name: str, events: Events) -> StreamError:
    given = ", ".join(sorted(str(source.name) for source in events.sources))
    primary = f'there is no DataFrame for the event type "{name}"'
    hint = "where type= is the name of no column, it is the event type of all rows"
    return StreamError(Diagnostic("no-event-type", primary, detail=f"there are: {given}", hint=hint))


def _check_source(event_type: EventType, source: EventSource) -> None:
    for attribute in event_type.attributes:
        column = source.payload.get(attribute)
        if column is None:
            detail = f"the columns are: {', '.join(source.payload) or 'none'}"
            primary = f'there is no column for the attribute "{attribute}" of {event_type.name}'
            raise StreamError(Diagnostic("unknown-column", primary, detail=detail))
        shape = event_type.shape(attribute)
        if not fits(column, shape):
            primary = f'column "{attribute}" is {column.simpleString()}, {event_type.name} declares it as {shape}'
            raise StreamError(Diagnostic("wrong-column-type", primary, hint="cast the column, or change the type"))


def _levels(given: Level | Sequence[Level] | None, chosen: CompiledQuery) -> tuple[list[ConsistencyLevel], bool]:
    if given is None:
        return [chosen.consistency or MIDDLE], False
    several = not isinstance(given, Level)
    asked: list[Any] = list(given) if several else [given]  # type: ignore[arg-type]
    levels = [parse_level(level) if isinstance(level, str) else level for level in asked]
    if not levels:
        raise HostError(Diagnostic("unknown-level", "no consistency level was given"))
    return levels, several


def _type_layout(name: str, attributes: frozenset[str], slots: Slots, types: EventTypes) -> TypeLayout:
    declared = types.types[name]
    own = {each: slots.of[name, each] for each in declared.attributes if each in attributes}
    return TypeLayout(name, own, declared.revisable)


# -- the result -------------------------------------------------------------------------------------------------------


def _chosen(schema: st.StructType, options: Options) -> st.StructType:
    """The columns that ``columns=`` names, in that order, ``*`` for all; those of dead letters stay."""
    if options.columns is None:
        return schema
    available = {field.name: field for field in (*schema, *ON_DEMAND)}
    asked = [name for each in options.columns for name in (schema.names if each == "*" else [each])]
    unknown = [name for name in asked if name not in available]
    if unknown:
        primary = f'the result has no column "{unknown[0]}", asked for by columns='
        raise HostError(Diagnostic("unknown-column", primary, detail=f"it has: {', '.join(available)}"))
    letters = LETTER if options.letters else ()
    return st.StructType([available[name] for name in dict.fromkeys((*asked, *letters))])


def output_schema(
    query: CompiledQuery, events: Events, slots: Slots, form: Mapping[str, bool]
) -> tuple[st.StructType, tuple[str, ...]]:
    """The columns of the result, and the names of the payload in it."""
    before, after = header_fields(instants=events.instants, **form)
    taken = {field.name.lower() for field in (*before, *after, *ON_DEMAND)}
    top = Part.of(query.plan)
    fields = []
    for name, declared in query.output.attributes.items():
        of = _column_type(top, name, slots) or sparks(declared)
        if of is None:
            primary = f'the output "{name}" is of type {declared}, which no single Spark type is'
            raise HostError(Diagnostic("no-spark-type", primary, hint="CAST it in OUTPUT"))
        shown = f"payload_{name}" if name.lower() in taken else name
        fields.append(st.StructField(shown, of))
    return st.StructType([*before, *fields, *after]), tuple(field.name for field in fields)


def _column_type(top: Part, name: str, slots: Slots) -> st.DataType | None:
    """The Spark type of the column from which an output comes; None if it is computed."""
    leaves = {leaf.path: leaf.type.name for leaf in top.leaves()}
    types = [slots.type_of(leaves[path], way) for path, way in top.resolve(ROW, (name,))]
    different = {each.json(): each for each in types if each is not None}
    return next(iter(different.values())) if len(different) == 1 and None not in types else None


def _fingerprint(query: CompiledQuery, types: EventTypes, split: Split, buckets: int) -> dict[str, str]:
    """What must be the same for a checkpoint to be used, each part under the name that an error gives it.

    Strict order counts as not stated: queries are known again from before there was WITH TIES.
    """
    read = {name: types.types[name] for name in types_read(query.plan)}
    described = {
        name: [sorted((a, str(t)) for a, t in each.attributes.items()), each.revisable] for name, each in read.items()
    }
    return {
        "the query": sha256(repr(query.plan).replace(", ties=False", "").encode()).hexdigest()[:16],
        "the event types": sha256(repr(sorted(described.items())).encode()).hexdigest()[:16],
        "the key": str(split),
        BUCKETS: str(buckets),
    }
