"""Each kind of view: how to make one, and how to read it as somebody else would."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field, write_deltalake
from deltalake.schema import PrimitiveType

from cedr.model.event import Event
from cedr.model.time import FOREVER
from cedr.sinks.contract import Sink
from cedr.sinks.views.delta import Delta
from cedr.sinks.views.duckdb import DuckDb
from cedr.sinks.views.postgres import Postgres
from cedr.sinks.views.sqlite import Sqlite
from cedr.sinks.views.table import Table

Row = tuple[Any, ...]
_DOES = {
    "alter": "ALTER TABLE VIEW ADD COLUMN more INTEGER",
    "drop": "DROP TABLE VIEW",
    "delete": "DELETE FROM VIEW",
    "take": "CREATE TABLE VIEW (x INTEGER)",
}


@dataclass(frozen=True)
class Place:
    """One place for one view."""

    make: Callable[[], Sink]
    read: Callable[[str], list[Row]]
    """Runs a statement, whose table is VIEW; each database has its own names for columns."""
    do: Callable[[str], object]
    """Does to it what somebody else might: alter, drop, delete, take (make something else under its name)."""

    def rows(self, columns: list[str]) -> list[Row]:
        """The rows of the view in those columns, sorted."""
        return sorted(self.read(", ".join(columns)), key=repr)


def sqlite_place(folder: Path) -> Place:
    path = folder / "views.db"

    def run(statement: str) -> list[Row]:
        connection = sqlite3.connect(path)
        try:
            with connection:
                return connection.execute(statement.replace("VIEW", "answers")).fetchall()
        finally:
            connection.close()

    return Place(
        lambda: Table(Sqlite(path), "answers"),
        lambda names: run(f"SELECT {names} FROM VIEW"),
        do=lambda what: run(_DOES[what]),
    )


def duckdb_place(folder: Path) -> Place:
    path = folder / "views.duckdb"

    def run(statement: str) -> list[Row]:
        with duckdb.connect(str(path)) as connection:
            return connection.execute(statement.replace("VIEW", "answers")).fetchall()

    return Place(
        lambda: Table(DuckDb(path), "answers"),
        lambda names: run(f"SELECT {names} FROM VIEW"),
        do=lambda what: run(_DOES[what]),
    )


def postgres_place(connection: str, table: str) -> Place:
    def run(statement: str) -> list[Row]:
        with psycopg.connect(connection, autocommit=True) as found:
            done = found.execute(statement.replace("VIEW", table))  # type: ignore[arg-type]
            return [] if done.description is None else done.fetchall()

    return Place(
        lambda: Table(Postgres(connection), table),
        lambda names: run(f"SELECT {names} FROM VIEW"),
        do=lambda what: run(_DOES[what]),
    )


def delta_place(folder: Path) -> Place:
    path = folder / "answers.delta"

    def read(names: str) -> list[Row]:
        table = DeltaTable(path).to_pyarrow_table()
        return [tuple(row.values()) for row in table.select(names.replace('"', "").split(", ")).to_pylist()]

    def do(what: str) -> None:
        match what:
            case "alter":
                DeltaTable(path).alter.add_columns(Field("more", PrimitiveType("integer")))
            case "drop":
                shutil.rmtree(path)
            case "take":
                write_deltalake(path, pa.table({"x": [1]}))
            case _:
                pytest.skip("Delta keeps each commit: whoever deletes rows makes one of their own")

    return Place(lambda: Delta(path), read, do)


def latest_belief(rows: list[Event], attributes: list[str]) -> list[Row]:
    """What a view must have: ID, Vs, Ve and payload of the rows believed now."""
    shown = [
        (
            row.id,
            row.valid_start,
            None if row.valid_end == FOREVER else row.valid_end,
            *(row.payload.get(a) for a in attributes),
        )
        for row in rows
    ]
    return sorted(shown, key=repr)
