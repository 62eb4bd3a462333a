"""What a batch of 10,000 events takes, with durable state, against a small state and against a large one.

The small state is a part of the large one, as in ``benchmarks/state_size.py``: both get the very same batches.
"""

from __future__ import annotations

import os
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow.parquet as pa_parquet
from pyspark.sql import SparkSession

from benchmarks import machines as draw
from benchmarks.expected import FIRST, first_tally
from benchmarks.files import table
from benchmarks.machines import Machines
from benchmarks.measuring import Showing, verdict
from benchmarks.on_spark.ours import counted_stream, streamed
from benchmarks.state_size import PROBE, PROBES, SPAN, joined, probe_events

LIMIT = 1.5
LOAD = 500_000


def growth(spark: SparkSession, large: int, small: int, showing: Showing) -> list[dict[str, Any]]:
    """The ratio of the medians of the batches that come last."""
    every, keys = max(1, large // small), max(1, large // 10)
    everything = draw.machines(large, keys, span=SPAN, seed=11)
    part = everything.take(everything.key % every == 0)
    probes = probe_events(keys, every, large)
    probes = probes.take(slice(0, PROBES * PROBE))
    found = []
    for state in (part, everything):
        showing.bar(f"batches against {len(state):,} events", 0)
        with TemporaryDirectory(prefix="growth-") as folder:
            _write(state, probes, Path(folder))
            ran = counted_stream(streamed(spark, Path(folder), FIRST))
        right = ran.rows == first_tally(joined(state, probes)).count
        batches = [batch for batch in ran.batches if batch.numInputRows]  # of files, where workers read them
        taken = [batch.durationMs["triggerExecution"] / 1e3 for batch in batches[-PROBES:]]
        rows = [each["state_rows"] for each in batches[-1].observedMetrics.values() if "state_rows" in each.asDict()]
        found.append((len(state), taken[1:], right, rows))
    return [_row(found, each) for each in found]


def _row(found: list[Any], each: Any) -> dict[str, Any]:
    events, taken, right, rows = each
    ratio = round(median(taken) / median(found[0][1]), 2)
    first = each is found[0]
    return {
        "case": f"{PROBE:,} events against {events:,}",
        "right": right,
        "rows of state": rows[0] if rows else None,
        "seconds": round(median(taken), 3),
        "slowest": round(max(taken), 3),
        "ratio": None if first else ratio,
        "limit": None if first else LIMIT,
        "verdict": "" if first else verdict(ratio, LIMIT),
    }


def _write(state: Machines, probes: Machines, folder: Path) -> None:
    """Files in the order of time, and with modification times that say so: Spark takes them in that order."""
    parts = [state.take(slice(low, low + LOAD)) for low in range(0, len(state), LOAD)]
    parts += [probes.take(slice(low, low + PROBE)) for low in range(0, len(probes), PROBE)]
    for number, part in enumerate(parts):
        path = folder / f"part-{number:05}.parquet"
        pa_parquet.write_table(table(part), path)
        os.utime(path, (1_700_000_000 + number,) * 2)
