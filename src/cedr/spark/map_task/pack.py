"""Map tasks: rows become one Arrow blob for each bucket, with what all buckets must know.

Readings: R33 (all buckets share h and g), R40 (a batch has one CEDR time).  Every map task sends every bucket a *head*:
for each CEDR time of its rows the largest Sync of each source, what was promised, and control messages.  So idle
buckets release what is due as busy ones do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.consistency.admission.narrowing import narrowed_columns, widened_columns
from cedr.model.time import BEGINNING, FOREVER
from cedr.runtime.values.memory import settle
from cedr.spark.layout.following import followed
from cedr.spark.layout.layout import BAD_TIME, CONTROL, GUARANTEE, INSERT, RETRACT, UNKNOWN, Later, Layout
from cedr.spark.layout.read_faults import Misread
from cedr.spark.map_task.partition_rows import dealt_out

Batch = Any
Times = NDArray[np.int64]
Mask = NDArray[np.bool_]

PACKED: Final = "token int, task int, number int, head string, rows binary"
"""The columns that are shuffled."""

_ROWS: Final = 1_000_000
"""So many rows are packed together at most."""

_LEAPS: Final = 64
"""So many times a column may leap that counts up otherwise: types are set one after the other, and so are files."""

SCHEMA: Final = pa.schema(
    [
        ("token", pa.int32()),
        ("task", pa.int32()),
        ("number", pa.int32()),
        ("head", pa.string()),
        ("rows", pa.binary()),
    ]
)


SAID_BY: Final = b"said by"
"""In the metadata of packed rows: by which stage, and by which provider; without it they are of the input."""
_UNHEARD: Final[dict[str, Any]] = {"time": None, "highs": []}
"""A head that tells nothing."""
_LEFT: Final = ("cedr", "control", "promise")
"""Columns of which the heads tell, beside those of buckets."""


def bucket_column(stage: int) -> str:
    """The column that tells the bucket of a row in a stage."""
    return "bucket" if stage == 1 else f"bucket{stage}"


def onward(stage: int, token: int, head: str = "[]") -> str:
    """Before a head: that it and the rows go to a bucket of a later stage."""
    return f"onward {stage} {token} {head}"


def row_of(token: int, task: int, number: int, head: str, rows: bytes | pa.Buffer | None) -> Batch:
    """What is shuffled."""
    header = [[token], [task], [number], [head]]
    columns = [pa.array(column, field.type) for column, field in zip(header, SCHEMA, strict=False)]
    return pa.RecordBatch.from_arrays([*columns, as_column(rows)], schema=SCHEMA)


class Pack:
    """Given to ``mapInArrow``."""

    def __init__(self, layout: Layout, letters: list[Misread] | None = None) -> None:
        self._layout = layout
        self._letters = [] if letters is None else letters
        """What could not be read among the rows so far; whoever reads adds to it, and it is told once."""

    def __call__(self, batches: Iterator[Batch], time: int | None = None) -> Iterator[Batch]:
        """The rows of a map task; a row for each bucket.  ``time`` is the CEDR time where there are no rows."""
        from pyspark import TaskContext

        settle()
        self._layout = followed(self._layout)
        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        number = 0
        for rows in _gathered(batches):
            entries = [_UNHEARD] if self._layout.at_once else Heads(self._layout, rows).entries()
            yield from self._sent(entries, self._blobs(rows), task, number)
            yield from self._sent_later(rows, task, number)
            number += 1
        if self._letters:
            yield from self._sent([_UNHEARD | {"time": time}], {}, task, number)

    def _sent(
        self, entries: list[dict[str, Any]], blobs: dict[int, pa.Buffer], task: int, number: int
    ) -> Iterator[Batch]:
        heads = [json.dumps(entries)] * len(self._layout.tokens)
        if self._letters:
            told = {"letters": [letter.as_data() for letter in self._letters]}
            heads[0] = json.dumps([*entries[:-1], entries[-1] | told])
            self._letters.clear()
        for bucket, token in enumerate(self._layout.tokens):  # one at a time: they are large
            yield row_of(token, task, number, heads[bucket], blobs.get(bucket))

    def _sent_later(self, rows: pa.Table, task: int, number: int) -> Iterator[Batch]:
        """What later stages read, by way of any bucket of this one."""
        layout = self._layout
        for stage, later in enumerate(layout.later, layout.stage + 1):
            for bucket, blob in self._blobs(rows, stage, later).items():
                way = layout.tokens[bucket % layout.buckets]
                yield row_of(way, task, number, onward(stage, later.tokens[bucket]), blob)

    def _blobs(self, rows: pa.Table, stage: int = 1, later: Later | None = None) -> dict[int, pa.Buffer]:
        """What goes to each bucket; types that nobody reads, guarantees and control go to none."""
        codes = _numbers(rows, "code")
        read = self._layout.codes if later is None else later.codes
        kept = codes >= 0 if read is None else np.isin(codes, sorted(read))
        kept |= (codes == UNKNOWN) & (later is None)
        if "kind" in rows.column_names:
            kinds = _numbers(rows, "kind")
            kept &= (kinds != GUARANTEE) & (kinds != CONTROL)
        column, count = bucket_column(stage), len((self._layout if later is None else later).tokens)
        buckets = _numbers(rows, column) if column in rows.column_names else np.zeros(len(codes), np.int16)
        if self._layout.follows:  # then the column has hashes: how many buckets there are Spark could not know
            buckets = np.mod(buckets, count)
        left = [name for name in rows.column_names if name in _LEFT or name.startswith("bucket") or _empty(rows, name)]
        return packed_by_bucket(rows.drop_columns(left), buckets, count, codes, None if kept.all() else kept)


def _empty(rows: pa.Table, name: str) -> bool:
    """Whether it is the name of types that nobody declared, and there is none."""
    return name == "name" and rows.column(name).null_count == rows.num_rows


def _gathered(batches: Iterator[Batch]) -> Iterator[pa.Table]:
    """Small batches put together."""
    held: list[Batch] = []
    count = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        held.append(batch)
        count += batch.num_rows
        if count >= _ROWS:
            yield pa.Table.from_batches(held)
            held, count = [], 0
    if held:
        yield pa.Table.from_batches(held)


def packed(rows: pa.Table) -> pa.Buffer:
    """A table as bytes, as few as that is cheap to achieve: what is packed is copied many times on its way."""
    batches = rows.combine_chunks().to_batches()
    if len(batches) == 1:
        rows = pa.Table.from_batches([narrowed_columns(batches[0], _LEAPS)])
    sizes = pa.MockOutputStream()
    with pa.ipc.new_stream(sizes, rows.schema) as writer:
        writer.write_table(rows)
    written = pa.allocate_buffer(sizes.size())  # a buffer that grows is copied again and again
    with pa.ipc.new_stream(pa.FixedSizeBufferWriter(written), rows.schema) as writer:
        writer.write_table(rows)
    return written


def as_column(blob: bytes | pa.Buffer | None) -> pa.BinaryArray:
    """Bytes as a column of one row; they are not copied."""
    if blob is None:
        return pa.nulls(1, pa.binary())
    bytes_ = pa.py_buffer(blob)
    ends = pa.py_buffer(np.array([0, bytes_.size], np.int32))
    return pa.BinaryArray.from_buffers(pa.binary(), 1, [None, ends, bytes_])


def packed_by_bucket(
    rows: pa.Table,
    buckets: NDArray[Any],
    count: int,
    codes: NDArray[np.int8] | None = None,
    chosen: Mask | None = None,
) -> dict[int, pa.Buffer]:
    """The rows of each bucket, packed; what has none is not there.

    Of all rows, or of those chosen; in their order, or type by type where the ``codes`` of types are given.
    """
    types, least = (1, 0) if codes is None or not len(codes) else (int(codes.max() - codes.min()) + 1, int(codes.min()))
    numbers: NDArray[Any] = buckets.astype(np.int32) * types
    if codes is not None:
        numbers += codes - np.int32(least)
    if chosen is not None:
        numbers = np.where(chosen, numbers, -1)
    ordered, ends = dealt_out(rows, numbers, count * types)
    cuts = [0, *ends[types - 1 :: types]]
    return {
        bucket: packed(pa.Table.from_batches([ordered.slice(low, high - low)]))
        for bucket, (low, high) in enumerate(pairwise(cuts))
        if low < high
    }


def unpacked(blob: Any) -> pa.Table:
    """The table that was packed."""
    with pa.ipc.open_stream(pa.py_buffer(blob)) as reader:
        return widened_columns(reader.read_all())


def _numbers(rows: pa.Table, name: str, missing: int = 0) -> Any:
    column = rows.column(name)
    if column.null_count:
        column = pc.fill_null(column, missing)
    return column.to_numpy()


class Heads:
    """What all buckets must know of some rows."""

    def __init__(self, layout: Layout, rows: pa.Table) -> None:
        self._layout, self._rows = layout, rows
        names = rows.column_names
        self._kinds = _numbers(rows, "kind") if "kind" in names else np.broadcast_to(np.int8(INSERT), rows.num_rows)
        self._sources = _numbers(rows, "source") if "source" in names else None

    def entries(self) -> list[dict[str, Any]]:
        """One entry for each CEDR time, rising."""
        names = self._rows.column_names
        if "arrival" not in names:
            entry = self._entry(None, np.ones(self._rows.num_rows, np.bool_))
            if "cedr" in names:
                entry["time"] = int(self._rows.column("cedr")[0].as_py())
            return [entry]
        arrivals = _numbers(self._rows, "arrival", BEGINNING)
        order = np.argsort(arrivals, kind="stable")
        times, firsts = np.unique(arrivals[order], return_index=True)
        cuts = [*firsts.tolist(), len(order)]
        found = []
        for number, time in enumerate(times.tolist()):
            own = self._rows.take(pa.array(order[cuts[number] : cuts[number + 1]]))
            found.append(Heads(self._layout, own)._entry(time, np.ones(own.num_rows, np.bool_)))
        return found

    def _entry(self, time: int | None, chosen: Mask) -> dict[str, Any]:
        entry: dict[str, Any] = {"time": time, "highs": self._highs(chosen)}
        promises = self._promises(chosen)
        if promises:
            entry["promises"] = promises
        if "control" in self._rows.column_names:
            commands = self._rows.column("control").filter(pa.array(chosen & (self._kinds == CONTROL))).to_pylist()
            if commands:
                entry["control"] = commands
        return entry

    def _highs(self, chosen: Mask) -> list[list[Any]]:
        """The largest Sync of each source and provider, as far as a message tells by itself that it can be used."""
        syncs, usable = self._syncs()
        found: list[list[Any]] = []
        sources = [0] if self._sources is None else np.unique(self._sources[chosen]).tolist()
        for source in sources:
            of_source = chosen if self._sources is None else chosen & (self._sources == source)
            if "provider" not in self._rows.column_names:
                found += self._high(source, self._layout.sources[source].provider, of_source & usable, syncs)
                continue
            providers = self._rows.column("provider").filter(pa.array(of_source)).unique().to_pylist()
            column = self._rows.column("provider")
            for provider in sorted(providers, key=str):
                same = (
                    pc.is_null(column)
                    if provider is None
                    else pc.equal(column, provider).fill_null(pa.scalar(value=False))
                )
                own = of_source & same.to_numpy()
                name = provider if provider is not None else self._layout.sources[source].provider
                found += self._high(source, name, own & usable, syncs)
        return found

    def _high(self, source: int, provider: str | None, rows: Mask, syncs: Times) -> list[list[Any]]:
        return [[source, provider, int(syncs[rows].max())]] if rows.any() else []

    def _syncs(self) -> tuple[Times, Mask]:
        """Sync of inserts and retractions, and which of them count.  Readings: R7, R33, R41.

        A removal has the Sync of its insert, which has been counted if it has come: it adds nothing, and would add too
        much if it has not.  Of a shortening only its bucket knows whether it waits for its insert; it counts at once.
        """
        rows = self._rows
        vs = _numbers(rows, "vs", BEGINNING)
        os = self._or("os", vs)
        ve, oe = (self._or(name, np.broadcast_to(np.int64(FOREVER), vs.shape)) for name in ("ve", "oe"))
        codes = _numbers(rows, "code")
        known = (vs > BAD_TIME) & (vs < FOREVER)
        if rows.column("id").null_count:
            known &= rows.column("id").is_valid().to_numpy()
        usable = known & (codes != UNKNOWN)
        if not {"kind", "os", "ve", "oe"}.intersection(rows.column_names):  # stated in time, and open
            return os, usable
        known, usable = known & (os < FOREVER), usable & (os < FOREVER) & (os <= self._latest(vs, codes))
        usable &= (self._kinds == INSERT) & (ve >= vs) & (oe >= os)
        retracts = self._kinds == RETRACT
        if not retracts.any():
            return os, usable
        ends = np.minimum(np.where(oe <= os, os, oe), np.where(ve <= vs, os, np.maximum(os, ve)))
        named = retracts & known & (os < ends) & (ends < FOREVER)
        return np.where(retracts, ends, os), usable | named

    def _latest(self, vs: Times, codes: NDArray[np.int8]) -> Times:
        """Up to when each event may be stated.  Reading: R41."""
        allowed = np.zeros(len(vs), np.int64)
        for number, each in enumerate(self._layout.types):
            if each.revisable:
                allowed[codes == number] = each.revisable
        latest: Times = np.where(allowed > FOREVER - np.maximum(vs, 0), FOREVER, vs + allowed)
        return latest

    def _or(self, name: str, default: Times) -> Times:
        if name not in self._rows.column_names:
            return default
        column = self._rows.column(name)
        if not column.null_count:
            return np.asarray(column.to_numpy())
        return np.where(column.is_null().to_numpy(), default, pc.fill_null(column, 0).to_numpy())

    def _promises(self, chosen: Mask) -> list[list[Any]]:
        """What each provider has promised, by guarantee rows or in a column."""
        found: dict[str | None, int] = {}
        names = self._rows.column_names
        sources = [("vs", chosen & (self._kinds == GUARANTEE))]
        if "promise" in names:
            sources.append(("promise", chosen))
        for name, rows in sources:
            if not rows.any():
                continue
            keys = [key for key in ("provider", "source") if key in names]
            part = self._rows.filter(pa.array(rows)).select([*keys, name])
            for row in part.group_by(keys).aggregate([(name, "max")]).to_pylist():
                time, source = row[f"{name}_max"], row.get("source") or 0
                who = row.get("provider") or self._layout.sources[source].provider
                if time is not None:
                    found[who] = max(found.get(who, time), time)
        return [[provider, time] for provider, time in sorted(found.items(), key=lambda item: str(item[0]))]
