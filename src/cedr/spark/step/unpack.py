"""What the stateful operator gave, as rows again.

In a module of its own: the processes that do this have no pipeline, and need not load what a pipeline needs.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from cedr.runtime.values.memory import settle
from cedr.spark.layout.following import followed
from cedr.spark.layout.layout import Layout
from cedr.spark.map_task.pack import unpacked
from cedr.spark.output.rows import Columns, said
from cedr.spark.step.shared_memory import Ticket, claimed


class Unpack:
    """Given to ``mapInArrow``: what was said, row by row."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The columns of steps; their rows."""
        settle()
        self._layout = followed(self._layout)
        for batch in batches:
            for blob in batch.column("said"):
                if blob.is_valid:
                    yield from self._rows(pickle.loads(blob.as_buffer()))

    def _rows(self, given: Any) -> Iterator[pa.RecordBatch]:
        """What a level said, a few rows at a time."""
        told, guarantee, number, letters = claimed(given) if isinstance(given, Ticket) else _opened(given)
        if letters is not None:
            yield letters
        yield from said(self._layout, told, guarantee, f"{number + 1}/{self._layout.buckets}")


def _opened(columns: Columns) -> Columns:
    """What came with its rows packed."""
    rows = pa.RecordBatch.from_struct_array(unpacked(columns.told.rows).to_struct_array().combine_chunks())
    return columns._replace(told=columns.told._replace(rows=rows))
