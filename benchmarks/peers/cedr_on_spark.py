"""The same by CEDR on Spark: ``python -m benchmarks.peers.cedr_on_spark CSV OUT CORES``; prints seconds as JSON.

What it takes to start includes the query over some files: a Spark has its workers, with our kernels in them, only when
something has run.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.expected import FIRST
from benchmarks.on_spark.ours import PAYLOAD, bounded
from benchmarks.peers.family_cpu import family_cpu
from benchmarks.spark_by_hand import session


def main() -> None:
    """Run the query."""
    csv, out, cores = sys.argv[1:]
    begin = perf_counter()
    spark = session(int(cores))
    with TemporaryDirectory() as folder:
        part = Path(folder) / "in"
        part.mkdir()
        some = sorted(Path(csv).iterdir())[: int(cores)]
        for path in some:
            os.symlink(path.resolve(), part / path.name)
        bounded(spark, part, FIRST, columns=PAYLOAD).write.csv(str(Path(folder) / "out"))
    start, cpu = perf_counter(), family_cpu()
    bounded(spark, Path(csv), FIRST, columns=PAYLOAD).write.csv(out)
    seconds, used = perf_counter() - start, family_cpu()
    found = {"seconds": seconds, "start": start - begin, "cpu": None if used is None or cpu is None else used - cpu}
    spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
