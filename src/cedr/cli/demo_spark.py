"""``cedr demo`` on Spark: machine events out of order, one query, three levels side by side, and a proof at the end.

Paper: Section 3.1, Section 5, Figure 8.  All that is shown is computed here and now.
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

from cedr.cli.demo_view import View, view
from cedr.cli.reporting import WRONG, say

if TYPE_CHECKING:
    from cedr.model.history import HistoryTable
    from cedr.spark.demo.arriving import Scale
    from cedr.spark.demo.session import Spark
    from cedr.spark.demo.watching import Watching

_MOMENT = 0.1


def show_spark_demo(scale: dict[str, int]) -> int:
    """Run the demo; the exit status tells whether the levels have kept their promises."""
    shown = view()
    began = monotonic()
    with shown:
        shown.waiting("starting Spark")
        folder = Path(tempfile.mkdtemp(prefix="cedr-demo-"))
        try:
            status = _run(scale, folder, shown, began)
        except Exception:
            _keep_log(folder)
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return status


def _run(scale: dict[str, int], folder: Path, shown: View, began: float) -> int:
    """Spark starts while the events are made and the oracle is asked."""
    with ThreadPoolExecutor(1, "Spark starts") as pool:
        starting = pool.submit(_started, folder)
        watching, meant = _prepared(scale, shown)
        spark = _awaited(starting, shown.tick)
    try:
        status = _shown(spark, watching, meant, folder, shown, began)
    finally:
        spark.stop()
    if spark.keeps:
        say("keeping what Java has loaded for Spark: from the next time on it starts in half the time")
        spark.keep()
    return status


def _shown(spark: Spark, watching: Watching, meant: HistoryTable, folder: Path, shown: View, began: float) -> int:
    """Batch after batch, and what came of it."""
    from cedr.cli.demo_closing import closing
    from cedr.spark.demo.running import Run
    from cedr.spark.demo.watching import Peak

    shown.waiting("starting the query")
    run = Run(spark.session, query_text(), watching.arriving, folder)
    shown.waiting("first batch: Python workers start; on a fresh clone they compile their kernels, once")
    first = None
    for batch in run.batches(shown.tick):
        first = first if first is not None or not batch.told else monotonic() - began
        shown.step(watching.take(batch), run.costs())
    costs = run.costs()
    peaks = [Peak.of([batch[place] for batch in costs]) for place in range(len(watching.accounts))]
    found = watching.judged(meant)
    shown.close(closing(watching, peaks, found))
    say(f"{monotonic() - began:.0f} seconds in all, first results after {first or 0:.0f}")
    return 0 if found.holds else WRONG


def _started(folder: Path) -> Spark:
    from cedr.spark.demo.session import Spark

    return Spark(folder)


def _prepared(scale: dict[str, int], shown: View) -> tuple[Watching, HistoryTable]:
    from cedr.spark.demo.arriving import Arriving, Scale
    from cedr.spark.demo.watching import Watching

    wanted: Scale = Scale(**scale)
    watching = Watching(Arriving(wanted), query_text())
    shown.begin(watching)
    return watching, watching.meant()


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
    return (files("cedr.cli") / "examples" / "cidr07.cedr").read_text("utf-8")


def _keep_log(folder: Path) -> None:
    """What Spark said before it failed is worth keeping."""
    log = folder / "spark.log"
    if log.is_file() and log.stat().st_size:
        handle, name = tempfile.mkstemp(prefix="cedr-demo-", suffix=".log")
        with open(handle, "wb") as kept:
            kept.write(log.read_bytes())
        say(f"the log of Spark: {name}")
