"""``cedr run``: a job from its file, with a view, a log and measures; Ctrl-C ends it after the batch at hand."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import FrameType

from cedr.cli.job_view import JobView
from cedr.cli.reporting import report, say
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import CedrError, InternalError
from cedr.jobs.figures import Figures
from cedr.jobs.file.description import JobFile
from cedr.jobs.file.reading import read_job
from cedr.jobs.journal import Journal
from cedr.jobs.loop import Loop, Report
from cedr.jobs.prometheus import MetricsServer
from cedr.jobs.starting import Started, start


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says of how a job is watched."""

    quiet: bool
    view: bool | None
    log: str | None
    metrics_port: int | None


class _Watcher:
    """Shows each batch in all the ways that were asked for."""

    def __init__(self) -> None:
        self.figures: Figures | None = None
        self.view: JobView | None = None
        self.journal: Journal | None = None

    def batch(self, report: Report) -> None:
        """A batch is committed."""
        assert self.figures is not None
        self.figures.take(report)
        if self.view is not None:
            self.view.draw("running")
        if self.journal is not None:
            self.journal.batch(self.figures)

    def idle(self) -> None:
        """Nothing is there now."""
        if self.view is not None:
            self.view.draw("waiting")


def run_file(path: str, mode: str | None, overrides: Sequence[str], choices: Choices) -> None:
    """Run the job of a file until it ends or is stopped."""
    given = [*overrides, *([f'run.mode="{mode}"'] if mode is not None else [])]
    job = read_job(path, given)
    try:
        if job.host == "spark":
            from cedr.jobs.on_spark import run_on_spark

            run_on_spark(job, say)
            return
        _run_local(job, choices)
    except CedrError as error:
        raise job.secrets.hidden(error) from None
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        told = job.secrets.hide(f"a defect of CEDR: {type(error).__name__}: {error}")
        if told == f"a defect of CEDR: {type(error).__name__}: {error}":
            raise
        raise InternalError(Diagnostic("internal", told)) from None


def _run_local(job: JobFile, choices: Choices) -> None:
    watcher = _Watcher()
    hide = job.secrets.hide
    form = choices.log or (job.log.get("format", "text") if job.log else None)
    if form is not None:
        watcher.journal = Journal(form, str(job.log.get("level", "info")), hide)
    with ExitStack() as open_:
        started = start(job, watcher)
        open_.callback(started.loop.close)
        if started.compiled.warnings and not choices.quiet:
            report(started.compiled.warnings)
        watcher.figures = _figures(job, started)
        port = job.metrics.get("port") if choices.metrics_port is None else choices.metrics_port
        if port is not None:
            server = MetricsServer(watcher.figures, int(port))
            open_.callback(server.close)
            say(f"measures: http://127.0.0.1:{server.port}/metrics")
        if choices.view or (choices.view is None and form is None and sys.stderr.isatty() and not choices.quiet):
            watcher.view = JobView(watcher.figures, timestamps=started.compiled.timestamps)
            open_.callback(watcher.view.close)
        resumed = started.loop.batch
        if resumed and not choices.quiet:
            say(f"{job.name}: goes on after batch {resumed:,}")
        began = time.perf_counter()
        with _stopped_by_signals(started.loop) as wake:
            started.loop.run(wake.wait)
        if watcher.view is not None:
            watcher.view.draw("stopped" if started.loop.stopping else "ended")
        if not choices.quiet:
            _closing(job, watcher.figures, started, time.perf_counter() - began)


def _figures(job: JobFile, started: Started) -> Figures:
    bounds = {inlet.name: inlet.promises for inlet in started.inlets}
    return Figures(job.name, {each.query.name: tuple(sorted(each.sources)) for each in started.asked}, bounds)


def _closing(job: JobFile, figures: Figures, started: Started, seconds: float) -> None:
    how = "stopped, the next run goes on from here" if started.loop.stopping else "ended"
    batches = started.loop.batch
    say(f"{job.name}: {how}; {figures.rows:,} rows in {seconds:.1f} s, {batches:,} batches in all")
    if figures.rejected:
        place = job.checkpoint / "dead_letters.jsonl"
        say(f"{figures.rejected:,} dead letters, each with its reason: {place}")
    for each in figures.queries:
        of = each.measures
        say(f"{each.query} at {of.level}: {of.inserts:,} inserts, {of.retractions:,} retractions")


@contextmanager
def _stopped_by_signals(loop: Loop) -> Iterator[threading.Event]:
    """Ctrl-C and SIGTERM end the job after the batch at hand; a second Ctrl-C at once."""
    wake = threading.Event()

    def stop(number: int, _: FrameType | None) -> None:
        if loop.stopping and number == signal.SIGINT:
            raise KeyboardInterrupt
        loop.stopping = True
        wake.set()

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wake
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
