"""Packs the rows of a map task: one Arrow blob for each bucket, and a head for all buckets.

Readings: R33 (all buckets share h and g), R40 (a batch has one CEDR time).  Every map task sends every bucket a *head*:
for each CEDR time of its rows the largest Sync of each source, the guarantees, and control messages.  So a bucket
without rows emits what is due in the same batch as the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.consistency.admission.narrowing import narrowed_columns, widened_columns
from cedr.runtime.values.memory import settle
from cedr.spark.layout.layout import CONTROL, GUARANTEE, UNKNOWN, LaterStage, Layout
from cedr.spark.layout.read_faults import ReadFault
from cedr.spark.layout.state_partitions import with_state_partitions
from cedr.spark.map_task.heads import Heads, numbers
from cedr.spark.map_task.partition_rows import partition_rows

Batch = Any
Mask = NDArray[np.bool_]

PACKED: Final = "token int, task int, number int, head string, rows binary"
"""The columns that are shuffled: the token of a bucket, the map task, the number of the blob, the head, the blob."""

_ROWS: Final = 1_000_000
"""The most rows in one blob."""

_JUMPS: Final = 64
"""A column that counts up may jump this often: the rows of types, and of files, follow one another."""

SCHEMA: Final = pa.schema(
    [
        ("token", pa.int32()),
        ("task", pa.int32()),
        ("number", pa.int32()),
        ("head", pa.string()),
        ("rows", pa.binary()),
    ]
)


STAGE_CHANGES: Final = b"stage changes"
"""In the metadata of packed changes: the stage and the provider that emitted them.  Rows of the input lack it."""
_EMPTY_ENTRY: Final[dict[str, Any]] = {"time": None, "highs": []}
"""An entry of a head without content."""
_IN_HEADS: Final = ("cedr", "control", "promise")
"""Columns that are not in blobs, because heads have their content."""
_TO_STAGE: Final = "onward"


def bucket_column(stage: int) -> str:
    """The column with the bucket of a row in a stage."""
    return "bucket" if stage == 1 else f"bucket{stage}"


def address_to_stage(stage: int, token: int, head: str = "[]") -> str:
    """Address a head, and the rows with it, to a bucket of a later stage."""
    return f"{_TO_STAGE} {stage} {token} {head}"


def is_addressed(head: str) -> bool:
    """Whether a head is addressed to a later stage."""
    return head.startswith(_TO_STAGE)


def read_address(head: str) -> tuple[int, int, str]:
    """The stage and the token to which a head is addressed, and the head itself."""
    _, stage, token, own = head.split(" ", 3)
    return int(stage), int(token), own


def packed_row(token: int, task: int, number: int, head: str, rows: bytes | pa.Buffer | None) -> Batch:
    """A batch of one row, as it is shuffled."""
    header = [[token], [task], [number], [head]]
    columns = [pa.array(column, field.type) for column, field in zip(header, SCHEMA, strict=False)]
    return pa.RecordBatch.from_arrays([*columns, as_column(rows)], schema=SCHEMA)


class Pack:
    """Given to ``mapInArrow``: packs the rows of a map task."""

    def __init__(self, layout: Layout, letters: list[ReadFault] | None = None) -> None:
        self._layout = layout
        self._letters = [] if letters is None else letters
        """Faults of the files so far.  The reader of files adds to it; each fault is sent once."""

    def __call__(self, batches: Iterator[Batch], time: int | None = None) -> Iterator[Batch]:
        """Pack the rows of a map task: a row for each bucket.  ``time`` is the CEDR time if there are no rows."""
        from pyspark import TaskContext

        settle()
        self._layout = with_state_partitions(self._layout)
        context = TaskContext.get()
        task = 0 if context is None else context.partitionId()
        number = 0
        for rows in _collected(batches):
            entries = [_EMPTY_ENTRY] if self._layout.is_one_batch else Heads(self._layout, rows).entries()
            yield from self._for_buckets(entries, self._blobs(rows), task, number)
            yield from self._for_later_stages(rows, task, number)
            number += 1
        if self._letters:
            yield from self._for_buckets([_EMPTY_ENTRY | {"time": time}], {}, task, number)

    def _for_buckets(
        self, entries: list[dict[str, Any]], blobs: dict[int, pa.Buffer], task: int, number: int
    ) -> Iterator[Batch]:
        heads = [json.dumps(entries)] * len(self._layout.tokens)
        if self._letters:
            faults = {"letters": [letter.as_data() for letter in self._letters]}
            heads[0] = json.dumps([*entries[:-1], entries[-1] | faults])
            self._letters.clear()
        for bucket, token in enumerate(self._layout.tokens):  # one at a time: they are large
            yield packed_row(token, task, number, heads[bucket], blobs.get(bucket))

    def _for_later_stages(self, rows: pa.Table, task: int, number: int) -> Iterator[Batch]:
        """The rows that later stages read; they pass through any bucket of this one."""
        layout = self._layout
        for stage, later in enumerate(layout.later, layout.stage + 1):
            for bucket, blob in self._blobs(rows, stage, later).items():
                way = layout.tokens[bucket % layout.buckets]
                yield packed_row(way, task, number, address_to_stage(stage, later.tokens[bucket]), blob)

    def _blobs(self, rows: pa.Table, stage: int = 1, later: LaterStage | None = None) -> dict[int, pa.Buffer]:
        """The blob of each bucket; rows of types that nobody reads, guarantees and control messages are in none."""
        codes = numbers(rows, "code")
        read = self._layout.codes if later is None else later.codes
        kept = codes >= 0 if read is None else np.isin(codes, sorted(read))
        kept |= (codes == UNKNOWN) & (later is None)
        if "kind" in rows.column_names:
            kinds = numbers(rows, "kind")
            kept &= (kinds != GUARANTEE) & (kinds != CONTROL)
        column, count = bucket_column(stage), len((self._layout if later is None else later).tokens)
        buckets = numbers(rows, column) if column in rows.column_names else np.zeros(len(codes), np.int16)
        if self._layout.buckets_from_state:  # then the column has hashes: Spark does not know the number of buckets
            buckets = np.mod(buckets, count)
        names = rows.column_names
        omitted = [name for name in names if name in _IN_HEADS or name.startswith("bucket") or _empty(rows, name)]
        return pack_by_bucket(rows.drop_columns(omitted), buckets, count, codes, None if kept.all() else kept)


def _empty(rows: pa.Table, name: str) -> bool:
    """Whether the column has names of undeclared types, and there is none."""
    return name == "name" and rows.column(name).null_count == rows.num_rows


def _collected(batches: Iterator[Batch]) -> Iterator[pa.Table]:
    """Small batches joined to tables of ``_ROWS`` rows."""
    collected: list[Batch] = []
    count = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        collected.append(batch)
        count += batch.num_rows
        if count >= _ROWS:
            yield pa.Table.from_batches(collected)
            collected, count = [], 0
    if collected:
        yield pa.Table.from_batches(collected)


def pack_table(rows: pa.Table) -> pa.Buffer:
    """A table as bytes, with narrow columns: a blob is copied many times on its way."""
    batches = rows.combine_chunks().to_batches()
    if len(batches) == 1:
        rows = pa.Table.from_batches([narrowed_columns(batches[0], _JUMPS)])
    sizes = pa.MockOutputStream()
    with pa.ipc.new_stream(sizes, rows.schema) as writer:
        writer.write_table(rows)
    written = pa.allocate_buffer(sizes.size())  # a buffer that grows is copied again and again
    with pa.ipc.new_stream(pa.FixedSizeBufferWriter(written), rows.schema) as writer:
        writer.write_table(rows)
    return written


def as_column(blob: bytes | pa.Buffer | None) -> pa.BinaryArray:
    """Bytes as a column of one row, without a copy."""
    if blob is None:
        return pa.nulls(1, pa.binary())
    bytes_ = pa.py_buffer(blob)
    ends = pa.py_buffer(np.array([0, bytes_.size], np.int32))
    return pa.BinaryArray.from_buffers(pa.binary(), 1, [None, ends, bytes_])


def pack_by_bucket(
    rows: pa.Table,
    buckets: NDArray[Any],
    count: int,
    codes: NDArray[np.int8] | None = None,
    chosen: Mask | None = None,
) -> dict[int, pa.Buffer]:
    """The packed rows of each bucket that has some.

    ``chosen`` selects rows.  Rows keep their order; with ``codes`` they are sorted by type.
    """
    types, least = (1, 0) if codes is None or not len(codes) else (int(codes.max() - codes.min()) + 1, int(codes.min()))
    groups: NDArray[Any] = buckets.astype(np.int32) * types
    if codes is not None:
        groups += codes - np.int32(least)
    if chosen is not None:
        groups = np.where(chosen, groups, -1)
    ordered, ends = partition_rows(rows, groups, count * types)
    cuts = [0, *ends[types - 1 :: types]]
    return {
        bucket: pack_table(pa.Table.from_batches([ordered.slice(low, high - low)]))
        for bucket, (low, high) in enumerate(pairwise(cuts))
        if low < high
    }


def unpack_table(blob: Any) -> pa.Table:
    """The table that ``pack_table`` packed."""
    with pa.ipc.open_stream(pa.py_buffer(blob)) as reader:
        return widened_columns(reader.read_all())
