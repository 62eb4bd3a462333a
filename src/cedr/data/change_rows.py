"""Change rows: what leaves an output, as columns in the order of ``seq``.

Reading: R48.  Whoever keeps a table by ``id`` and applies the rows in the order of ``seq`` (insert: upsert; shorten of
Ve: update; shorten of Oe and retract: delete) has the latest belief after every step.  ``Oe`` tells which a shortening
is: with the belief still held it is NULL.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.consistency.emission.columns import Contributors, keys_of, payload_column
from cedr.data.results import Shape, shown_names
from cedr.data.values import ARROW
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import DataType
from cedr.model.time import FOREVER, Time
from cedr.runtime.values.arrow_arrays import arrow

HEADER: Final = ("change", "seq", "id", "K", "Vs", "Ve", "Os", "Oe", "Cs", "Rt", "contributors")
"""The columns before the payload."""
CLOCKS: Final = ("Vs", "Ve", "Os", "Oe", "Rt")
INSERT, SHORTEN, RETRACT, GUARANTEE, LEVEL = "insert", "shorten", "retract", "guarantee", "level"
"""The kinds of change: a guarantee has its time as Os; a level has its text as K."""
_POSITION: Final = 22
_BATCH: Final = 34
"""``seq`` is the batch, then 12 bits for the bucket, then the position within it.

