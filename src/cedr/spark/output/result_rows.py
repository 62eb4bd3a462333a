"""The last operator of a stream: makes rows of what the stateful operator gave.

It runs in a Python process of its own, in the same task.  That process has no pipeline, so this module does not import
what a pipeline needs.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from cedr.runtime.values.memory import settle
from cedr.spark.layout.layout import Layout
from cedr.spark.layout.state_partitions import with_state_partitions
from cedr.spark.map_task.pack import unpack_table
from cedr.spark.output.rows import LevelOutput, result_rows
from cedr.spark.state.shared_memory import Ticket, claim


class ResultRows:
    """Given to ``mapInArrow``: turns the outputs of steps into rows of the result."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The rows of each output, claimed by its ticket or unpacked."""
        settle()
        self._layout = with_state_partitions(self._layout)
        for batch in batches:
            for blob in batch.column("emitted"):
                if blob.is_valid:
                    yield from self._rows(pickle.loads(blob.as_buffer()))

    def _rows(self, given: LevelOutput | Ticket) -> Iterator[pa.RecordBatch]:
        """The rows of one level, some at a time."""
        output: LevelOutput = claim(given) if isinstance(given, Ticket) else _unpacked(given)
        if output.letters is not None:
            yield output.letters
        bucket = f"{output.number + 1}/{self._layout.buckets}"
        yield from result_rows(self._layout, output.columns, output.guarantee, bucket)


def _unpacked(output: LevelOutput) -> LevelOutput:
    """An output whose rows came packed."""
    rows = pa.RecordBatch.from_struct_array(unpack_table(output.columns.rows).to_struct_array().combine_chunks())
    return output._replace(columns=output.columns._replace(rows=rows))
