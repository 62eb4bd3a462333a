"""Starts a job on the local host: opens what its file names, compiles its queries, and goes on from its checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from cedr.data.origins import Origin
from cedr.data.results import Shape
from cedr.data.words import Words, constant
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.queries import parse_level
from cedr.jobs.changed import check_changes, identity
from cedr.jobs.checkpoint import Checkpoint
from cedr.jobs.compiling import Compiled, compiled, compiled_again, nothing_yet, run_functions, undeclared
from cedr.jobs.file.description import JobFile, OutputSettings
from cedr.jobs.going_on import GoingOn
from cedr.jobs.intake import Inlet, Intake
from cedr.jobs.loop import Loop, OpenOutput, Watcher
from cedr.jobs.queries import Asked
from cedr.jobs.together import Asking, Together, meanings_of
from cedr.language.render import render
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.stream import Guarantee
from cedr.plan.analyses.reads import types_read
from cedr.plan.compile import CompiledQuery
from cedr.sinks.contract import Sink
from cedr.sinks.kinds import make_sink
from cedr.sinks.output import output_of
from cedr.sources.kinds import open_source

Levels = Mapping[str, tuple[ConsistencyLevel, ...]]


@dataclass(frozen=True, slots=True)
class Started:
    """A job that is ready to run, and what is known of it."""

    loop: Loop
    compiled: Compiled
    inlets: list[Inlet]
    asked: list[Asked]
    resumed: bool


def _nothing(_: str) -> None:
    """Nobody wants to know."""


def start(
    job: JobFile,
    watcher: Watcher,
    *,
    reached: Callable[[str], None] = _nothing,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], object] = time.sleep,
) -> Started:
    """Open everything.  Raises a ``CedrError`` before any batch where something does not fit."""
    run_functions(job.functions)
    with ExitStack() as opened:
        checkpoint = Checkpoint(job.checkpoint)
        opened.callback(checkpoint.close)
        inlets = []
        for each in job.sources:
            source, words = open_source(each.name, each.kind, each.options, each.words)
            opened.callback(source.close)
            inlets.append(Inlet(source, words, each.idle))
        facts = checkpoint.fact("types")
        resumed = facts is not None
        known = compiled_again(job, facts) if resumed else _looked_at(job, inlets, wait)
        levels = _levels(job, known)
        now = identity(job)
        if resumed:
            check_changes(checkpoint.fact("job"), now)
        asked = [_asked(query, levels[query.name], inlets, known) for query in known.queries]
        queries, gone = _running(job, checkpoint, asked, known)
        outputs = _outputs(job, known.queries, levels, timestamps=known.timestamps)
        going = {each.name: queries.levels(each.name) for each in gone}
        outputs += _outputs(job, gone, going, timestamps=known.timestamps, leaving=True)
        plans = {each.name: each.plan for each in (*gone, *known.queries)}
        for output in outputs:
            output.sink.open(output_of(plans[output.query], output.shape))
            opened.callback(output.sink.close)
        checkpoint.note("job", now)
        if not resumed:
            checkpoint.note("types", known.facts())
        for inlet in inlets:
            inlet.expect(
                known.needed,
                known.columns.get(inlet.name, ()),
                timestamps=known.timestamps,
                bad_rows=job.run.bad_rows,
            )
        intake = Intake(inlets, job.run.batch, clock, job.run.mode)
        loop = Loop(job, checkpoint, intake, queries, outputs, watcher, reached=reached)
        loop.resume()
        for inlet in inlets:
            inlet.check_ended()
        opened.pop_all()
    return Started(loop, known, inlets, asked, resumed)


def _looked_at(job: JobFile, inlets: list[Inlet], wait: Callable[[float], object]) -> Compiled:
    """The types as the first rows of each source have them; where they are needed they are waited for."""
    missing = undeclared(job)
    while True:
        samples: dict[str, tuple[Origin | None, Words]] = {each.name: (each.peek(), each.words) for each in inlets}
        lacking = [name for name, (origin, _) in samples.items() if origin is None]
        if not missing or not lacking:
            return compiled(job, samples)
        if job.run.mode == "available" or all(each.source.finished for each in inlets if each.name in lacking):
            raise nothing_yet(job, missing, lacking)
        if job.run.mode == "once" and not any(each.source.pushed for each in inlets if each.name in lacking):
            raise nothing_yet(job, missing, lacking)
        wait(job.run.every)


def _levels(job: JobFile, known: Compiled) -> Levels:
    """For each query the levels that its outputs ask for; the first is its own."""
    found = {}
    for query in known.queries:
        told = job.levels.get(query.name) or job.level
        own = parse_level(told) if told is not None else query.consistency or MIDDLE
        asked = [parse_level(each.level) for each in job.outputs if each.level and _goes(each.queries, query.name)]
        plain = any(each.level is None and _goes(each.queries, query.name) for each in job.outputs)
        found[query.name] = tuple(dict.fromkeys([own, *asked] if plain or not asked else asked))
    return found


def _goes(queries: tuple[str, ...], name: str) -> bool:
    return not queries or name in queries


def _asked(query: CompiledQuery, levels: tuple[ConsistencyLevel, ...], inlets: list[Inlet], known: Compiled) -> Asked:
    """A query with the sources that may have what it reads; where their types are in a column, all may."""
    read = types_read(query.plan)
    own = []
    for inlet in inlets:
        told = inlet.words.type
        fixed = None if told is None else constant(told) or told
        if fixed is None or fixed in read or fixed in known.columns.get(inlet.name, ()):
            own.append(inlet)
    providers = tuple(provider for inlet in own for provider in inlet.providers())
    return Asked(query, levels, frozenset(inlet.name for inlet in own), providers)


def _running(
    job: JobFile, checkpoint: Checkpoint, asked: list[Asked], known: Compiled
) -> tuple[Together, Sequence[CompiledQuery]]:
    """The queries, gone on from what is committed, and those that leave with the first step."""
    meanings = meanings_of(job.queries, [each.query.name for each in asked])
    asking = Asking(render(job.queries), meanings, asked, known.types, known.needed, job.retained)
    found = checkpoint.resume()
    if found.plan is not None and found.plan["queries"] != asking.mark:
        primary = f"the queries have changed, and batch {found.batch + 1} was begun with those of before"
        hint = "run the job once more as it was, with --set run.stop_after=1; then change it"
        raise HostError(Diagnostic("job-changed", primary, hint=hint))
    if not found.batch:
        return Together(asking), ()
    promised = {
        name: [Guarantee(time, provider) for provider, time in kept["promised"]]
        for name, kept in found.body["sources"].items()
    }
    going_on = GoingOn(asking, found.segments, promised)
    half = [name for name, kept in found.body["sources"].items() if kept["chunk"] is not None and kept["low"]]
    if half and going_on.reads_otherwise:
        # Which rows can be used depends on what is read of them: the place in the chunk would be that of another row.
        primary = f'other attributes are read than before, and a part of what came from "{half[0]}" is still to be read'
        hint = "run the job as it was until it has read all, with --available; then change it"
        raise HostError(Diagnostic("job-changed", primary, hint=hint))
    return going_on, list(going_on.gone.values())


def _outputs(
    job: JobFile, queries: Iterable[CompiledQuery], levels: Levels, *, timestamps: bool, leaving: bool = False
) -> list[OpenOutput]:
    found = []
    for settings in job.outputs:
        for query in queries:
            if not _goes(settings.queries, query.name):
                continue
            shape = Shape(query.name, query.output, frozenset(types_read(query.plan)), timestamps)
            own = levels[query.name]
            level = parse_level(settings.level) if settings.level else own[0]
            if leaving and level not in own:
                level = own[0]
            sink = sink_of(settings, query.name)
            found.append(OpenOutput(settings.name, query.name, own.index(level), level, shape, sink, leaving))
    return found


def sink_of(settings: OutputSettings, query: str) -> Sink:
    """A sink for one query of an output, not opened yet."""
    options = {
        name: value.replace("{query}", query) if isinstance(value, str) else value
        for name, value in settings.options.items()
    }
    return make_sink(settings.kind, options, query)
