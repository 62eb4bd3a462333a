"""Pipelines that do nothing, with files read by the workers: the same as in ``spark_by_hand``, but for the reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F

from benchmarks.expected import Tally
from benchmarks.on_spark.as_many import PAIRS, as_many
from benchmarks.on_spark.ours import checkpoint, form_of, run
from benchmarks.spark_by_hand import BLOBS, CORES, SCHEMA, Measured, idle, packing, tokens_of, unpacking


def bounded(spark: SparkSession, folder: Path, rows: int = 0, columns: str = PAIRS[False]) -> Measured:
    """Read, pack, shuffle, unpack, nothing: over all files at once.  ``rows``: so many leave, all the same."""
    paths = [(str(path),) for path in sorted(folder.iterdir())]
    frame = spark.createDataFrame(paths, "path string").repartition(min(CORES, len(paths)))
    blobs = frame.mapInArrow(_reading(form_of(folder), tokens_of(spark, CORES)), BLOBS)
    unpacked = blobs.repartition(CORES, "bucket").mapInArrow(as_many(unpacking(), rows // CORES, columns), columns)
    counted = Observation("counted")
    start = perf_counter()
    unpacked.observe(counted, F.sum("machine").alias("seen")).write.format("noop").mode("overwrite").save()
    return Measured(perf_counter() - start, Tally(), counted.get["seen"])


def streaming(spark: SparkSession, folder: Path, rows: int = 0, columns: str = PAIRS[True]) -> Measured:
    """The same as a stream, a file a batch, through a stateful operator with no state of its own."""
    schema = "path string, modificationTime timestamp, length long, content binary"
    reader = spark.readStream.format("binaryFile").schema(schema).option("maxFilesPerTrigger", 1)
    paths = reader.load(str(folder)).select(F.regexp_replace("path", "^file:/*", "/").alias("path"))
    blobs = paths.mapInArrow(_reading(form_of(folder), tokens_of(spark, CORES)), BLOBS).groupBy("bucket")
    unpacked = blobs.transformWithStateInPandas(idle(), "seen long", "Append", "None")
    if rows:
        each = rows // CORES // len([*folder.iterdir()])
        unpacked = unpacked.mapInArrow(as_many(iter, each, columns), columns).withColumnRenamed("machine", "seen")
    counted = unpacked.observe("counted", F.sum("seen").alias("seen"))
    start = perf_counter()
    with checkpoint() as place:
        progress = run(counted.writeStream.format("noop"), place)
    seconds = perf_counter() - start
    counts = [batch.observedMetrics["counted"]["seen"] for batch in progress if "counted" in batch.observedMetrics]
    return Measured(seconds, Tally(), sum(count or 0 for count in counts))


def _reading(form: str, tokens: list[int]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Paths become the rows of their files, read as ours are, and these become blobs."""
    pack = packing(tokens)
    header = {"type": "kind", "vs": "ts", "id": "serial"}
    types = dict(column.replace("long", "bigint").split() for column in SCHEMA.split(", "))

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from cedr.spark.layout.layout import FileForm
        from cedr.spark.map_task.formats.lines import Part
        from cedr.spark.map_task.formats.reader import Reader

        reader = Reader(FileForm(form, ",", head=False, zone="UTC", types=types, header=header), list(types))
        paths = (path for batch in batches for path in batch.column("path").to_pylist())
        return pack(pa.RecordBatch.from_pydict(found) for path in paths for found in reader.read(Part(path)))

    return read
