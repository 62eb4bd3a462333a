"""A job while it runs on the local host: plan, read, step, store, commit; exactly once.

Readings: R33 (the server's clock), R40 (batches), R48 (change rows).  The order of things makes a crash harmless:

1. what batch n reads, and its CEDR time, is written down;
2. it is read, and the queries take it;
3. every sink stores the changes of batch n, or skips them because it has stored n;
4. the state of the queries and the places of the sources are committed with n.

A crash before 1 has done nothing.  After that the next run finds the plan, has the state of n - 1, reads the same, and
so makes the same changes under the same number.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from cedr.data.change_rows import change_rows
from cedr.data.results import Shape
from cedr.jobs.checkpoint import Checkpoint
from cedr.jobs.file.description import JobFile
from cedr.jobs.intake import Intake, Taken
from cedr.jobs.queries import Emission, QueryMeasures, RunningQueries
from cedr.jobs.rejects import DeadLetters
from cedr.model.level import ConsistencyLevel
from cedr.model.time import Time
from cedr.sinks.contract import Sink, check_stored


@dataclass(slots=True)
class OpenOutput:
    """A sink with the query and the level whose changes it takes."""

    name: str
    query: str
    place: int
    """Which of the levels of the query it is."""
    level: ConsistencyLevel
    shape: Shape
    sink: Sink
    leaving: bool = False
    """Whether its query leaves with the first batch.  Reading: R44."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a batch was, for whoever watches."""

    batch: int
    rows: int
    seconds: float
    changes: Mapping[str, int]
    """Changes by query."""
    measures: list[QueryMeasures]
    guarantees: Mapping[str, Time]
    """Up to when each source has promised that nothing more comes."""
    rejected: int
    """All rows and messages that could not be used so far."""


class Watcher(Protocol):
    """Is told of what a job does."""

    def batch(self, report: Report) -> None:
        """A batch is committed."""

    def idle(self) -> None:
        """Nothing is there now."""


_NOTHING: Final[tuple[dict[str, Any], dict[str, bytes]]] = ({"sources": {}, "ended": [], "silent": {}}, {})
"""A batch that reads nothing: in it queries come and go."""


def _nothing(_: str) -> None:
    """Nobody wants to know."""


def _named(output: OpenOutput) -> str:
    """What an output of a query is called in the checkpoint."""
    return f"{output.name}/{output.query}"


