"""Makes the columns of the layout with Spark: header, bucket, and payload slots of each message.

Readings: R1 (times are microseconds), R2, R3.  A column that no source has is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import functions as F
from pyspark.sql import types as st

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.expression.tree import Expression, Way
from cedr.model.schema import DataType, EventTypes
from cedr.plan.splitting import Split
from cedr.spark.layout.layout import CONTROL, INSERT, KINDS, UNKNOWN, UNREAD, Slices, TypeLayout
from cedr.spark.map_task.pack import bucket_column
from cedr.spark.plan.pushdown import filter_for
from cedr.spark.sources.clocks import is_bad, micros
from cedr.spark.sources.datatypes import inside, ours, pruned
from cedr.spark.sources.events import Column, DataFrame, Events, EventSource

_CLOCKS = {
    "vs": "time",
    "ve": "valid_end",
    "os": "occurrence_start",
    "oe": "occurrence_end",
    "promise": "guarantee",
    "arrival": "arrival",
}
_TEXTS = {"key": "key", "provider": "provider"}


@dataclass(frozen=True)
class Slots:
    """The slots of the attributes of all event types: one for each name and Spark type."""

    types: Mapping[str, st.DataType]
    of: Mapping[tuple[str, str], str]
    """The slot of an attribute of an event type."""
    fields: Mapping[str, frozenset[Way]] = field(default_factory=dict)
    """The attributes of which the query reads only some fields."""

    def type_of(self, name: str, way: Way) -> st.DataType | None:
        """The type of an attribute of an event type, or of a field in it; None if it has no slot."""
        slot = self.of.get((name, way[0]))
        return None if slot is None else inside(self.types[slot], way[1:])

    def pruned(self, attribute: str, of: st.DataType) -> st.DataType:
        """The type of an attribute with only the fields that the query reads."""
        return pruned(of, self.fields[attribute]) if attribute in self.fields else of


def slots_of(
    events: Events, read: Mapping[str, frozenset[str]], fields: Mapping[str, frozenset[Way]] | None = None
) -> Slots:
    """Slots for the attributes that the query reads; of some it reads only ``fields``."""
    empty = Slots({}, {}, fields or {})
    types: dict[str, st.DataType] = {}
    places: dict[tuple[str, str], str] = {}
    found: dict[tuple[str, str], str] = {}
    for name, attributes in read.items():
        for source in events.sources:
            if source.name not in (None, name):
                continue
            for attribute in sorted(attributes & source.payload.keys()):
                of = empty.pruned(attribute, source.payload[attribute])
                slot = places.setdefault((attribute, of.json()), f"p{len(places)}")
                types[slot] = of
                if found.setdefault((name, attribute), slot) != slot:
                    other = types[found[name, attribute]].simpleString()
                    primary = f"{name}.{attribute} is {other} in one DataFrame and {of.simpleString()} in another"
                    raise StreamError(Diagnostic("wrong-column-type", primary, hint="cast one of the two"))
    return Slots(types, found, empty.fields)


@dataclass(frozen=True)
class InputColumns:
    """Makes the DataFrame that map tasks pack."""

    events: Events
    types: Sequence[TypeLayout]
    slots: Slots
    split: Split
    catalog: EventTypes
    buckets: int
    closed: bool
    """Whether a type that is not in the catalog makes a dead letter."""
    selected: Mapping[str, Sequence[Expression]]
    """Predicates by which events may be left out; empty if all events must move h.  Reading: R33."""
    prunes: bool
    slices: Slices | None = None
    later: Sequence[Split] = ()
    """The splits of the stages after the first, which have as many buckets."""
    buckets_from_state: bool = False
    """Whether only workers know the number of buckets: then the column ``bucket`` has hashes."""

    def frame(self, control: DataFrame | None = None) -> DataFrame:
        """The rows of all sources."""
        frames = [self._of(number, source) for number, source in enumerate(self.events.sources)]
        if control is not None:
            frames.append(self._control(control))
        return reduce(lambda one, two: one.unionByName(two), frames)

    @property
    def names(self) -> list[str]:
        """The names of the columns, in order."""
        sources = self.events.sources
        held = [name for name, part in (_CLOCKS | _TEXTS).items() if any(part in source.header for source in sources)]
        found = ["code", "id", *(["vs"] if "vs" not in held else []), *held]
        found += ["kind"] if self._kinds else []
        found += ["source"] if len(sources) > 1 else []
        found += ["name"] if any(source.name is None for source in sources) else []
        found += ["bucket"] if self.buckets > 1 or self.buckets_from_state else []
        found += [bucket_column(stage) for stage, _ in enumerate(self.later, 2)]
        found += ["cedr"] if self.events.streaming else []
        found += ["control"] if self.events.streaming else []
        return [*dict.fromkeys(found), *self.slots.types]

    @property
    def _kinds(self) -> bool:
        return self.events.streaming or any("change" in source.header for source in self.events.sources)

    def _of(self, number: int, source: EventSource) -> DataFrame:
        codes = self._codes(source)
        columns = {"code": codes, **self._header(source), **self._payload(source)}
        columns["source"] = F.lit(number).cast("byte")
        if source.name is None:
            columns["name"] = F.when(codes == UNKNOWN, source.header["type"].cast("string"))
        for stage, split in enumerate((self.split, *self.later), 1):
            columns[bucket_column(stage)] = self._bucket(source, codes, split)
        columns["cedr"] = F.unix_micros(F.current_timestamp())
        frame = self._pruned(source, codes)
        if self.slices is not None:
            columns["bucket"] = F.explode(self._slices(columns["vs"]))
        return frame.select(*(self._or_missing(columns, name).alias(name) for name in self.names))

    def _codes(self, source: EventSource) -> Column:
        """The code of an event's type: its number among those that the query reads."""
        numbers = {layout.name: number for number, layout in enumerate(self.types)}
        if source.name is not None:
            return F.lit(numbers.get(source.name, UNREAD)).cast("byte")
        text = source.header["type"].cast("string")
        found = F.when(text.isNull(), F.lit(UNKNOWN))
        for name, number in numbers.items():
            found = found.when(text == F.lit(name), F.lit(number))
        if self.closed:
            others = [name for name in self.catalog.types if name not in numbers]
            found = found.when(text.isin(others), F.lit(UNREAD)) if others else found
            return found.otherwise(F.lit(UNKNOWN)).cast("byte")
        return found.otherwise(F.lit(UNREAD)).cast("byte")

    def _header(self, source: EventSource) -> dict[str, Column]:
        columns = {name: source.micros(part) for name, part in _CLOCKS.items() if part in source.header}
        marked = [
            columns[name]
            for name, part in _CLOCKS.items()
            if name in columns and not source.words.plain(source.clocks[part])
        ]
        if marked:  # a row with a bad clock is marked by its Vs
            bad = F.coalesce(*(F.when(is_bad(each), each) for each in marked))
            columns |= {name: F.when(~is_bad(column), column) for name, column in columns.items()}
            columns["vs"] = F.coalesce(bad, columns["vs"])
        columns |= {name: source.header[part].cast("string") for name, part in _TEXTS.items() if part in source.header}
        kinds = {type(each.identity) for each in self.events.sources}
        plain = len(kinds) == 1 and not self.events.streaming  # a control row has no ID
        columns["id"] = source.header["id"] if plain else source.header["id"].cast("string")
        columns["kind"] = F.lit(INSERT).cast("byte")
        if "change" in source.header:
            text = F.lower(source.header["change"].cast("string"))
            kind = F.when(text.isNull(), F.lit(INSERT))
            for name, number in KINDS.items():
                kind = kind.when(text == name, F.lit(number))
            columns["kind"] = kind.otherwise(F.lit(-1)).cast("byte")
        return columns

    def _payload(self, source: EventSource) -> dict[str, Column]:
        found = {}
        for layout in self.types:
            if source.name not in (None, layout.name):
                continue
            for attribute, slot in layout.slots.items():
                of = source.payload.get(attribute)
                if of is not None and self.slots.pruned(attribute, of) == self.slots.types[slot]:
                    found[slot] = _with_fields(column_of((attribute,), of), of, self.slots.types[slot])
        return found

    def _bucket(self, source: EventSource, codes: Column, split: Split) -> Column:
        """The bucket of an event, by one attribute of its type, or by its ID."""
        if not split.by:
            return self._place(source.header["id"].cast("string"))
        chosen: dict[Way, list[int]] = {}
        for number, layout in enumerate(self.types):
            if source.name in (None, layout.name) and layout.name in split.by:
                chosen.setdefault(split.by[layout.name], []).append(number)
        found = [(self._hashed(source, way, self.types[numbers[0]].name), numbers) for way, numbers in chosen.items()]
        if len(found) == 1:
            return found[0][0]
        if not found:
            return F.lit(0)
        column = F.when(codes.isin(found[0][1]), found[0][0])
        for each, numbers in found[1:]:
            column = column.when(codes.isin(numbers), each)
        return column.otherwise(F.lit(0))

    def _slices(self, time: Column) -> Column:
        """All slices with rows that may depend on an event."""
        slices = self.slices
        assert slices is not None
        ends = []
        for seen in (-slices.ahead, slices.back):
            number = F.floor((time + F.lit(seen - slices.first)) / F.lit(slices.width))
            ends.append(
                F.least(F.greatest(F.coalesce(number, F.lit(0)), F.lit(0)), F.lit(slices.count - 1)).cast("int")
            )
        return F.sequence(ends[0], ends[1])

    def _hashed(self, source: EventSource, way: Way, name: str) -> Column:
        whole = source.payload.get(way[0])
        of = inside(whole, way[1:])
        if whole is None or of is None:
            return F.lit(0)
        event_type = self.catalog.types.get(name)
        declared = None if event_type is None else event_type.inside(way).type
        known = ours(of) if declared in (None, DataType.ANY) else declared
        return self._place(_comparable(column_of(way, whole), of, known))

    def _place(self, column: Column) -> Column:
        """The bucket of a value, or its hash if only workers know the number of buckets."""
        return F.hash(column) if self.buckets_from_state else F.pmod(F.hash(column), F.lit(self.buckets))

    def _pruned(self, source: EventSource, codes: Column) -> DataFrame:
        """The rows without those that the query does not read, if nothing else depends on them."""
        frame = source.frame
        if not self.prunes:
            return frame
        kept = codes != UNREAD
        judged = "guarantee" in source.header or source.disorder is not None
        if "arrival" in source.header and judged:  # every row may imply a guarantee about those that arrive after it
            return frame
        if "change" in source.header:  # a guarantee is about all types, and an event that is left out may be retracted
            return frame.where(kept | (F.lower(source.header["change"].cast("string")) == "guarantee"))
        if source.name is None:
            frame = frame.where(kept)
        columns = _Columns(source.payload)
        for number, layout in enumerate(self.types):
            predicates = self.selected.get(layout.name, ())
            if not predicates or source.name not in (None, layout.name):
                continue
            condition = filter_for(predicates, columns)
            if condition is not None:
                frame = frame.where((codes != number) | condition) if source.name is None else frame.where(condition)
        return frame

    def _or_missing(self, columns: Mapping[str, Column], name: str) -> Column:
        return columns[name] if name in columns else _missing(name, self.slots)

    def _control(self, frame: DataFrame) -> DataFrame:
        columns: dict[str, Column] = {
            "code": F.lit(UNREAD).cast("byte"),
            "kind": F.lit(CONTROL).cast("byte"),
            "control": F.col("value").cast("string"),
            "cedr": F.unix_micros(F.current_timestamp()),
        }
        return frame.select(*(self._or_missing(columns, name).alias(name) for name in self.names))


