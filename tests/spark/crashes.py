"""Kill -9 at drawn places: the driver by what its checkpoint shows, Python workers by ``tests.spark.mortal``.

The steps of a batch, as they reach the disk: what it reads (``offsets``), a version of the state of each bucket
(``state``), what it wrote (``sink``), its end (``commit``).  The driver is killed when one of them is being written,
when it is there, or some time later; where it really was then is read from the checkpoint of the dead.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.spark.job import Job
from tests.spark.mortal import FOLDER, PLACES
from tests.spark.processes import Process, command, descendants, kill, start, workers

DRIVER = (
    "offsets being written",
    "offsets written",
    "tasks running",
    "first state being written",
    "one state of two written",
    "all state written",
    "sink being written",
    "sink written",
    "commit written",
)
PATIENCE = 300.0


@dataclass(frozen=True)
class Checkpoint:
    """What a dead job left."""

    folder: Path

    @property
    def next(self) -> int:
        """The first batch that has not ended."""
        commits = self.folder / "checkpoint" / "commits"
        found = [int(path.name) for path in commits.glob("[0-9]*")] if commits.is_dir() else []
        return max(found, default=-1) + 1

    def offsets(self, batch: int, *, begun: bool = False) -> bool:
        return _there(self.folder / "checkpoint" / "offsets", batch, begun=begun)

    def states(self, batch: int, *, begun: bool = False) -> int:
        """How many buckets have the state after a batch."""
        found = [self.folder / "checkpoint" / "state" / "0" / bucket for bucket in ("0", "1")]
        return sum(_there(folder, f"{batch + 1}.zip", begun=begun) for folder in found)

    def sink(self, batch: int, *, begun: bool = False) -> bool:
        return _there(self.folder / "out" / "_spark_metadata", batch, begun=begun)

    def commit(self, batch: int) -> bool:
        return _there(self.folder / "checkpoint" / "commits", batch)

    def shown(self, batch: int) -> str:
        """How far a batch came."""
        parts = [
            "offsets" if self.offsets(batch) else "",
            f"{self.states(batch)}/2 states" if self.states(batch) else "",
            "sink" if self.sink(batch) else "",
            "commit" if self.commit(batch) else "",
        ]
        return ", ".join(filter(None, parts)) or "nothing"


def _there(folder: Path, name: object, *, begun: bool = False) -> bool:
    """Whether a file is there, or where that is enough, is about to be."""
    if (folder / str(name)).exists() or (folder / f"{name}.compact").exists():
        return True
    try:
        return begun and any(path.name.startswith(f".{name}.") for path in folder.iterdir())
    except OSError:
        return False


def reached(place: str, checkpoint: Checkpoint, batch: int) -> Callable[[], bool]:
    """Whether the driver is where it is to be killed."""
    conditions: dict[str, Callable[[], bool]] = {
        "offsets being written": lambda: checkpoint.offsets(batch, begun=True),
        "offsets written": lambda: checkpoint.offsets(batch),
        "tasks running": lambda: checkpoint.offsets(batch),
        "first state being written": lambda: checkpoint.states(batch, begun=True) > 0,
        "one state of two written": lambda: checkpoint.states(batch) > 0,
        "all state written": lambda: checkpoint.states(batch) > 1,
        "sink being written": lambda: checkpoint.sink(batch, begun=True),
        "sink written": lambda: checkpoint.sink(batch),
        "commit written": lambda: checkpoint.commit(batch),
    }
    return conditions[place]


@dataclass
class Crashes:
    """A job that is killed again and again until it is through."""

    job: Job
    seed: int
    kills: int
    seconds: float
    table: list[dict[str, Any]] = field(default_factory=list)
    starts: int = 0
    places: list[tuple[str, int]] | None = None
    """Where the driver is killed, one after the other, and in which batch; drawn if not given."""
    orders: Sequence[str] = ()
    """Deaths of workers that are ordered before the start, beside those that are drawn."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._checkpoint = Checkpoint(Path(self.job.folder))
        self._deaths = Path(self.job.folder) / "deaths"
        self._deaths.mkdir(exist_ok=True)
        for each in self.orders:
            (self._deaths / each).touch()
        self._end = time.monotonic() + self.seconds
        self._orphans: list[int] = []

    def run(self) -> Iterator[dict[str, Any]]:
        """Each kill as it was.  Raises ``RuntimeError`` if the job fails by itself."""
        while True:
            first = self._checkpoint.next
            process = self._started()
            done = False
            try:
                if self._wanted:
                    yield from self._driver_killed(process, first)
                else:
                    code = process.wait(PATIENCE * 4)
                    done = True
                    if code:
                        message = f"the job ended with {code}: {process.said()}"
                        raise RuntimeError(message)
            finally:
                process.kill()
            yield from self._workers_killed()
            if done or self._finished(process):
                kill(*(pid for pid in self._orphans if "-m tests.spark.mortal" in command(pid)))
                return

    @property
    def _wanted(self) -> bool:
        """Whether the driver is to be killed once more."""
        left = len(self.table) < self.kills and time.monotonic() < self._end
        return left and (self.places is None or len(self.places) > 0)

    def _finished(self, process: Process) -> bool:
        return not process.alive and process.wait() == 0

    def _started(self) -> Process:
        self.starts += 1
        return start(self.job, {FOLDER: str(self._deaths)})

    def _driver_killed(self, process: Process, first: int) -> Iterator[dict[str, Any]]:
        place, batch = self._chosen(first)
        if not process.await_that(reached(place, self._checkpoint, batch), PATIENCE):
            if process.alive:
                message = f"batch {batch} did not come to be: {process.said()}"
                raise RuntimeError(message)
            if process.wait():
                message = f"the job failed by itself: {process.said()}"
                raise RuntimeError(message)
            return  # it was through before
        if place == "tasks running":
            time.sleep(self._random.random() * 2)
        orphans = self._random.random() < 0.5
        left = workers(process.pid) if orphans else []  # they end when they notice
        kill(process.pid, *(pid for pid in descendants(process.pid) if pid not in left))
        process.wait(60)
        self._orphans += left
        yield self._row("driver" if orphans else "driver and workers", place, batch)

    def _chosen(self, first: int) -> tuple[str, int]:
        """Where the driver dies next; where that is drawn, so are deaths of workers before it."""
        if self.places is not None:
            return self.places.pop(0)
        place, batch = self._random.choice(DRIVER), first + self._random.choice((0, 1, 2, 2, 3))
        while reached(place, self._checkpoint, batch)():  # a batch that was torn before has left it behind
            batch += 1
        left = self.kills - len(self.table) - 1
        for _ in range(min(left, self._random.choice((1, 2, 2, 3)))):  # a task is tried four times
            order = f"{self._random.choice(PLACES)}@{self._random.randint(first, batch)}"
            (self._deaths / order).touch()
        return place, batch

    def _workers_killed(self) -> Iterator[dict[str, Any]]:
        """Those that took their orders; orders that were drawn and that nobody took are taken back."""
        for path in sorted(self._deaths.iterdir()):
            if path.name.startswith("dead-"):
                place, _, batch = path.name.removeprefix("dead-").rpartition("-")[0].partition("@")
                yield self._row("worker", place, int(batch))
            if path.name not in self.orders:
                path.unlink()

    def _row(self, who: str, place: str, batch: int) -> dict[str, Any]:
        row = {
            "kill": len(self.table) + 1,
            "who": who,
            "where": place,
            "batch": batch,
            "what the batch had left": self._checkpoint.shown(batch) if who != "worker" else "",
        }
        self.table.append(row)
        return row
