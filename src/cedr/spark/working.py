"""One step of one bucket, wherever its pipeline is held: packed rows in; what was said, and the state to write, out."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa

from cedr.consistency.changes import Changes
from cedr.consistency.measures import Measures
from cedr.model.time import Time
from cedr.spark.bucket import Bucket, Packed, Step
from cedr.spark.chaining import handed_on
from cedr.spark.failures import failing_clearly
from cedr.spark.layout import Layout
from cedr.spark.measuring import measured, of_stage, with_stages_before
from cedr.spark.output import dead_letters, header_read
from cedr.spark.pack import packed
from cedr.spark.segments import tight

_ROWS: Final = 1 << 18
"""So many rows of what was said travel together."""


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
    """For each level what was said, packed, and measures; where much was said, further rows with more of it.

    In a stage that is not the last, for each bucket of a later one what goes there.
    """
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
        measures = bucket.pipeline.measures()
        if layout.onward is None:
            found = [row for of, each in enumerate(measures) for row in _told(bucket, step, of, each, todo.number)]
        else:
            own = measured(0, measures[0], step.said[0], bucket.pipeline.guarantee[0], len(step.letters))
            handed = handed_on(bucket, step, todo.number, of_stage(own, bucket.before))
            found = [each._asdict() for each in handed]
        heard = [[*who, *when] for who, when in bucket.heard.items()]
        return Done(uuid.uuid4().hex, step.time, found, tight(bucket.pipeline.state()), heard)


def _told(bucket: Bucket, step: Step, of: int, measures: Measures, number: int) -> Iterator[dict[str, Any]]:
    """What a level said: a row of measures and dead letters, then what was said, packed."""
    layout, changes = bucket.layout, step.said[of]
    guarantee, letters = bucket.pipeline.guarantee[of], step.letters if of == 0 else []
    told = packed(_table(dead_letters(layout, letters, step.time))) if letters and layout.letters else None
    own = measured(of, measures, changes, guarantee, len(letters))
    yield {"letters": told, **with_stages_before(own, bucket.before)}
    for blob in _packed(changes, guarantee, number, layout):
        yield {"said": blob}


def _table(batch: pa.RecordBatch) -> pa.Table:
    return pa.Table.from_batches([batch])


def _packed(changes: Changes, guarantee: Time, number: int, layout: Layout) -> Iterator[pa.Buffer]:
    """What was said as it is held, for ``unpack``: text that can be made of other columns does not travel."""
    if not len(changes):
        return
    rows = changes.to_arrow(header_read(layout))
    for low in range(0, max(1, rows.num_rows), _ROWS):
        left = changes.guarantee if low + _ROWS >= rows.num_rows else None
        head = [changes.level.name, changes.cedr_time, left, guarantee, number]
        part = rows.slice(low, _ROWS).replace_schema_metadata({b"cedr": json.dumps(head).encode()})
        yield packed(_table(part))
