"""What a batch costs that has next to nothing to do, beside Spark's own stateful operators in Python.

An *empty* batch has a file without rows: Spark makes a batch of it, no group is called.  A batch of *one event* calls
the operator.  The operator beside ours is the identity: it gives back what comes, and keeps a count as its state.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pa_parquet
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks import machines as draw
from benchmarks.expected import FIRST
from benchmarks.files import table
from benchmarks.measuring import Showing, verdict
from benchmarks.on_spark.ours import checkpoint, own_workers, run, streamed
from benchmarks.spark_by_hand import CORES, SCHEMA

LIMIT = 1.3
BATCHES = 15
WARM = 5
"""So many batches are not counted."""


def fixed(spark: SparkSession, showing: Showing) -> list[dict[str, Any]]:
    """Medians, and their ratio."""
    rows = []
    for what, count in (("empty", 0), ("one event", 1)):
        with TemporaryDirectory(prefix="fixed-") as folder:
            _write(Path(folder), count)
            with own_workers(spark):
                identity = _identity(spark, Path(folder))
            frames = {"identity": identity, "FIRST": streamed(spark, Path(folder), FIRST)}
            taken: dict[str, list[float]] = {name: [] for name in frames}
            for name in (*frames, *frames):  # twice each, in turn
                showing.bar(f"{what}: {name}", 0)
                taken[name] += _taken(frames[name])
        base = median(taken["identity"])
        for name, seconds in taken.items():
            ratio = round(median(seconds) / base, 2)
            limits = {"ratio": ratio, "limit": LIMIT, "verdict": verdict(ratio, LIMIT)}
            nothing = {"ratio": None, "limit": None, "verdict": ""}
            row = {"batch": what, "case": name, "seconds": round(median(seconds), 3), "slowest": round(max(seconds), 3)}
            rows.append({**row, **(nothing if name == "identity" else limits)})
    return rows


def _taken(frame: DataFrame) -> list[float]:
    with checkpoint() as place:
        batches = run(frame.writeStream.format("noop"), place)
    return [batch.durationMs["triggerExecution"] / 1e3 for batch in batches][WARM:BATCHES]


def _identity(spark: SparkSession, folder: Path) -> DataFrame:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    frame = reader.parquet(str(folder)).withColumn("bucket", F.col("machine") % CORES)
    schema = frame.schema
    return frame.groupBy("bucket").transformWithStateInPandas(_processor(), schema, "Append", "None")


def _processor() -> Any:
    """Made here so that it is sent to the workers by value."""
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Identity(StatefulProcessor):
        """Gives back what comes."""

        def init(self, handle: Any) -> None:
            self._seen = handle.getValueState("seen", "seen long")

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002 - Spark's names
            seen = self._seen.get()[0] if self._seen.exists() else 0
            for frame in rows:
                seen += len(frame)
                yield frame
            self._seen.update((seen,))

        def close(self) -> None:
            pass

    return Identity()


def _write(folder: Path, count: int) -> None:
    drawn = draw.machines(BATCHES * max(count, 1), 100)
    for number in range(BATCHES):
        part = drawn.take(slice(number * count, (number + 1) * count))
        path = folder / f"part-{number:05}.parquet"
        pa_parquet.write_table(table(part), path)
        os.utime(path, (1_700_000_000 + number,) * 2)
