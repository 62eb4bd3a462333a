"""From a query and events to a layout: types checked, keys chosen, columns of the result named.

Readings: R20 (types), R23 (outputs), R37 (revisable types).  All that can be wrong before the start is said here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from typing import Any

from pyspark.sql import types as st
from pyspark.sql.pandas.types import to_arrow_schema

from cedr.consistency.pipeline import Pipeline
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError, StreamError
from cedr.hosts.catalog import declared_types, merged
from cedr.hosts.queries import AnyQuery, catalog_of, choose, parse_level, parsed
from cedr.hosts.units import durations_of
from cedr.language.check import uses_of
from cedr.language.syntax import Query
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.schema import Catalog, DataType, EventType, Shape
from cedr.plan.analyses.elements import Part
from cedr.plan.analyses.reads import types_read
from cedr.plan.compile import CompiledQuery, Program, compile_file
from cedr.plan.logical import ROW
from cedr.plan.splitting import Split, split_of
from cedr.spark.layout.layout import BUCKETS, Layout, SourceLayout, TypeLayout
from cedr.spark.layout.tokens import tokens
from cedr.spark.output.rows import LETTER, ON_DEMAND, header_fields
from cedr.spark.plan.columns import Slots, slots_of
from cedr.spark.plan.durations import check_units
from cedr.spark.plan.reading import attributes_read, fields_read
from cedr.spark.sources.datatypes import fits, ours, shape_of, sparks
from cedr.spark.sources.events import Events, EventSource

Level = ConsistencyLevel | str


@dataclass(frozen=True)
class Planned:
    """A layout, and what the driver needs beside it."""

    layout: Layout
    slots: Slots
    split: Split
    closed: bool
    schema: st.StructType
    stages: tuple[Layout, ...] = ()
    """Where the query is run in stages: what the workers of each know."""
    later: tuple[Split, ...] = ()
    """How the stages after the first are split."""


@dataclass(frozen=True)
class Options:
    """What may be asked of a query."""

    consistency: Level | Sequence[Level] | None
    event: str | None
    catalog: Catalog | str | PathLike[str] | None
    providers: tuple[str, ...]
    buckets: int
    changes: bool
    letters: bool
    columns: tuple[str, ...] | None = None
    follows: bool = False
    """Whether nobody has said how many buckets there are, and a stream takes them from its checkpoint."""


def plan(query: AnyQuery, events: Events, options: Options) -> Planned:
    """Check a query against its events.  Raises ``LanguageError``, ``StreamError`` or ``HostError``."""
    chosen, types, closed = compiled(query, events, options)
    levels, labelled = _levels(options.consistency, chosen)
    if not options.changes and not labelled and chosen.as_of is None:
        levels = [STRONG]  # the result is the same at all levels, and at this one nothing is said to be taken back
    Pipeline(chosen.plan, levels, types, options.providers)  # what cannot run is refused here, not in a worker
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
        follows=options.follows and not split.whole,
        **form,
    )
    return Planned(layout, slots, split, closed, schema)


def compiled(query: AnyQuery, events: Events, options: Options) -> tuple[CompiledQuery, Catalog, bool]:
    """The query, the types of its events, and whether these are all the types there are."""
    asked = parsed(query)
    if isinstance(asked, Program):
        chosen = choose(asked, options.event)
        known = {t.name: t for t in asked.types if not t.open}
        for event_type in types_read(chosen.plan).values():
            known.setdefault(event_type.name, event_type)
        types = merged(catalog_of(options.catalog), Catalog(known))
        _check(chosen, events)
        return chosen, types, False
    declared = merged(catalog_of(options.catalog), declared_types(asked))
    own = {source.name for source in events.sources if source.name is not None}
    closed = bool(declared.types) or None not in {source.name for source in events.sources}
    named = set(own)
    if not declared.types:  # which values of the type column the query means is told by the query alone
        queries = {each.name: each for each in asked.statements if isinstance(each, Query)}
        meant = {name for each in queries.values() for name in uses_of(each)} - queries.keys()
        for name in sorted(meant - own) if closed else ():
            raise _no_frame(name, events)
        named |= meant
    inferred = Catalog({name: _inferred(name, events) for name in sorted(named)})
    types = merged(inferred, declared)
    chosen = choose(compile_file(asked, types), options.event)
    check_units(durations_of(chosen, asked), events)
    _check(chosen, events)
    return chosen, types, closed


def _inferred(name: str, events: Events) -> EventType:
    """A type as its columns tell it."""
    attributes: dict[str, DataType] = {}
    shapes: dict[str, Shape] = {}
    for source in events.sources:
        if source.name in (None, name):
            attributes |= {each: kind for each, of in source.payload.items() if (kind := ours(of)) is not None}
            shapes |= {each: shape for each, of in source.payload.items() if (shape := shape_of(of)).nested}
    return EventType(name, attributes, shapes=shapes)


def _check(chosen: CompiledQuery, events: Events) -> None:
    """Every attribute of a type that is read has a column that fits."""
    for event_type in types_read(chosen.plan).values():
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
        found = source.payload.get(attribute)
        if found is None:
            detail = f"the columns are: {', '.join(source.payload) or 'none'}"
            primary = f'there is no column for the attribute "{attribute}" of {event_type.name}'
            raise StreamError(Diagnostic("unknown-column", primary, detail=detail))
        shape = event_type.shape(attribute)
        if not fits(found, shape):
            primary = f'column "{attribute}" is {found.simpleString()}, {event_type.name} declares it as {shape}'
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


def _type_layout(name: str, attributes: frozenset[str], slots: Slots, types: Catalog) -> TypeLayout:
    declared = types.types[name]
    own = {each: slots.of[name, each] for each in declared.attributes if each in attributes}
    return TypeLayout(name, own, declared.revisable)


# -- the result -------------------------------------------------------------------------------------------------------


def _chosen(schema: st.StructType, options: Options) -> st.StructType:
    """The columns that were asked for, in that order, ``*`` for all; those of dead letters stay."""
    if options.columns is None:
        return schema
    known = {field.name: field for field in (*schema, *ON_DEMAND)}
    asked = [name for each in options.columns for name in (schema.names if each == "*" else [each])]
    unknown = [name for name in asked if name not in known]
    if unknown:
        primary = f'the result has no column "{unknown[0]}", asked for by columns='
        raise HostError(Diagnostic("unknown-column", primary, detail=f"it has: {', '.join(known)}"))
    letters = LETTER if options.letters else ()
    return st.StructType([known[name] for name in dict.fromkeys((*asked, *letters))])


def output_schema(
    query: CompiledQuery, events: Events, slots: Slots, form: Mapping[str, bool]
) -> tuple[st.StructType, tuple[str, ...]]:
    """The columns of the result: header, payload with its own types, what is final; and the names of the payload."""
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
    """The Spark type of the column that an output is taken from; None where it is computed."""
    leaves = {leaf.path: leaf.type.name for leaf in top.leaves()}
    types = [slots.type_of(leaves[path], way) for path, way in top.resolve(ROW, (name,))]
    found = {of.json(): of for of in types if of is not None}
    return next(iter(found.values())) if len(found) == 1 and None not in types else None


def _fingerprint(query: CompiledQuery, types: Catalog, split: Split, buckets: int) -> dict[str, str]:
    """What must stay as it is for a checkpoint to be gone on with, each under the name that a refusal says.

    Strict order counts as not said: queries are known again from before there was WITH TIES.
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
