"""What a view needs of a database: the few things in which databases differ."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

Columns = list[list[str]]
"""Name and type of each column, as the database tells them."""


class Database(ABC):
    """A connection to a database; it is opened, and opened again after a failure."""

    errors: tuple[type[BaseException], ...] = ()
    """What its driver raises; known once it was opened."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called in messages: never with a secret in it."""

    @abstractmethod
    def connect(self) -> None:
        """Connect.  Raises one of ``errors``."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the connection, whatever its state."""

    @abstractmethod
    def begin(self) -> None:
        """Begin a transaction in which nobody else writes to our tables."""

    @abstractmethod
    def commit(self) -> None:
        """Make it last: it is on the disk when this returns."""

    @abstractmethod
    def rollback(self) -> None:
        """Undo it."""

    def idle(self) -> None:  # noqa: B027 - most have nothing to do
        """A transaction has ended, and the next one may be long in coming: let others in, where that needs anything."""

    @abstractmethod
    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement with ``?`` for values; the rows that it gives."""

    @abstractmethod
    def columns(self, table: str) -> Columns | None:
        """The columns of a table; None where there is none of that name."""

    @abstractmethod
    def type_of(self, column: pa.DataType) -> str:
        """The type of a column in this database."""

    def column_name(self, name: str, names: Iterable[str]) -> str:  # noqa: ARG002 - some databases look at the others
        """What a column is called here."""
        return name

    @abstractmethod
    def add(self, table: str, rows: pa.Table) -> None:
        """Insert rows whose columns are called as in the table."""

    @abstractmethod
    def put(self, table: str, rows: pa.Table) -> int:
        """Insert rows, each in the place of the one with its ``id`` where there is one; how many ids are new."""

    @abstractmethod
    def take_away(self, table: str, keys: pa.Table) -> int:
        """Delete the rows with these pairs of ``id`` and ``K``, which are its two columns; how many there were."""


def quoted(name: str) -> str:
    """A name in a statement, whatever characters it has."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in name.split("."))


def listed(names: Iterable[str]) -> str:
    """Names with commas between them."""
    return ", ".join(map(quoted, names))


def inserted(table: str, names: Iterable[str], staged: str) -> str:
    """The statement that inserts what is in another table."""
    columns = listed(names)
    return f"INSERT INTO {quoted(table)} ({columns}) SELECT {columns} FROM {staged}"


def replacing(names: Iterable[str]) -> str:
    """What follows an insertion whose rows take the place of those with their ``id``."""
    new = ", ".join(f"{quoted(name)} = excluded.{quoted(name)}" for name in names if name != "id")
    return f" ON CONFLICT (id) DO UPDATE SET {new}"
