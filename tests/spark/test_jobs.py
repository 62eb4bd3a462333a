"""The same job file on the local host and on Spark: the same table in SQLite."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import cedr
from cedr.jobs.file.reading import read_job
from cedr.jobs.on_spark import run_on_spark
from tests.jobs.cases import Watching, events, write_lines

pytestmark = pytest.mark.spark

JOB = """
[sources.tickets]
path = "in/"
type = "kind"
time = "at"
time_unit = "s"
id = "no"
disorder = "200 seconds"
[types.OPEN]
attributes = { ticket = "STRING" }
[types.CLOSE]
attributes = { ticket = "STRING" }
[queries]
text = '''
EVENT Unanswered
WHEN UNLESS(OPEN AS o, CLOSE AS c, 10 seconds)
WHERE CorrelationKey(ticket, EQUAL)
OUTPUT o.ticket AS ticket
'''
[outputs.view]
kind = "sqlite"
path = "answers.db"
[run]
mode = "MODE"
bad_rows = 0.5
"""


def table(folder: Path) -> list[Any]:
    with sqlite3.connect(folder / "answers.db") as database:
        rows = database.execute("SELECT id, Vs, Ve, ticket FROM Unanswered").fetchall()
    database.close()
    return sorted(rows)


def job(folder: Path, mode: str, host: str) -> None:
    path = folder / "job.toml"
    path.write_text(f'host = "{host}"\n' + JOB.replace("MODE", mode))
    asked = read_job(path, environment={})
    if host == "spark":
        run_on_spark(asked, lambda _: None)
        return
    from cedr.jobs.starting import start

    running = start(asked, Watching())
    running.loop.run(lambda _: None)
    running.loop.close()


def rows() -> list[dict[str, Any]]:
    """Without the broken row: its value decides what Spark takes the column for."""
    return [row for row in events() if row["at"] != "never"]


@pytest.mark.parametrize("mode", ["once", "available"])
def test_a_job_has_the_same_table_on_both_hosts(spark: Any, mode: str, tmp_path: Path) -> None:
    assert spark is not None
    tables = []
    for host in ("local", "spark"):
        folder = tmp_path / host
        write_lines(folder / "in" / "a.jsonl", rows()[:60])
        if mode == "available":
            job(folder, mode, host)
        write_lines(folder / "in" / "b.jsonl", rows()[60:])
        job(folder, mode, host)
        tables.append(table(folder))
    assert tables[0] == tables[1]
    assert len(tables[0]) > 3


def test_a_source_that_spark_has_no_word_for_is_refused(spark: Any, tmp_path: Path) -> None:
    assert spark is not None
    path = tmp_path / "job.toml"
    path.write_text(JOB.replace("MODE", "once").replace('path = "in/"', 'kind = "stdin"'))
    with pytest.raises(cedr.HostError, match="the host spark does not read stdin"):
        run_on_spark(read_job(path, environment={}), lambda _: None)
