"""Plain events as segments of bytes: written once, dropped or written together when little of them is left.

What is written at a time follows what has arrived and what has gone since the last time.  The format is Arrow's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.consistency.admission.narrowing import narrowed_columns, widened_columns
from cedr.consistency.admission.stream_rows import PLAIN, PlainRows, Source
from cedr.consistency.encoding import as_bytes, decode, encode, from_bytes
from cedr.model.event import Payload, Value
from cedr.runtime.store.column import Column
from cedr.runtime.store.columns import Columns

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

_ENOUGH: Final = 32_768
"""A segment of so many rows is not written together with others."""
_HEADER: Final = ("id", "vs", "ve", "os", "rt", "serial", "position", "provider")
_BESIDE: Final = {"os": "vs", "ve": None, "position": "serial", "provider": None}
"""Most events begin to be known when they begin to hold, have no end, and came in the order of their numbers."""
_SAID: Final = b"cedr"
_VALUE, _JSON, _PRESENT = "=", "~", "?"


@dataclass(slots=True)
class _Segment:
    size: int
    live: int
    first: int
    """No row of the segment has a smaller number."""


class RowSegments:
    """The saved plain events of one stream."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._segments: dict[int, _Segment] = {}
        self._next = 0
        self._unsaved_from = 0

    def flush(self) -> dict[str, bytes | None]:
        """The segments to write and, with None, those to drop."""
        self._count_lost()
        table = len(self._source.table)
        new = self._unsaved_from + np.flatnonzero(self._source.kind.view[self._unsaved_from : table] == PLAIN)
        self._unsaved_from = table
        absorbed = self._worn_out(len(new))
        if not len(new) and not absorbed:
            return {}
        rows = np.concatenate([*(self._rows_of(number) for number in absorbed), new])
        changes: dict[str, bytes | None] = {}
        for number in [number for number in self._source.ghosts if number not in self._segments]:
            del self._source.ghosts[number]
        for number in absorbed:
            del self._segments[number]
            self._source.ghosts.pop(number, None)
            changes[self._name(number)] = None
        if len(rows):
            number, self._next = self._next, self._next + 1
            self._source.segment.put(rows, number)
            self._segments[number] = _Segment(len(rows), len(rows), int(rows.min()))
            changes[self._name(number)] = _written(self._source, rows)
        return changes

    def _count_lost(self) -> None:
        for number, count in self._source.lost.items():
            self._segments[number].live -= count
        self._source.lost = {}

    def _worn_out(self, new: int) -> list[int]:
        """Segments of which less than half is left, and small ones that are no larger than what comes."""
        found = [number for number, segment in self._segments.items() if 2 * segment.live < segment.size]
        total = new + sum(self._segments[number].live for number in found)
        for number in reversed([number for number in self._segments if number not in found]):
            live = self._segments[number].live
            if live > total or live >= _ENOUGH or not total:
                break
            found.append(number)
            total += live
        return found

    def _rows_of(self, number: int) -> Rows:
        first = self._segments[number].first
        source = self._source
        plain = first + np.flatnonzero(source.kind.view[first:] == PLAIN)
        found: Rows = plain[source.segment.at(plain) == number]
        return found

    def _name(self, number: int) -> str:
        return f"rows/{self._source.stream}/{number}"

    def renumber(self, old_to_new: Rows) -> None:
        """The rows have new numbers, in the old order."""
        kept = np.concatenate([[0], np.cumsum(old_to_new >= 0)])
        self._unsaved_from = int(kept[self._unsaved_from])
        for segment in self._segments.values():
            segment.first = int(kept[segment.first])

    def load(self, number: int, written: bytes) -> Iterator[tuple[PlainRows, Rows]]:
        """The rows of a segment with their serial numbers; all that have one set of attributes together."""
        with pa.ipc.open_stream(pa.py_buffer(written)) as reader:
            table = _in_full(widened_columns(reader.read_all().combine_chunks()))
        self._next = max(self._next, number + 1)
        self._segments[number] = _Segment(table.num_rows, 0, len(self._source.table))
        for part in _by_presence(table):
            yield _read(part), part.column("serial").to_numpy()

    def loaded(self, number: int, rows: Rows) -> None:
        """These rows came from that segment."""
        self._source.segment.put(rows, number)
        self._segments[number].live += len(rows)
        self._unsaved_from = len(self._source.table)


