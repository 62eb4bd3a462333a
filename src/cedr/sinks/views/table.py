"""A table in a database: a view of the latest belief, or rows one after the other; exactly once.

Readings: R10, R40, R48.  The rows of a batch and its number are stored in one transaction, so that after any crash both
are there or neither.  A table of our own, ``cedr_batches``, has for each of ours the last batch, the columns as they
were made and the count of rows; what differs from that was done by somebody else, and is an error.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Final, NamedTuple

import pyarrow as pa

from cedr.sinks.contract import Output
from cedr.sinks.errors import altered, differs, dropped, failed, not_ours, other_writer
from cedr.sinks.net import net, view_schema
from cedr.sinks.views.database import Columns, Database, listed, quoted

BATCHES: Final = "cedr_batches"


class _Record(NamedTuple):
    """What is known of one of our tables."""

    batch: int | None
    wanted: str
    """The columns of the output as JSON, when the table was made."""
    made: str
    """The columns as the database told them then."""
    rows: int


class Table:
    """A sink that is a table in a database."""

    def __init__(self, database: Database, table: str | None = None, *, append: bool = False) -> None:
        """``table`` is its name, by default that of the query.

        With ``append`` rows are kept as they come; else the table is the view of the latest belief.
        """
        self._database, self._table, self._append = database, table or "", append
        self._output: Output | None = None
        self._record: _Record | None = None
        self._connected = False

    @property
    def promise(self) -> str:
        """What is delivered how often."""
        rows = "each row is stored" if self._append else "the view equals the latest belief of all batches stored"
        return f"exactly once: {rows}; rows and the number of their batch are one transaction"

    def open(self, output: Output) -> None:
        """Connect, make the table where there is none, and check it where there is one."""
        self._output, self._table = output, self._table or output.name
        self._reconnect(checks=True)

    def stored(self) -> int | None:
        """The last batch that is stored."""
        return None if self._record is None else self._record.batch

    def write(self, batch: int, changes: pa.Table) -> None:
        """Store a batch in one transaction."""
        if not self._connected:  # the last try failed, perhaps after it was committed: ask what is stored
            self._reconnect(checks=False)
        record = self._record
        assert record is not None
        if record.batch is not None and batch <= record.batch:
            return
        try:
            self._database.begin()
            self._check_still_ours(record)
            rows = record.rows + self._stored_rows(changes)
            self._database.run(
                f'UPDATE {BATCHES} SET batch = ?, "rows" = ? WHERE "name" = ?', (batch, rows, self._table)
            )
            self._database.commit()
            self._database.idle()
        except self._database.errors as error:
            self._give_up()
            raise failed(self._place, error) from None
        except BaseException:
            self._give_up()
            raise
        self._record = record._replace(batch=batch, rows=rows)

    def close(self) -> None:
        """Let go of the connection."""
        self._connected = False
        self._database.close()

    @property
    def _place(self) -> str:
        return f'the {"table" if self._append else "view"} "{self._table}" in {self._database.name}'

    # -- what it does -------------------------------------------------------------------------------------------------

    def _stored_rows(self, changes: pa.Table) -> int:
        """Store the rows; by how many the table has grown."""
        if self._append:
            if changes.num_rows:
                self._database.add(self._table, self._renamed(changes))
            return int(changes.num_rows)
        change = net(changes)
        grown = 0
        if change.gone.num_rows:
            grown -= self._database.take_away(self._table, self._renamed(change.gone))
        if change.present.num_rows:
            grown += self._database.put(self._table, self._renamed(change.present))
        return grown

    def _reconnect(self, *, checks: bool) -> None:
        self._database.close()
        try:
            self._database.connect()
            self._database.begin()
            self._record = self._found(count=checks)
            self._database.commit()
            self._database.idle()
        except self._database.errors as error:
            self._database.close()
            raise failed(self._place, error) from None
        except BaseException:
            self._database.close()
            raise
        self._connected = True

    def _give_up(self) -> None:
        """Undo what was begun; the next batch connects anew, and asks what is stored."""
        self._connected = False
        with suppress(*self._database.errors):  # where the connection is lost, what was begun is lost with it
            self._database.rollback()
        self._database.close()

    # -- what is there ------------------------------------------------------------------------------------------------

    def _found(self, *, count: bool) -> _Record:
        """The record of our table, which is made where it is new."""
        self._database.run(
            f'CREATE TABLE IF NOT EXISTS {BATCHES} ("name" VARCHAR(500) PRIMARY KEY, batch BIGINT, '
            'wanted TEXT NOT NULL, made TEXT NOT NULL, "rows" BIGINT NOT NULL)'
        )
        wanted = json.dumps(self._wanted())
        known = self._database.run(
            f'SELECT batch, wanted, made, "rows" FROM {BATCHES} WHERE "name" = ?', (self._table,)
        )
        there = self._database.columns(self._table)
        if not known:
            if there is not None:
                raise not_ours(self._place)
            return self._made(wanted)
        record = _Record(*known[0])
        if there is None:
            raise dropped(self._place, record.batch)
        self._check_columns(record, there)
        if record.wanted != wanted:
            raise differs(self._place, _difference(json.loads(record.wanted), self._wanted()))
        if count:
            ((rows,),) = self._database.run(f"SELECT COUNT(*) FROM {quoted(self._table)}")
            if rows != record.rows:
                raise altered(self._place, f"it has {rows:,} rows, and should have {record.rows:,}")
        return record

    def _made(self, wanted: str) -> _Record:
        columns = ", ".join(
            f"{quoted(name)} {kind}{' PRIMARY KEY' if name == 'id' and not self._append else ''}"
            for name, kind in self._wanted()
        )
        self._database.run(f"CREATE TABLE {quoted(self._table)} ({columns})")
        record = _Record(None, wanted, json.dumps(self._database.columns(self._table)), 0)
        self._database.run(
            f'INSERT INTO {BATCHES} ("name", batch, wanted, made, "rows") VALUES (?, ?, ?, ?, ?)',
            (self._table, *record),
        )
        return record

    def _check_still_ours(self, record: _Record) -> None:
        """That nobody has changed the table, or written to it, since; nobody does until the transaction ends."""
        self._database.run(f'UPDATE {BATCHES} SET batch = batch WHERE "name" = ?', (self._table,))
        known = self._database.run(f'SELECT batch FROM {BATCHES} WHERE "name" = ?', (self._table,))
        there = self._database.columns(self._table)
        if there is None or not known:
            raise dropped(self._place, record.batch)
        if known[0][0] != record.batch:
            raise other_writer(self._place, record.batch, known[0][0])
        self._check_columns(record, there)

    def _check_columns(self, record: _Record, there: Columns) -> None:
        made = json.loads(record.made)
        if made != there:
            raise altered(self._place, _difference(made, there))

    def _schema(self) -> pa.Schema:
        assert self._output is not None
        return self._output.schema if self._append else view_schema(self._output.schema)

    def _wanted(self) -> Columns:
        """Names and types of the columns that the output needs here."""
        schema = self._schema()
        called = [self._database.column_name(name, schema.names) for name in schema.names]
        return [[name, self._database.type_of(field.type)] for name, field in zip(called, schema, strict=True)]

    def _renamed(self, rows: pa.Table) -> pa.Table:
        names = self._schema().names
        return rows.rename_columns([self._database.column_name(name, names) for name in rows.column_names])


def columns_of(rows: pa.Table) -> str:
    """The columns of rows in a statement."""
    return listed(rows.column_names)


def _difference(before: Columns, now: Columns) -> str:
    """The first column that is not as it was."""
    old, new = ({name: kind for name, kind in each} for each in (before, now))
    for name, kind in old.items():
        if name not in new:
            return f'the column "{name}" is not there'
        if new[name] != kind:
            return f'the column "{name}" is {new[name]}, and was {kind}'
    added = [name for name in new if name not in old]
    return f'the column "{added[0]}" was added' if added else "its columns stand in another order"
