"""Millions of events through Spark with advancing guarantees: do its processes stay under their bound?

``make soak-spark ARGS='--events 50000000'``.  The stream is that of ``benchmarks.soak``: machines come and go all the
time, some events are late, some are retracted, and each batch ends with a guarantee.  Files are made a few batches
ahead of the query and removed after it, so that the disk does not follow the number of events either.  After each batch
the resident memory of the JVM and of every Python worker is sampled.

The bound on Python workers is stated before the run from what the query must remember: the events within its scope and
the lag of guarantees, at ``ROW_BYTES`` each, and ``BASE`` for an interpreter with its libraries.  A row takes some 600
bytes; tables are compacted when about half of them is forgotten, and then old and new ones stand side by side.
The JVM has a heap of ``HEAP`` and as much again for RocksDB, Arrow and itself.  What has no bound is flat if the median
of the last quarter is at most a tenth above that of the quarter before: peaks are compactions, a leak lifts the rest.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.progress import Progress

import cedr
from benchmarks.machines import KINDS, TYPES, Machines
from benchmarks.reporting import keep, print_tables, sparkline, wide
from benchmarks.soak import PATTERN, RETRACTED, SCOPE, SLACK, Flow
from cedr.model.time import MINUTE

MEGABYTE = 1 << 20
BASE = 500 * MEGABYTE
ROW_BYTES = 1_000
HEAP = 1_024 * MEGABYTE
BUCKETS = 2
AHEAD = 3
SCHEMA = "change string, type string, id string, vs long, guarantee long, Machine_Id long, Serial long, Load double"


def flow_of(batch: int) -> Flow:
    """Some four batches lie within the scope; a tenth of the machines is new in each."""
    return Flow(batch, step=20 * MINUTE, machines=200_000, renewed=20_000)


def table_of(drawn: Machines, lag: int) -> pa.Table:
    """The rows of one batch: events, retractions of some, and the guarantee in the last row."""
    again = drawn.take(drawn.serial % int(1 / RETRACTED) == 0)
    rows = Machines(*(np.concatenate([getattr(part, n) for part in (drawn, again)]) for n in _COLUMNS), 0, drawn.end)
    many = len(rows) + 1
    kinds = pa.array(KINDS).take(pa.array(rows.kind))
    changes = pa.array([None] * len(drawn) + ["retract"] * len(again) + ["guarantee"], pa.string())
    ids = pa.array(rows.serial).cast(pa.string())
    columns = [
        changes,
        _with_null(kinds),
        _with_null(ids),
        pa.array(np.append(rows.vs, drawn.end - lag - 1)),
        pa.nulls(many, pa.int64()),
        _with_null(pa.array(rows.key)),
        _with_null(pa.array(rows.serial)),
        pa.array(np.append(rows.serial % 1_000 / 1_000, 0.0)),
    ]
    return pa.Table.from_arrays(columns, [name.split()[0] for name in SCHEMA.split(", ")])


_COLUMNS = ("kind", "key", "vs", "serial", "arrival")


def _with_null(column: pa.Array) -> pa.Array:
    return pa.concat_arrays([column, pa.nulls(1, column.type)])


@dataclass
class Feed:
    """Writes the files, a few ahead of the query, and removes those it has read."""

    folder: Path
    flow: Flow
    batches: int
    done: int = 0
    failed: BaseException | None = None

    def run(self) -> None:
        """All files; in a thread of its own."""
        try:
            for number in range(self.batches):
                while number - self.done >= AHEAD:
                    time.sleep(0.05)
                drawn = self.flow.drawn(number, np.random.default_rng((5, number)))
                hidden = self.folder / f".{number}"
                pq.write_table(table_of(drawn, self.flow.lag), hidden)
                os.utime(hidden, (1_700_000_000 + number,) * 2)
                hidden.replace(self._path(number))
        except BaseException as error:
            self.failed = error
            raise

    def take(self, done: int) -> None:
        """So many batches are through."""
        for number in range(self.done, done - 2):  # a restart would want the last one
            self._path(number).unlink(missing_ok=True)
        self.done = max(self.done, done)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:06d}.parquet"


@dataclass
class Samples:
    """Resident memory after each batch, in MiB."""

    workers: list[float] = field(default_factory=list)
    """The largest Python worker."""
    python: list[float] = field(default_factory=list)
    jvm: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    rows: list[float] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)

    def take(self, progress: Any) -> None:
        """What there is now."""
        python, jvm = resident(os.getpid())
        self.workers.append(max(python, default=0) / MEGABYTE)
        self.python.append(sum(python) / MEGABYTE)
        self.jvm.append(jvm / MEGABYTE)
        self.seconds.append(progress["durationMs"]["triggerExecution"] / 1_000)
        metrics = progress["observedMetrics"]["cedr Q"]
        self.rows.append(float(metrics["state_rows"]))
        self.kept.append(float(metrics["state_bytes"]) / MEGABYTE)


def resident(pid: int) -> tuple[list[int], int]:
    """Bytes of each Python process below this one, and of the JVM."""
    python, jvm = [], 0
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    for each in found[1:]:
        try:
            pages = int((Path("/proc") / str(each) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            name = (Path("/proc") / str(each) / "comm").read_text()
        except OSError:
            continue
        if name.startswith("java"):
            jvm += pages
        else:
            python.append(pages)
    return python, jvm


def session(folder: Path) -> SparkSession:
    """Two cores, state in RocksDB, a heap of known size."""
    settings = {"spark.local.dir": str(folder / "local"), "spark.sql.streaming.minBatchesToRetain": "5"}
    heap = f"{HEAP // MEGABYTE}m"
    return cedr.spark_session(f"local[{BUCKETS}]", app_name="cedr soak", memory=heap, config=settings)


def soak(events: int, batch: int, level: str, folder: Path, progress: Progress) -> Samples:
    """The whole run."""
    flow = flow_of(batch)
    (folder / "in").mkdir()
    feed = Feed(folder / "in", flow, -(-events // batch))
    spark = session(folder)
    frame = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(feed.folder))
    given = cedr.events(frame, type="type", id="id", time="vs", change="change")
    result = cedr.query(TYPES + PATTERN, given, consistency=level)
    threading.Thread(target=feed.run, daemon=True).start()
    writer = result.writeStream.format("noop").option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.trigger(processingTime="0 seconds").start()
    samples = Samples()
    task = progress.add_task(f"soak on Spark at {level}", total=feed.batches)
    while feed.done < feed.batches:
        if query.exception() is not None or not query.isActive or feed.failed is not None:
            raise query.exception() or feed.failed or RuntimeError(query.status)
        for each in query.recentProgress:
            if each["numInputRows"] and each["batchId"] >= feed.done:
                feed.take(each["batchId"] + 1)
                samples.take(each)
                progress.update(task, completed=feed.done)
        time.sleep(0.2)
    query.stop()
    spark.stop()
    return samples


def report(samples: Samples, flow: Flow) -> list[dict[str, Any]]:
    """Each course with its bound and a verdict; what has no bound of its own is to be flat."""
    needed = flow.batch * (SCOPE + 2 * flow.lag + 2 * flow.step) / flow.step
    worker = (BASE + ROW_BYTES * needed / BUCKETS) / MEGABYTE
    jvm = 2 * HEAP / MEGABYTE
    return [
        _row("MiB, largest Python worker", samples.workers, worker),
        _row("MiB, JVM", samples.jvm, jvm),
        _row("MiB, all Python processes", samples.python, None),
        _row("rows of state", samples.rows, None),
        _row("MiB of state", samples.kept, None),
        {**_row("seconds a batch", samples.seconds, None), "verdict": ""},
    ]


def _row(name: str, values: list[float], bound: float | None) -> dict[str, Any]:
    quarter = max(1, len(values) // 4)
    before, after = median(values[-2 * quarter : -quarter] or values), median(values[-quarter:])
    verdict = "flat" if after <= SLACK * before else "grows"
    if bound is not None:
        verdict = "ok" if max(values) <= bound else "over"
    return {
        "what": name,
        "course": sparkline(values),
        "third quarter": round(before, 1),
        "last quarter": round(after, 1),
        "most": round(max(values), 1),
        "bound": "" if bound is None else f"{bound:,.0f}",
        "verdict": verdict,
    }


def main() -> None:
    """Soak, print, keep; the exit code is 1 where a bound is broken."""
    parser = argparse.ArgumentParser(prog="soak-spark", description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=3_000_000)
    parser.add_argument("--batch", type=int, default=250_000)
    parser.add_argument("--level", default="MIDDLE")
    given = parser.parse_args()
    console = wide()
    folder = Path(tempfile.mkdtemp(prefix="cedr-soak-"))
    start = time.monotonic()
    try:
        with Progress(console=console, transient=True) as progress:
            samples = soak(given.events, given.batch, given.level, folder, progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    rows = report(samples, flow_of(given.batch))
    print_tables(console, {"soak on Spark": rows})
    seconds = time.monotonic() - start
    console.print(
        f"{given.events:,} events in {seconds:,.0f} s; kept in {keep('soak-spark', {'soak': rows}, vars(given))}"
    )
    sys.exit(any(row["verdict"] in ("over", "grows") for row in rows))


if __name__ == "__main__":
    main()
