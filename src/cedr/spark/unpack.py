"""What the stateful operator gave, as rows again.

In a module of its own: the processes that do this have no pipeline, and need not load what a pipeline needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from cedr.runtime.memory import settle
from cedr.spark.layout import Layout
from cedr.spark.output import Told, said, sliced
from cedr.spark.pack import unpacked


class Unpack:
    """Given to ``mapInArrow``: what was said, row by row."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The columns of steps; their rows."""
        settle()
        for batch in batches:
            for blob in batch.column("said"):
                if blob.is_valid:
                    yield from sliced(_opened(blob.as_buffer(), self._layout))
            for blob in batch.column("letters"):
                if blob.is_valid:
                    yield from unpacked(blob.as_buffer()).to_batches()


def _opened(blob: Any, layout: Layout) -> pa.RecordBatch:
    """The rows of the result that were packed."""
    table = unpacked(blob)
    name, time, left, guarantee, number = json.loads(table.schema.metadata[b"cedr"])
    bucket = f"{number + 1}/{layout.buckets}"
    rows = table.combine_chunks().to_batches()
    batch = rows[0] if rows else pa.RecordBatch.from_pylist([], schema=table.schema)
    return said(layout, Told(name, time, left, batch), guarantee, bucket)
