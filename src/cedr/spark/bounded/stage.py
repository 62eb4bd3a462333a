"""Bounded input in several stages: a stage that is not the last gives rows for the next one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cedr.spark.bounded.as_of import OutputAsOf
from cedr.spark.bounded.run import RunBounded
from cedr.spark.map_task.pack import packed_row
from cedr.spark.map_task.unpack import Packed
from cedr.spark.output.next_stage import pass_on, rows_for_next_stage, split_by_stage
from cedr.spark.output.step_output import StepOutput


class RunBoundedStage(RunBounded):
    """Given to ``mapInArrow`` for a stage that another stage reads."""

    def _steps(self, packed: list[Packed]) -> Iterator[StepOutput | OutputAsOf]:
        own, self._later = split_by_stage(packed)
        self._number = 0
        return super()._steps(own)

    def _rows(self, output: StepOutput | OutputAsOf, number: int) -> Iterator[Any]:
        assert isinstance(output, StepOutput)  # a query AS OF a time has one stage
        later, self._later = self._later, []
        for row in pass_on(later, self._layout):
            yield packed_row(*row)
        for row in rows_for_next_stage(self._layout, output, number, self._bucket.pipeline.guarantee[0]):
            if row.rows is not None:
                yield packed_row(*row._replace(number=self._number))
        self._number += 1
