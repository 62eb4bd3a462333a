"""One batch of one bucket of a stream: its pipeline is found or restored, makes a step, and is written.

Paper: Section 5.  Readings: R38, R40.  The state of a bucket is in Spark's checkpoint: the segments that its pipeline
gives, and a *record* that says what they are and which worker process wrote them last.  What is written per batch
follows the batch.  A worker process that holds the pipeline of just this version goes on with it; any other one
restores it first.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.runtime.values.memory import settle
from cedr.spark.layout.layout import Layout
from cedr.spark.map_task.pack import SCHEMA, as_column, packed
from cedr.spark.output.measuring import MEASURES
from cedr.spark.output.rows import Columns
from cedr.spark.step.bucket import Bucket, Packed
from cedr.spark.step.chaining import parted, passed_on
from cedr.spark.step.pipeline_cache import HOLDER, asked
from cedr.spark.step.record import Record
from cedr.spark.step.segments import loose
from cedr.spark.step.worker import Done, Spoke, Work

_ROWS: Final = 1 << 18
"""So many rows of what was said travel together."""

STEP: Final = pa.schema(
    [("said", pa.binary()), ("of", pa.int32()), ("level", pa.string())] + [(name, pa.int64()) for name in MEASURES[2:]]
)
"""What the stateful operator gives: for each level what was said, or where that can be claimed, and measures."""


class Stepping:
    """Steps the pipelines of buckets; of each Spark shows the state by the same two variables, one after the other."""

    def __init__(self, layout: Layout, record: Any, segments: Any) -> None:
        settle()
        self._layout, self._record, self._segments = layout, record, segments

    def rows(self, token: int, frames: Iterator[Any]) -> Iterator[pd.DataFrame]:
        """What is said about rows that were packed for a bucket."""
        bucket = self._layout.tokens.index(token) if token in self._layout.tokens else -1
        return self._stepped(bucket, [Packed(*row) for frame in frames for row in _tuples(frame)])

    def silence(self, token: int, head: str) -> Iterator[pd.DataFrame]:
        """What is said where nothing came for a while."""
        return self._stepped(self._layout.tokens.index(token), [Packed(0, 0, head, None)])

    def _stepped(self, number: int, arrived: list[Packed]) -> Iterator[pd.DataFrame]:
        layout = self._layout
        arrived, later = (arrived, []) if layout.onward is None else parted(arrived)
        written = self._record.get() if self._record.exists() else None
        record = Record.fresh(layout) if written is None else Record.read(written[0], layout)
        todo = Work(record.lineage, record.nonce, record.asked, record.time, arrived, number, record.heard)
        bucket = HOLDER.take(record.lineage, record.nonce)
        done = None
        if bucket is None and record.holder is not None:
            done = asked((record.holder[0], record.holder[1]), todo, layout)
        if done is None:
            done = HOLDER.step(bucket or self._restored(record, known=written is not None), todo, layout)
        self._write(done, record.after(done, layout))
        if layout.onward is None:
            return (_frame(row, STEP) for spoke in done.said for row in _rows(spoke))
        handed = (*done.handed, *passed_on(later, layout))
        return (_frame(each._asdict(), SCHEMA) for each in handed)

    def _restored(self, record: Record, *, known: bool) -> Bucket:
        bucket = Bucket(self._layout)
        if known:
            bucket.pipeline.restore({name: self._segment(name) for name in record.names})
        return bucket

    def _segment(self, name: str) -> bytes:
        found = self._segments.getValue((name,))
        if found is None:
            primary = f'the checkpoint has lost the segment "{name}" of its state'
            raise HostError(Diagnostic("no-segment", primary, hint="begin with a new checkpoint"))
        return loose(bytes(found[0]))

    def _write(self, done: Done, record: Record) -> None:
        for name, segment in done.segments.items():
            if segment is not None:
                self._segments.updateValue((name,), (segment,))
                record.names[name] = None
            elif name in record.names:
                self._segments.removeKey((name,))
                del record.names[name]
        self._record.update((record.as_text(),))


def _tuples(frame: Any) -> Iterator[tuple[Any, ...]]:
    columns = (frame[name] for name in ("task", "number", "head", "rows"))
    return zip(*columns, strict=True)


def _rows(spoke: Spoke) -> Iterator[dict[str, Any]]:
    """Measures, and what was said or its ticket; where much was said that cannot be claimed, further rows with more."""
    columns, measures = spoke.columns, spoke.measures
    if not isinstance(columns, Columns):
        yield {"said": None if columns is None else pickle.dumps(columns, 5), **measures}
        return
    for part in _parts(columns):
        yield {"said": pickle.dumps(part, 5), **measures}
        measures = {}


def _parts(columns: Columns) -> Iterator[Columns]:
    told, letters = columns.told, columns.letters
    for low in range(0, max(1, told.rows.num_rows), _ROWS):
        left = told.guarantee if low + _ROWS >= told.rows.num_rows else None
        rows = packed(pa.Table.from_batches([told.rows.slice(low, _ROWS)]))
        yield columns._replace(told=told._replace(guarantee=left, rows=rows), letters=letters)
        letters = None


def _frame(row: Mapping[str, Any], schema: pa.Schema) -> pd.DataFrame:
    """A row of what the operator gives; Arrow's own columns are passed on as they are."""
    given = [(row.get(field.name), field.type) for field in schema]
    columns = [as_column(value) if of == pa.binary() else pa.array([value], of) for value, of in given]
    return pa.RecordBatch.from_arrays(columns, schema=schema).to_pandas(types_mapper=pd.ArrowDtype)
