"""The demo from start to end: machine events out of order, one query, three levels, and the oracle's verdict.

Paper: Section 3.1, Section 5, Figure 8.  Everything shown is computed by this run.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from cedr.cli.reporting import WRONG, say
from cedr.model.level import WEAK
from cedr_demo.arriving import Arriving, Scale
from cedr_demo.closing import closing
from cedr_demo.running import LocalRun, Run, alone
from cedr_demo.screen import screen
from cedr_demo.view import view
from cedr_demo.watching import Peak, Watching

if TYPE_CHECKING:
    from cedr.model.history import HistoryTable
    from cedr_demo.spark_session import Spark

_MOMENT = 0.1


class Demo:
    """One run of the demo; each host gives the exit status: whether the levels have kept their promises."""

    def __init__(self, scale: dict[str, int], *, verbose: bool) -> None:
        self._scale = Scale(**scale)
        self._view = view(verbose=verbose)
        self._began = monotonic()

    def local(self) -> int:
        """In this process."""
        with self._view:
            self._view.waiting("starting; on a fresh installation the kernels are compiled, once")
            watching, meant = self._prepared("on the host local")
            return self._shown(LocalRun(watching.query, watching.arriving), watching, meant, "on the host local")

    def on_spark(self) -> int:
        """On a Spark of its own, whose log is kept if the demo fails."""
        with self._view:
            self._view.waiting("starting Spark")
            folder = Path(tempfile.mkdtemp(prefix="cedr-demo-"))
            try:
                return self._on_spark(folder)
            except Exception:
                _keep_log(folder)
                raise
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def _on_spark(self, folder: Path) -> int:
        """Spark starts while the events are made and the oracle is asked."""
        with ThreadPoolExecutor(1, "Spark starts") as pool:
            starting = pool.submit(_started, folder)
            watching, meant = self._prepared("on Spark")
            spark = _awaited(starting, self._view.tick)
        try:
            from cedr_demo.spark_running import SparkRun

            self._view.waiting("starting the query")
            run = SparkRun(spark.session, query_text(), watching.arriving, folder)
            self._view.waiting("first batch: Python workers start; on a fresh installation they compile kernels, once")
            status = self._shown(run, watching, meant, "on Spark")
        finally:
            spark.stop()
        if spark.keeps:
            say("keeping what Java has loaded for Spark: from the next time on it starts in half the time")
            spark.keep()
        return status

    def _prepared(self, where: str) -> tuple[Watching, HistoryTable]:
        watching = Watching(Arriving(self._scale), query_text())
        self._view.begin(watching, where)
        self._alone = Peak.of([batch[0] for batch in alone(watching.query, watching.arriving, WEAK)])
        return watching, watching.meant()

    def _shown(self, run: Run, watching: Watching, meant: HistoryTable, where: str) -> int:
        """Batch after batch, and the result."""
        first = None
        for batch in run.batches(self._view.tick):
            first = first if first is not None or not batch.told else monotonic() - self._began
            self._view.step(watching.take(batch), run.costs())
        costs = run.costs()
        peaks = [
            self._alone if level == WEAK else Peak.of([batch[place] for batch in costs])
            for place, level in enumerate(watching.accounts)
        ]
        found = watching.judged(meant)
        self._view.close(closing(watching, peaks, found), screen(watching, peaks, found, where))
        say(f"{monotonic() - self._began:.0f} seconds in all, first results after {first or 0:.0f}")
        return 0 if found.holds else WRONG


def _started(folder: Path) -> Spark:
    from cedr_demo.spark_session import Spark

    return Spark(folder)


def _awaited(future: Future[Any], tick: Callable[[], None]) -> Any:
    while not future.done():
        tick()
        try:
            return future.result(_MOMENT)
        except TimeoutError:
            continue
    return future.result()


def query_text() -> str:
    """The query of the paper."""
    return (files("cedr_demo") / "cidr07.cedr").read_text("utf-8")


def _keep_log(folder: Path) -> None:
    """What Spark logged before it failed is worth keeping."""
    log = folder / "spark.log"
    if log.is_file() and log.stat().st_size:
        handle, name = tempfile.mkstemp(prefix="cedr-demo-", suffix=".log")
        with open(handle, "wb") as kept:
            kept.write(log.read_bytes())
        say(f"the log of Spark: {name}")
