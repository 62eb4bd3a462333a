"""``cedr.query``: a query on events of Spark, as a DataFrame.

Paper: Section 5.  Readings: R10 (the latest belief), R33 to R36 (levels and guarantees), R40.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from pyspark.sql import functions as F

from cedr.data.results import Shape
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.expression.tree import Expression
from cedr.hosts.queries import AnyQuery
from cedr.model.schema import EventTypes
from cedr.model.time import format_duration
from cedr.plan.analyses.reads import types_read
from cedr.plan.rewrite import rewrite
from cedr.sinks.output import output_of
from cedr.spark.api.files import direct
from cedr.spark.api.guarded import Run, guarded
from cedr.spark.api.streaming import change_stream
from cedr.spark.bounded.run import RunBounded
from cedr.spark.bounded.stage import RunBoundedStage
from cedr.spark.layout.layout import Layout
from cedr.spark.layout.tokens import share_tokens, tokens
from cedr.spark.map_task.pack import PACKED, Pack
from cedr.spark.map_task.pack_files import PackFiles
from cedr.spark.output.change_rows import Told
from cedr.spark.output.rows import LETTER
from cedr.spark.plan.columns import InputColumns
from cedr.spark.plan.explanation import explain_layout
from cedr.spark.plan.missing_guarantees import warn_without_guarantees
from cedr.spark.plan.planning import Level, Options, Planned, plan
from cedr.spark.plan.reads import selections
from cedr.spark.plan.stages import with_stages
from cedr.spark.plan.time_slices import slices_of
from cedr.spark.session.check_session import check_session
from cedr.spark.session.cores import cores
from cedr.spark.sources.events import DataFrame, Events

_SHARES = 16
"""About how many shares bounded input has: the events of one share fit into the processor's caches."""


def query(  # noqa: PLR0913 - one for each choice
    query: AnyQuery,
    events: Events,
    *,
    consistency: Level | Sequence[Level] | None = None,
    changes: bool | None = None,
    event: str | None = None,
    catalog: EventTypes | str | PathLike[str] | None = None,
    providers: Iterable[str] = (),
    buckets: int | None = None,
    control: str | PathLike[str] | None = None,
    dead_letters: bool = False,
    columns: Iterable[str] | None = None,
) -> DataFrame:
    """A query as a DataFrame: of streaming events the change stream, of bounded ones the ideal result.

    ``consistency`` is a level or several; with several each row has its ``level``, and all levels share one state.
    With ``changes`` a bounded query gives the history of its changes.  ``event`` chooses among several queries of one
    text.  ``providers`` names the providers whose guarantees a guarantee needs (R33).  ``buckets`` is the number of
    parts into which the input is split: by default one for each core of the session; a stream that continues has as
    many as its checkpoint.  ``control`` is the folder of a ``cedr.Control``, which controls the running query.  With
    ``dead_letters`` the result also has rows for messages that could not be used, with ``code``, ``reason`` and
    ``message``; see ``cedr.dead_letters``.

    Raises an error for a wrong session, wrong events or a wrong query before anything starts.  An error in a worker is
    raised by what runs the result (``collect``, ``write``, ``awaitTermination`` …) as a ``CedrError``, with Spark's
    error as its cause.

    ``columns`` names the columns of the result, ``*`` all of them.  Other columns are not computed, which a ``select``
    on the result cannot achieve: ``id``, ``K`` and ``contributors`` are expensive.  ``contributor_types``, the event
    types of the ``contributors``, is there only if it is named.
    """
    streaming = events.streaming
    if changes is False and streaming:
        primary = "a stream has no final result: what it gives are changes"
        raise HostError(Diagnostic("not-bounded", primary, hint="leave out changes=False"))
    session = events.sources[0].frame.sparkSession
    check_session(session, streaming=streaming)
    options = Options(
        consistency,
        event,
        catalog,
        tuple(providers),
        buckets or cores(session),
        changes=streaming or bool(changes),
        letters=dead_letters,
        columns=None if columns is None else tuple(columns),
        buckets_from_state=streaming and not buckets,
    )
    planned = plan(query, events, options)
    warn_without_guarantees(planned.layout, events)
    _check_slices(planned, streaming=streaming)
    if planned.split.whole and (
        options.buckets > 1 or options.buckets_from_state
    ):  # whatever the cores, a stream has the same plan
        planned = _divided(planned, events, options, streaming=streaming, controlled=control is not None)
    if planned.layout.is_one_batch and not planned.stages and not planned.split.whole:
        planned = _in_shares(planned)
    packed = _packed(planned, events, control, session)
    result = change_stream(planned, packed) if streaming else _run(planned, packed)
    explanation = explain_layout(planned.layout, planned.stages)
    told = _told(planned.layout) if streaming and columns is None and not planned.layout.labelled else None
    return guarded(result, Run(session, explanation, planned.layout.buckets if streaming else None, told))


