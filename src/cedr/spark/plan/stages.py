"""Plans stages for a query that needs several keys: each stage has its own key, and reads the rows of earlier ones.

Paper: Section 3.3.2 (operators compose).  Readings: R9, R32, R33, R36.  A query runs in stages only if every row is
certain to be the one that one pipeline would emit.  Otherwise it has one bucket, and the explanation says why.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark.sql import types as st

from cedr.consistency.emission.columns import SAID
from cedr.model.level import MIDDLE, STRONG
from cedr.model.schema import DataType, EventTypes
from cedr.model.time import FOREVER
from cedr.plan.analyses.elements import Part
from cedr.plan.analyses.reads import types_read
from cedr.plan.analyses.stages import NoStages, Stage, stages_of
from cedr.plan.logical import ROW, Made, Node
from cedr.plan.splitting import Split, split_of
from cedr.spark.layout.layout import BUCKETS, INPUT, Destination, LaterStage, Layout, SourceLayout, provider_of
from cedr.spark.layout.tokens import tokens
from cedr.spark.plan.columns import Slots
from cedr.spark.plan.planning import Options, Planned
from cedr.spark.sources.events import Events

_HASHED: Final = {
    DataType.INTEGER: (st.ByteType, st.ShortType, st.IntegerType, st.LongType),
    DataType.STRING: (st.StringType,),
}
"""Columns whose hash is the same in Spark and in the workers."""


def with_stages(planned: Planned, events: Events, options: Options, *, streaming: bool, controlled: bool) -> Planned:
    """Plan a query without a key in stages if they are certain to be right; otherwise give the reason in its key."""
    reason = _unsuitable(planned.layout, events)
    if planned.layout.changes and not reason:
        bounded = "" if streaming else "the history of a bounded query is asked for"
        switched = "its level may be switched" if controlled else ""
        reason = bounded or switched or _unsuitable_stream(planned.layout, events)
    versions = _versions(planned.layout, events)
    plan = planned.layout.query.plan
    stages = NoStages(reason) if reason else stages_of(plan, _why_whole, FOREVER if versions else 0)
    if not isinstance(stages, NoStages):
        stages = _checked(stages, planned.slots, versions=versions)
    if isinstance(stages, NoStages):
        layout = replace(planned.layout, key=f"{planned.layout.key}; not in stages: {stages.reason}")
        return replace(planned, layout=layout)
    splits = tuple(split_of(stage.plan, stable_key=True) for stage in stages)
    buckets = options.buckets
    base = replace(planned.layout, buckets_from_state=options.buckets_from_state)
    layouts = _layouts(base, stages, splits, buckets)
    key = f"in {len(layouts)} stages of {buckets} buckets"
    layout = replace(base, key=key, tokens=layouts[0].tokens)
    return replace(planned, layout=layout, split=splits[0], stages=layouts, later=splits[1:])


# -- whether ----------------------------------------------------------------------------------------------------------


def _unsuitable(layout: Layout, events: Events) -> str:
    """Why a query cannot run in stages, whatever its plan is; empty if it can."""
    if layout.recorded or layout.query.as_of is not None:
        return "a recorded history is judged message by message"
    if len(layout.levels) > 1:
        return "there are several levels"
    if layout.letters:
        return "dead letters are asked for"
    if _versions(layout, events) and layout.changes:
        return "events may have several versions"
    if _versions(layout, events) and not all(source.stable_key for source in events.sources):
        return "a version of an event may have another key (see stable_key=)"
    return ""


def _versions(layout: Layout, events: Events) -> bool:
    """Whether events may have several versions, or be stated before or after they happen.  Readings: R4, R9."""
    clocks = ("occurrence_start", "occurrence_end")
    return any(of.revisable for of in layout.types) or any(
        part in source.header for source in events.sources for part in clocks
    )


def _unsuitable_stream(layout: Layout, events: Events) -> str:
    """Why the changes of single steps could differ; empty if they cannot.  Readings: R33 (admission), R34, R38."""
    if layout.levels[0] not in (STRONG, MIDDLE):
        return f"the level {layout.levels[0]} waits or forgets by the events of one pipeline"
    named = [source.provider for source in events.sources]
    if any("provider" in source.header for source in events.sources):
        return "a column tells the providers"
    if any(named) or layout.providers:
        announced = set(layout.providers)
        if not all(name in announced for name in named):
            return "not all sources have providers that were announced"
    return ""


def _why_whole(plan: Node) -> str:
    """Why a stage cannot be split; empty if it can."""
    split = split_of(plan, stable_key=True)
    return split.whole or ("" if split.by else "each event stands for itself")


def _checked(stages: tuple[Stage, ...], slots: Slots, *, versions: bool) -> tuple[Stage, ...] | NoStages:
    """Check that workers can compute the bucket of each row of a stage; all versions of an event need the same one."""
    for stage in stages[:-1]:
        made = _made(stage).type
        reserved = [name for name in SAID if name in made.attributes]
        if reserved:
            return NoStages(f"{made.name} has an attribute called {reserved[0]}")
        key, *fields = split_of(_reader(stage, stages)[1].plan, stable_key=True).by[made.name]
        if fields:
            return NoStages(f"{made.name} would be split by a field of {key}")
        kinds = _columns(stage, key, slots)
        hashed = _HASHED.get(made.attributes[key], ())
        if not hashed or not all(isinstance(kind, hashed) for kind in kinds):
            return NoStages(f"{made.name} would be split by {key}, which is neither a whole number nor a text")
        if versions and not kinds:
            return NoStages(f"{made.name} would be split by {key}, which is no column of the input, nor stable as such")
    return stages


def _made(stage: Stage) -> Made:
    assert stage.made is not None
    return stage.made


def _reader(stage: Stage, stages: tuple[Stage, ...]) -> tuple[int, Stage]:
    """The number of the stage that reads the rows of a stage, and that stage."""
    return next((number, each) for number, each in enumerate(stages, 1) if each.reads(stage))


def _columns(stage: Stage, key: str, slots: Slots) -> list[st.DataType]:
    """The types of the input columns from which an attribute of a stage's rows comes."""
    top = Part.of(stage.plan)
    leaves = {leaf.path: leaf.type.name for leaf in top.leaves()}
    types = [slots.type_of(leaves[path], way) for path, way in top.resolve(ROW, (key,))]
    return [each for each in types if each is not None]


