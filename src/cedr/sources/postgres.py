"""A source of a table of PostgreSQL whose rows are added or changed: those whose cursor is beyond the last one read.

The cursor is a column that rises with every change, such as the time of the change.  The rows of a chunk are kept by
the checkpoint: they may have changed when they are read again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import pyarrow as pa

from cedr.data.frames import Frame
from cedr.data.origins import Origin
from cedr.diagnostics.exceptions import CedrError
from cedr.sources.contract import Chunk, Offset, missing_extra, refused


class Postgres:
    """The rows of a table or query, in the order of a column."""

    single = False
    pushed = False
    provider_column: str | None = None
    finished = False

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self.name = name
        self._rows, self._cursor = str(options["rows"]), str(options["cursor"])
        self._last: str | None = None
        try:
            import psycopg
        except ModuleNotFoundError:
            raise missing_extra(name, "psycopg", "postgres") from None
        self._psycopg: Any = psycopg
        self._address = str(options["connection"])
        self._connection: Any = None
        self._connect()

    def providers(self) -> None:
        """The source itself."""

    def resume(self, end: Offset, done: Collection[str]) -> None:  # noqa: ARG002 - the contract
        """Go on after a value of the cursor."""
        self._last = end

    def next(self, most: int) -> Chunk | None:
        """The next rows by the cursor; all that share its last value are among them."""
        sql = self._psycopg.sql
        inner = sql.SQL(f"({self._rows})") if " " in self._rows.strip() else sql.Identifier(*self._rows.split("."))
        names = {"rows": inner, "cursor": sql.Identifier(self._cursor)}
        after = sql.SQL("TRUE" if self._last is None else "{cursor} > %(last)s").format(**names)
        asked = sql.SQL(
            "SELECT cedr_rows.*, {cursor}::text AS cedr_cursor FROM {rows} AS cedr_rows WHERE {after} AND {cursor} <= "
            "(SELECT max(c) FROM (SELECT {cursor} AS c FROM {rows} AS r WHERE {after} ORDER BY 1 LIMIT %(most)s) AS t) "
            "ORDER BY {cursor}"
        ).format(**names, after=after)
        found = self._ask(asked, {"last": self._last, "most": most})
        if not found.num_rows:
            return None
        self._last = found.column("cedr_cursor")[-1].as_py()
        kept = pa.BufferOutputStream()
        with pa.ipc.new_stream(kept, found.schema) as writer:
            writer.write_table(found)
        return Chunk(found.num_rows, self._last, kept=kept.getvalue().to_pybytes())

    def read(self, chunk: Chunk) -> Origin:
        """The rows that were kept."""
        assert chunk.kept is not None
        return Frame(pa.ipc.open_stream(chunk.kept).read_all().drop_columns(["cedr_cursor"]), self._rows)

    def close(self) -> None:
        """Leave the server."""
        if self._connection is not None:
            self._connection.close()

    def _connect(self) -> None:
        try:
            self._connection = self._psycopg.connect(self._address, autocommit=True, connect_timeout=10)
        except self._psycopg.Error as error:
            raise self._lost(error) from None

    def _ask(self, asked: Any, values: Mapping[str, Any]) -> pa.Table:
        try:
            if self._connection.closed:
                self._connect()
            with self._connection.cursor() as cursor:
                cursor.execute(asked, values)
                names = [column.name for column in cursor.description]
                rows = cursor.fetchall()
        except self._psycopg.OperationalError as error:
            raise self._lost(error) from None
        except self._psycopg.Error as error:
            hint = 'rows = "a table or a SELECT", cursor = "a column that rises with every change"'
            raise refused(self.name, "cannot-read", _first(error), hint=hint) from None
        columns = {name: [_plain(row[place]) for row in rows] for place, name in enumerate(names)}
        return pa.table(columns)

    def _lost(self, error: Exception) -> CedrError:
        hint = "is the server running, and are address and password right? The next run goes on from here"
        return refused(self.name, "cannot-connect", f"PostgreSQL does not answer: {_first(error)}", hint=hint)


def _first(error: Exception) -> str:
    return str(error).strip().splitlines()[0]


def _plain(value: Any) -> Any:
    """A value that Arrow knows; others as text."""
    if isinstance(value, dict | list):
        return json.dumps(value, default=str)
    return value if value is None or type(value).__module__ in ("builtins", "datetime", "decimal") else str(value)
