"""Runs ``first.sql`` in a Flink of this process, bounded: ``flink_sql.py CSV OUT PARALLELISM``; prints seconds as JSON.

Run by the Python of the peers' environment.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from family_cpu import family_cpu
from pyflink.table import EnvironmentSettings, TableEnvironment


def main() -> None:
    """Run the query once to warm up, once for the clock, and once more without writing."""
    csv, out, parallelism = sys.argv[1:]
    begin = perf_counter()
    with TemporaryDirectory(prefix="warm-", dir=Path(out).parent) as folder:
        _run(_insertion(csv, folder, parallelism))
    insertion = _insertion(csv, out, parallelism)
    start, cpu = perf_counter(), family_cpu()
    _run(insertion)
    seconds, used = perf_counter() - start, family_cpu()
    into_nothing = _insertion(csv, out, parallelism, keeps=False)
    again = perf_counter()
    _run(into_nothing)
    found = {"seconds": seconds, "matching": perf_counter() - again, "start": start - begin}
    print(json.dumps({**found, "cpu": None if used is None else used - cpu}))


def _insertion(csv: str, out: str, parallelism: str, *, keeps: bool = True) -> tuple[TableEnvironment, str]:
    """The tables, and the statement that fills the second from the first."""
    tables = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    for name, value in (("parallelism.default", parallelism), ("table.local-time-zone", "UTC")):
        tables.get_config().set(name, value)
    text = (Path(__file__).parent / "first.sql").read_text("utf-8")
    folders = {"{csv}": Path(csv).resolve().as_uri(), "{out}": Path(out).resolve().as_uri()}
    for mark, folder in folders.items():
        text = text.replace(mark, folder)
    *definitions, query = (statement for statement in text.split(";") if statement.strip())
    if not keeps:
        definitions[-1] = definitions[-1].partition("WITH")[0] + "WITH ('connector' = 'blackhole')"
    for definition in definitions:
        tables.execute_sql(definition)
    return tables, query


def _run(insertion: tuple[TableEnvironment, str]) -> None:
    tables, query = insertion
    tables.execute_sql(query).wait()


main()
