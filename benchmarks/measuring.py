"""How the runtime is measured: one thread, CPU time, from Arrow columns in to Arrow columns out, beside a lexsort.

CPU time is that of all threads of the process, so that a busy machine does not count and a second thread would.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import process_time

import numpy as np
import pyarrow as pa
from rich.progress import Progress

from benchmarks.expected import Tally
from benchmarks.machines import Batch, Machines
from cedr.consistency.emission.changes import Changes
from cedr.consistency.pipeline import Pipeline
from cedr.model.level import ConsistencyLevel
from cedr.model.stream import Guarantee
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_text
from cedr.runtime.kernels.jit import patience


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    events: int = 5_000_000
    keys: int = 100_000
    batch: int = 100_000
    rounds: int = 3
    large: int = 10_000_000
    small: int = 100_000
    singles: int = 5_000
    only: str = ""


@dataclass(slots=True)
class Run:
    """One run: seconds of each step, and what came out."""

    steps: list[float] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    inserts: int = 0
    retractions: int = 0

    def add(self, changes: Changes, said: pa.RecordBatch, seconds: float) -> None:
        """What a step said, as columns, and how long it took."""
        self.steps.append(seconds)
        self.tally.add_changes(said)
        self.inserts += changes.inserts
        self.retractions += changes.retractions

    @property
    def seconds(self) -> float:
        """The whole run."""
        return sum(self.steps)


def one_thread() -> None:
    """Let Arrow use one thread; NumPy and the kernels use one anyway, and these are machine code from the start."""
    patience.factor = 0.0
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)


def pipeline_of(text: str, level: ConsistencyLevel) -> Pipeline:
    """A fresh pipeline of the query Q, which passes by what the query does not read."""
    program = compile_text(text)
    return Pipeline(program.queries["Q"].plan, level, program.types, all_streams=False)


def drive(pipeline: Pipeline, feed: Sequence[Batch], done: Callable[[], object] = lambda: None, first: int = 1) -> Run:
    """Give a pipeline its batches; each step is measured up to its changes as Arrow columns."""
    run = Run()
    gc.collect()
    for number, batch in enumerate(feed, start=first):
        start = process_time()
        (changes,) = pipeline.step(batch.messages(), number)
        said = changes.to_arrow()
        run.add(changes, said, process_time() - start)
        done()
    return run


def drive_whole(pipeline: Pipeline, feed: Sequence[Batch], done: Callable[[], object] = lambda: None) -> Run:
    """Give a pipeline all that there ever is, as a host does with bounded input; it is said a stretch at a time."""
    run = Run()
    gc.collect()
    start = process_time()
    messages = [message for batch in feed for message in batch.messages()]
    for (changes,) in pipeline.whole([*messages, Guarantee(FOREVER - 1)], 1):
        said = changes.to_arrow()
        run.add(changes, said, process_time() - start)
        done()
        start = process_time()
    return run


def lexsort(drawn: Machines) -> float:
    """Seconds of a NumPy lexsort of the rows by (key, time)."""
    gc.collect()
    start = process_time()
    np.lexsort((drawn.vs, drawn.key))
    return process_time() - start


@dataclass(slots=True)
class Timings:
    """Seconds of the same work, several times."""

    seconds: list[float] = field(default_factory=list)

    @property
    def middle(self) -> float:
        """The median."""
        return median(self.seconds)

    @property
    def best(self) -> float:
        """The smallest."""
        return min(self.seconds)


def verdict(ratio: float, limit: float | None) -> str:
    """Whether a ratio is within its limit."""
    if limit is None:
        return ""
    return "ok" if ratio <= limit else "over"


class Showing:
    """A progress bar for the piece of work at hand."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def bar(self, name: str, total: int) -> Callable[[], object]:
        """A new bar instead of the one before; call what it gives once for each step done."""
        for earlier in self._progress.task_ids:
            self._progress.remove_task(earlier)
        task = self._progress.add_task(name, total=total)
        return lambda: self._progress.advance(task)

    def say(self, line: str) -> None:
        """A line above the bar."""
        self._progress.console.print(line, highlight=False)
