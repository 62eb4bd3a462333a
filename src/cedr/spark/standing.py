"""Streaming input: each bucket is a group of a stateful operator, and steps its pipeline batch after batch.

Paper: Section 5.  Readings: R33, R38, R40.  The state of a bucket is in Spark's checkpoint: the segments that its
pipeline gives, and a *record* that says what they are and which worker process wrote them last.  What is written per
batch follows the batch.  A worker process that holds the pipeline of just this version goes on with it; any other one
restores it first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from cedr.errors import Diagnostic, HostError
from cedr.runtime.memory import settle
from cedr.spark.bucket import Bucket, Packed
from cedr.spark.chaining import parted, passed_on
from cedr.spark.holding import HOLDER, asked
from cedr.spark.layout import Layout
from cedr.spark.measuring import COLUMNS, MEASURES, metric_name, observed
from cedr.spark.pack import PACKED, SCHEMA, as_column
from cedr.spark.record import Record
from cedr.spark.segments import loose
from cedr.spark.unpack import Unpack
from cedr.spark.working import Done, Work

if TYPE_CHECKING:  # workers need not know how a query is planned
    from cedr.spark.events import DataFrame
    from cedr.spark.planning import Planned

_SAID: Final = f"said binary, letters binary, {COLUMNS}"
"""What the stateful operator gives: the columns of a step, packed, and measures."""
_STEP: Final = pa.schema(
    [("said", pa.binary()), ("letters", pa.binary()), ("of", pa.int32()), ("level", pa.string())]
    + [(name, pa.int64()) for name in MEASURES[2:]]
)
"""The same as Arrow has it."""


def stand(planned: Planned, frame: DataFrame) -> DataFrame:
    """The change stream of packed rows."""
    *before, layout = planned.stages or (planned.layout,)
    for stage in before:
        frame = _stepping(frame, stage, PACKED)
    steps = _stepping(frame, layout, _SAID)
    return steps.observe(metric_name(layout), *observed(layout)).mapInArrow(Unpack(layout), planned.schema)


def _stepping(frame: DataFrame, layout: Layout, gives: str) -> DataFrame:
    clock = "ProcessingTime" if _waits(layout) else "None"  # with it Spark makes batches also when nothing comes
    return frame.groupBy("token").transformWithStateInPandas(Standing(layout), gives, "Append", clock)


class Standing(StatefulProcessor):
    """Steps the pipelines of the buckets of one partition."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state."""
        settle()
        self._handle = handle
        self._record = handle.getValueState("record", "written string")
        self._segments = handle.getMapState("segments", "name string", "segment binary")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        """One batch of one bucket."""
        token = int(key[0])
        bucket = self._layout.tokens.index(token) if token in self._layout.tokens else -1
        arrived = [Packed(*row) for frame in rows for row in _tuples(frame)]
        yield from self._stepped(bucket, arrived)
        if _waits(self._layout):
            self._wake(timerValues.getCurrentProcessingTimeInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: ARG002 - Spark's names
        """Nothing came for a while: what follows from silence."""
        now = timerValues.getCurrentProcessingTimeInMs()
        head = json.dumps([{"time": now * 1_000, "highs": []}])
        yield from self._stepped(self._layout.tokens.index(int(key[0])), [Packed(0, 0, head, None)])

    def _wake(self, now: int) -> None:
        """Ask for a step when the first source that was just heard of has been silent for long enough."""
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        for idle in {source.idle for source in self._layout.sources if source.idle is not None}:
            self._handle.registerTimer(now + -(-idle // 1_000))

    def close(self) -> None:
        """Nothing is held open."""

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
            return (_frame(row, _STEP) for row in done.said)
        on = (each._asdict() for each in passed_on(later, layout))
        return (_frame(row, SCHEMA) for row in (*done.said, *on))

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


def _waits(layout: Layout) -> bool:
    """Whether silence means something."""
    return any(source.idle is not None for source in layout.sources)


def _tuples(frame: Any) -> Iterator[tuple[Any, ...]]:
    columns = (frame[name] for name in ("task", "number", "head", "rows"))
    return zip(*columns, strict=True)


def _frame(row: Mapping[str, Any], schema: pa.Schema) -> pd.DataFrame:
    """A row of what the operator gives; Arrow's own columns are passed on as they are."""
    given = [(row.get(field.name), field.type) for field in schema]
    columns = [as_column(value) if of == pa.binary() else pa.array([value], of) for value, of in given]
    return pa.RecordBatch.from_arrays(columns, schema=schema).to_pandas(types_mapper=pd.ArrowDtype)