class Loop:
    """The batches of a job, one after the other."""

    def __init__(
        self,
        job: JobFile,
        checkpoint: Checkpoint,
        intake: Intake,
        queries: RunningQueries,
        outputs: list[OpenOutput],
        watcher: Watcher,
        *,
        reached: Callable[[str], None] = _nothing,
    ) -> None:
        """``reached`` is told of each point of a batch; a test lets it fail there."""
        self._job, self._checkpoint, self._intake = job, checkpoint, intake
        self._queries, self._outputs, self._watcher = queries, outputs, watcher
        self._reached = reached
        self._letters = DeadLetters(checkpoint.folder / "dead_letters.jsonl")
        self._batch, self._cedr_time = 0, 0
        self._told: dict[str, str] = {}
        """The level that each output was told last."""
        self._left: Mapping[str, Any] | None = None
        """A plan of the last run that was not committed."""
        self.stopping = False

    def resume(self) -> None:
        """Go on where the last run has come to."""
        found = self._checkpoint.resume()
        self._batch, self._left = found.batch, found.plan
        planned = found.batch + (found.plan is not None) or None
        for output in self._outputs:
            kept = found.body.get("stored", {}).get(_named(output)) if found.batch else None
            check_stored(f'the output "{_named(output)}"', output.sink.stored(), kept, planned)
        if not found.batch:
            self._letters.resume(0, 0)
            return
        self._cedr_time = found.body["cedr_time"]
        self._told = dict(found.body["told"])
        self._letters.resume(*found.body["dead_letters"])
        for inlet in self._intake.inlets:
            kept = found.body["sources"].get(inlet.name)
            if kept is not None:
                inlet.resume(kept, self._checkpoint.done(inlet.name), self._checkpoint.kept(inlet.name))
        for output in self._outputs:
            self._queries.switch(output.query, output.place, output.level)

    @property
    def batch(self) -> int:
        """The last batch that is committed."""
        return self._batch

    def run(self, wait: Callable[[float], object] = time.sleep) -> None:
        """Batch after batch, until the sources have ended or somebody stops it."""
        settings, taken = self._job.run, 0
        while not self.stopping and (settings.stop_after is None or taken < settings.stop_after):
            if self.one():
                taken += 1
            elif self._intake.finished or (settings.mode == "available" and not self._pushed()):
                return
            else:
                self._watcher.idle()
                wait(settings.every)

    def _pushed(self) -> bool:
        return any(inlet.source.pushed and not inlet.source.finished for inlet in self._intake.inlets)

    def one(self) -> bool:
        """One batch; False if there is nothing to do now."""
        self._reached("begin")
        started = time.perf_counter()
        number = self._batch + 1
        plan = self._left
        if plan is None:
            found = self._intake.plan()
            if found is None and not self._queries.changed:
                return False
            reads, kept = found or _NOTHING
            plan = {**reads, "cedr_time": self._next_time(), "queries": self._queries.mark}
            self._reached("plan")
            self._checkpoint.plan(number, plan, kept)
        self._reached("planned")
        taken, done = self._intake.take(dict(plan), self._checkpoint.kept)
        self._reached("read")
        cedr_time = plan["cedr_time"]
        emitted = self._queries.step({name: each.messages for name, each in taken.items()}, cedr_time)
        self._reached("step")
        changes = self._store(number, cedr_time, emitted)
        self._reject(number, taken)
        self._reached("stored")
        self._part()
        body = {
            "cedr_time": cedr_time,
            "sources": {inlet.name: inlet.state() for inlet in self._intake.inlets},
            "dead_letters": [self._letters.count, self._letters.length],
            "told": {_named(output): self._told[_named(output)] for output in self._outputs},
            "stored": {_named(output): output.sink.stored() for output in self._outputs},
        }
        self._checkpoint.commit(number, body, self._queries.state(), done)
        self._batch, self._cedr_time, self._left = number, cedr_time, None
        self._reached("committed")
        rows = sum(each.rows for each in taken.values())
        self._watcher.batch(self._report(rows, time.perf_counter() - started, changes))
        return True

    def _part(self) -> None:
        """Let go of the outputs of queries that have left."""
        for output in [each for each in self._outputs if each.leaving]:
            output.sink.close()
            self._outputs.remove(output)

    def _next_time(self) -> Time:
        """CEDR time rises whatever the clock does: K is made of it (R8)."""
        if self._job.run.clock == "batch":
            return self._cedr_time + 1
        return max(self._cedr_time + 1, time.time_ns() // 1_000)

    def _store(self, number: int, cedr_time: Time, emitted: list[Emission]) -> dict[str, int]:
        counts: dict[str, int] = {}
        by_output = {(each.query, each.place): each.changes for each in emitted}
        for each in emitted:
            counts[each.query] = counts.get(each.query, 0) + len(each.changes)
        for output in self._outputs:
            changes = by_output[output.query, output.place]
            told = _named(output)
            level = None if self._told.get(told) == str(changes.level) else changes.level
            self._told[told] = str(changes.level)
            if len(changes) or level is not None:
                rows = change_rows(
                    number, cedr_time, changes.to_arrow(), output.shape, guarantee=changes.guarantee, level=level
                )
                self._reached(f"store {output.name}")
                output.sink.write(number, rows)
                self._reached(f"stored {output.name}")
        return counts

    def _reject(self, number: int, taken: Mapping[str, Taken]) -> None:
        rejected = [(name, row) for name, each in taken.items() for row in each.rejected]
        self._letters.write(number, rejected, self._queries.take_dead_letters())

    def _report(self, rows: int, seconds: float, changes: Mapping[str, int]) -> Report:
        return Report(
            self._batch,
            rows,
            seconds,
            changes,
            self._queries.measures(),
            {inlet.name: inlet.guarantee for inlet in self._intake.inlets},
            self._letters.count,
        )

    def close(self) -> None:
        """Let go of sources, sinks and the checkpoint."""
        for inlet in self._intake.inlets:
            inlet.source.close()
        for output in self._outputs:
            output.sink.close()
        self._checkpoint.close()
