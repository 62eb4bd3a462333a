"""The same by CEDR on Spark: ``python -m benchmarks.peers.cedr_on_spark CSV OUT CORES``; prints seconds as JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

from pyspark.sql import DataFrame

from benchmarks.expected import FIRST
from benchmarks.on_spark.ours import PAYLOAD, bounded
from benchmarks.peers.clock import contest
from benchmarks.spark_by_hand import session


def main() -> None:
    """Take part in the contest."""
    csv, out, cores = sys.argv[1:]
    begin = perf_counter()
    spark = session(int(cores))

    def pairs() -> DataFrame:
        return bounded(spark, Path(csv), FIRST, columns=PAYLOAD)

    contest(
        lambda folder: pairs().write.csv(folder),
        lambda: pairs().write.format("noop").mode("overwrite").save(),
        out,
        begin,
    )
    spark.stop()


if __name__ == "__main__":
    main()
