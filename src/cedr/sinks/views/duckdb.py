"""Tables in a file of DuckDB.

DuckDB lets one process at a time into a file that is written to: so the file is closed after each batch, and whoever
wants to read it comes in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from time import monotonic, sleep
from typing import Any, Final

import pyarrow as pa

from cedr.sinks.extras import package
from cedr.sinks.views.database import Columns, Database, inserted, quoted, replacing

_WAITS: Final = 30.0
"""So many seconds a batch waits for those who read the file."""
_STAGED: Final = "cedr_staged"


class DuckDb(Database):
    """A file of DuckDB."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = fspath(path)
        self._connection: Any = None

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f'"{self._path}"'

    def connect(self) -> None:
        """Open the file, or make it; wait for those who read it."""
        duckdb = package("duckdb", "duckdb")
        self.errors = (duckdb.Error,)
        until = monotonic() + _WAITS
        while True:
            try:
                self._connection = duckdb.connect(self._path)
                return
            except duckdb.IOException as error:
                if "lock" not in str(error) or monotonic() > until:
                    raise
                sleep(0.05)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def idle(self) -> None:
        """Let others read."""
        self.close()

    def begin(self) -> None:
        """Begin; nobody else has the file."""
        if self._connection is None:
            self.connect()
        self.run("BEGIN TRANSACTION")

    def commit(self) -> None:
        """Make it last."""
        self.run("COMMIT")

    def rollback(self) -> None:
        """Undo it: what was begun ends with the connection."""
        self.close()

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement."""
        done = self._connection.execute(statement, list(values))
        return [] if done.description is None else list(done.fetchall())

    def columns(self, table: str) -> Columns | None:
        """The columns of a table."""
        found = self.run(
            "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index", (table,)
        )
        return [list(each) for each in found] or None

    def type_of(self, column: pa.DataType) -> str:
        """Each kind of column has one here, but for durations, which are microseconds."""
        if pa.types.is_list(column):
            return f"{self.type_of(column.value_type)}[]"
        if pa.types.is_timestamp(column):
            return "TIMESTAMP WITH TIME ZONE"
        if pa.types.is_decimal(column):
            return f"DECIMAL({column.precision},{column.scale})"
        if pa.types.is_boolean(column):
            return "BOOLEAN"
        if pa.types.is_integer(column) or pa.types.is_duration(column):
            return "BIGINT"
        if pa.types.is_floating(column):
            return "DOUBLE"
        if pa.types.is_date(column):
            return "DATE"
        return "BLOB" if pa.types.is_binary(column) else "VARCHAR"

    def add(self, table: str, rows: pa.Table) -> None:
        """Insert rows."""
        self._staged(rows)
        self.run(inserted(table, rows.column_names, _STAGED))

    def put(self, table: str, rows: pa.Table) -> int:
        """Insert or replace rows by ``id``."""
        self._staged(rows)
        ((known,),) = self.run(f"SELECT COUNT(*) FROM {quoted(table)} WHERE id IN (SELECT id FROM {_STAGED})")
        self.run(inserted(table, rows.column_names, _STAGED) + replacing(rows.column_names))
        return int(rows.num_rows - known)

    def take_away(self, table: str, keys: pa.Table) -> int:
        """Delete rows by ``id`` and ``K``."""
        self._staged(keys)
        ((gone,),) = self.run(f'DELETE FROM {quoted(table)} WHERE (id, "K") IN (SELECT id, "K" FROM {_STAGED})')
        return int(gone)

    def _staged(self, rows: pa.Table) -> None:
        """Rows under a name that statements can use; they are read where they lie."""
        made = {
            name: column.cast(pa.duration("us")).cast(pa.int64()) if pa.types.is_duration(column.type) else column
            for name, column in zip(rows.column_names, rows.columns, strict=True)
        }
        self._connection.register(_STAGED, pa.table(made))
