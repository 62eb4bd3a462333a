"""Runs the query of the demo on files that arrive, batch by batch: three levels with one state.

Paper: Section 5.  Readings: R33, R40.  Each file is a batch, so that the changes do not depend on how fast they arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Event as Signal
from threading import Thread
from typing import Any, Final

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.model.event import Event, Payload
from cedr.model.time import FOREVER
from cedr.spark.api.query import query
from cedr.spark.output.failures import failure
from cedr.spark.sources.events import events
from cedr_demo.account import Told
from cedr_demo.arriving import Arriving
from cedr_demo.running import LEVELS, Batch, Costs, in_order

_SCHEMA: Final = (
    "change string, type string, id string, vs timestamp, os timestamp, guarantee timestamp, "
    "Machine_Id string, Load double"
)
_CLOCKS: Final = ("Vs", "Ve", "Os", "Oe", "Rt")
_MOMENT: Final = 0.1
"""Seconds between two checks for a new batch."""
_PACE: Final = 0.2
"""Seconds between two files."""


class SparkRun:
    """A stream whose input is files."""

    def __init__(self, session: SparkSession, text: str, arriving: Arriving, folder: Path) -> None:
        self._arriving, self._folder = arriving, folder
        for name in ("in", "checkpoint"):
            (folder / name).mkdir()
        reader = session.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1)
        arrived = events(
            reader.parquet(str(folder / "in")),
            type="type",
            time=F.coalesce("vs", "guarantee"),
            id="id",
            occurrence_start="os",
            change="change",
            attributes=["Machine_Id", "Load"],
            stable_key=True,
        )
        columns = ("*", "contributor_types")
        declared = arriving.declared + text
        self._result = query(declared, arrived, consistency=LEVELS, dead_letters=True, columns=columns)
        self._batches: Queue[Batch] = Queue()
        self._query: Any = None

    def batches(self, meanwhile: Callable[[], None]) -> Iterator[Batch]:
        """Let the files arrive; yields the changes of each.  Calls ``meanwhile`` while no batch is ready.

        Raises ``HostError`` if the query fails.
        """
        stop = Signal()
        feeder = Thread(target=self._feed, args=(stop,), name="files arrive", daemon=True)
        writer = self._result.writeStream.foreachBatch(self._take)
        self._query = writer.option("checkpointLocation", str(self._folder / "checkpoint")).start()
        feeder.start()
        try:
            for _ in self._arriving.files:
                yield self._next(meanwhile)
            while not self._ended():
                meanwhile()
                stop.wait(_MOMENT)
        finally:
            stop.set()
            feeder.join()
            self._query.stop()

    def costs(self) -> list[list[Costs]]:
        """The costs of each level, batch by batch, as far as Spark has reported them."""
        batches = []
        for progress in list(self._query.recentProgress):
            metrics = [row for name, row in progress["observedMetrics"].items() if name.startswith("cedr ")]
            if metrics:
                suffixes = ("", *(f"_{number + 1}" for number in range(1, len(LEVELS))))
                batches.append([_costs(metrics[0], suffix) for suffix in suffixes])
        return batches

    def _feed(self, stop: Signal) -> None:
        for file in self._arriving.files:
            file.put(self._folder / "in")
            if stop.wait(_PACE):
                return

    def _take(self, frame: Any, number: int) -> None:
        columns = [F.unix_micros(name).alias(name) if name in _CLOCKS else F.col(name) for name in frame.columns]
        rows = frame.select(*columns).collect()
        changes = in_order(_told(row) for row in rows if row["change"] in ("insert", "retract"))
        self._batches.put(Batch(number + 1, changes, sum(row["change"] == "dead-letter" for row in rows)))

    def _next(self, meanwhile: Callable[[], None]) -> Batch:
        while True:
            try:
                return self._batches.get(timeout=_MOMENT)
            except Empty:
                self._check()
                meanwhile()

    def _check(self) -> None:
        if self._query.isActive:
            return
        error = self._query.exception()
        if not self._batches.empty():
            return
        if error is None:
            raise HostError(Diagnostic("query-stopped", "the query on Spark has stopped before its last batch"))
        raise failure(error) or error

    def _ended(self) -> bool:
        """Whether Spark has reported the last batch."""
        self._check()
        progress = self._query.lastProgress
        return progress is not None and progress["batchId"] + 1 >= len(self._arriving.files)


def _costs(metrics: Any, suffix: str) -> Costs:
    return Costs(*(metrics[f"{name}{suffix}"] or 0 for name in Costs._fields))


def _told(row: Any) -> Told:
    vs, ve, os, oe, rt = (FOREVER if row[name] is None else row[name] for name in _CLOCKS)
    made_of = zip(row["contributor_types"], row["contributors"], strict=True)
    parts = tuple(Event(of, id_, 0, FOREVER, 0, FOREVER, 0) for of, id_ in made_of)
    payload = Payload({"machine": row["machine"]})
    event = Event("CIDR07_Example", row["id"], vs, ve, os, oe, rt, parts, payload)
    return Told(row["level"], row["change"] == "insert", row["K"], event)
