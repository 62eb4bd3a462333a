"""Streaming input: each bucket is a group of a stateful operator, and steps its pipeline batch after batch.

Paper: Section 5.  Readings: R33, R38, R40.  The state of a bucket is in Spark's checkpoint: the segments that its
pipeline gives, and a *record* that says what they are and which worker process wrote them last.  What is written per
batch follows the batch.  A worker process that holds the pipeline of just this version goes on with it; any other one
restores it first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from cedr.errors import Diagnostic, HostError
from cedr.spark.bucket import Packed, Step
from cedr.spark.events import DataFrame
from cedr.spark.failures import failing_clearly
from cedr.spark.holding import Held, hold, taken
from cedr.spark.layout import Layout
from cedr.spark.measuring import COLUMNS, MEASURES, measured, observed
from cedr.spark.output import dead_letters, said
from cedr.spark.pack import packed, unpacked
from cedr.spark.planning import Planned
from cedr.spark.record import Record

_SAID: Final = f"said binary, {COLUMNS}"
"""What the stateful operator gives: the columns of a step, packed, and measures."""
_ROWS: Final = 65_536


def stand(planned: Planned, frame: DataFrame) -> DataFrame:
    """The change stream of packed rows."""
    layout = planned.layout
    steps = frame.groupBy("token").transformWithStateInPandas(Standing(layout), _SAID, "Append", "None")
    return steps.observe(f"cedr {layout.query.name}", *observed(layout)).mapInArrow(Unpack(), planned.schema)


class Standing(StatefulProcessor):
    """Steps the pipelines of the buckets of one partition."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state."""
        self._record = handle.getValueState("record", "written string")
        self._segments = handle.getMapState("segments", "name string", "segment binary")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002 - Spark's names
        """One batch of one bucket."""
        token = int(key[0])
        bucket = self._layout.tokens.index(token) if token in self._layout.tokens else -1
        with failing_clearly(self._layout, bucket):
            arrived = [Packed(*row) for frame in rows for row in _tuples(frame)]
            yield self._stepped(bucket, arrived)

    def close(self) -> None:
        """Nothing is held open."""

    def _stepped(self, bucket: int, arrived: list[Packed]) -> Any:
        written = self._record.get() if self._record.exists() else None
        record = Record.fresh(self._layout) if written is None else Record.read(written[0], self._layout)
        held = taken(record) or self._restored(record, known=written is not None)
        held.follow(record.asked, self._layout)
        (step,) = held.bucket.steps(arrived, record.time)
        said_now = self._columns(held, step, bucket)
        self._write(held, record.after(held, step.time))
        return said_now

    def _restored(self, record: Record, *, known: bool) -> Held:
        held = Held.fresh(self._layout)
        if known:
            held.bucket.pipeline.restore({name: self._segment(name) for name in record.names})
        return held

    def _segment(self, name: str) -> bytes:
        found = self._segments.getValue((name,))
        if found is None:
            primary = f'the checkpoint has lost the segment "{name}" of its state'
            raise HostError(Diagnostic("no-segment", primary, hint="begin with a new checkpoint"))
        return bytes(found[0])

    def _write(self, held: Held, record: Record) -> None:
        for name, segment in held.bucket.pipeline.state().items():
            if segment is not None:
                self._segments.updateValue((name,), (segment,))
                record.names[name] = None
            elif name in record.names:
                self._segments.removeKey((name,))
                del record.names[name]
        self._record.update((record.as_text(),))
        hold(record, held)

    def _columns(self, held: Held, step: Step, bucket: int) -> pd.DataFrame:
        layout, pipeline = self._layout, held.bucket.pipeline
        name = f"{bucket + 1}/{layout.buckets}"
        found: list[dict[str, Any]] = []
        measures = pipeline.measures()
        for of, (changes, guarantee) in enumerate(zip(step.said, pipeline.guarantee, strict=True)):
            rows = [said(layout, changes, guarantee, name)]
            if of == 0 and layout.letters and step.letters:
                rows.append(dead_letters(layout, step.letters, step.time))
            blob = packed(pa.Table.from_batches(rows)) if any(each.num_rows for each in rows) else None
            letters = len(step.letters) if of == 0 else 0
            found.append({"said": blob, **measured(of, measures[of], changes, guarantee, letters)})
        return pd.DataFrame(found, columns=["said", *MEASURES])


def _tuples(frame: Any) -> Iterator[tuple[Any, ...]]:
    columns = (frame[name] for name in ("task", "number", "head", "rows"))
    return zip(*columns, strict=True)


class Unpack:
    """Given to ``mapInArrow``: what was said, row by row."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The columns of steps; their rows."""
        for batch in batches:
            for blob in batch.column("said"):
                if blob.is_valid:
                    yield from unpacked(blob.as_buffer()).to_batches(max_chunksize=_ROWS)
