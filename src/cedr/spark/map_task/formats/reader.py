"""Chooses the reader of a file by its format, and reads the columns of its parts.  Reading: R2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from cedr.spark.layout.layout import FileForm
from cedr.spark.layout.read_faults import ReadFault, damaged
from cedr.spark.map_task.formats import lines
from cedr.spark.map_task.formats.csv_lines import CsvLines, head_of, named_first
from cedr.spark.map_task.formats.json_lines import JsonLines
from cedr.spark.map_task.formats.lines import Columns, Part
from cedr.spark.map_task.formats.parquet import ParquetGroups
from cedr.spark.map_task.formats.values import INSTANT, LOCAL

_TYPES: Final = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": INSTANT,
    "timestamp_ntz": LOCAL,
}


class Reader:
    """Reads the needed columns of files."""

    def __init__(self, form: FileForm, needed: list[str]) -> None:
        self._form = form
        self._types = {name: form.types[name] for name in needed}
        self._arrow = {name: _TYPES[of] for name, of in self._types.items()}
        self._required = tuple(form.header[part] for part in ("type", "vs", "id") if part in form.header)
        self._coded = form.header.get("type")
        """The column with few different texts."""

    def read(self, given: Part) -> Iterator[Columns | ReadFault]:
        """Read a part of a file, some rows at a time: columns, and faults.

        Raises ``OSError`` if the file is missing, or the disk does not answer.
        """
        form = self._form
        if form.name == "parquet":
            yield from ParquetGroups(self._types, self._arrow, self._required, form.zone, self._coded).read(given)
            return
        try:
            if form.name == "json":
                yield from lines.read(given, JsonLines(self._types, self._arrow, form.zone))
            else:
                yield from self._csv(given)
        except (ValueError, OSError) as error:
            yield damaged(given.path, error)

    def _csv(self, given: Part) -> Iterator[Columns | ReadFault]:
        form, first, names = self._form, 0, list(self._form.types)
        if form.head or (form.head is None and named_first(given.path, form.separator, self._required)):
            try:
                names, first = head_of(given.path, form.separator)
                if not first:  # the file is empty
                    return
                self._check(names)
            except ValueError as error:
                if given.part == 0:  # the other parts would give the same
                    yield damaged(given.path, error)
                return
        own = CsvLines(self._types, self._arrow, names, (form.separator, form.zone), self._coded)
        yield from lines.read(given, own, first)

    def _check(self, names: list[str]) -> None:
        for name in self._required:
            if name not in names:
                message = f'there is no column "{name}"'
                raise ValueError(message)