def _told(layout: Layout) -> Told:
    """What sinks are told of the rows of a stream."""
    of, primitive = layout.query, frozenset(types_read(layout.query.plan))
    shape = Shape(of.name, of.output, primitive, layout.instants)
    return Told(output_of(of.plan, shape), layout.shown)


def _run(planned: Planned, packed: DataFrame) -> DataFrame:
    """A bounded query, stage after stage."""
    *before, last = planned.stages or (planned.layout,)
    for layout in before:
        packed = packed.repartition(layout.buckets, "token").mapInArrow(RunBoundedStage(layout), PACKED)
    return packed.repartition(last.buckets, "token").mapInArrow(RunBounded(last), planned.schema)


def _packed(planned: Planned, events: Events, control: str | PathLike[str] | None, session: Any) -> DataFrame:
    layout = planned.stages[0] if planned.stages else planned.layout
    bounded_result = not layout.changes
    alone = control is None and not planned.stages
    paths = direct(events, layout, planned.slots, planned.split) if alone else None
    if paths is not None:
        key = next((attribute for attribute, *_ in planned.split.by.values()), None)
        closed = frozenset(layout.catalog.types) if planned.closed else None
        given = events.sources[0].files
        forgiving = layout.letters if given.forgiving is None else given.forgiving
        return paths.mapInArrow(PackFiles(layout, given.form, key, closed, forgiving=forgiving), PACKED)
    columns = InputColumns(
        events,
        layout.types,
        planned.slots,
        planned.split,
        layout.catalog,
        len(layout.tokens),
        planned.closed,
        _selected(planned) if bounded_result else {},
        prunes=bounded_result,
        slices=layout.slices,
        later=planned.later,
        buckets_from_state=layout.buckets_from_state,
    )
    commands = None
    if control is not None:
        if not events.streaming:
            raise HostError(Diagnostic("not-streaming", "only a stream can be controlled while it runs"))
        commands = session.readStream.format("text").load(fspath(control))
    return columns.frame(commands).mapInArrow(Pack(layout), PACKED)


def _selected(planned: Planned) -> Mapping[str, Sequence[Expression]]:
    """Predicates by which events may be left out; not for a type that several stages read."""
    selected: dict[str, tuple[Expression, ...]] = {}
    stages = [rewrite(layout.query.plan).plan for layout in planned.stages or (planned.layout,)]
    often = Counter(name for stage in stages for name in types_read(stage))
    for stage in stages:
        selected |= {name: of for name, of in selections(stage).items() if often[name] == 1}
    return selected


def _in_shares(planned: Planned) -> Planned:
    """Split each bucket of a bounded query with a key into shares that are small enough for the processor's caches."""
    buckets = planned.layout.buckets
    shares = max(1, _SHARES // buckets)
    return replace(planned, layout=replace(planned.layout, tokens=share_tokens(buckets, shares), shares=shares))


def _divided(planned: Planned, events: Events, options: Options, *, streaming: bool, controlled: bool) -> Planned:
    """Split a query without a key: by time if all buckets get slices, else in stages, else by time into fewer."""
    by_time = planned if planned.layout.changes else _sliced(planned, events, options.buckets)
    if by_time is not planned and by_time.layout.buckets >= options.buckets:
        return by_time
    in_stages = with_stages(planned, events, options, streaming=streaming, controlled=controlled)
    return in_stages if in_stages.stages or by_time is planned else by_time


def _sliced(planned: Planned, events: Events, most: int) -> Planned:
    """Split a bounded query without a key by time, if that is right."""
    slices = slices_of(planned.layout.query.plan, events, most)
    if slices is None:
        return planned
    overlap = format_duration(slices.back + slices.ahead)
    key = f"time, in slices that overlap by {overlap} ({planned.split.whole})"
    layout = replace(planned.layout, slices=slices, tokens=tokens(slices.count), key=key)
    return replace(planned, layout=layout)


def _check_slices(planned: Planned, *, streaming: bool) -> None:
    if planned.layout.query.as_of is not None and not (planned.layout.recorded and not streaming):
        primary = "AS OF asks what was said at a CEDR time: that needs a bounded history with arrival="
        raise HostError(Diagnostic("no-history", primary))


def dead_letters(frame: DataFrame) -> DataFrame:
    """The dead letters of a query with ``dead_letters=True``: code, reason, and the message as JSON."""
    if "code" not in frame.columns or "reason" not in frame.columns:
        hint = "make it with cedr.query(…, dead_letters=True)"
        raise HostError(Diagnostic("no-dead-letters", "this DataFrame has no dead letters in it", hint=hint))
    chosen = frame.where(F.col("code").isNotNull())
    return chosen.select(*(["Cs"] if "Cs" in frame.columns else []), *LETTER)
