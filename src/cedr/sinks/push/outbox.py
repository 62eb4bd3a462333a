"""The outbox: messages that wait to be delivered, and rows that wait to be final, in a file of SQLite.

A batch's messages are stored with its number in one transaction, so that each is there once, whatever crashes.  A
message leaves when its receiver has taken it; a crash in between delivers it again, under the same key.  One that fails
too often is *parked*, with its last error, and those behind it go on.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from os import PathLike, fspath
from typing import Final, NamedTuple

from cedr.model.time import FOREVER, Time
from cedr.sinks.push.envelopes import EVERYTHING, Held, Message
from cedr.sinks.streams.lines import Data

_WAITS: Final = 60.0
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS known (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS held (k TEXT PRIMARY KEY, settles INTEGER NOT NULL, row TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS held_settles ON held (settles);
CREATE TABLE IF NOT EXISTS waiting (
    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0, due REAL NOT NULL DEFAULT 0, error TEXT);
CREATE INDEX IF NOT EXISTS waiting_id ON waiting (id, number);
CREATE INDEX IF NOT EXISTS waiting_due ON waiting (due, number);
CREATE TABLE IF NOT EXISTS parked (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, tries INTEGER NOT NULL,
    error TEXT NOT NULL);
"""


class Waiting(NamedTuple):
    """A message on its way."""

    number: int
    key: str
    body: str
    tries: int


class Outbox:
    """The file; each thread has one of its own."""

    def __init__(self, path: str | PathLike[str], *, durable: bool) -> None:
        """``durable``: what is committed is on the disk; for what is only deleted that is not needed."""
        self._file = sqlite3.connect(fspath(path), timeout=_WAITS, isolation_level=None, check_same_thread=False)
        self._file.execute("PRAGMA journal_mode = WAL")
        self._file.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        self._file.executescript(_TABLES)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # -- what the job writes ------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin a batch."""
        self._file.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """End it: on the disk when this returns."""
        self._file.execute("COMMIT")

    def rollback(self) -> None:
        """Undo it."""
        if self._file.in_transaction:
            self._file.execute("ROLLBACK")

    def known(self, name: str) -> str | None:
        """Something that was noted."""
        found = self._file.execute("SELECT value FROM known WHERE name = ?", (name,)).fetchone()
        return None if found is None else str(found[0])

    def note(self, name: str, value: str) -> None:
        """Note something."""
        self._file.execute("INSERT OR REPLACE INTO known VALUES (?, ?)", (name, value))

    def add(self, messages: Iterable[Message]) -> None:
        """Messages to deliver."""
        self._file.executemany("INSERT INTO waiting (key, id, body) VALUES (?, ?, ?)", messages)

    def hold(self, rows: Iterable[Held]) -> None:
        """Rows that are not final, each in the place of what was known of its K."""
        told = ((row.key, row.settles, json.dumps(row.row, ensure_ascii=False)) for row in rows)
        self._file.executemany("INSERT OR REPLACE INTO held VALUES (?, ?, ?)", told)

    def let_go(self, keys: Iterable[str]) -> list[Data]:
        """Rows that are no more; those that were held."""
        gone = []
        for key in keys:
            found = self._file.execute("DELETE FROM held WHERE k = ? RETURNING row", (key,)).fetchone()
            gone += [] if found is None else [json.loads(found[0])]
        return gone

    def settled(self, guarantee: Time) -> list[Data]:
        """The rows that are final now; they are held no longer."""
        upto = FOREVER if guarantee >= EVERYTHING else guarantee
        found = self._file.execute("SELECT row FROM held WHERE settles <= ? ORDER BY settles, k", (upto,)).fetchall()
        self._file.execute("DELETE FROM held WHERE settles <= ?", (upto,))
        return [json.loads(row) for (row,) in found]

    # -- what delivers ------------------------------------------------------------------------------------------------

    def next(self, count: int, now: float) -> list[Waiting]:
        """Messages that are due, of each id the first alone."""
        found = self._file.execute(
            "SELECT number, key, body, tries FROM waiting w WHERE due <= ? AND (id = '' OR NOT EXISTS "
            "(SELECT 1 FROM waiting b WHERE b.id = w.id AND b.number < w.number)) ORDER BY number LIMIT ?",
            (now, count),
        )
        return [Waiting(*each) for each in found]

    def delivered(self, numbers: Iterable[int]) -> None:
        """They were taken."""
        gone: list[tuple[object, ...]] = [(number,) for number in numbers]
        if gone:
            self._together("DELETE FROM waiting WHERE number = ?", gone)

    def again(self, number: int, due: float, error: str) -> None:
        """It failed, and is tried again."""
        self._together(
            "UPDATE waiting SET tries = tries + 1, due = ?, error = ? WHERE number = ?", [(due, error, number)]
        )

    def park(self, number: int, error: str) -> None:
        """It failed for good, as far as we are concerned."""
        self._file.execute("BEGIN IMMEDIATE")
        self._file.execute(
            "INSERT INTO parked SELECT number, key, id, body, tries + 1, ? FROM waiting WHERE number = ?",
            (error, number),
        )
        self._file.execute("DELETE FROM waiting WHERE number = ?", (number,))
        self._file.execute("COMMIT")

    def parked(self) -> list[tuple[str, str, str]]:
        """Key, body and last error of what was parked."""
        return self._file.execute("SELECT key, body, error FROM parked ORDER BY number").fetchall()

    def try_parked_again(self) -> int:
        """All that was parked waits once more; how many."""
        self._file.execute("BEGIN IMMEDIATE")
        done = self._file.execute(
            "INSERT INTO waiting (number, key, id, body) SELECT number, key, id, body FROM parked"
        ).rowcount
        self._file.execute("DELETE FROM parked")
        self._file.execute("COMMIT")
        return done

    def untried(self, since: float) -> int:
        """How many messages wait that were not tried since."""
        return int(self._file.execute("SELECT COUNT(*) FROM waiting WHERE due <= ?", (since,)).fetchone()[0])

    def counts(self) -> dict[str, int]:
        """How many messages wait, are parked, and how many rows are held."""
        names = ("waiting", "parked", "held")
        return {name: self._file.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0] for name in names}

    def _together(self, statement: str, values: list[tuple[object, ...]]) -> None:
        self._file.execute("BEGIN IMMEDIATE")
        self._file.executemany(statement, values)
        self._file.execute("COMMIT")
