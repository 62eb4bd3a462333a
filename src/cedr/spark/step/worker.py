"""One step of one bucket, wherever its pipeline is held: packed rows in; what was said, and the state to write, out."""

from __future__ import annotations

import uuid
from typing import Any, NamedTuple

from cedr.consistency.measures import Measures
from cedr.model.time import Time
from cedr.spark.layout.layout import Layout
from cedr.spark.output.measuring import measured, of_stage, with_stages_before
from cedr.spark.output.rows import Columns, Told, dead_letters, header_read
from cedr.spark.step.bucket import Bucket, Packed, Step
from cedr.spark.step.chaining import Handed, handed_on
from cedr.spark.step.failures import failing_clearly
from cedr.spark.step.segments import tight
from cedr.spark.step.shared_memory import Ticket


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


class Spoke(NamedTuple):
    """What one level gave at a step."""

    measures: dict[str, Any]
    columns: Columns | Ticket | None
    """What was said, or where that can be claimed; None where nothing was."""


class Done(NamedTuple):
    """What a step gave."""

    nonce: str
    time: Time
    said: list[Spoke]
    """By level; in a stage that is not the last there is none."""
    handed: list[Handed]
    """What goes to buckets of later stages."""
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
        said: list[Spoke] = []
        handed: list[Handed] = []
        if layout.onward is None:
            said = [_spoke(bucket, step, of, each, todo.number) for of, each in enumerate(measures)]
        else:
            own = measured(0, measures[0], step.said[0], bucket.pipeline.guarantee[0], len(step.letters))
            handed = [*handed_on(bucket, step, todo.number, of_stage(own, bucket.before))]
        heard = [[*who, *when] for who, when in bucket.heard.items()]
        return Done(uuid.uuid4().hex, step.time, said, handed, tight(bucket.pipeline.state()), heard)


def _spoke(bucket: Bucket, step: Step, of: int, measures: Measures, number: int) -> Spoke:
    layout, changes = bucket.layout, step.said[of]
    guarantee, letters = bucket.pipeline.guarantee[of], step.letters if of == 0 else []
    own = with_stages_before(measured(of, measures, changes, guarantee, len(letters)), bucket.before)
    shown = dead_letters(layout, letters, step.time) if letters and layout.letters else None
    if shown is None and not len(changes):
        return Spoke(own, None)
    rows = changes.to_arrow(header_read(layout))
    told = Told(changes.level_name, changes.cedr_time, changes.guarantee, rows)
    return Spoke(own, Columns(told, guarantee, number, shown))
