"""What a job has done, kept so that a kill at any point loses and doubles nothing.

Reading: R40.  Two transactions for each batch: before it is read, what it reads is written down (its *plan*); once its
changes are stored, the state of the queries and the places of the sources are written with the number of the batch.  A
plan without its commit is run again after a crash: it reads the same rows at the same CEDR time, so the same changes
leave again under the same number, and sinks skip what they have stored.

SQLite keeps it: one file, atomic transactions, readable by other tools.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError

VERSION: Final = 2
"""2: the queries of a job share pipelines; 1 had a pipeline for each."""
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS plan (batch INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS committed (batch INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS kept (source TEXT PRIMARY KEY, rows BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS done (source TEXT, item TEXT, PRIMARY KEY (source, item)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS segments (name TEXT PRIMARY KEY, body BLOB NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Resumed:
    """Where the last run has come to."""

    batch: int
    """The last batch that is committed; 0 before the first."""
    body: Mapping[str, Any]
    segments: Mapping[str, bytes]
    plan: Mapping[str, Any] | None
    """What the next batch reads, if that was written down already."""


class Checkpoint:
    """A folder that one job at a time uses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = (folder / "lock").open("a+")
        except OSError as error:
            raise _failed(folder, error.strerror or str(error)) from None
        self._take_lock()
        with self._reported():
            self._database = sqlite3.connect(folder / "job.sqlite", isolation_level=None, check_same_thread=False)
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        with self._reported():
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = FULL")
            self._database.executescript(_TABLES)
            self._check_version()

    # -- what holds for all batches -----------------------------------------------------------------------------------

    def fact(self, name: str) -> Any:
        """What was noted under a name; None if nothing was."""
        with self._reported():
            row = self._database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def note(self, name: str, value: Any) -> None:
        """Note plain data under a name."""
        with self._transaction() as database:
            database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, json.dumps(value)))

    # -- batch by batch -----------------------------------------------------------------------------------------------

    def resume(self) -> Resumed:
        """What to go on from."""
        with self._reported():
            row = self._database.execute("SELECT batch, body FROM committed").fetchone()
            batch, body = (0, "{}") if row is None else row
            planned = self._database.execute("SELECT body FROM plan WHERE batch = ?", (batch + 1,)).fetchone()
            segments = dict(self._database.execute("SELECT name, body FROM segments"))
        return Resumed(batch, json.loads(body), segments, None if planned is None else json.loads(planned[0]))

    def kept(self, source: str) -> bytes | None:
        """The rows of a source that can be had only once."""
        with self._reported():
            row = self._database.execute("SELECT rows FROM kept WHERE source = ?", (source,)).fetchone()
        return None if row is None else row[0]

    def done(self, source: str) -> list[str]:
        """What a source has read in full."""
        with self._reported():
            rows = self._database.execute("SELECT item FROM done WHERE source = ?", (source,))
            return [item for (item,) in rows]

    def plan(self, batch: int, body: Mapping[str, Any], kept: Mapping[str, bytes]) -> None:
        """Write down what a batch reads, before it is read."""
        with self._transaction() as database:
            database.execute("DELETE FROM plan")
            database.execute("INSERT INTO plan VALUES (?, ?)", (batch, json.dumps(body)))
            database.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?)", kept.items())

    def commit(
        self,
        batch: int,
        body: Mapping[str, Any],
        segments: Mapping[str, bytes | None],
        done: Mapping[str, Iterable[str]],
    ) -> None:
        """A batch is done: its changes are stored."""
        with self._transaction() as database:
            gone = [(name,) for name, segment in segments.items() if segment is None]
            database.executemany("DELETE FROM segments WHERE name = ?", gone)
            held = [(name, segment) for name, segment in segments.items() if segment is not None]
            database.executemany("INSERT OR REPLACE INTO segments VALUES (?, ?)", held)
            items = [(source, item) for source, names in done.items() for item in names]
            database.executemany("INSERT OR IGNORE INTO done VALUES (?, ?)", items)
            database.execute("DELETE FROM committed")
            database.execute("INSERT INTO committed VALUES (?, ?)", (batch, json.dumps(body)))

    def close(self) -> None:
        """Let others use it."""
        self._database.close()
        self._lock.close()

    # -- what goes wrong ----------------------------------------------------------------------------------------------

    def _take_lock(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.seek(0)
            holder = self._lock.read().strip()
            self._lock.close()
            primary = f'another job runs on the checkpoint "{self.folder}"'
            detail = f"process {holder}" if holder else ""
            hint = "stop it, or give this job a checkpoint of its own"
            raise HostError(Diagnostic("checkpoint-in-use", primary, detail=detail, hint=hint)) from None
        self._lock.truncate(0)
        self._lock.write(str(os.getpid()))
        self._lock.flush()

    def _check_version(self) -> None:
        found = self.fact("version")
        if found is None:
            self.note("version", VERSION)
        elif found != VERSION:
            primary = f'the checkpoint "{self.folder}" has the form {found}; this version of cedr reads {VERSION}'
            hint = "use the version that wrote it, or start anew with another checkpoint"
            raise HostError(Diagnostic("checkpoint-version", primary, hint=hint))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._reported():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _failed(self.folder, str(error)) from None


def _failed(folder: Path, reason: str) -> HostError:
    """The error for a checkpoint that cannot be written; what was committed stays."""
    lowered = reason[:1].lower() + reason[1:]
    if "full" in lowered or "no space" in lowered:
        hint = "make room, then run the job again: it goes on where it was"
    elif "readonly" in lowered or "read-only" in lowered or "permission" in lowered:
        hint = "allow writing there, or name another checkpoint"
    else:
        hint = "what was committed is safe: mend it, then run the job again"
    primary = f'cannot write the checkpoint "{folder}": {lowered}'
    return HostError(Diagnostic("checkpoint-failed", primary, hint=hint))
