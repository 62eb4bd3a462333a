"""What our host on Spark is compared with: the query by hand for each key, and pipelines that do nothing.

*By hand* is what one would write with Spark alone: ``transformWithStateInPandas``, one group a machine, a list of open
installations as state.  It takes events in the order of time only, and takes nothing back.

The *pipelines that do nothing* read the same files, pack the columns of each bucket into Arrow blobs, shuffle the
blobs and unpack them, and do no more: what moving the data costs, whoever then works on it.

``python -m benchmarks.spark_by_hand [--events N] [--keys N]`` runs them all; each is a function of a session and a
folder.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from time import perf_counter
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from benchmarks import files
from benchmarks.expected import SCOPE, Tally, first_tally
from benchmarks.reporting import keep, print_tables, wide
from cedr.spark.session.session import spark_session

SCHEMA = "kind string, machine long, ts timestamp, serial long, load double"
PAIRS = "machine long, install long, shutdown long, load double"
BLOBS = "bucket int, blob binary"
CORES = 2
STATEFUL = ("transformWithStateInPandas", "applyInPandasWithState")


@dataclass(frozen=True, slots=True)
class Measured:
    """How long a query took, and what it found; a pipeline that does nothing finds nothing, but has seen all events."""

    seconds: float
    tally: Tally
    seen: int = 0


def session(cores: int = CORES, **settings: str) -> SparkSession:
    """A session with everything that stateful Python needs, on this machine."""
    given = {
        "spark.sql.streaming.numRecentProgressUpdates": "10000",
        "spark.sql.adaptive.enabled": "false",
        **settings,
    }
    return spark_session(f"local[{cores}]", app_name="cedr-benchmark", memory="4g", config=given)


# -- by hand ----------------------------------------------------------------------------------------------------------


def first_by_hand(spark: SparkSession, folder: Path, files_per_batch: int = 1) -> Measured:
    """Each INSTALL with its first SHUTDOWN within 12 hours, as a stream: one file a batch, one group a machine."""
    events = _streamed(spark, folder, files_per_batch)
    pairs = events.groupBy("machine").transformWithStateInPandas(_processor(), PAIRS, "Append", "None")
    out = Path(mkdtemp(prefix="pairs-"))
    start = perf_counter()
    _run(pairs.writeStream.format("parquet").option("path", str(out / "pairs")))
    seconds = perf_counter() - start
    tally = Tally()
    found = spark.read.parquet(str(out / "pairs")).toArrow()
    tally.add(found.column("install").to_numpy(), found.column("shutdown").to_numpy())
    shutil.rmtree(out)
    return Measured(seconds, tally)


def _processor() -> Any:
    """The processor, made here so that it is sent to the workers by value."""
    import pandas as pd
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    scope = pd.Timedelta(SCOPE, "us")

    class FirstShutdown(StatefulProcessor):
        """Keeps the installations that no shutdown has followed yet."""

        def init(self, handle: Any) -> None:
            self._open = handle.getListState("open", "ts timestamp, serial long")

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002 - Spark's names
            waiting = list(self._open.get())
            found = []
            events = pd.concat(list(rows)).sort_values("ts")
            for kind, ts, serial, load in events[["kind", "ts", "serial", "load"]].itertuples(index=False):
                if kind == "INSTALL":
                    waiting.append((ts, serial))
                elif kind == "SHUTDOWN":
                    found += [(key[0], install, serial, load) for at, install in waiting if ts - at <= scope]
                    waiting = []
            self._open.put(waiting) if waiting else self._open.clear()
            if found:
                yield pd.DataFrame(found, columns=["machine", "install", "shutdown", "load"])

        def close(self) -> None:
            pass

    return FirstShutdown()


# -- pipelines that do nothing ----------------------------------------------------------------------------------------


def nothing_bounded(spark: SparkSession, folder: Path, buckets: int = CORES) -> Measured:
    """Read, pack, shuffle, unpack, nothing: over all files at once."""
    events = _read(spark.read.schema(SCHEMA), folder)
    blobs = events.mapInArrow(packing(tokens_of(spark, buckets)), BLOBS)
    unpacked = blobs.repartition(buckets, "bucket").mapInArrow(unpacking(), "seen long")
    counted = Observation("counted")
    start = perf_counter()
    unpacked.observe(counted, F.sum("seen").alias("seen")).write.format("noop").mode("overwrite").save()
    return Measured(perf_counter() - start, Tally(), counted.get["seen"])


def nothing_streaming(
    spark: SparkSession, folder: Path, buckets: int = CORES, files_per_batch: int = 1, operator: str = STATEFUL[0]
) -> Measured:
    """The same as a stream, through a stateful operator with one group a bucket and no state of its own."""
    events = _streamed(spark, folder, files_per_batch)
    blobs = events.mapInArrow(packing(tokens_of(spark, buckets)), BLOBS).groupBy("bucket")
    if operator == "transformWithStateInPandas":
        unpacked = blobs.transformWithStateInPandas(idle(), "seen long", "Append", "None")
    else:
        unpacked = blobs.applyInPandasWithState(_idle_by_group(), "seen long", "seen long", "append", "NoTimeout")
    counted = unpacked.observe("counted", F.sum("seen").alias("seen"))
    start = perf_counter()
    progress = _run(counted.writeStream.format("noop"))
    seconds = perf_counter() - start
    counts = [batch.observedMetrics["counted"]["seen"] for batch in progress if "counted" in batch.observedMetrics]
    return Measured(seconds, Tally(), sum(count or 0 for count in counts))


def packing(tokens: list[int]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Rows of a task become one Arrow blob for each bucket, every half million rows."""

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow as pa

        def blobs(held: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            rows = pa.Table.from_batches(held).combine_chunks()
            bucket = rows.column("machine").to_numpy() % len(tokens)
            order = np.argsort(bucket, kind="stable")
            cuts = np.searchsorted(bucket[order], np.arange(len(tokens) + 1))
            rows = rows.take(pa.array(order))
            for number, token in enumerate(tokens):
                part = rows.slice(cuts[number], cuts[number + 1] - cuts[number])
                stream = pa.BufferOutputStream()
                with pa.ipc.new_stream(stream, part.schema) as writer:
                    writer.write_table(part)
                blob = pa.array([stream.getvalue().to_pybytes()], pa.binary())
                yield pa.record_batch({"bucket": pa.array([token], pa.int32()), "blob": blob})

        held, count = [], 0
        for batch in batches:
            held.append(batch)
            count += batch.num_rows
            if count >= 500_000:
                yield from blobs(held)
                held, count = [], 0
        if held:
            yield from blobs(held)

    return pack


def unpacking() -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Blobs become columns again; one row says how many there were."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        seen = 0
        for batch in batches:
            for blob in batch.column("blob"):
                seen += pa.ipc.open_stream(blob.as_buffer()).read_all().num_rows
        yield pa.record_batch({"seen": pa.array([seen], pa.int64())})

    return unpack


def idle() -> Any:
    """A processor that unpacks and does nothing."""
    import pandas as pd
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Idle(StatefulProcessor):
        """Counts what it unpacked, so that nothing can be left out."""

        def init(self, handle: Any) -> None:
            self._seen = handle.getValueState("seen", "seen long")

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: ARG002 - Spark's names
            seen = 0
            for frame in rows:
                for blob in frame["blob"]:
                    seen += pa.ipc.open_stream(pa.py_buffer(blob)).read_all().num_rows
            yield pd.DataFrame({"seen": [seen]})

        def close(self) -> None:
            pass

    return Idle()


def _idle_by_group() -> Any:
    """The same for the older operator."""

    def idle(key: Any, frames: Iterator[Any], state: Any) -> Iterator[Any]:  # noqa: ARG001 - Spark's signature
        import pandas as pd
        import pyarrow as pa

        seen = 0
        for frame in frames:
            for blob in frame["blob"]:
                seen += pa.ipc.open_stream(pa.py_buffer(blob)).read_all().num_rows
        yield pd.DataFrame({"seen": [seen]})

    return idle


def tokens_of(spark: SparkSession, buckets: int) -> list[int]:
    """A number for each bucket such that Spark's hash sends each to a partition of its own."""
    numbers = spark.range(64 * buckets).select(F.col("id").cast("int").alias("token"))
    placed = numbers.select("token", F.pmod(F.hash("token"), F.lit(buckets)).alias("partition"))
    found = {row["partition"]: row["token"] for row in placed.orderBy(F.desc("token")).collect()}
    return [found[partition] for partition in range(buckets)]


# -- reading and running ----------------------------------------------------------------------------------------------


def _read(reader: Any, folder: Path) -> DataFrame:
    form = "csv" if any(folder.glob("*.csv")) else "parquet"
    return reader.format(form).load(str(folder))


def _streamed(spark: SparkSession, folder: Path, files_per_batch: int) -> DataFrame:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", files_per_batch)
    return _read(reader, folder)


def _run(writer: Any) -> list[Any]:
    """Everything that is there, batch by batch, with a checkpoint; what Spark reports of each batch."""
    checkpoint = mkdtemp(prefix="checkpoint-")
    query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    query.awaitTermination()
    shutil.rmtree(checkpoint)
    return list(query.recentProgress)


def main() -> None:
    """Run all of them over the same files."""
    parser = argparse.ArgumentParser(prog="benchmarks.spark_by_hand", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=1_000_000, help="how many events")
    parser.add_argument("--keys", type=int, default=20_000, help="of how many machines")
    given = parser.parse_args()
    written = files.write(given.events, given.keys)
    spark, expected = session(), first_tally(written.drawn)
    runs: dict[str, Callable[[], Measured]] = {
        "nothing, bounded, warming up": lambda: nothing_bounded(spark, written.parquet),
        "nothing, bounded, Parquet": lambda: nothing_bounded(spark, written.parquet),
        "nothing, bounded, CSV": lambda: nothing_bounded(spark, written.csv),
        "nothing, streaming, warming up": lambda: nothing_streaming(spark, written.parquet),
        "nothing, streaming, Parquet": lambda: nothing_streaming(spark, written.parquet),
        "nothing, streaming, CSV": lambda: nothing_streaming(spark, written.csv),
        "nothing, streaming, older operator": lambda: nothing_streaming(
            spark, written.parquet, operator="applyInPandasWithState"
        ),
        "FIRST by hand, streaming": lambda: first_by_hand(spark, written.parquet),
    }
    rows = []
    for name, run in runs.items():
        measured = run()
        rate = round(given.events / measured.seconds / 1e6, 3)
        right = measured.tally == expected if measured.tally.count else measured.seen == given.events
        row = {"case": name, "pairs": measured.tally.count, "right": right}
        rows.append({**row, "seconds": round(measured.seconds, 2), "million events/s": rate})
        print(rows[-1], flush=True)
    spark.stop()
    console = wide()
    print_tables(console, {"on Spark": rows})
    console.print(f"kept in {keep('spark_by_hand', {'on Spark': rows}, vars(given))}")


if __name__ == "__main__":
    main()
