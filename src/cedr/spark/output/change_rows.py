"""Rows of a DataFrame of changes as change rows.

Readings: R36, R48.  The guarantee that leaves is the smallest of those of all buckets, once each has given one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.data.change_rows import CLOCKS, GUARANTEE, HEADER, INSERT, RETRACT, SHORTEN, as_text, seq_of
from cedr.model.time import FOREVER, Time
from cedr.sinks.contract import Output

_PARTITION = 33
"""Spark numbers rows by partition, and in these bits within it."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a DataFrame of changes knows of its rows."""

    output: Output
    shown: tuple[str, ...]
    """The columns of the payload there, in order."""


@dataclass
class Received:
    """What is known from one batch to the next: the guarantee of each bucket."""

    told: Told
    guarantees: dict[str, Time] = field(default_factory=dict)

    def together(self, rows: pa.Table) -> Time | None:
        """The guarantee of all buckets, where this batch has moved it."""
        before = self._least()
        for key, time in zip(rows.column("K").to_pylist(), _numbers(rows.column("Os")).tolist(), strict=True):
            self.guarantees[key] = max(time, self.guarantees.get(key, time))
        least = self._least()
        return None if least == before else least

    def _least(self) -> Time | None:
        """None as long as a bucket has given none; each names itself as one of so many."""
        if not self.guarantees:
            return None
        buckets = int(next(iter(self.guarantees)).rpartition("/")[2])
        return min(self.guarantees.values()) if len(self.guarantees) >= buckets else None


def change_rows_of(received: Received, rows: pa.Table, batch: int, at: str) -> pa.Table:
    """The change rows of a batch; ``at`` is the column in which Spark has numbered them."""
    kinds = rows.column("change")
    guarantee = received.together(rows.filter(pc.equal(kinds, GUARANTEE)))
    said = rows.filter(pc.is_in(kinds, pa.array([INSERT, RETRACT])))
    schema = received.told.output.schema
    found = _ordered(said, received.told, batch, at) if said.num_rows else schema.empty_table()
    if guarantee is None:
        return found
    cs = pc.max(rows.column("Cs").cast(pa.int64())).as_py()
    last: dict[str, Any] = {"change": GUARANTEE, "seq": ((batch + 1) << 34) - 1, "Cs": cs}
    columns = {f.name: pa.array([last.get(f.name)], f.type) for f in schema}
    time = pa.array([None if guarantee == FOREVER else guarantee], pa.int64())
    columns["Os"] = time.cast(schema.field("Os").type)
    return pa.concat_tables([found, pa.table(columns, schema=schema)])


def _ordered(rows: pa.Table, told: Told, batch: int, at: str) -> pa.Table:
    """In the order of R48 within each bucket, one bucket after the other."""
    place = rows.column(at).to_numpy()
    bucket = place >> _PARTITION
    insert = pc.equal(rows.column("change"), INSERT).to_numpy()
    os, oe, ve = (_numbers(rows.column(name)) for name in ("Os", "Oe", "Ve"))
    retract = ~insert & (oe <= os)
    sync = np.where(insert | retract, os, np.where(oe == FOREVER, np.maximum(os, ve), oe))
    order = np.lexsort((place, insert, sync, ~retract, bucket))
    rows, bucket = rows.take(order), bucket[order]
    kind = np.where(insert, 0, np.where(retract, 2, 1))[order]
    counts = [(each, int(count)) for each, count in zip(*np.unique(bucket, return_counts=True), strict=True)]
    seq = pa.concat_arrays([seq_of(batch, count, int(each)) for each, count in counts])
    made: dict[str, Any] = {
        "change": pa.array([INSERT, SHORTEN, RETRACT]).take(pa.array(kind)),
        "seq": seq,
        "Cs": rows.column("Cs").cast(pa.int64()),
    }
    names = [name for name in told.output.schema.names if name not in HEADER]
    there = dict(zip(names, told.shown, strict=True))
    for name in CLOCKS:  # whole numbers come with FOREVER, timestamps with NULL
        times = _numbers(rows.column(name))
        made[name] = pa.array(times, pa.int64(), mask=times == FOREVER).cast(told.output.schema.field(name).type)
    columns = [
        made[f.name] if f.name in made else _fitted(rows.column(there.get(f.name, f.name)), f.type)
        for f in told.output.schema
    ]
    return pa.Table.from_arrays(columns, schema=told.output.schema)


def _numbers(times: pa.ChunkedArray) -> Any:
    """Times as numbers; NULL is FOREVER."""
    whole = times if pa.types.is_integer(times.type) else times.cast(pa.timestamp("us", times.type.tz))
    return pc.fill_null(whole.cast(pa.int64()), FOREVER).to_numpy()


def _fitted(column: pa.ChunkedArray, wanted: pa.DataType) -> Any:
    if column.type == wanted:
        return column
    if pa.types.is_string(wanted) and not pa.types.is_large_string(column.type):
        return pa.array([as_text(value) for value in column.to_pylist()], wanted)
    if pa.types.is_integer(wanted) and pa.types.is_temporal(column.type):
        return column.cast(pa.int64())
    if pa.types.is_temporal(wanted) and pa.types.is_integer(column.type):
        return column.cast(pa.int64()).cast(wanted)
    return column.cast(wanted)
