"""Parquet files as typed columns; only those that are asked for are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from cedr.data.csv_files import named
from cedr.data.files import DataFile, broken
from cedr.data.origins import Raw, missing_columns, partitions, united
from cedr.data.places import Places


class ParquetFiles:
    """Some Parquet files with the same columns."""

    def __init__(self, files: Sequence[DataFile]) -> None:
        self._files = files
        self._schemas = {file.path: _schema(file.path) for file in files}

    @property
    def name(self) -> str:
        """The first of them, and how many more."""
        return named(self._files)

    def names(self) -> list[str]:
        """The columns of all files."""
        return list(self.types())

    def types(self) -> dict[str, pa.DataType]:
        """By the footers."""
        found: dict[str, pa.DataType] = {}
        for file in self._files:
            for each in self._schemas[file.path]:
                found.setdefault(each.name, each.type)
            for name in partitions(file.path):
                found.setdefault(name, pa.string())
        return found

    def read(self, columns: Sequence[str]) -> Raw:
        """Some columns of all rows."""
        places, tables, told = Places(), [], {}
        for file in self._files:
            own = self._schemas[file.path].names
            try:
                with _opened(file.path) as opened:  # what the reader holds would stay beside the columns
                    table = opened.read([name for name in columns if name in own], use_threads=True)
            except (OSError, pa.ArrowException) as error:
                raise broken(file.path, str(error)) from None
            constants = {name: value for name, value in partitions(file.path).items() if name not in own}
            for name, value in constants.items():
                if name in columns:
                    table = table.append_column(name, pa.repeat(pa.scalar(value), table.num_rows))
            places.add(file.path, 1, table.num_rows)
            tables.append(table)
            told[file.path] = {*own, *constants}
        pa.default_memory_pool().release_unused()
        return Raw(united(tables, columns), places, [], missing_columns(told, columns))


def _schema(path: str) -> pa.Schema:
    with _opened(path) as opened:
        return opened.schema_arrow


def _opened(path: str) -> Any:
    try:
        return pa_parquet.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise broken(path, str(error)) from None
