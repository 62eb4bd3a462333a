"""A session with Spark's own defaults beside ``cedr.spark_session``: does a query care?

Each run is a process and a session of its own, because a session cannot be made anew in a process that had another one.
The two take turns.  A run takes one query bounded and as a stream, once to warm up and once to measure.  The verdict is
by the seconds of all cores, which other programs disturb less than those on the wall.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.expected import FIRST
from benchmarks.measuring import Showing, verdict
from benchmarks.on_spark.ours import bounded, counted_bounded, counted_stream, streamed
from cedr.spark.session.check_session import ROCKSDB, STATE_STORE
from cedr.spark.session.session import spark_session

LIMIT = 1.5
"""So many times what it takes on a session of ours."""
SESSIONS = ("cedr.spark_session", "Spark's defaults")
CASES = ("bounded", "stream, first run", "stream")


def defaults(folder: Path, rounds: int, showing: Showing) -> list[dict[str, Any]]:
    """Seconds on both sessions, on the wall and of all cores: the medians of all rounds."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {which: {case: [] for case in CASES} for which in SESSIONS}
    done = showing.bar("sessions", rounds * len(SESSIONS))
    for _ in range(rounds):
        for which in SESSIONS:
            command = [sys.executable, "-m", "benchmarks.on_spark.defaults", which, str(folder)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            if run.returncode:
                sys.exit(f"{which}: {run.stderr}")
            told = run.stdout.splitlines()[-1]
            for case, (seconds, processor) in json.loads(told).items():
                found[which][case].append((seconds, processor))
            showing.say(f"{which}: {told}")
            done()
    rows = []
    for case in CASES:
        wall, processor = (
            [median(each[clock] for each in found[which][case]) for which in SESSIONS] for clock in (0, 1)
        )
        ours, theirs = processor if all(processor) else wall
        shown = dict(zip(SESSIONS, (round(seconds, 2) for seconds in wall), strict=True))
        rows.append(
            {
                "case": case,
                **shown,
                "times": round(wall[1] / wall[0], 2),
                "CPU, ours": round(processor[0], 2),
                "CPU, theirs": round(processor[1], 2),
                "CPU times": round(theirs / ours, 2),
                "limit": LIMIT,
                "verdict": verdict(theirs / ours, LIMIT),
            }
        )
    return rows


def _session(which: str) -> SparkSession:
    if which == SESSIONS[0]:
        return spark_session()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return SparkSession.builder.config(STATE_STORE, ROCKSDB).getOrCreate()


def _measure(which: str, folder: Path) -> dict[str, tuple[float, float]]:
    spark = _session(which)
    first_bounded = counted_bounded(bounded(spark, folder, FIRST))
    once = counted_bounded(bounded(spark, folder, FIRST))
    first = counted_stream(streamed(spark, folder, FIRST))
    second = counted_stream(streamed(spark, folder, FIRST))
    assert first_bounded.rows == once.rows == first.rows == second.rows
    spark.stop()
    costs = (ran.cost for ran in (once, first, second))
    return dict(zip(CASES, ((cost.seconds, cost.cpu or 0.0) for cost in costs), strict=True))


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], Path(sys.argv[2]))))