In one process there is one bucket, and a position may reach into its bits.
"""
LARGEST_BATCH: Final = (1 << (63 - _BATCH)) - 1


def seq_of(batch: int, count: int, bucket: int = 0) -> pa.Array:
    """``seq`` of the rows of a batch: it rises from row to row and from batch to batch, and repeats in a replay."""
    if not 0 <= batch <= LARGEST_BATCH:
        primary = f"there is no seq for batch {batch:,}: batches are numbered from 0 to {LARGEST_BATCH:,}"
        raise StreamError(Diagnostic("bad-batch-number", primary))
    first = (batch << _BATCH) | (bucket << _POSITION)
    return arrow(np.arange(first, first + count, dtype=np.int64))


def batch_of(seq: int) -> int:
    """The batch that a row left with.

    >>> batch_of(seq_of(7, 3)[2].as_py())
    7
    """
    return seq >> _BATCH


def change_schema(shape: Shape) -> pa.Schema:
    """The columns of the change rows of a query, before its first row.

    Nested values, and those of a type that is not known, are JSON texts: their types would change from row to row.
    """
    clock = pa.timestamp("us", "UTC") if shape.timestamps else pa.int64()
    kinds = {name: clock for name in CLOCKS} | {"seq": pa.int64(), "Cs": pa.int64()}
    kinds["contributors"] = pa.list_(pa.string())
    header = [pa.field(name, kinds.get(name, pa.string())) for name in HEADER]
    names = shown_names(shape.type, HEADER).items()
    return pa.schema([*header, *(pa.field(shown, _stored_as(shape, name)) for name, shown in names)])


def _stored_as(shape: Shape, name: str) -> pa.DataType:
    of = shape.type.attributes[name]
    if of is DataType.TIMESTAMP and not shape.timestamps:
        return pa.int64()
    if of is DataType.DURATION and shape.timestamps:
        return pa.duration("us")
    return ARROW.get(of, pa.string())


def change_rows(
    batch: int,
    cedr_time: Time,
    emitted: pa.RecordBatch,
    shape: Shape,
    *,
    guarantee: Time | None = None,
    level: ConsistencyLevel | None = None,
) -> pa.Table:
    """What a step emitted (``Changes.to_arrow``), and the guarantee and level that leave with it, as change rows."""
    schema = change_schema(shape)
    rows = _rows(emitted, shape, schema) if emitted.num_rows else schema.empty_table()
    last = []
    if level is not None:
        last.append({"change": LEVEL, "K": str(level), "Cs": cedr_time})
    if guarantee is not None:
        last.append({"change": GUARANTEE, "Os": None if _endless(guarantee, shape) else guarantee, "Cs": cedr_time})
    if last:
        clocks = {"Os": pa.int64()}
        told = pa.table(
            {f.name: pa.array([each.get(f.name) for each in last], clocks.get(f.name, f.type)) for f in schema}
        )
        rows = pa.concat_tables([rows, told.cast(schema)])
    return rows.set_column(1, "seq", seq_of(batch, rows.num_rows))


def _rows(emitted: pa.RecordBatch, shape: Shape, schema: pa.Schema) -> pa.Table:
    raw = emitted.append_column("K", keys_of(emitted))
    kinds, order = _kinds_in_order(raw)
    rows = raw if order is None else raw.take(arrow(order))
    columns: list[Any] = []
    names = {shown: name for name, shown in shown_names(shape.type, HEADER).items()}
    for field in schema:
        if field.name == "change":
            columns.append(kinds)
        elif field.name == "seq":
            columns.append(pa.nulls(rows.num_rows, pa.int64()))
        elif field.name == "contributors":
            columns.append(_contributors(rows.column("contributors"), shape))
        elif field.name in CLOCKS:
            columns.append(_clock(rows.column(field.name), shape))
        elif field.name in HEADER:
            columns.append(rows.column(field.name).cast(field.type))
        else:
            columns.append(_payload(rows, payload_column(names[field.name]), field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _kinds_in_order(raw: pa.RecordBatch) -> tuple[pa.Array, Any]:
    """The kind of each change, and their order: retractions first, then by Sync, shortenings before inserts."""
    coded = raw.column("change")
    insert = coded.indices.to_numpy() == coded.dictionary.index(pa.scalar(INSERT)).as_py()
    if insert.all():
        return pa.repeat(pa.scalar(INSERT), len(insert)), None
    os, oe, ve = (raw.column(name).to_numpy() for name in ("Os", "Oe", "Ve"))
    retract = ~insert & (oe <= os)
    ends = np.where(oe == FOREVER, np.maximum(os, ve), oe)
    sync = np.where(insert | retract, os, ends)
    order = np.lexsort((np.arange(len(insert)), insert, sync, ~retract))
    code = np.where(insert, 0, np.where(retract, 2, 1)).astype(np.int8)[order]
    return pa.array([INSERT, SHORTEN, RETRACT]).take(pa.array(code)), order


def _endless(time: Time, shape: Shape) -> bool:
    """Whether a time is that nothing more comes, which is no date that anybody can read."""
    return time >= (FOREVER - 1 if shape.timestamps else FOREVER)


def _clock(column: pa.Array, shape: Shape) -> pa.Array:
    end = FOREVER - 1 if shape.timestamps else FOREVER
    times = column.to_numpy()
    endless = times >= end
    finite = pa.array(times, mask=endless) if endless.any() else column
    return finite.cast(pa.timestamp("us", "UTC")) if shape.timestamps else finite


def _contributors(column: pa.Array, shape: Shape) -> pa.Array:
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.list_(pa.string()))
    found = Contributors.of(column, shape.primitive)
    return pa.ListArray.from_arrays(found.offsets, found.ids.cast(pa.string()))


def _payload(rows: pa.RecordBatch, name: str, wanted: pa.DataType) -> pa.Array:
    if name not in rows.schema.names:
        return pa.nulls(rows.num_rows, wanted)
    column = rows.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.type == wanted:
        return column
    if pa.types.is_null(column.type):
        return pa.nulls(rows.num_rows, wanted)
    if pa.types.is_string(wanted) and not pa.types.is_large_string(column.type):
        return pa.array([as_text(value) for value in column.to_pylist()], wanted)
    if pa.types.is_integer(column.type) and pa.types.is_temporal(wanted):
        return column.cast(pa.int64()).cast(wanted)
    return column.cast(wanted)


def as_text(value: Any) -> str | None:
    """A value of a type that is not known: a text as it is, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(_plain(value), ensure_ascii=False, default=str)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, datetime | date):
        return value.isoformat()
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def is_row(changes: pa.Table) -> pa.ChunkedArray:
    """Which changes are about a row: all but guarantees and levels."""
    return pc.is_in(changes.column("change"), pa.array([INSERT, SHORTEN, RETRACT]))
