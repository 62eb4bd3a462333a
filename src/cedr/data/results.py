"""The rows and changes of a query as Arrow tables, and back as events.

Readings: R8 (K), R10 (the latest belief), R24.  A *raw* table has the columns that a pipeline gives: times as integers,
contributors with their types, then the payload.  What users get has timestamps where the input has, NULL for FOREVER,
and the IDs of the primitive contributors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from cedr.connect.rows import contributor_ids
from cedr.consistency.emission.columns import Contributors, payload_column
from cedr.data.values import ARROW
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.event import Event, Payload, Value, freeze
from cedr.model.schema import DataType, EventType
from cedr.model.time import FOREVER

CLOCKS: Final = ("Vs", "Ve", "Os", "Oe", "Rt")
_SORTED: Final = 200_000
"""Up to so many rows are put in one order, whoever made them; more of them stay as they were found."""
_CONTRIBUTORS: Final = pa.list_(pa.struct([("type", pa.string()), ("id", pa.string())]))


@dataclass(frozen=True)
class Shape:
    """What is known of the rows of a query: its name, its attributes, whose events are primitive, and the clock."""

    name: str
    type: EventType
    primitive: frozenset[str]
    timestamps: bool


def standing(batches: Iterable[pa.RecordBatch], *, bitemporal: bool) -> pa.Table:
    """The rows of a result, of what a pipeline emitted once nothing more can come: the latest belief, or all."""
    kept = []
    for batch in batches:
        keep = pc.equal(batch.column("change").cast(pa.string()), "insert")
        if not bitemporal:
            keep = pc.and_(keep, pc.equal(batch.column("Oe"), FOREVER))
        kept.append(_copied(batch if pc.all(keep).as_py() else batch.filter(keep)))
    known = [table for table in kept if table.num_rows] or kept[:1]  # before the first row types are a guess
    return in_order(pa.concat_tables(known, promote_options="default")) if known else pa.table({})


def _copied(batch: pa.RecordBatch) -> pa.Table:
    """The rows in memory of their own: in that of the pipeline they would keep alive whatever lies beside them."""
    table = pa.Table.from_batches([batch]).drop_columns(["change", "said", "Cs"])
    size = pa.MockOutputStream()
    _write(table, size)
    room = pa.allocate_buffer(size.size())
    _write(table, pa.FixedSizeBufferWriter(room))
    return pa.ipc.open_stream(room).read_all()


def _write(table: pa.Table, sink: Any) -> None:
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)


def in_order(table: pa.Table) -> pa.Table:
    """Rows in the order of Os, Vs and ID."""
    if not 1 < table.num_rows <= _SORTED:
        return table
    return table.take(pc.sort_indices(table, [("Os", "ascending"), ("Vs", "ascending"), ("id", "ascending")]))


def exported(raw: pa.Table, shape: Shape, header: Sequence[str], columns: Sequence[str] | None = None) -> pa.Table:
    """The table that users get: the header, then the payload; or the columns that they name, in that order."""
    names = {shown: payload_column(name) for name, shown in shown_names(shape.type, header).items()}
    asked = list(columns) if columns is not None else [*header, *names]
    unknown = [name for name in asked if name not in names and name not in header]
    if unknown:
        detail = f"it has: {', '.join([*header, *names])}"
        raise StreamError(Diagnostic("unknown-column", f'the result has no column "{unknown[0]}"', detail=detail))
    types = {shown: shape.type.attributes[name] for name, shown in shown_names(shape.type, header).items()}
    made = {}
    for name in asked:
        if name in names:
            made[name] = _payload(raw, names[name], types[name], shape)
        else:
            made[name] = _header(raw, name, shape)
    return pa.table(made)


def shown_names(of: EventType, header: Sequence[str]) -> dict[str, str]:
    """The name of each attribute in the result: its own, unless a column of the header differs in case only."""
    taken = {name.lower() for name in header}
    return {name: f"payload_{name}" if name.lower() in taken else name for name in of.attributes}


def _payload(raw: pa.Table, name: str, of: DataType, shape: Shape) -> Any:
    if name not in raw.column_names:
        return pa.nulls(raw.num_rows, ARROW.get(of, pa.null()))
    column = raw.column(name)
    if of is DataType.TIMESTAMP and pa.types.is_integer(column.type):
        return column.cast(pa.timestamp("us", "UTC")) if shape.timestamps else column
    if of is DataType.DURATION and pa.types.is_integer(column.type):
        return column.cast(pa.duration("us")) if shape.timestamps else column
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if pa.types.is_null(column.type) and of in ARROW:
        return pa.nulls(raw.num_rows, ARROW[of])
    return column


def _header(raw: pa.Table, name: str, shape: Shape) -> Any:
    if not raw.num_rows and name not in raw.column_names:
        return pa.nulls(0, pa.int64() if name in CLOCKS else pa.string())
    column = raw.column(name)
    if name == "contributors":
        return _contributors(column, shape.primitive)
    if name in CLOCKS:
        end = FOREVER - 1 if shape.timestamps else FOREVER  # that nothing more comes is no date that anybody can read
        finite = pc.if_else(pc.greater_equal(column, end), pa.scalar(None, pa.int64()), column)
        return finite.cast(pa.timestamp("us", "UTC")) if shape.timestamps else finite
    if pa.types.is_dictionary(column.type):
        return column.cast(pa.string())
    return column


def _contributors(column: pa.ChunkedArray, primitive: Collection[str]) -> pa.ChunkedArray:
    """The IDs of the primitive events."""
    return pa.chunked_array([_ids_of(chunk, primitive) for chunk in column.chunks], pa.list_(pa.string()))


def _ids_of(chunk: pa.Array, primitive: Collection[str]) -> pa.Array:
    if pa.types.is_null(chunk.type):
        return pa.nulls(len(chunk), pa.list_(pa.string()))
    found = Contributors.of(chunk, primitive)
    return pa.ListArray.from_arrays(found.offsets, found.ids.cast(pa.string()))


# -- rows as events and back ------------------------------------------------------------------------------------------


def events(raw: pa.Table, shape: Shape) -> tuple[Event, ...]:
    """The rows as events; their contributors are known by type and ID alone."""
    return tuple(event for batch in raw.to_batches() for event in _events(batch, shape))


def _events(batch: pa.RecordBatch, shape: Shape) -> Iterable[Event]:
    names = list(shape.type.attributes)
    columns = [_values(batch, payload_column(name), of) for name, of in shape.type.attributes.items()]
    parts = batch.column("contributors").to_pylist()
    header = (batch.column(name).to_pylist() for name in ("id", *CLOCKS))
    for number, (id_, vs, ve, os, oe, rt) in enumerate(zip(*header, strict=True)):
        payload = Payload(zip(names, (column[number] for column in columns), strict=True))
        made = tuple(Event(part["type"], part["id"], 0, FOREVER, 0, FOREVER, 0) for part in parts[number] or ())
        yield Event(shape.name, id_, vs, ve, os, oe, rt, made, payload)


def _values(batch: pa.RecordBatch, name: str, of: DataType) -> list[Value]:
    if name not in batch.schema.names:
        return [None] * batch.num_rows
    column = batch.column(name)
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    elif pa.types.is_duration(column.type):
        column = column.cast(pa.duration("us")).cast(pa.int64())
    return [freeze(value) for value in column.to_pylist()] if of is not DataType.STRING else column.to_pylist()


def raw_rows(rows: Sequence[Event], shape: Shape) -> pa.Table:
    """Events as a raw table.  Raises ``StreamError`` where an attribute has values of several types."""
    made = {
        "id": pa.array([row.id for row in rows], pa.string()),
        "Vs": pa.array([row.valid_start for row in rows], pa.int64()),
        "Ve": pa.array([row.valid_end for row in rows], pa.int64()),
        "Os": pa.array([row.occurrence_start for row in rows], pa.int64()),
        "Oe": pa.array([row.occurrence_end for row in rows], pa.int64()),
        "Rt": pa.array([row.root_time for row in rows], pa.int64()),
        "contributors": pa.array([_named(row, shape.primitive) for row in rows], _CONTRIBUTORS),
    }
    for name, of in shape.type.attributes.items():
        made[payload_column(name)] = _array(name, [row.payload.get(name) for row in rows], of)
    return pa.table(made)


def _named(row: Event, primitive: Collection[str]) -> list[dict[str, str]]:
    some = next(iter(primitive), "")
    return [{"type": some, "id": id_} for id_ in contributor_ids(row, primitive)]


def _array(name: str, values: list[Value], of: DataType) -> pa.Array:
    wanted = ARROW.get(of)
    kept_as = pa.int64() if of in (DataType.TIMESTAMP, DataType.DURATION) else wanted
    try:
        return pa.array([_thawed(value) for value in values], kept_as)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        try:
            return pa.array([_thawed(value) for value in values])
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            primary = f'the values of "{name}" are of several types, which no column can hold'
            raise StreamError(Diagnostic("mixed-values", primary, hint="CAST it in OUTPUT")) from None


def _thawed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _thawed(item) for name, item in value.items()}
    return [_thawed(item) for item in value] if isinstance(value, tuple) else value
