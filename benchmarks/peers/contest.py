"""Who takes part: each is given the folder of CSV files and a folder to write pairs to, and gives its seconds.

To take part, add a function to ``CONTESTANTS``: ``(csv, out) -> Finding``.  It reads the files, finds each INSTALL with
its first SHUTDOWN within 12 hours, and writes machine, install, shutdown and load as CSV files without a header below
``out``; its seconds are those from files to files, once it is warm (``clock``).  It runs the same into a sink that
keeps nothing, too: ``matching`` are the seconds of that, without what writing CSV takes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv

from benchmarks.expected import Tally
from benchmarks.peers.environment import HERE, python

CORES = 2
COLUMNS = ("machine", "install", "shutdown", "load")


@dataclass(frozen=True, slots=True)
class Finding:
    """Seconds of the query, with and without writing, of what came before it, and of all cores where that is known."""

    seconds: float
    matching: float
    start: float = 0.0
    cpu: float | None = None


Contestant = Callable[[Path, Path], Finding]


def flink(csv: Path, out: Path) -> Finding:
    """Flink SQL, bounded, on a cluster inside one process."""
    return _other(HERE / "flink_sql.py", csv, out)


def duckdb(csv: Path, out: Path) -> Finding:
    """DuckDB, inside one process."""
    return _other(HERE / "duckdb_asof.py", csv, out)


def cedr_on_spark(csv: Path, out: Path) -> Finding:
    """CEDR on Spark, bounded, in a session of its own."""
    command = [sys.executable, "-m", "benchmarks.peers.cedr_on_spark", csv, out, str(CORES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"peers: CEDR failed\n{done.stdout}{done.stderr}")
    return Finding(**json.loads(done.stdout.splitlines()[-1]))


FLINK = "Flink SQL, MATCH_RECOGNIZE"
CONTESTANTS: dict[str, Contestant] = {FLINK: flink, "DuckDB, as-of join": duckdb, "CEDR on Spark": cedr_on_spark}


def found_in(out: Path) -> Tally:
    """What was written: how many pairs, and their checksum."""
    tally = Tally()
    types = dict(zip(COLUMNS, (pa.int64(), pa.int64(), pa.int64(), pa.float64()), strict=True))
    for path in (path for path in sorted(out.rglob("*")) if path.is_file() and path.stat().st_size):
        if path.name.startswith((".", "_")):
            continue
        pairs = pa_csv.read_csv(
            path, pa_csv.ReadOptions(column_names=COLUMNS), convert_options=pa_csv.ConvertOptions(column_types=types)
        )
        tally.add(pairs.column("install").to_numpy(), pairs.column("shutdown").to_numpy())
    return tally


def _other(script: Path, csv: Path, out: Path) -> Finding:
    """A script of the peers' environment, with two cores."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "FLINK"))}
    command = [python().absolute(), script, csv, out, str(CORES)]
    done = subprocess.run(command, env=kept, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"peers: {script.name} failed\n{done.stdout}{done.stderr}")
    return Finding(**json.loads(done.stdout.splitlines()[-1]))
