"""Tables in PostgreSQL: rows come in by COPY, and from there into the table.

The string that tells how to connect may hold a password: nothing of it is ever in a message but host and database.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as pa_csv

from cedr.sinks.extras import package
from cedr.sinks.views.database import Columns, Database, inserted, listed, quoted, replacing
from cedr.sinks.views.texts import plain

_STAGED: Final = "cedr_staged"
_GONE: Final = "cedr_gone"


class Postgres(Database):
    """A database of PostgreSQL; columns are in lower case, so that nobody has to quote them."""

    def __init__(self, connection: str) -> None:
        """``connection`` is a URL, or words such as ``host=… dbname=…``; what it leaves out is in the environment."""
        self._told = connection
        self._connection: Any = None
        self._name = "PostgreSQL"

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self._name

    def connect(self) -> None:
        """Connect."""
        psycopg = package("psycopg", "postgres")
        self.errors = (psycopg.Error,)
        try:
            parts = psycopg.conninfo.conninfo_to_dict(self._told)
        except psycopg.ProgrammingError:
            message = "the connection string cannot be read: it is a URL, or words such as host=… dbname=… user=…"
            raise psycopg.ProgrammingError(message) from None
        self._name = f'PostgreSQL ({parts.get("host", "local")}, database "{parts.get("dbname", "")}")'
        try:
            self._connection = psycopg.connect(self._told, autocommit=True)
        except psycopg.OperationalError as error:
            secret = str(parts.get("password") or "")
            raise psycopg.OperationalError(str(error).replace(secret, "…") if secret else str(error)) from None
        self.run("SET synchronous_commit TO on")  # what is committed must not be lost once the job has gone on
        self.run("SET client_min_messages TO warning")
        self.run(f"CREATE TEMP TABLE {_GONE} (id TEXT, k TEXT) ON COMMIT DELETE ROWS")

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def begin(self) -> None:
        """Begin."""
        self.run("BEGIN")

    def commit(self) -> None:
        """Make it last."""
        self.run("COMMIT")

    def rollback(self) -> None:
        """Undo it."""
        if self._connection is not None and not self._connection.closed:
            self.run("ROLLBACK")

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement."""
        given = (statement.replace("?", "%s"), values) if values else (statement,)
        done = self._open().execute(*given)
        return [] if done.description is None else list(done.fetchall())

    def columns(self, table: str) -> Columns | None:
        """The columns of a table."""
        found = self.run(
            "SELECT attname::text, format_type(atttypid, atttypmod) FROM pg_attribute "
            "WHERE attrelid = to_regclass(?) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            (quoted(table),),
        )
        return [list(each) for each in found] or None

    def type_of(self, column: pa.DataType) -> str:
        """Lists are JSON, durations are microseconds."""
        if pa.types.is_list(column):
            return "JSONB"
        if pa.types.is_timestamp(column):
            return "TIMESTAMP WITH TIME ZONE"
        if pa.types.is_decimal(column):
            return f"NUMERIC({column.precision},{column.scale})"
        if pa.types.is_boolean(column):
            return "BOOLEAN"
        if pa.types.is_integer(column) or pa.types.is_duration(column):
            return "BIGINT"
        if pa.types.is_floating(column):
            return "DOUBLE PRECISION"
        if pa.types.is_date(column):
            return "DATE"
        return "BYTEA" if pa.types.is_binary(column) else "TEXT"

    def column_name(self, name: str, names: Iterable[str]) -> str:
        """In lower case, unless two names differ in nothing else."""
        lower = name.lower()
        return name if sum(other.lower() == lower for other in names) > 1 else lower

    def add(self, table: str, rows: pa.Table) -> None:
        """Insert rows."""
        self._copy(table, rows)

    def put(self, table: str, rows: pa.Table) -> int:
        """Insert or replace rows by ``id``."""
        self.run(f"CREATE TEMP TABLE {_STAGED} (LIKE {quoted(table)}) ON COMMIT DROP")
        self._copy(_STAGED, rows)
        self.run(f"ANALYZE {_STAGED}")
        ((known,),) = self.run(f"SELECT COUNT(*) FROM {quoted(table)} JOIN {_STAGED} USING (id)")
        self.run(inserted(table, rows.column_names, _STAGED) + replacing(rows.column_names))
        return int(rows.num_rows - known)

    def take_away(self, table: str, keys: pa.Table) -> int:
        """Delete rows by ``id`` and ``K``."""
        self._copy(_GONE, keys)
        of = quoted(table)
        return int(
            self._open().execute(f"DELETE FROM {of} USING {_GONE} g WHERE {of}.id = g.id AND {of}.k = g.k").rowcount
        )

    def _copy(self, table: str, rows: pa.Table) -> None:
        text = io.BytesIO()
        pa_csv.write_csv(plain(rows, binary_as_hex=True), text, pa_csv.WriteOptions(include_header=False))
        into = f"COPY {quoted(table)} ({listed(rows.column_names)}) FROM STDIN (FORMAT csv)"
        with self._open().cursor() as cursor, cursor.copy(into) as copy:
            copy.write(text.getbuffer())

    def _open(self) -> Any:
        if self._connection is None:
            raise self.errors[0]("the connection is closed")
        return self._connection
