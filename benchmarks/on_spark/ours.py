"""The queries by our host on Spark, over the same files as everyone else: bounded, and as a stream."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter, sleep
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from benchmarks.expected import Tally
from benchmarks.peers.family_cpu import family_seconds
from benchmarks.spark_by_hand import SCHEMA
from cedr.spark.api.files import files
from cedr.spark.api.query import query
from cedr.spark.sources.events import events

PAYLOAD = ("machine", "install", "shutdown", "load")
"""What the queries say of a match, and what the query by hand says of it."""


@dataclass(slots=True)
class Cost:
    """Seconds on the wall, and of all cores in this process, the JVM and the workers."""

    seconds: float = 0.0
    cpu: float | None = None


@dataclass(slots=True)
class Ran:
    """What one run took and gave."""

    cost: Cost
    rows: int
    """Inserts less retractions; of a bounded query, rows."""
    batches: list[Any] = field(default_factory=list)
    """What Spark reports of each batch."""


@contextmanager
def costing() -> Iterator[Cost]:
    """What the lines within cost."""
    cost = Cost()
    before, start = family_seconds(), perf_counter()
    yield cost
    cost.seconds = perf_counter() - start
    after = family_seconds()
    known = before and before.keys() <= after.keys()  # what one who has ended had used before is not told any more
    cost.cpu = sum(after.values()) - sum(before.values()) if known else None


def form_of(folder: Path) -> str:
    """CSV or Parquet."""
    return "csv" if any(folder.glob("*.csv")) else "parquet"


def named(text: str) -> str:
    """A query with the attributes named as the columns of the files are."""
    return text.replace("Machine_Id", "machine").replace(".Serial", ".serial").replace(".Load", ".load")


HEADER = {"type": "kind", "time": "ts", "id": "serial"}
"""An event is known by its serial number."""
ATTRIBUTES = ("machine", "serial", "load")


def bounded(spark: SparkSession, folder: Path, text: str, *, direct: bool = True, **options: Any) -> DataFrame:
    """The result of a query over all files at once, which the workers read, or Spark."""
    form = form_of(folder)
    if direct:
        given = files(spark, folder, SCHEMA, format=form, **HEADER, attributes=ATTRIBUTES)
    else:
        given = events(spark.read.schema(SCHEMA).format(form).load(str(folder)), **HEADER, attributes=ATTRIBUTES)
    return query(named(text), given, **options)


def streamed(spark: SparkSession, folder: Path, text: str, *, direct: bool = True, **options: Any) -> DataFrame:
    """The change stream of a query, a file a batch; the files follow each other in time."""
    form = form_of(folder)
    how: dict[str, Any] = {**HEADER, "attributes": ATTRIBUTES, "disorder": 0}
    if direct:
        given = files(spark, folder, SCHEMA, format=form, streaming=True, files_per_batch=1, **how)
    else:
        reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        given = events(reader.format(form).load(str(folder)), **how)
    return query(named(text), given, **options)


def counted_bounded(frame: DataFrame) -> Ran:
    """Run it into a sink that takes everything and keeps nothing; Spark tells how many rows the workers gave."""
    with costing() as cost:
        frame.write.format("noop").mode("overwrite").save()
    return Ran(cost, _rows_given(frame.sparkSession))


def _rows_given(spark: SparkSession) -> int:
    """The rows that came out of the Python nodes of the newest execution: its result, and what was packed before."""
    store = spark._jsparkSession.sharedState().statusStore()
    for _ in range(100):
        newest = store.executionsList().last()
        if newest.completionTime().isDefined() and newest.metricValues() is not None:
            break
        sleep(0.05)
    said = spark.sparkContext._jvm.scala.jdk.javaapi.CollectionConverters.asJava(newest.metricValues())
    graph = spark.sparkContext._jvm.scala.jdk.javaapi.CollectionConverters.asJava(
        store.planGraph(newest.executionId()).allNodes()
    )
    found = []
    for node in graph:
        for number in range(node.metrics().size()):
            metric = node.metrics().apply(number)
            if node.name() == "MapInArrow" and metric.name() == "number of output rows":
                found.append(int(said[metric.accumulatorId()].replace(",", "")))
    return max(found)


def counted_stream(frame: DataFrame) -> Ran:
    """The same as a stream, with a checkpoint; what is counted is in Spark's own report of each batch."""
    with checkpoint() as place, costing() as cost:
        batches = run(frame.writeStream.format("noop"), place)
    said = [each.asDict() for batch in batches for each in batch.observedMetrics.values()]
    inserts, retractions = (sum(each[name] or 0 for each in said) for name in ("inserts", "retractions"))
    others = sum(batch.sink.numOutputRows for batch in batches) - inserts - retractions
    assert 0 <= others <= 4 * len(batches), "beside them there is a guarantee for each bucket"
    return Ran(cost, inserts - retractions, batches)


@contextmanager
def own_workers(spark: SparkSession) -> Iterator[None]:
    """For pipelines to compare with: they run in Python processes of their own, as they would where we are not.

    Ours settle theirs, and whoever shares them is faster for it.
    """
    environment = spark.sparkContext.environment
    environment["CEDR_BESIDE"] = "1"
    try:
        yield
    finally:
        del environment["CEDR_BESIDE"]


def written_bounded(frame: DataFrame) -> tuple[Cost, Tally]:
    """Run it into Parquet files; what is in them."""
    with _folder() as out:
        with costing() as cost:
            frame.select(*PAYLOAD).write.parquet(str(out / "pairs"))
        return cost, _tally(frame.sparkSession.read.parquet(str(out / "pairs")))


def written_stream(frame: DataFrame) -> tuple[Cost, Tally]:
    """The same as a stream, exactly once."""
    with _folder() as out, checkpoint() as place:
        with costing() as cost:
            run(
                frame.select("change", *PAYLOAD).writeStream.format("parquet").option("path", str(out / "pairs")), place
            )
        return cost, _tally(frame.sparkSession.read.parquet(str(out / "pairs")))


def run(writer: Any, place: Path) -> list[Any]:
    """Everything that is there, batch by batch; what Spark reports of each batch that had something to do."""
    running = writer.option("checkpointLocation", str(place)).trigger(availableNow=True).start()
    running.awaitTermination()
    return list(running.recentProgress)


@contextmanager
def checkpoint() -> Iterator[Path]:
    """A folder for a checkpoint, removed afterwards."""
    with _folder("checkpoint-") as place:
        yield place


@contextmanager
def _folder(prefix: str = "pairs-") -> Iterator[Path]:
    place = Path(mkdtemp(prefix=prefix))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _tally(frame: DataFrame) -> Tally:
    tally = Tally()
    said = frame.toArrow()
    if "change" in said.column_names:
        for batch in said.combine_chunks().to_batches():
            tally.add_changes(batch)
    else:
        tally.add(said.column("install").to_numpy(), said.column("shutdown").to_numpy())
    return tally
