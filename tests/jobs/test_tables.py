"""Tables as sources: versions of a Delta table, and rows of PostgreSQL that are added and changed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import cedr
from tests.jobs.cases import Crash, Store, run, started, store
from tests.jobs.test_exactly_once import crashing
from tests.sinks import postgres

__all__ = ["store"]
pytestmark = pytest.mark.slow

JOB = """
[sources.customers]
{source}
type = "CUSTOMER"
time = "since"
time_unit = "ticks"
id = "id"
[types.CUSTOMER]
attributes = {{ name = "STRING", city = "STRING" }}
[queries]
text = "EVENT Q WHEN ANY(CUSTOMER AS c) OUTPUT c.name AS name, c.city AS city"
[outputs.all]
kind = "memory"
[run]
batch = 2
mode = "available"
"""


def rows(*numbers: int) -> pa.Table:
    named = [{"id": f"c{number}", "since": number, "name": f"N{number}", "city": "Bari"} for number in numbers]
    return pa.Table.from_pylist(named)


def names(store: Store) -> list[str]:
    return sorted(row["name"] for row in store.rows["Q"] if row["change"] == "insert")


def test_each_version_of_a_delta_table_is_read_once(tmp_path: Path, store: Store) -> None:
    delta = pytest.importorskip("deltalake")
    text = JOB.format(source='kind = "delta"\ntable = "customers"')
    with pytest.raises(cedr.StreamError, match="cannot read the Delta table"):
        started(tmp_path, text)
    table = str(tmp_path / "customers")
    delta.write_deltalake(table, rows(1, 2, 3))
    run(tmp_path, text)
    assert names(store) == ["N1", "N2", "N3"]
    for number in (4, 5):
        delta.write_deltalake(table, rows(number), mode="append")
    with pytest.raises(Crash):
        run(tmp_path, text, crashing("stored", 1))
    run(tmp_path, text)
    assert names(store) == ["N1", "N2", "N3", "N4", "N5"]
    delta.write_deltalake(table, rows(9), mode="overwrite")
    with pytest.raises(cedr.StreamError, match="removes or rewrites rows that were read before"):
        run(tmp_path, text)


def test_rows_of_postgres_come_by_their_cursor(tmp_path: Path, store: Store) -> None:
    psycopg = pytest.importorskip("psycopg")
    if postgres.binaries() is None:
        pytest.skip(postgres.MISSING)
    with postgres.server() as address, psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE customers (id text, since bigint, name text, city text, changed bigint)")

        def add(number: int, changed: int) -> None:
            values = (f"c{number}", number, f"N{number}", "Bari", changed)
            connection.execute("INSERT INTO customers VALUES (%s, %s, %s, %s, %s)", values)

        for number, changed in ((1, 1), (2, 2), (3, 2), (4, 2), (5, 3)):
            add(number, changed)
        source = f'kind = "postgres"\nconnection = "{address.replace("password=never-shown", "")}"\nrows = "customers"'
        text = JOB.format(source=source + '\ncursor = "changed"')
        with pytest.raises(Crash):
            run(tmp_path, text, crashing("read", 2))
        connection.execute("UPDATE customers SET name = 'other', changed = 9 WHERE id = 'c2'")
        run(tmp_path, text)
        assert names(store)[:5] == ["N1", "N2", "N3", "N4", "N5"]
        add(6, 10)
        run(tmp_path, text)
        assert "N6" in names(store)
        with pytest.raises(cedr.StreamError, match="cannot-read"):
            run(tmp_path / "job.checkpoint", text.replace('cursor = "changed"', 'cursor = "nothing"'))
    with pytest.raises(cedr.StreamError, match="cannot-connect") as raised:
        run(tmp_path, text)
    assert "never-shown" not in str(raised.value)