def column_of(way: Way, of: st.DataType) -> Column:
    """The column of an attribute, or of a field in it."""
    found: Column = F.col(f"`{way[0].replace('`', '``')}`")
    for name in way[1:]:
        found = F.try_element_at(found, F.lit(name)) if isinstance(of, st.MapType) else found.getField(name)
        of = inside(of, (name,)) or of
    return found


def _with_fields(column: Column, of: st.DataType, to: st.DataType) -> Column:
    """A struct with only some fields; a NULL struct becomes one of NULL fields, since nobody reads the whole."""
    if of == to or not isinstance(of, st.StructType) or not isinstance(to, st.StructType):
        return column
    types = {each.name: each.dataType for each in of.fields}
    parts = [_with_fields(column.getField(each.name), types[each.name], each.dataType) for each in to.fields]
    return F.struct(*(part.alias(each.name) for part, each in zip(parts, to.fields, strict=True)))


class _Columns:
    """The columns of a source and the fields in them, with our types."""

    def __init__(self, payload: Mapping[str, st.DataType]) -> None:
        self._payload = payload

    def __call__(self, way: Way) -> tuple[Column, DataType] | None:
        """A column, or a field in one; None if there is none."""
        whole = self._payload.get(way[0])
        of = inside(whole, way[1:])
        kind = None if of is None else ours(of)
        return None if whole is None or kind is None else (column_of(way, whole), kind)


def _missing(name: str, slots: Slots) -> Column:
    """A column that a source does not have."""
    if name in slots.types:
        return F.lit(None).cast(slots.types[name])
    if name in ("code", "source", "kind"):
        return F.lit(0).cast("byte")
    if name.startswith("bucket"):
        return F.lit(0)
    return F.lit(None).cast("string" if name in ("id", "key", "provider", "name", "control") else "long")


def _comparable(column: Column, of: st.DataType, declared: DataType | None) -> Column:
    """A column whose equal values have equal hashes, whatever type they came in."""
    match declared:
        case DataType.INTEGER:
            return column.cast("long")
        case DataType.FLOAT:
            return column.cast("double") + F.lit(0.0)  # so that -0.0 and 0.0 are one
        case DataType.DECIMAL:
            return column.try_cast("decimal(38,18)")
        case DataType.TIMESTAMP:
            return micros(column, of)
        case DataType.STRING:
            return column.cast("string")
        case _:
            return column
