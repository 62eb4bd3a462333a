"""Batches of inserts as columns: the way in for many events at once.

Paper: Section 2 (the clocks of an event).  Readings: R1 (times are 64-bit integers), R2 (what a provider leaves out),
R3 (K defaults to one made of stream, ID and Os).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.dead_letter import Fault
from cedr.model.event import Event, Payload
from cedr.model.stream import Insert, default_key
from cedr.model.time import BEGINNING, FOREVER
from cedr.runtime.store.columns import Columns
from cedr.runtime.values.arrow_arrays import arrow, numpy_of
from cedr.runtime.values.constant import constant

Times = NDArray[np.int64]
Mask = NDArray[np.bool_]
Array = Any
"""An Arrow array, one in chunks, a NumPy array or a sequence."""


class EventBatch:
    """Inserts of one stream, in the order of arrival.  Readings: R2, R3.

    Times are integers, or timestamps and dates, which count in microseconds (R1).  What is left out, or NULL, gets its
    default: Ve = Oe = FOREVER, Os = Vs, K made of stream, ID and Os.  A row without ID or time is a dead letter.
    ``rt`` is for rows that are composites and were made elsewhere; otherwise Rt = Vs.

    >>> batch = EventBatch("A", ["a", None], [5, 7], payload={"x": [1, 2]})
    >>> len(batch), batch.inserts(np.array([0]))[0].lineage_key, batch.fault(1).code
    (2, 'A/a@5', 'null-id')
    """

    __slots__ = (
        "bare",
        "closes",
        "ids",
        "keys",
        "oe",
        "os",
        "payload",
        "provider",
        "rt",
        "stream",
        "unfit",
        "ve",
        "vs",
        "without_time",
    )

    def __init__(  # noqa: PLR0913 - the header has as many parts
        self,
        stream: str,
        id: Array,  # noqa: A002 - the paper's word
        vs: Array,
        ve: Array = None,
        os: Array = None,
        oe: Array = None,
        *,
        keys: Array = None,
        payload: Mapping[str, Array] | None = None,
        provider: str | None = None,
        rt: Array = None,
    ) -> None:
        self.stream = stream
        self.provider = provider
        self.ids = _names(id)
        self.vs, self.without_time = _times(vs, "vs")
        always = constant(FOREVER, len(self.vs))
        self.ve = _times_or(ve, "ve", always)
        self.os = _times_or(os, "os", self.vs)
        self.closes = oe is not None
        self.oe = _times_or(oe, "oe", always)
        self.rt = None if rt is None else _times_or(rt, "rt", self.vs)
        self.keys = None if keys is None else _texts(keys, "keys")
        self.payload = {name: _whole(column) for name, column in (payload or {}).items()}
        self.unfit: Mask | None = _either(self.without_time, _nulls(self.ids))
        self.bare = ve is None and os is None and oe is None and keys is None and self.unfit is None
        columns = {"id": self.ids, "ve": self.ve, "os": self.os, "oe": self.oe, **self.payload}
        if self.keys is not None:
            columns["keys"] = self.keys
        if self.rt is not None:
            columns["rt"] = self.rt
        for name, column in columns.items():
            if len(column) != len(self.vs):
                primary = f'column "{name}" has {len(column)} rows, the times have {len(self.vs)}'
                raise StreamError(Diagnostic("unequal-columns", primary))

    @classmethod
    def from_table(  # noqa: PLR0913 - the header has as many parts
        cls,
        stream: str,
        table: pa.Table | pa.RecordBatch,
        *,
        id: str = "id",  # noqa: A002 - the paper's word
        time: str = "time",
        valid_end: str | None = None,
        occurrence_start: str | None = None,
        occurrence_end: str | None = None,
        key: str | None = None,
        payload: Sequence[str] | None = None,
        provider: str | None = None,
    ) -> EventBatch:
        """The rows of an Arrow table: which columns are the header; all others, or those named, are the payload.

        >>> EventBatch.from_table("A", pa.table({"id": [1], "time": [5], "x": [2.5]})).inserts()[0].event.payload
        Payload(x=2.5)
        """
        header = (id, time, valid_end, occurrence_start, occurrence_end, key)
        named = payload if payload is not None else [name for name in table.schema.names if name not in header]
        parts = [None if name is None else _column(table, name) for name in header]
        attributes = {name: _column(table, name) for name in named}
        return cls(stream, *parts[:5], keys=parts[5], payload=attributes, provider=provider)

    def __len__(self) -> int:
        return len(self.vs)

    def fault(self, row: int) -> Fault | None:
        """What is wrong with a row that cannot even be a message."""
        if not self.ids[row].is_valid:
            return Fault("null-id", "the row has no ID")
        if self.without_time is not None and self.without_time[row]:
            return Fault("null-time", "the row has no time")
        return None

    def inserts(self, rows: Times | None = None) -> list[Insert]:
        """Some of the rows as messages; an ID or time that is missing is empty or the beginning of time."""
        chosen = np.arange(len(self), dtype=np.int64) if rows is None else rows
        ids = self.ids.take(arrow(chosen)).cast(pa.string()).to_pylist()
        keys = [None] * len(chosen) if self.keys is None else self.keys.take(arrow(chosen)).to_pylist()
        roots = self.vs if self.rt is None else self.rt
        times = (column[chosen].tolist() for column in (self.vs, self.ve, self.os, self.oe, roots))
        made: list[Insert] = []
        for id_, key, payload, vs, ve, os, oe, rt in zip(ids, keys, self._payloads(chosen), *times, strict=True):
            event = Event(self.stream, id_ or "", vs, ve, os, oe, rt, (), payload)
            made.append(Insert(event, default_key(event) if key is None else key, self.provider))
        return made

    def _payloads(self, rows: Times) -> list[Payload]:
        columns = Columns()
        columns.extend(len(rows), {name: column.take(arrow(rows)) for name, column in self.payload.items()})
        return columns.payloads(np.arange(len(rows), dtype=np.int64))


def _column(table: pa.Table | pa.RecordBatch, name: str) -> Array:
    if name not in table.schema.names:
        detail = f"the table has: {', '.join(table.schema.names) or 'no columns'}"
        raise StreamError(Diagnostic("unknown-column", f'there is no column "{name}"', detail=detail))
    return table.column(name)


def _whole(values: Array) -> Array:
    """One Arrow array."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        return pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values
    if isinstance(values, np.ndarray):
        return arrow(values)
    return values if isinstance(values, pa.Array) else pa.array(values)


