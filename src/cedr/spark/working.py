"""One step of one bucket, wherever its pipeline is held: packed rows in; what was said, and the state to write, out."""

from __future__ import annotations

import json
import uuid
from collections.abc import Container, Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from cedr.consistency.changes import Changes
from cedr.model.time import Time
from cedr.spark.bucket import Bucket, Packed
from cedr.spark.chaining import handed_on
from cedr.spark.failures import failing_clearly
from cedr.spark.layout import Layout
from cedr.spark.measuring import measured
from cedr.spark.output import dead_letters, header_read, said
from cedr.spark.pack import packed, unpacked
from cedr.spark.segments import tight


class Work(NamedTuple):
    """What is asked of whoever holds a pipeline."""

    lineage: str
    nonce: str
    """The step that the pipeline must have made last."""
    asked: list[str]
    time: Time
    arrived: list[Packed]
    number: int
    """The bucket."""
    heard: list[list[Any]]
    """When each source was last heard of, where silence means something."""


class Done(NamedTuple):
    """What a step gave."""

    nonce: str
    time: Time
    said: list[dict[str, Any]]
    """For each level what was said, packed, and measures; or for each bucket of the next stage what goes there."""
    segments: dict[str, bytes | None]
    heard: list[list[Any]]
    holder: tuple[str, str] | None = None
    """Where the pipeline is held now."""


def follow(bucket: Bucket, asked: list[str], layout: Layout) -> None:
    """Go on as the query is asked for now: where a level is another than before, switch.  Reading: R38."""
    bucket.layout = layout
    for of, (before, level) in enumerate(zip(asked, layout.levels, strict=True)):
        if before != level.name:
            bucket.pipeline.switch(level, of=of)


def work(bucket: Bucket, todo: Work, layout: Layout) -> Done:
    """Make a step."""
    with failing_clearly(layout, todo.number):
        follow(bucket, todo.asked, layout)
        bucket.heard = {(source, provider): (time, high) for source, provider, time, high in todo.heard}
        (step,) = bucket.steps(todo.arrived, todo.time)
        pipeline = bucket.pipeline
        found: list[dict[str, Any]] = []
        if layout.onward is not None:
            found += [each._asdict() for each in handed_on(bucket, step, todo.number)]
            step = step._replace(said=[])
        for of, (changes, measures) in enumerate(zip(step.said, pipeline.measures(), strict=False)):
            guarantee = pipeline.guarantee[of]
            letters = step.letters if of == 0 else []
            blob = _packed(changes, guarantee, todo.number, layout)
            told = packed(_table(dead_letters(layout, letters, step.time))) if letters and layout.letters else None
            found.append({"said": blob, "letters": told, **measured(of, measures, changes, guarantee, len(letters))})
        heard = [[*who, *when] for who, when in bucket.heard.items()]
        return Done(uuid.uuid4().hex, step.time, found, tight(pipeline.state()), heard)


def _table(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])


def _packed(changes: Changes, guarantee: Time, number: int, layout: Layout) -> bytes | None:
    """What was said as it is held, for ``opened``: text that can be made of other columns does not travel."""
    if not len(changes):
        return None
    head = [changes.level.name, changes.cedr_time, changes.guarantee, guarantee, number]
    rows = changes.to_arrow(header_read(layout))
    return packed(_table(rows.replace_schema_metadata({b"cedr": json.dumps(head).encode()})))


class _Told(NamedTuple):
    """What travelled, with the face of what was said."""

    level: Any
    cedr_time: Time
    guarantee: Time | None
    rows: pa.RecordBatch

    def to_arrow(self, header: Container[str] | None = None) -> pa.RecordBatch:  # noqa: ARG002 - as it travelled
        """Inserts and retractions as columns."""
        return self.rows


class _Named(NamedTuple):
    name: str


def opened(blob: Any, layout: Layout) -> Iterator[pa.RecordBatch]:
    """The rows of the result that were packed."""
    table = unpacked(blob)
    name, time, left, guarantee, number = json.loads(table.schema.metadata[b"cedr"])
    bucket = f"{number + 1}/{layout.buckets}"
    rows = table.combine_chunks().to_batches()
    batch = rows[0] if rows else pa.RecordBatch.from_pylist([], schema=table.schema)
    yield said(layout, _Told(_Named(name), time, left, batch), guarantee, bucket)
