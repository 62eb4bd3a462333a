"""``cedr.query``: a query on events of Spark, as a DataFrame.

Paper: Section 5.  Readings: R10 (the latest belief), R33 to R36 (levels and guarantees), R40.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from pyspark.sql import functions as F

from cedr.errors import Diagnostic, HostError
from cedr.model.schema import Catalog
from cedr.model.time import format_duration
from cedr.plan.rewrite import rewrite
from cedr.spark.bounded import RunBounded
from cedr.spark.columns import Travelling
from cedr.spark.events import DataFrame, Events
from cedr.spark.explaining import explained
from cedr.spark.files import direct
from cedr.spark.output import LETTER
from cedr.spark.pack import PACKED, Pack
from cedr.spark.pack_files import PackFiles
from cedr.spark.planning import AnyQuery, Level, Options, Planned, plan
from cedr.spark.reading import selections
from cedr.spark.slicing import slices_of
from cedr.spark.standing import stand
from cedr.spark.tokens import tokens


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
    parts into which the input is split, by default that of ``spark.sql.shuffle.partitions``.  ``control`` is a folder
    through which ``cedr.Control`` speaks to a running query.  With ``dead_letters`` what could not be used is in the
    result too, as rows with ``code``, ``reason`` and ``message``; see ``cedr.dead_letters``.

    ``columns`` names the columns of the result that are wanted; what is not is not even made, which a ``select`` on the
    result cannot achieve: ``id``, ``K`` and ``contributors`` are the dear ones.
    """
    streaming = events.streaming
    if changes is False and streaming:
        primary = "a stream has no final result: what it gives are changes"
        raise HostError(Diagnostic("not-bounded", primary, hint="leave out changes=False"))
    session = events.sources[0].frame.sparkSession
    options = Options(
        consistency,
        event,
        catalog,
        tuple(providers),
        buckets or int(session.conf.get("spark.sql.shuffle.partitions")),
        changes=streaming or bool(changes),
        letters=dead_letters,
        columns=None if columns is None else tuple(columns),
    )
    planned = plan(query, events, options)
    _check_slices(planned, streaming=streaming)
    if not planned.layout.changes and planned.split.whole and options.buckets > 1:
        planned = _sliced(planned, events, options.buckets)
    packed = _packed(planned, events, control, session)
    if streaming:
        result = stand(planned, packed)
    else:
        spread = packed.repartition(planned.layout.buckets, "token")
        result = spread.mapInArrow(RunBounded(planned.layout), planned.schema)
    return _remembered(result, planned)


def _packed(planned: Planned, events: Events, control: str | PathLike[str] | None, session: Any) -> DataFrame:
    layout = planned.layout
    bounded_result = not layout.changes
    paths = direct(events, layout, planned.slots, planned.split) if control is None else None
    if paths is not None:
        key = next(iter(planned.split.by.values()), None)
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
        layout.buckets,
        planned.closed,
        selections(rewrite(layout.query.plan).plan) if bounded_result else {},
        prunes=bounded_result,
        slices=layout.slices,
    )
    told = None
    if control is not None:
        if not events.streaming:
            raise HostError(Diagnostic("not-streaming", "only a stream can be controlled while it runs"))
        told = session.readStream.format("text").load(fspath(control))
    return travelling.frame(told).mapInArrow(Pack(layout), PACKED)


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


def _remembered(frame: DataFrame, planned: Planned) -> DataFrame:
    frame.cedr_explanation = explained(planned.layout)
    return frame


def dead_letters(frame: DataFrame) -> DataFrame:
    """What could not be used, of a query with ``dead_letters=True``: code, reason and the message as JSON."""
    if "code" not in frame.columns or "reason" not in frame.columns:
        hint = "make it with cedr.query(…, dead_letters=True)"
        raise HostError(Diagnostic("no-dead-letters", "this DataFrame has no dead letters in it", hint=hint))
    chosen = frame.where(F.col("code").isNotNull())
    return chosen.select(*(["Cs"] if "Cs" in frame.columns else []), *LETTER)