def _written(source: Source, rows: Rows) -> bytes:
    table = source.table
    header = {name: column.view[rows] for name, column in (("vs", table.vs), ("ve", table.ve), ("os", table.os))}
    if not table.rt.implicit:
        header["rt"] = table.rt.view[rows]
    for name, place in (("serial", source.serial), ("position", source.position), ("provider", source.provider)):
        header[name] = place.at(rows)
    said = _distances(header)
    parts: dict[str, Any] = {"id": source.ids.given(rows)}
    parts |= {name: pa.array(column) for name, column in header.items() if name not in said}
    present = table.columns._present  # names that some row lacks
    for name in table.columns.names:
        there = present[name].view[rows] if name in present else None
        if there is None or there.any():
            parts.update(_column(name, table.columns[name], rows))
        if there is not None:
            parts[_PRESENT + name] = pa.array(there)
    full = pa.RecordBatch.from_arrays(list(parts.values()), names=list(parts), metadata={_SAID: as_bytes(said)})
    written = narrowed_columns(full)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, written.schema) as writer:
        writer.write_batch(written)
    result: bytes = sink.getvalue().to_pybytes()
    return result


def _distances(header: Mapping[str, Rows]) -> dict[str, int]:
    """Columns that are always as far from another one, or from 0: how far.  They need not be written."""
    found = {}
    for name, beside in _BESIDE.items():
        distances = header[name] if beside is None else header[name] - header[beside]
        if len(distances) and (distances == distances[0]).all():
            found[name] = int(distances[0])
    return found


def _in_full(table: pa.Table) -> pa.Table:
    """With the columns that were not written."""
    said = from_bytes((table.schema.metadata or {}).get(_SAID, b"{}"))
    for name, distance in said.items():
        beside = _BESIDE[name]
        start = np.zeros(table.num_rows, dtype=np.int64) if beside is None else table.column(beside).to_numpy()
        table = table.append_column(name, pa.array(start + distance))
    return table


def _column(name: str, column: Column, rows: Rows) -> dict[str, Any]:
    """A column as Arrow has it, or where that would not give back the same values, each as JSON."""
    if column.kind != "object" or column.type is not None:
        try:
            return {_VALUE + name: column.take(rows)}
        except TypeError:
            pass
    return {_JSON + name: pa.array([as_bytes(encode(value)) for value in column.values(rows)], pa.binary())}


def _by_presence(table: pa.Table) -> Iterator[pa.Table]:
    """The rows by which attributes they have."""
    masks = [name for name in table.column_names if name.startswith(_PRESENT)]
    if not masks:
        yield table
        return
    there = np.column_stack([table.column(name).to_numpy() for name in masks])
    patterns, of_row = np.unique(there, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        absent = {name[1:] for name, has in zip(masks, pattern.tolist(), strict=True) if not has}
        names = [name for name in table.column_names if name in _HEADER or not _is_of(name, absent)]
        yield table.select(names).take(np.flatnonzero(of_row.reshape(-1) == number)).combine_chunks()


def _is_of(name: str, absent: set[str]) -> bool:
    return name[0] == _PRESENT or name[1:] in absent


def _read(table: pa.Table) -> PlainRows:
    vs, ve, os, positions, providers = (
        table.column(name).to_numpy() for name in ("vs", "ve", "os", "position", "provider")
    )
    ids = _whole(table.column("id"))
    values = {name[1:]: _whole(table.column(name)) for name in table.column_names if name[0] == _VALUE}
    written = {name[1:]: _whole(table.column(name)) for name in table.column_names if name[0] == _JSON}
    payload = _payloads(table.num_rows, values, written) if written else values
    rt = table.column("rt").to_numpy() if "rt" in table.column_names else None
    return PlainRows(ids, vs, ve, os, payload, positions, providers, rt)


def _payloads(n: int, values: Mapping[str, Any], written: Mapping[str, Any]) -> list[Payload]:
    columns = Columns()
    columns.extend(n, values)
    rows: list[dict[str, Value]] = [dict(payload) for payload in columns.payloads(np.arange(n, dtype=np.int64))]
    for name, texts in written.items():
        for row, text in zip(rows, texts.to_pylist(), strict=True):
            row[name] = decode(from_bytes(text))
    return [Payload(row) for row in rows]


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
