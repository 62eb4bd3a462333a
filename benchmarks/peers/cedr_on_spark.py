"""The same by CEDR on Spark: ``python -m benchmarks.peers.cedr_on_spark CSV OUT CORES``; prints seconds as JSON.

What it takes to start includes the query once over the same files, as with all contestants: a Spark has its workers,
with our kernels in them, only when something has run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.expected import FIRST
from benchmarks.on_spark.ours import PAYLOAD, bounded
from benchmarks.peers.family_cpu import family_cpu
from benchmarks.spark_by_hand import session


def main() -> None:
    """Run the query once to warm up, once for the clock, and once more without writing."""
    csv, out, cores = sys.argv[1:]
    begin = perf_counter()
    spark = session(int(cores))
    with TemporaryDirectory(prefix="warm-", dir=Path(out).parent) as folder:
        bounded(spark, Path(csv), FIRST, columns=PAYLOAD).write.csv(str(Path(folder) / "out"))
    start, cpu = perf_counter(), family_cpu()
    bounded(spark, Path(csv), FIRST, columns=PAYLOAD).write.csv(out)
    seconds, used = perf_counter() - start, family_cpu()
    again = perf_counter()
    bounded(spark, Path(csv), FIRST, columns=PAYLOAD).write.format("noop").mode("overwrite").save()
    found = {
        "seconds": seconds,
        "matching": perf_counter() - again,
        "start": start - begin,
        "cpu": None if used is None or cpu is None else used - cpu,
    }
    spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
