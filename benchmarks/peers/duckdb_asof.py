"""The same by DuckDB's as-of join: ``duckdb_asof.py CSV OUT THREADS``; prints seconds as JSON.

For orientation only: it sees all events at once, in any order, and knows no pattern but this one.  Run by the Python of
the peers' environment.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import duckdb
from family_cpu import family_cpu

PAIRS = """
    WITH events AS (
        SELECT * FROM read_csv('{csv}/*.csv', header = false, columns = {{
            'kind': 'VARCHAR', 'machine': 'BIGINT', 'ts': 'TIMESTAMP', 'serial': 'BIGINT', 'load': 'DOUBLE'
        }})
    )
    SELECT x.machine, x.serial AS install, y.serial AS shutdown, y.load
    FROM (SELECT * FROM events WHERE kind = 'INSTALL') AS x
    ASOF JOIN (SELECT * FROM events WHERE kind = 'SHUTDOWN') AS y
    ON x.machine = y.machine AND x.ts < y.ts
    WHERE y.ts - x.ts <= INTERVAL 12 HOUR
"""
QUERY = f"COPY ({PAIRS}) TO '{{out}}/part-0.csv' (HEADER false)"
MATCHING = f"SELECT count(*), sum(machine), sum(install), sum(shutdown), sum(load) FROM ({PAIRS})"


def main() -> None:
    """Run the query once to warm up, once for the clock, and once more without writing."""
    csv, out, threads = sys.argv[1:]
    Path(out).mkdir(parents=True)
    begin = perf_counter()
    connection = duckdb.connect(config={"threads": int(threads)})
    with TemporaryDirectory(prefix="warm-", dir=Path(out).parent) as folder:
        connection.execute(QUERY.format(csv=csv, out=folder))
    start, cpu = perf_counter(), family_cpu()
    connection.execute(QUERY.format(csv=csv, out=out))
    seconds, used = perf_counter() - start, family_cpu()
    again = perf_counter()
    connection.execute(MATCHING.format(csv=csv)).fetchall()
    found = {"seconds": seconds, "matching": perf_counter() - again, "start": start - begin}
    print(json.dumps({**found, "cpu": None if used is None else used - cpu}))


main()
