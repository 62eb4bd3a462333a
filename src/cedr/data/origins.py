"""What rows are read from: the face that files of every format and data frames share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from cedr.data.places import Places
from cedr.data.rejected import Rejected
from cedr.diagnostics.diagnostic import Diagnostic


@dataclass(slots=True)
class Raw:
    """Columns as they were read, texts where the format knows no types; and what could not be read."""

    table: pa.Table
    places: Places
    rejected: list[Rejected] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    untyped: frozenset[str] = frozenset()
    """Columns of texts that may stand for values of another type."""
    dropped: tuple[int, ...] = ()
    """Rows of the table that are rejected."""


class Origin(Protocol):
    """Rows of named columns, read once."""

    @property
    def name(self) -> str:
        """How messages call it."""

    def names(self) -> list[str]:
        """Its columns, without reading the rows."""

    def types(self) -> dict[str, pa.DataType]:
        """The types of the columns, where they are known without reading the rows."""

    def read(self, columns: Sequence[str]) -> Raw:
        """Some of its columns, with all rows."""


def partitions(path: str) -> dict[str, str]:
    """The columns that the folders of a file tell, as in ``day=5/part.csv``.

    >>> partitions("data/day=5/kind=a/part.csv")
    {'day': '5', 'kind': 'a'}
    """
    parts = (part.partition("=") for part in path.split("/")[:-1])
    return {name: value for name, mark, value in parts if mark and name}


def united(tables: Sequence[pa.Table], columns: Sequence[str]) -> pa.Table:
    """Tables below each other; a column that one of them lacks is NULL there."""
    asked = [name for name in columns if any(name in table.column_names for table in tables)]
    if not tables:
        return pa.table({name: pa.nulls(0) for name in columns})
    return pa.concat_tables(tables, promote_options="permissive").select(asked)


def missing_columns(found: dict[str, set[str]], columns: Sequence[str]) -> list[Diagnostic]:
    """A warning for each column that some files have and others lack."""
    told = []
    for column in columns:
        lacking = [name for name, names in found.items() if column not in names]
        if lacking and len(lacking) < len(found):
            more = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
            primary = f'the column "{column}" is missing in {lacking[0]}{more}: it is NULL there'
            told.append(Diagnostic("missing-column", primary, severity="warning"))
    return told
