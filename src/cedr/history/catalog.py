"""Which files hold the history of which output: a small file of SQLite beside them.

A file counts when it is listed here.  What a crash leaves unlisted is written again by the batch that comes again, or
removed when the history is opened for writing.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa

from cedr.model.time import BEGINNING, Time

NAME: Final = "catalog.db"
_WAITS: Final = 60.0
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS tables (
    name TEXT PRIMARY KEY, columns TEXT NOT NULL, key TEXT NOT NULL, batch INTEGER, since INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS segments (
    name TEXT NOT NULL, file TEXT NOT NULL, size INTEGER NOT NULL, first_batch INTEGER NOT NULL,
    last_batch INTEGER NOT NULL, first_cs INTEGER NOT NULL, last_cs INTEGER NOT NULL, rows INTEGER NOT NULL,
    PRIMARY KEY (name, file));
"""


class Known(NamedTuple):
    """What is known of the history of an output."""

    columns: pa.Schema
    key: str
    """The column by which its rows are sorted, so that those of one value are found quickly."""
    batch: int | None
    since: Time
    """From this CEDR time on it can be asked."""


class Segment(NamedTuple):
    """A file of change rows."""

    file: str
    size: int
    """How often files were put together to make it."""
    first_batch: int
    last_batch: int
    first_cs: Time
    last_cs: Time
    rows: int


class Catalog:
    """The catalog of one folder."""

    def __init__(self, folder: Path) -> None:
        self._file = sqlite3.connect(folder / NAME, timeout=_WAITS, isolation_level=None, check_same_thread=False)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute("PRAGMA synchronous = FULL")
        self._file.executescript(_TABLES)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """All of it or nothing."""
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._file.execute("ROLLBACK")
            raise
        self._file.execute("COMMIT")

    def names(self) -> list[str]:
        """The outputs that have a history here."""
        return [name for (name,) in self._file.execute("SELECT name FROM tables ORDER BY name")]

    def known(self, name: str) -> Known | None:
        """What is known of an output."""
        found = self._file.execute("SELECT columns, key, batch, since FROM tables WHERE name = ?", (name,)).fetchone()
        if found is None:
            return None
        columns = pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(json.loads(found[0]))))
        return Known(columns, *found[1:])

    def add_table(self, name: str, columns: pa.Schema, key: str) -> None:
        """An output that is new here."""
        told = json.dumps(columns.serialize().to_pybytes().hex())
        self._file.execute("INSERT INTO tables VALUES (?, ?, ?, NULL, ?)", (name, told, key, BEGINNING))

    def segments(self, name: str) -> list[Segment]:
        """Its files, in the order of their batches."""
        found = self._file.execute(
            "SELECT file, size, first_batch, last_batch, first_cs, last_cs, rows FROM segments WHERE name = ? "
            "ORDER BY first_batch, last_batch",
            (name,),
        )
        return [Segment(*each) for each in found]

    def add(self, name: str, segment: Segment) -> None:
        """One more file."""
        self._file.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (name, *segment))

    def remove(self, name: str, files: Sequence[str]) -> None:
        """Files that are in another one now."""
        self._file.executemany("DELETE FROM segments WHERE name = ? AND file = ?", [(name, file) for file in files])

    def stored(self, name: str, batch: int) -> None:
        """A batch is whole."""
        self._file.execute("UPDATE tables SET batch = ? WHERE name = ?", (batch, name))

    def begins(self, name: str, since: Time) -> None:
        """What was believed before is not kept."""
        self._file.execute("UPDATE tables SET since = ? WHERE name = ?", (since, name))
