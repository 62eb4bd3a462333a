"""Tables in a file of SQLite; others may read it at any time.

The write-ahead log lets readers see the last whole batch while the next one is written; ``synchronous=FULL`` has it on
the disk before the job goes on.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any, Final

import pyarrow as pa

from cedr.sinks.views.database import Columns, Database, listed, quoted, replacing
from cedr.sinks.views.texts import plain

_WAITS: Final = 30.0
"""So many seconds a batch waits for somebody else's transaction."""


class Sqlite(Database):
    """A file of SQLite."""

    errors = (sqlite3.Error,)

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = fspath(path)
        self._connection: sqlite3.Connection | None = None

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f'"{self._path}"'

    def connect(self) -> None:
        """Open the file, or make it."""
        self._connection = sqlite3.connect(self._path, timeout=_WAITS, isolation_level=None, check_same_thread=False)
        self.run("PRAGMA journal_mode = WAL")
        self.run("PRAGMA synchronous = FULL")

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def begin(self) -> None:
        """Begin, as the only one who writes."""
        self.run("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Make it last."""
        self.run("COMMIT")

    def rollback(self) -> None:
        """Undo it."""
        if self._connection is not None and self._connection.in_transaction:
            self.run("ROLLBACK")

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement."""
        return self._open().execute(statement, values).fetchall()

    def columns(self, table: str) -> Columns | None:
        """The columns of a table."""
        found = self.run("SELECT name, type FROM pragma_table_info(?)", (table,))
        return [list(each) for each in found] or None

    def type_of(self, column: pa.DataType) -> str:
        """What is no number, truth value or sequence of bytes is a text."""
        if pa.types.is_boolean(column):
            return "BOOLEAN"
        if pa.types.is_integer(column) or pa.types.is_duration(column):
            return "INTEGER"
        if pa.types.is_floating(column):
            return "REAL"
        return "BLOB" if pa.types.is_binary(column) else "TEXT"

    def add(self, table: str, rows: pa.Table) -> None:
        """Insert rows."""
        self._many(f"INSERT INTO {quoted(table)} ({listed(rows.column_names)})", "", rows)

    def put(self, table: str, rows: pa.Table) -> int:
        """Insert or replace rows by ``id``."""
        ids = json.dumps(rows.column("id").to_pylist())
        ((known,),) = self.run(
            f"SELECT COUNT(*) FROM {quoted(table)} WHERE id IN (SELECT value FROM json_each(?))", (ids,)
        )
        self._many(f"INSERT INTO {quoted(table)} ({listed(rows.column_names)})", replacing(rows.column_names), rows)
        return int(rows.num_rows - known)

    def take_away(self, table: str, keys: pa.Table) -> int:
        """Delete rows by ``id`` and ``K``."""
        pairs = zip(*(column.to_pylist() for column in keys.columns), strict=True)
        return self._open().executemany(f'DELETE FROM {quoted(table)} WHERE id = ? AND "K" = ?', pairs).rowcount

    def _many(self, into: str, behind: str, rows: pa.Table) -> None:
        marks = ", ".join("?" * rows.num_columns)
        values = zip(*(column.to_pylist() for column in plain(rows).columns), strict=True)
        self._open().executemany(f"{into} VALUES ({marks}){behind}", values)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            message = "the file is not open"
            raise sqlite3.ProgrammingError(message)
        return self._connection
