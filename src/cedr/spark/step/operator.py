"""The stateful operator: what the driver asks of Spark for a stream, and how Spark calls a Python worker.

Paper: Section 5.  Reading: R40.  Spark groups packed rows by bucket and calls ``handleInputRows`` for each bucket that
received some, in a Python worker of the executor that has the bucket's partition of the state store.

When a query starts, Spark also starts a process only to ask for the names of the state.  This module therefore imports
what a pipeline needs when the first rows arrive, and keeps the layout pickled until then.  This saves a second before
the first batch.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    from cedr.spark.layout.layout import Layout
    from cedr.spark.sources.events import DataFrame
    from cedr.spark.step.worker import Worker


class StepOperator(StatefulProcessor):
    """Steps the pipelines of the buckets of one partition."""

    def __init__(self, layout: Layout) -> None:
        self._layout = pickle.dumps(layout)
        self._idle = {source.idle for source in layout.sources if source.idle is not None}

    # -- in the driver ------------------------------------------------------------------------------------------------

    def on(self, frame: DataFrame, columns: str) -> DataFrame:
        """Apply the operator to packed rows; ``columns`` are those of its output, as Spark writes a schema.

        With a timer Spark also runs batches when no row arrives, so the query has one only if a source has ``idle``.
        """
        timer = "ProcessingTime" if self._idle else "None"
        return frame.groupBy("token").transformWithStateInPandas(self, columns, "Append", timer)

    # -- in a Python worker -------------------------------------------------------------------------------------------

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state: a record, and named segments.  Spark keeps both for each bucket."""
        self._handle = handle
        self._record = handle.getValueState("record", "written string")
        self._segments = handle.getMapState("segments", "name string", "segment binary")

    @cached_property
    def _worker(self) -> Worker:
        from cedr.spark.layout.state_partitions import with_state_partitions
        from cedr.spark.step.worker import Worker

        return Worker(with_state_partitions(pickle.loads(self._layout)), self._record, self._segments)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        """Step one bucket with the rows of a batch."""
        yield from self._worker.step_rows(int(key[0]), rows)
        if self._idle:
            self._set_timers(timerValues.getCurrentProcessingTimeInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: ARG002 - Spark's names
        """Step one bucket without rows: a source may have been silent for its ``idle``."""
        now = timerValues.getCurrentProcessingTimeInMs()
        yield from self._worker.step_silence(int(key[0]), json.dumps([{"time": now * 1_000, "highs": []}]))

    def _set_timers(self, now: int) -> None:
        """Set a timer for each ``idle``, counted from the rows that have just arrived."""
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        for idle in self._idle:
            self._handle.registerTimer(now + -(-idle // 1_000))

    def close(self) -> None:
        """Close nothing: the worker process keeps its pipelines for the next batch."""
