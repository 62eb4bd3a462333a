"""Reads row groups of Parquet files, in the declared columns.

Reading: R2.  A column that a file does not have is NULL, as in Spark; a column of another type is converted if each of
its values can be.  A fault names the file and the column; the other rows are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet

from cedr.spark.layout.read_faults import ReadFault, damaged
from cedr.spark.map_task.formats import values
from cedr.spark.map_task.formats.lines import Columns, Part

_ROWS: Final = 131_072
"""The rows that are read at a time."""
_DAMAGE: Final = (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError)


class ParquetGroups:
    """Reads some columns; no row is usable without those ``required``; the column ``coded`` has few values."""

    def __init__(
        self,
        types: Mapping[str, str],
        arrow: Mapping[str, pa.DataType],
        required: tuple[str, ...],
        zone: str,
        coded: str | None,
    ) -> None:
        self._types, self._arrow, self._required, self._zone, self._coded = types, arrow, required, zone, coded

    def read(self, given: Part) -> Iterator[Columns | ReadFault]:
        """Read the row groups of a part, one after the other."""
        wrong: ReadFault | None
        try:
            metadata = pa_parquet.read_metadata(given.path)
            schema = metadata.schema.to_arrow_schema()
            places = _places(self._types, schema.names)
            wrong = self._misfit(schema, places, given.path)
        except _DAMAGE as error:
            wrong = damaged(given.path, error)
        if wrong is not None:
            if given.part == 0:  # the other parts would give the same
                yield wrong
            return
        groups = metadata.num_row_groups
        low, high = (groups * part // given.parts for part in (given.part, given.part + 1))
        first = sum(metadata.row_group(group).num_rows for group in range(low))
        with pa_parquet.ParquetFile(
            given.path,
            metadata=metadata,
            read_dictionary=[] if self._coded is None else [places[self._coded]],
            coerce_int96_timestamp_unit="us",
        ) as file:
            for group in range(low, high):
                yield from self._group(file, given.path, group, first, places)
                first += metadata.row_group(group).num_rows

    def _misfit(self, schema: pa.Schema, places: Mapping[str, str], path: str) -> ReadFault | None:
        """The fault of a file whose columns do not fit; None if they fit."""
        for name in self._required:
            if name not in places:
                return ReadFault.of_file(path, f'there is no column "{name}"')
        for name, place in places.items():
            found = schema.field(place).type
            if not _converts(found, self._arrow[name]):
                return ReadFault.of_file(path, f'column "{name}" is {found}, and cannot be {self._types[name]}')
        return None

    def _group(
        self, file: Any, path: str, group: int, first: int, places: Mapping[str, str]
    ) -> Iterator[Columns | ReadFault]:
        asked = sorted(set(places.values()))
        try:
            for batch in file.iter_batches(_ROWS, row_groups=[group], columns=asked, use_threads=False):
                yield from self._columns(batch, path, first, places)
                first += batch.num_rows
        except _DAMAGE as error:
            yield damaged(path, error, f"row group {group + 1}, from row {first + 1} on: ")

    def _columns(self, batch: Any, path: str, first: int, places: Mapping[str, str]) -> Iterator[Columns | ReadFault]:
        found: dict[str, Any] = {}
        wrong: dict[int, str] = {}
        for name, of in self._arrow.items():
            if name not in places:
                found[name] = pa.nulls(batch.num_rows, of)
                continue
            column = batch.column(places[name])
            try:
                found[name] = self._fitted(column, name, of)
            except ValueError:
                found[name] = self._one_by_one(column, name, of, wrong)
        if wrong:
            kept = np.ones(batch.num_rows, np.bool_)
            kept[list(wrong)] = False
            found = {name: column.filter(pa.array(kept)) for name, column in found.items()}
        if not wrong or kept.any():
            yield found
        for row, detail in sorted(wrong.items()):
            text = str(batch.slice(row, 1).to_pylist()[0])
            yield ReadFault.of_line(path, f"row {first + row + 1}", detail, text)

    def _fitted(self, column: Any, name: str, of: pa.DataType) -> Any:
        """A column in its declared type; as in Spark a Parquet timestamp without a zone is in UTC."""
        kind = self._types[name]
        if pa.types.is_dictionary(column.type) and name == self._coded and kind == "string":
            return column
        column = values.decoded(column)
        if kind == "timestamp":
            return self._instants(column)
        if kind == "timestamp_ntz" and pa.types.is_timestamp(column.type) and column.type.tz:
            return column.cast(values.INSTANT).cast(pa.int64()).cast(of)
        return column if column.type == of else column.cast(of)

    def _instants(self, column: Any) -> Any:
        if pa.types.is_timestamp(column.type):
            return column.cast(pa.timestamp("us", column.type.tz)).cast(values.INSTANT)
        if pa.types.is_date(column.type):
            return values.zoned(column.cast(values.LOCAL), self._zone)
        return values.instants(column.cast(pa.string()), self._zone)

    def _one_by_one(self, column: Any, name: str, of: pa.DataType, wrong: dict[int, str]) -> Any:
        """Convert a column value by value: one that does not fit is NULL, and its row goes to ``wrong``."""
        parts = []
        for row in range(len(column)):
            part = column.slice(row, 1)
            try:
                parts.append(self._fitted(part, name, of))
            except ValueError:
                wrong.setdefault(row, f'column "{name}": {part[0].as_py()!r} is not of type {self._types[name]}')
                parts.append(pa.nulls(1, of))
        return pa.concat_arrays([values.decoded(part) for part in parts])


def _places(types: Mapping[str, str], names: list[str]) -> dict[str, str]:
    """The column of each name; as in Spark, if none has exactly this name, the only one that differs in case."""
    found = {}
    for name in types:
        similar = [each for each in names if each.lower() == name.lower()]
        if name in names:
            found[name] = name
        elif len(similar) == 1:
            found[name] = similar[0]
    return found


def _converts(found: pa.DataType, of: pa.DataType) -> bool:
    """Whether values of one type can be converted to another in principle."""
    if pa.types.is_dictionary(found):
        found = found.value_type
    kinds = (_kind(found), _kind(of))
    return kinds[0] == kinds[1] != "" or kinds in _CONVERTED


_CONVERTED: Final = frozenset(
    {
        ("whole", "float"),
        ("float", "whole"),
        ("whole", "text"),
        ("text", "whole"),
        ("text", "float"),
        ("text", "time"),
        ("text", "day"),
        ("day", "time"),
        ("day", "text"),
        ("null", "whole"),
        ("null", "float"),
        ("null", "text"),
        ("null", "time"),
        ("null", "day"),
        ("null", "boolean"),
        ("binary", "text"),
        ("decimal", "whole"),
        ("decimal", "float"),
    }
)


def _kind(of: pa.DataType) -> str:
    kinds = {
        "boolean": pa.types.is_boolean,
        "whole": pa.types.is_integer,
        "float": pa.types.is_floating,
        "text": lambda of: pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of),
        "time": pa.types.is_timestamp,
        "day": pa.types.is_date,
        "null": pa.types.is_null,
        "binary": pa.types.is_binary,
        "decimal": pa.types.is_decimal,
    }
    return next((name for name, test in kinds.items() if test(of)), "")
