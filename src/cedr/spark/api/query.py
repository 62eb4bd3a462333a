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

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.expression.tree import Expression
from cedr.hosts.queries import AnyQuery
from cedr.model.schema import Catalog
from cedr.model.time import format_duration
from cedr.plan.analyses.reads import types_read
from cedr.plan.rewrite import rewrite
from cedr.spark.api.files import direct
from cedr.spark.api.guarding import Run, guarded
from cedr.spark.api.streaming import stand
from cedr.spark.layout.tokens import dealt, tokens
from cedr.spark.map_task.pack import PACKED, Pack
from cedr.spark.map_task.pack_files import PackFiles
from cedr.spark.output.rows import LETTER
from cedr.spark.plan.columns import Travelling
from cedr.spark.plan.explaining import explained
from cedr.spark.plan.noticing import notice
from cedr.spark.plan.planning import Level, Options, Planned, plan
from cedr.spark.plan.reading import selections
from cedr.spark.plan.slicing import slices_of
from cedr.spark.plan.staging import staged
from cedr.spark.session.checking import check_session
from cedr.spark.session.cores import cores
from cedr.spark.sources.events import DataFrame, Events
from cedr.spark.step.bounded import RunBounded
from cedr.spark.step.chaining import HandOn

_SHARES = 16
"""Into about so many shares bounded input is dealt: a share's events are worked on together, and stay near."""


def query(  # noqa: PLR0913 - one for each choice
    query: AnyQuery,
    events: Events,
    *,
    consistency: Level | Sequence[Level] | None = None,
    changes: bool | None = None,
    event: str | None = None,
    catalog: Catalog | str | PathLike[str] | None = None,
    providers: Iterable[str] = (),
    buckets: int | None = None,
    control: str | PathLike[str] | None = None,
    dead_letters: bool = False,
    columns: Iterable[str] | None = None,
) -> DataFrame:
    """A query as a DataFrame: of streaming events the change stream, of bounded ones the ideal result.

    ``consistency`` is a level or several; with several each row says its ``level``, and all are said from one state.
    With ``changes`` a bounded query gives the history of what it said.  ``event`` chooses among several queries of one
    text.  ``providers`` names who is waited for before anything is guaranteed (R33).  ``buckets`` is the number of
    parts into which the input is split: by default one for each core of the session; a stream that goes on has as many
    as its checkpoint.  ``control`` is a folder through which ``cedr.Control`` speaks to a running query.  With
    ``dead_letters`` what could not be used is in the result too, as rows with ``code``, ``reason`` and ``message``; see
    ``cedr.dead_letters``.

    What is wrong with the session, the events or the query is said before anything starts.  What goes wrong in a worker
    is raised by whatever runs the result (``collect``, ``write``, ``awaitTermination`` …) as an error of ours, with
    Spark's as its cause.

    ``columns`` names the columns of the result that are wanted, ``*`` all of them; what is not is not even made, which
    a ``select`` on the result cannot achieve: ``id``, ``K`` and ``contributors`` are the dear ones.  One is there only
    if it is named: ``contributor_types``, the event types of the ``contributors``.
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
        follows=streaming and not buckets,
    )
    planned = plan(query, events, options)
    notice(planned.layout, events)
    _check_slices(planned, streaming=streaming)
    if planned.split.whole and (options.buckets > 1 or options.follows):  # the plan of a stream is not for its cores
        planned = _divided(planned, events, options, streaming=streaming, controlled=control is not None)
    if planned.layout.at_once and not planned.stages and not planned.split.whole:
        planned = _dealt(planned)
    packed = _packed(planned, events, control, session)
    result = stand(planned, packed) if streaming else _run(planned, packed)
    explanation = explained(planned.layout, planned.stages)
    return guarded(result, Run(session, explanation, planned.layout.buckets if streaming else None))


def _run(planned: Planned, packed: DataFrame) -> DataFrame:
    """A bounded query, stage after stage."""
    *before, last = planned.stages or (planned.layout,)
    for layout in before:
        packed = packed.repartition(layout.buckets, "token").mapInArrow(HandOn(layout), PACKED)
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
    travelling = Travelling(
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
        follows=layout.follows,
    )
    told = None
    if control is not None:
        if not events.streaming:
            raise HostError(Diagnostic("not-streaming", "only a stream can be controlled while it runs"))
        told = session.readStream.format("text").load(fspath(control))
    return travelling.frame(told).mapInArrow(Pack(layout), PACKED)


def _selected(planned: Planned) -> Mapping[str, Sequence[Expression]]:
    """Predicates by which events may be left out; a type that several stages read is not."""
    found: dict[str, tuple[Expression, ...]] = {}
    stages = [rewrite(layout.query.plan).plan for layout in planned.stages or (planned.layout,)]
    often = Counter(name for stage in stages for name in types_read(stage))
    for stage in stages:
        found |= {name: of for name, of in selections(stage).items() if often[name] == 1}
    return found


def _dealt(planned: Planned) -> Planned:
    """A bounded query with a key: what a task works on at a time is small enough to stay near."""
    buckets = planned.layout.buckets
    shares = max(1, _SHARES // buckets)
    return replace(planned, layout=replace(planned.layout, tokens=dealt(buckets, shares), shares=shares))


def _divided(planned: Planned, events: Events, options: Options, *, streaming: bool, controlled: bool) -> Planned:
    """A query without a key: by time if that gives work to all buckets, else in stages, else by time as it goes."""
    by_time = planned if planned.layout.changes else _sliced(planned, events, options.buckets)
    if by_time is not planned and by_time.layout.buckets >= options.buckets:
        return by_time
    found = staged(planned, events, options, streaming=streaming, controlled=controlled)
    return found if found.stages or by_time is planned else by_time


def _sliced(planned: Planned, events: Events, most: int) -> Planned:
    """A bounded query without a key, split by time where that is sound."""
    slices = slices_of(planned.layout.query.plan, events, most)
    if slices is None:
        return planned
    seen = format_duration(slices.back + slices.ahead)
    key = f"time, in slices that overlap by {seen} ({planned.split.whole})"
    layout = replace(planned.layout, slices=slices, tokens=tokens(slices.count), key=key)
    return replace(planned, layout=layout)


def _check_slices(planned: Planned, *, streaming: bool) -> None:
    if planned.layout.query.as_of is not None and not (planned.layout.recorded and not streaming):
        primary = "AS OF asks what was said at a CEDR time: that needs a bounded history with arrival="
        raise HostError(Diagnostic("no-history", primary))


def dead_letters(frame: DataFrame) -> DataFrame:
    """What could not be used, of a query with ``dead_letters=True``: code, reason and the message as JSON."""
    if "code" not in frame.columns or "reason" not in frame.columns:
        hint = "make it with cedr.query(…, dead_letters=True)"
        raise HostError(Diagnostic("no-dead-letters", "this DataFrame has no dead letters in it", hint=hint))
    chosen = frame.where(F.col("code").isNotNull())
    return chosen.select(*(["Cs"] if "Cs" in frame.columns else []), *LETTER)
