"""A job on Spark: the same file, sources as DataFrames, each query a stream of Spark, and the same sinks.

Readings: R36 (a guarantee is the smallest of the buckets), R48 (change rows).  Spark gives a batch again under the same
number after a crash; sinks skip what they have stored.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.data.change_rows import CLOCKS, GUARANTEE, INSERT, RETRACT, SHORTEN, change_schema, seq_of
from cedr.data.rejected import Rejected
from cedr.data.results import Shape
from cedr.data.words import words_of
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.event_types import declared_types
from cedr.jobs.checkpoint import Checkpoint
from cedr.jobs.compiling import run_functions, running_names
from cedr.jobs.file.description import JobFile, OutputSettings
from cedr.jobs.rejects import DeadLetters
from cedr.jobs.starting import sink_of
from cedr.plan.analyses.reads import types_read
from cedr.plan.compile import CompiledQuery
from cedr.sinks.contract import Sink
from cedr.sinks.output import output_of

_READS = ("files", "kafka", "delta", "spark")


def run_on_spark(job: JobFile, say: Callable[[str], None]) -> None:
    """Run a job until it ends or is stopped.  Raises a ``CedrError`` where something does not fit."""
    for source in job.sources:
        if source.kind not in _READS:
            hint = f"on Spark there are: {', '.join(_READS)}"
            primary = f"source {source.name}: the host spark does not read {source.kind}"
            raise HostError(Diagnostic("unknown-source", primary, hint=hint))
    run_functions(job.functions)
    from cedr.spark.session.session import spark_session

    checkpoint = Checkpoint(job.checkpoint)
    try:
        session = spark_session(job.spark.get("master"), app_name=job.name, config=_flat(job.spark.get("config", {})))
        _Job(job, session, say).run()
    finally:
        checkpoint.close()


def _flat(config: Mapping[str, Any], start: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in config.items():
        found |= _flat(value, f"{start}{name}.") if isinstance(value, dict) else {f"{start}{name}": value}
    return found


class _Job:
    """The streams of one job."""

    def __init__(self, job: JobFile, session: Any, say: Callable[[str], None]) -> None:
        from cedr.spark.api.job_sources import SparkSource, job_events

        self._job, self._say = job, say
        self._letters = DeadLetters(job.checkpoint / "dead_letters.jsonl")
        types = declared_types(job.queries)
        attributes = {name: of for each in types for name, of in each.attributes.items()}
        sources, names = [], frozenset(each.name for each in types)
        for each in job.sources:
            words_of({**each.words, "provider": None})
            idle = {} if each.idle is None else {"idle": f"{each.idle // 1000} ms"}
            sources.append(SparkSource(each.name, each.kind, each.options, {**each.words, **idle}, attributes, names))
        self._bounded = job.run.mode == "once"
        self._events = job_events(session, sources, streaming=not self._bounded)

    def run(self) -> None:
        """Bounded: each query once.  Otherwise all as streams, until they end or are stopped."""
        import cedr

        streams = []
        opened: list[Sink] = []
        try:
            for name in running_names(self._job):
                for settings in self._job.outputs:
                    if settings.queries and name not in settings.queries:
                        continue
                    level = self._level(settings, name)
                    frame = cedr.query(
                        self._job.queries, self._events, consistency=level, event=name, dead_letters=True
                    )
                    sink, taker = self._taker(settings, name, frame)
                    opened.append(sink)
                    if self._bounded:
                        taker.whole(frame.toArrow())
                        continue
                    from cedr.spark.api.job_sources import start_stream

                    place = str(self._job.checkpoint / "spark" / f"{settings.name}-{name}")
                    available = self._job.run.mode == "available"
                    title = f"{self._job.name}: {name} to {settings.name}"
                    streams.append(start_stream(frame, place, title, taker.take, available=available))
            self._wait(streams)
        finally:
            for stream in streams:
                stream.stop()
            for each in opened:
                each.close()

    def _level(self, settings: OutputSettings, query: str) -> str | None:
        return settings.level or self._job.levels.get(query) or self._job.level

    def _taker(self, settings: OutputSettings, name: str, frame: Any) -> tuple[Sink, _Taker]:
        timestamps = dict(frame.dtypes)["Vs"].startswith("timestamp")
        query = self._compiled(name)
        shape = Shape(name, query.output, frozenset(types_read(query.plan)), timestamps)
        sink = sink_of(settings, name)
        sink.open(output_of(query.plan, shape))
        return sink, _Taker(sink, shape, self._letters)

    def _compiled(self, name: str) -> CompiledQuery:
        """The query with the types of its events as Spark knows them."""
        from cedr.spark.api.job_sources import compiled_on

        return compiled_on(self._job.queries, self._events, name)

    def _wait(self, streams: list[Any]) -> None:
        """Until all have ended, one has failed, or somebody stops them."""
        if not streams:
            return
        stopped = threading.Event()

        def stop(_: int, __: FrameType | None) -> None:
            stopped.set()

        before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            while not stopped.is_set():
                if not any(stream.isActive for stream in streams):
                    break
                for stream in streams:
                    stream.awaitTermination(0.2)
            if not stopped.is_set():
                for stream in streams:
                    stream.awaitTermination()
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
        if stopped.is_set():
            self._say(f"{self._job.name}: stopped, the next run goes on from here")


class _Taker:
    """Takes the batches of one change stream to a sink."""

    def __init__(self, sink: Sink, shape: Shape, letters: DeadLetters) -> None:
        self._sink, self._shape, self._letters = sink, shape, letters
        self._schema = change_schema(shape)
        self._promised: dict[str, Any] = {}

    def whole(self, rows: pa.Table) -> None:
        """The result of a bounded query as one batch: every row is final."""
        rows = self._without_letters(rows, 1)
        kinds = pa.array([INSERT] * rows.num_rows, pa.string())
        starts = pa.chunked_array([pa.array(_numbers(rows.column("Os"))).cast(pa.string())])
        keys = pc.binary_join_element_wise(rows.column("id"), starts, "@").combine_chunks()
        keys = pc.binary_join_element_wise(keys, pa.repeat(pa.scalar("1"), len(keys)), "/")
        once = pa.repeat(pa.scalar(1, pa.int64()), rows.num_rows)
        rows = rows.append_column("K", keys).append_column("Cs", once)
        self._sink.write(1, self._with_guarantee(self._arranged(rows, kinds, 1), None, 1))

    def take(self, rows: pa.Table, batch: int) -> None:
        """A batch of the change stream."""
        rows = self._without_letters(rows, batch)
        promises = pc.equal(rows.column("change"), GUARANTEE)
        guarantee = self._guarantee(rows.filter(promises))
        rows = rows.filter(pc.invert(promises))
        ordered, kinds = _in_order(rows)
        found = self._arranged(ordered, kinds, batch)
        if guarantee is not None:
            found = self._with_guarantee(found, guarantee, batch)
        if found.num_rows:
            self._sink.write(batch, found)

    def _with_guarantee(self, rows: pa.Table, time: Any, batch: int) -> pa.Table:
        """With a guarantee behind them; None: that nothing more comes."""
        last = {"change": GUARANTEE, "Os": time}
        told = pa.table({field.name: pa.array([last.get(field.name)], field.type) for field in self._schema})
        return pa.concat_tables([rows, told]).set_column(1, "seq", seq_of(batch, rows.num_rows + 1))

    def _arranged(self, rows: pa.Table, kinds: pa.Array, batch: int) -> pa.Table:
        """The columns that a sink was told of."""
        made = {"change": kinds, "seq": seq_of(batch, rows.num_rows)}
        columns = []
        for field in self._schema:
            if field.name in made:
                columns.append(made[field.name])
            elif field.name in rows.column_names:
                columns.append(_cast(rows.column(field.name), field.type))
            else:
                columns.append(pa.nulls(rows.num_rows, field.type))
        return pa.Table.from_arrays(columns, schema=self._schema)

    def _guarantee(self, rows: pa.Table) -> Any:
        """The smallest of all buckets, once each has promised something; None if it is no news."""
        before = self._smallest()
        for row in rows.to_pylist():
            self._promised[row["K"]] = row["Os"]
        now = self._smallest()
        return None if now == before else now

    def _smallest(self) -> Any:
        buckets = int(next(iter(self._promised)).partition("/")[2]) if self._promised else 0
        known = [time for time in self._promised.values() if time is not None]
        return min(known) if buckets and len(self._promised) == buckets and known else None

    def _without_letters(self, rows: pa.Table, batch: int) -> pa.Table:
        """The rows that are changes; what could not be used goes to the file of dead letters."""
        refused = pc.is_valid(rows.column("code"))
        self._reject(rows.filter(refused), batch)
        return rows.filter(pc.invert(refused))

    def _reject(self, rows: pa.Table, batch: int) -> None:
        found = [
            (str(self._shape.name), Rejected(row["code"], row["code"], row["reason"], "spark", 0, str(row["message"])))
            for row in rows.to_pylist()
        ]
        self._letters.write(batch, found, ())


def _in_order(rows: pa.Table) -> tuple[pa.Table, pa.Array]:
    """Changes in the order of R48, with their kinds."""
    clocks = {name: _numbers(rows.column(name)) for name in CLOCKS if name in rows.column_names}
    insert = np.asarray(pc.equal(rows.column("change"), INSERT))
    os, oe, ve = clocks["Os"], clocks["Oe"], clocks["Ve"]
    retract = ~insert & (oe <= os)
    ends = np.where(oe == _ENDLESS, np.maximum(os, ve), oe)
    sync = np.where(insert | retract, os, ends)
    order = np.lexsort((np.arange(len(insert)), insert, sync, ~retract))
    kinds = np.where(insert, INSERT, np.where(retract, RETRACT, SHORTEN))[order]
    return rows.take(pa.array(order)), pa.array(kinds.tolist(), pa.string())


def _cast(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """A column as a sink was told of it; CEDR times are numbers there."""
    if pa.types.is_timestamp(column.type) and pa.types.is_integer(wanted):
        column = column.cast(pa.timestamp("us", "UTC"))
    return column.cast(wanted)


_ENDLESS = 2**63 - 1


def _numbers(column: pa.ChunkedArray) -> Any:
    plain = column.cast(pa.timestamp("us", "UTC")) if pa.types.is_timestamp(column.type) else column
    return pc.fill_null(plain.cast(pa.int64()), _ENDLESS).to_numpy()
