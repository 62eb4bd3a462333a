"""What Spark's stateful operator is given.

When a query starts, Spark starts a process for nothing but the names of its state.  So what a pipeline needs is loaded
when the first rows come, and the layout is kept packed until then: a second less until the first batch.
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
    from cedr.spark.step.stepping import Stepping


class Standing(StatefulProcessor):
    """Steps the pipelines of the buckets of one partition."""

    def __init__(self, layout: Layout) -> None:
        self._layout = pickle.dumps(layout)
        self._idle = {source.idle for source in layout.sources if source.idle is not None}

    @property
    def waits(self) -> bool:
        """Whether silence means something."""
        return bool(self._idle)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state."""
        self._handle = handle
        self._record = handle.getValueState("record", "written string")
        self._segments = handle.getMapState("segments", "name string", "segment binary")

    @cached_property
    def _stepping(self) -> Stepping:
        from cedr.spark.layout.following import followed
        from cedr.spark.step.stepping import Stepping

        return Stepping(followed(pickle.loads(self._layout)), self._record, self._segments)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        """One batch of one bucket."""
        yield from self._stepping.rows(int(key[0]), rows)
        if self.waits:
            self._wake(timerValues.getCurrentProcessingTimeInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: ARG002 - Spark's names
        """Nothing came for a while: what follows from silence."""
        now = timerValues.getCurrentProcessingTimeInMs()
        yield from self._stepping.silence(int(key[0]), json.dumps([{"time": now * 1_000, "highs": []}]))

    def _wake(self, now: int) -> None:
        """Ask for a step when the first source that was just heard of has been silent for long enough."""
        for timer in list(self._handle.listTimers()):
            self._handle.deleteTimer(timer)
        for idle in self._idle:
            self._handle.registerTimer(now + -(-idle // 1_000))

    def close(self) -> None:
        """Nothing is held open."""
