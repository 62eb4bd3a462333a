"""Streaming input: each bucket is a group of a stateful operator, and steps its pipeline batch after batch.

Paper: Section 5.  Readings: R33, R40.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cedr.spark.map_task.pack import PACKED
from cedr.spark.output.measuring import COLUMNS, metric_name, observed
from cedr.spark.step.operator import Standing
from cedr.spark.step.unpack import Unpack

if TYPE_CHECKING:
    from cedr.spark.layout.layout import Layout
    from cedr.spark.plan.planning import Planned
    from cedr.spark.sources.events import DataFrame


def stand(planned: Planned, frame: DataFrame) -> DataFrame:
    """The change stream of packed rows."""
    *before, layout = planned.stages or (planned.layout,)
    for stage in before:
        frame = _stepping(frame, stage, PACKED)
    steps = _stepping(frame, layout, f"said binary, {COLUMNS}")
    return steps.observe(metric_name(layout), *observed(layout)).mapInArrow(Unpack(layout), planned.schema)


def _stepping(frame: DataFrame, layout: Layout, gives: str) -> DataFrame:
    standing = Standing(layout)
    clock = "ProcessingTime" if standing.waits else "None"  # with it Spark makes batches also when nothing comes
    return frame.groupBy("token").transformWithStateInPandas(standing, gives, "Append", clock)
