"""The same by DuckDB's as-of join: ``duckdb_asof.py CSV OUT THREADS``; prints seconds as JSON.

For orientation only: it sees all events at once, in any order, and knows no pattern but this one.  Run by the Python of
the peers' environment.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import duckdb
from clock import contest

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
    """Take part in the contest."""
    csv, out, threads = sys.argv[1:]
    begin = perf_counter()
    connection = duckdb.connect(config={"threads": int(threads)})

    def write(folder: str) -> None:
        Path(folder).mkdir(parents=True)
        connection.execute(QUERY.format(csv=csv, out=folder))

    contest(write, lambda: connection.execute(MATCHING.format(csv=csv)).fetchall(), out, begin)


main()