# -- how --------------------------------------------------------------------------------------------------------------


def _layouts(layout: Layout, stages: tuple[Stage, ...], splits: tuple[Split, ...], buckets: int) -> tuple[Layout, ...]:
    """The layout of each stage."""
    names = [of.name for of in layout.types]
    codes = [frozenset(names.index(name) for name in types_read(stage.plan) if name in names) for stage in stages]
    own = tokens(buckets)
    later = [LaterStage(each, own) for each in codes]
    shown = "; ".join(f"{number} by {split}" for number, split in enumerate(splits, 1))
    fixed = {BUCKETS: str(buckets), "the stages": shown, "the level": layout.levels[0].name}
    layouts: list[Layout] = []
    for number, (stage, split) in enumerate(zip(stages, splits, strict=True), 1):
        inputs = {place: _made(each) for place, each in enumerate(stages, 1) if stage.reads(each)}
        types = {made.type.name: made.type for made in inputs.values()}
        base = layout if number == 1 else _after_first(layout, tuple(inputs), buckets)
        destination = None
        if stage.made is not None:
            reader, _ = _reader(stage, stages)
            destination = Destination(reader, stage.made, splits[reader - 1].by[stage.made.type.name][0], own)
        layouts.append(
            replace(
                base,
                query=replace(layout.query, plan=stage.plan),
                catalog=EventTypes({**layout.catalog.types, **types}),
                tokens=own,
                key=str(split),
                fingerprint={**layout.fingerprint, **fixed, "the key": str(split)},
                stage=number,
                codes=codes[number - 1],
                destination=destination,
                stage_inputs=inputs,
                later=tuple(later[number:]),
            )
        )
    return tuple(layouts)


def _after_first(layout: Layout, inputs: tuple[int, ...], buckets: int) -> Layout:
    """A layout whose providers are the buckets that it reads; ``disorder`` and ``idle`` are for the first stage."""
    before = tuple(provider_of(stage, each, buckets) for stage in inputs for each in range(buckets))
    sources = tuple(SourceLayout(source.provider or INPUT, None, None) for source in layout.sources)
    return replace(layout, providers=(*before, *(layout.providers or (INPUT,))), sources=sources)