def _names(values: Array) -> Array:
    """IDs as text or as whole numbers, which are held as they are."""
    array = _whole(values)
    return array if pa.types.is_signed_integer(array.type) else _texts(array, "id")


def _texts(values: Array, name: str) -> Array:
    """IDs or keys as text; whole numbers in decimal digits."""
    array = _whole(values)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_string(array.type):
        return array
    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_null(kind) or pa.types.is_large_string(kind) or _is_view(kind):
        return array.cast(pa.string())
    raise StreamError(Diagnostic("wrong-column-type", f'column "{name}" is {kind}, neither text nor whole numbers'))


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind))


def _times_or(values: Array, name: str, default: Times) -> Times:
    if values is None:
        return default
    times, missing = _times(values, name)
    return times if missing is None or len(missing) != len(default) else np.where(missing, default, times)


def _times(values: Array, name: str) -> tuple[Times, Mask | None]:
    """Times as integers, and which are missing; these are the beginning of time, which no event has."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return values, None
    array = _whole(values)
    kind = array.type
    try:
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            array = array.cast(pa.timestamp("us", tz=getattr(kind, "tz", None))).cast(pa.int64())
        elif pa.types.is_integer(kind) or pa.types.is_null(kind):
            array = array.cast(pa.int64())
        else:
            primary = f'column "{name}" is {kind}, neither timestamps nor whole numbers'
            raise StreamError(Diagnostic("wrong-column-type", primary))
    except pa.ArrowInvalid as error:
        detail = str(error).splitlines()[0]
        primary = f'column "{name}" has a time that microseconds in 64 bits cannot hold'
        raise StreamError(Diagnostic("time-out-of-range", primary, detail=detail)) from None
    missing = _nulls(array)
    filled = array if missing is None else pc.fill_null(array, arrow(np.array([BEGINNING]))[0])
    return numpy_of(filled), missing


def _nulls(array: Array) -> Mask | None:
    return numpy_of(array.is_null()) if array.null_count else None


def _either(one: Mask | None, other: Mask | None) -> Mask | None:
    if one is None or other is None:
        return other if one is None else one
    return one | other if len(one) == len(other) else one
