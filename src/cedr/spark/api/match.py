"""``cedr.match``: events of Spark, and the subscriptions that they match.

Paper: Section 1 (publish/subscribe).  Readings: R2, R20.  It is the filter alone, of ``Subscriptions.match``: each
event for itself, so that nothing is shuffled and no state is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from pyspark.sql import types as st
from pyspark.sql.pandas.types import to_arrow_schema

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError, StreamError
from cedr.diagnostics.naming import named
from cedr.model.schema import EventType
from cedr.plan.splitting import Split
from cedr.spark.api.guarded import Run, guarded
from cedr.spark.layout.layout import SourceLayout, TypeLayout
from cedr.spark.map_task.pack_files import FileRows
from cedr.spark.matching.match_events import Frozen, MatchEvents, MatchFiles, MatchLayout
from cedr.spark.output.rows import LETTER
from cedr.spark.plan.columns import InputColumns, Slots, slots_of
from cedr.spark.plan.planning import check_types
from cedr.spark.session.check_session import check_session
from cedr.spark.sources.events import DataFrame, Events
from cedr.subscriptions.subscriptions import Subscriptions

if TYPE_CHECKING:
    from cedr.subscriptions.book import Book

_HEADER: Final = ("subscription", "type", "id", "Vs", "Ve")
_READ: Final = ("code", "id", "vs", "ve", "os", "oe", "name")
"""The columns of events that matching reads, beside the payload."""


def match(
    events: Events, subscriptions: Subscriptions, *, columns: Iterable[str] | None = None, dead_letters: bool = False
) -> DataFrame:
    """Which events match which subscriptions, as a DataFrame: a row for each pair, bounded or streaming as the events.

    ``events`` is made with ``cedr.events`` or ``cedr.files``.  The subscriptions are those of this moment: what is
    added or removed later counts for DataFrames that are made later.  Rows have ``subscription``, ``type``, ``id``,
    ``Vs``, ``Ve`` and the attributes of the event; ``columns`` names those that are wanted, ``*`` all of them.

    An event that cannot be used, and a predicate that raises an error, is a dead letter: with ``dead_letters`` a row of
    the result with ``code``, ``reason`` and ``message`` (see ``cedr.dead_letters``), otherwise a warning in the log of
    the worker.  Everything else is matched.

    Nothing is remembered, so nothing can be taken back: events with ``change=`` are an error.
    """
    _check(events, subscriptions)
    session = events.sources[0].frame.sparkSession
    check_session(session, streaming=False)  # there is no state that a store must keep
    book = subscriptions.book
    types = [each for each in subscriptions.types if len(book.indexes[each.name])]
    check_types(types, events)
    asked = None if columns is None else tuple(columns)
    slots = slots_of(events, {each.name: _wanted(book, each, asked) for each in types})
    schema, shown = _schema(types, slots, asked, instants=events.instants, letters=dead_letters)
    own = tuple(TypeLayout(each.name, _slots_in(slots, each), each.revisable) for each in types)
    layout = MatchLayout(
        own,
        tuple(SourceLayout(each.provider, each.disorder, each.idle) for each in events.sources),
        to_arrow_schema(schema, timezone="UTC"),
        shown,
        events.instants,
        dead_letters,
    )
    result = _matched(events, layout, schema, slots, subscriptions)
    return guarded(result, Run(session, None, None))


def _matched(
    events: Events, layout: MatchLayout, schema: st.StructType, slots: Slots, subscriptions: Subscriptions
) -> DataFrame:
    """The pairs.  As for a query, workers read files themselves where they can, so that no fault of a file is lost."""
    catalog, matching = subscriptions.types, MatchEvents(layout, Frozen.of(subscriptions.book))
    given = events.sources[0].files
    if given is not None and len(events.sources) == 1:
        forgiving = layout.letters if given.forgiving is None else given.forgiving
        rows = FileRows(layout, given.form, None, frozenset(catalog.types), 1, forgiving=forgiving)
        return given.paths.mapInArrow(MatchFiles(matching, rows), schema)
    columns = InputColumns(events, layout.types, slots, Split({}), catalog, 1, closed=True, selected={}, prunes=True)
    frame = columns.frame()
    frame = frame.select(*(name for name in frame.columns if name in _READ or name in slots.types))
    return frame.mapInArrow(matching, schema)


def _check(events: object, subscriptions: object) -> None:
    """Raises an error for what are no events of Spark, no subscriptions, or events that take others back."""
    if not isinstance(events, Events):
        hint = 'cedr.events(frame, type="TRADE", time="ts", id="trade_id") says what its columns are'
        raise StreamError(Diagnostic("wrong-data", f"{named(events)} is no events of Spark", hint=hint))
    if not isinstance(subscriptions, Subscriptions):
        primary = f"{named(subscriptions)} is no cedr.Subscriptions"
        raise HostError(Diagnostic("wrong-data", primary))
    if any("change" in source.header for source in events.sources):
        primary = "some rows may be retractions, and matching remembers nothing that could be taken back"
        hint = "leave out change= and give the inserts alone; Subscriptions.route follows retractions on this machine"
        raise StreamError(Diagnostic("no-retractions", primary, hint=hint))
    known = subscriptions.types.types
    unknown = [source.name for source in events.sources if source.name is not None and source.name not in known]
    if unknown:
        primary = f'there are no subscriptions to events of type "{unknown[0]}"'
        raise StreamError(Diagnostic("unknown-event-type", primary, detail=f"types are: {', '.join(known)}"))


def _wanted(book: Book, of: EventType, asked: tuple[str, ...] | None) -> frozenset[str]:
    """The attributes that filters read, or that the result shows."""
    if asked is None or "*" in asked:
        return frozenset(of.attributes)
    chosen = {name for name in of.attributes if _shown(name) in asked}
    return book.indexes[of.name].attributes | chosen


def _slots_in(slots: Slots, of: EventType) -> dict[str, str]:
    return {name: slot for name in of.attributes if (slot := slots.of.get((of.name, name))) is not None}


def _shown(attribute: str) -> str:
    """The name of an attribute in the result."""
    taken = {name.lower() for name in (*_HEADER, *LETTER)}
    return f"payload_{attribute}" if attribute.lower() in taken else attribute


def _schema(
    types: Iterable[EventType], slots: Slots, asked: tuple[str, ...] | None, *, instants: bool, letters: bool
) -> tuple[st.StructType, tuple[tuple[str, str], ...]]:
    """The columns of the result, and the attributes among them with their names there."""
    clock = st.TimestampType() if instants else st.LongType()
    header = [st.StructField(name, clock if name in ("Vs", "Ve") else st.StringType()) for name in _HEADER]
    available = {field.name: field for field in header}
    found: dict[str, st.DataType] = {}
    for of in types:
        for attribute, slot in _slots_in(slots, of).items():
            if asked is not None and "*" not in asked and _shown(attribute) not in asked:
                continue
            own = slots.types[slot]
            if found.setdefault(attribute, own) != own:
                other = found[attribute].simpleString()
                primary = f'attribute "{attribute}" is {own.simpleString()} in {of.name} and {other} in another type'
                hint = "cast one of the two, or leave it out of columns="
                raise StreamError(Diagnostic("wrong-column-type", primary, hint=hint))
    available |= {_shown(name): st.StructField(_shown(name), of) for name, of in found.items()}
    names = [*available] if asked is None else [n for each in asked for n in (available if each == "*" else [each])]
    unknown = [name for name in names if name not in available]
    if unknown:
        primary = f'the result has no column "{unknown[0]}", asked for by columns='
        raise HostError(Diagnostic("unknown-column", primary, detail=f"it has: {', '.join(available)}"))
    after = [st.StructField(name, st.StringType()) for name in LETTER] if letters else []
    shown = tuple((name, _shown(name)) for name in found)
    return st.StructType([*(available[name] for name in dict.fromkeys(names)), *after]), shown
