"""Streaming input: one stateful operator for each stage, and an operator that makes rows of the last one's output.

Paper: Section 5.  Readings: R33, R40.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cedr.spark.map_task.pack import PACKED
from cedr.spark.output.measures import COLUMNS, metric_name, observed
from cedr.spark.output.result_rows import ResultRows
from cedr.spark.step.operator import StepOperator

if TYPE_CHECKING:
    from cedr.spark.plan.planning import Planned
    from cedr.spark.sources.events import DataFrame


def change_stream(planned: Planned, frame: DataFrame) -> DataFrame:
    """The change stream of a query on packed rows."""
    *before, layout = planned.stages or (planned.layout,)
    for stage in before:
        frame = StepOperator(stage).on(frame, PACKED)
    steps = StepOperator(layout).on(frame, f"emitted binary, {COLUMNS}")
    return steps.observe(metric_name(layout), *observed(layout)).mapInArrow(ResultRows(layout), planned.schema)
