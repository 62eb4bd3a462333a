"""A session with Spark's own defaults beside ``cedr.spark_session``: does a query care?

Each run is a process and a session of its own, because a session cannot be made anew in a process that had another one.
The two take turns.  A run takes one query bounded and as a stream, once to warm up and once to measure.
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
from benchmarks.measuring import Showing
from benchmarks.on_spark.ours import bounded, counted_bounded, counted_stream, streamed
from cedr.spark.session.checking import ROCKSDB, STATE_STORE
from cedr.spark.session.session import spark_session

LIMIT = 1.5
"""So many times what it takes on a session of ours."""
SESSIONS = ("cedr.spark_session", "Spark's defaults")
CASES = ("bounded", "stream, first run", "stream")


def defaults(folder: Path, rounds: int, showing: Showing) -> list[dict[str, Any]]:
    """Seconds on both sessions, the medians of all rounds."""
    found: dict[str, dict[str, list[float]]] = {which: {case: [] for case in CASES} for which in SESSIONS}
    done = showing.bar("sessions", rounds * len(SESSIONS))
    for _ in range(rounds):
        for which in SESSIONS:
            command = [sys.executable, "-m", "benchmarks.on_spark.defaults", which, str(folder)]
            told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
            for case, seconds in json.loads(told).items():
                found[which][case].append(seconds)
            showing.say(f"{which}: {told}")
            done()
    rows = []
    for case in CASES:
        ours, theirs = (median(found[which][case]) for which in SESSIONS)
        times = round(theirs / ours, 2)
        shown = {which: round(median(found[which][case]), 2) for which in SESSIONS}
        verdict = "ok" if times <= LIMIT else "over"
        rows.append({"case": case, **shown, "times": times, "limit": LIMIT, "verdict": verdict})
    return rows


def _session(which: str) -> SparkSession:
    if which == SESSIONS[0]:
        return spark_session()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return SparkSession.builder.config(STATE_STORE, ROCKSDB).getOrCreate()


def _measure(which: str, folder: Path) -> dict[str, float]:
    spark = _session(which)
    first_bounded = counted_bounded(bounded(spark, folder, FIRST))
    once = counted_bounded(bounded(spark, folder, FIRST))
    first = counted_stream(streamed(spark, folder, FIRST))
    second = counted_stream(streamed(spark, folder, FIRST))
    assert first_bounded.rows == once.rows == first.rows == second.rows
    spark.stop()
    return dict(zip(CASES, (once.cost.seconds, first.cost.seconds, second.cost.seconds), strict=True))


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], Path(sys.argv[2]))))
