"""A Python worker in one batch of a stream: for each bucket it finds the pipeline, steps, saves state, and emits rows.

Paper: Section 5.  Readings: R38, R40.  The checkpoint has the state of a bucket: the segments that its pipeline gives,
and a *record* that names the step that wrote them, and the process that made it.  The pipeline of that very step is
looked for in this process, then in the process that the record names.  If neither has it, this process restores it from
the segments.  What a batch writes is proportional to the batch, not to the state.
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
from cedr.spark.map_task.pack import SCHEMA, as_column, pack_table
from cedr.spark.map_task.unpack import Packed
from cedr.spark.output.measures import MEASURES
from cedr.spark.output.next_stage import pass_on, split_by_stage
from cedr.spark.output.rows import LevelOutput
from cedr.spark.state.pipeline_cache import MeasuredOutput, PipelineCache, StepRequest, StepResult, request_step
from cedr.spark.state.record import Record
from cedr.spark.state.segments import decompress_segment
from cedr.spark.step.bucket import Bucket, run_step

_ROWS: Final = 1 << 18
"""The most rows of output in one row for Spark."""

OUTPUT: Final = pa.schema(
    [("emitted", pa.binary()), ("level_number", pa.int32()), ("level", pa.string())]
    + [(name, pa.int64()) for name in MEASURES[2:]]
)
"""The output of the last stage: for each level what it emitted, or a ticket for that, and its measures."""

CACHE: Final[PipelineCache[Bucket]] = PipelineCache(run_step)
"""The pipelines of this process, for all buckets and queries."""


class Worker:
    """Steps the buckets of one partition.

    Spark shows the state of each bucket through the same two variables, one bucket after the other.
    """

    def __init__(self, layout: Layout, record: Any, segments: Any) -> None:
        settle()
        self._layout, self._record, self._segments = layout, record, segments

    def step_rows(self, token: int, frames: Iterator[Any]) -> Iterator[pd.DataFrame]:
        """Step a bucket with the packed rows of a batch."""
        number = self._layout.tokens.index(token) if token in self._layout.tokens else -1
        return self._step(number, [Packed(*row) for frame in frames for row in _tuples(frame)])

    def step_silence(self, token: int, head: str) -> Iterator[pd.DataFrame]:
        """Step a bucket for which no row arrived."""
        return self._step(self._layout.tokens.index(token), [Packed(0, 0, head, None)])

    def _step(self, number: int, received: list[Packed]) -> Iterator[pd.DataFrame]:
        layout = self._layout
        received, later = (received, []) if layout.destination is None else split_by_stage(received)
        written = self._record.get() if self._record.exists() else None
        record = Record.new(layout) if written is None else Record.read(written[0], layout)
        request = StepRequest(record.lineage, record.nonce, record.asked, record.time, received, number, record.heard)
        result = self._made(request, record, is_new=written is None)
        self._save(result, record.after(result, layout))
        if layout.destination is None:
            return (_frame(row, OUTPUT) for level in result.levels for row in _output_rows(level))
        rows = (*result.stage_rows, *pass_on(later, layout))
        return (_frame(row._asdict(), SCHEMA) for row in rows)

    def _made(self, request: StepRequest, record: Record, *, is_new: bool) -> StepResult:
        """Make the step: with the pipeline of this process, in the process that has it, or with a restored pipeline."""
        bucket = CACHE.take(request.lineage, request.nonce)
        if bucket is None and record.holder is not None:
            result = request_step((record.holder[0], record.holder[1]), request, self._layout)
            if result is not None:
                return result
        if bucket is None:
            bucket = Bucket(self._layout) if is_new else self._restored(record)
        return CACHE.step(bucket, request, self._layout)

    def _restored(self, record: Record) -> Bucket:
        bucket = Bucket(self._layout)
        bucket.pipeline.restore({name: self._segment(name) for name in record.names})
        return bucket

    def _segment(self, name: str) -> bytes:
        stored = self._segments.getValue((name,))
        if stored is None:
            primary = f'the checkpoint has lost the segment "{name}" of its state'
            raise HostError(Diagnostic("no-segment", primary, hint="begin with a new checkpoint"))
        return decompress_segment(bytes(stored[0]))

    def _save(self, result: StepResult, record: Record) -> None:
        """Write the segments that changed, delete those that the pipeline dropped, then write the record."""
        for name, segment in result.segments.items():
            if segment is not None:
                self._segments.updateValue((name,), (segment,))
                record.names[name] = None
            elif name in record.names:
                self._segments.removeKey((name,))
                del record.names[name]
        self._record.update((record.as_text(),))


# -- rows for Spark ---------------------------------------------------------------------------------------------------


def _tuples(frame: Any) -> Iterator[tuple[Any, ...]]:
    columns = (frame[name] for name in ("task", "number", "head", "rows"))
    return zip(*columns, strict=True)


def _output_rows(level: MeasuredOutput) -> Iterator[dict[str, Any]]:
    """A row with measures and the output or its ticket; further rows if a large output has no ticket."""
    output, measures = level.output, level.measures
    if not isinstance(output, LevelOutput):
        yield {"emitted": None if output is None else pickle.dumps(output, 5), **measures}
        return
    for part in _parts(output):
        yield {"emitted": pickle.dumps(part, 5), **measures}
        measures = {}


def _parts(output: LevelOutput) -> Iterator[LevelOutput]:
    """Parts of at most ``_ROWS`` rows: the first has the dead letters, the last has the guarantee."""
    columns, letters = output.columns, output.letters
    for low in range(0, max(1, columns.rows.num_rows), _ROWS):
        guarantee = columns.guarantee if low + _ROWS >= columns.rows.num_rows else None
        rows = pack_table(pa.Table.from_batches([columns.rows.slice(low, _ROWS)]))
        yield output._replace(columns=columns._replace(guarantee=guarantee, rows=rows), letters=letters)
        letters = None


def _frame(row: Mapping[str, Any], schema: pa.Schema) -> pd.DataFrame:
    """A data frame of one row, whose columns are Arrow's own: nothing is copied."""
    given = [(row.get(field.name), field.type) for field in schema]
    columns = [as_column(value) if kind == pa.binary() else pa.array([value], kind) for value, kind in given]
    return pa.RecordBatch.from_arrays(columns, schema=schema).to_pandas(types_mapper=pd.ArrowDtype)
