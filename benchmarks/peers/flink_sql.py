"""Runs ``first.sql`` in a Flink of this process, bounded: ``flink_sql.py CSV OUT PARALLELISM``; prints seconds as JSON.

Run by the Python of the peers' environment.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

from clock import contest
from pyflink.table import EnvironmentSettings, TableEnvironment


def main() -> None:
    """Take part in the contest."""
    csv, out, parallelism = sys.argv[1:]
    begin = perf_counter()
    contest(
        lambda folder: _run(_insertion(csv, folder, parallelism)),
        lambda: _run(_insertion(csv, out, parallelism, keeps=False)),
        out,
        begin,
    )


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
