"""Map tasks that read files themselves: columns from the start.

Readings: R1 (times are microseconds), R2, R33.  What leaves is what ``pack`` gives of the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote, urlparse

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from cedr.errors import Diagnostic, StreamError
from cedr.spark.hashing import buckets_of
from cedr.spark.layout import UNKNOWN, UNREAD, FileForm, Layout
from cedr.spark.pack import Pack

_ROWS: Final = 131_072
"""So many rows of a Parquet file are read at a time."""
_BLOCK: Final = 4 << 20
"""So many bytes of a CSV file."""
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
    "timestamp": pa.timestamp("us"),
    "timestamp_ntz": pa.timestamp("us"),
}
_TIMES: Final = ("vs", "ve", "os", "oe", "promise")


class PackFiles:
    """Given to ``mapInArrow`` on rows that tell paths."""

    def __init__(self, layout: Layout, form: FileForm, key: str | None, closed: frozenset[str] | None) -> None:
        self._layout, self._form, self._key = layout, form, key
        self._closed = closed
        """All types there are; None where any other may come."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The files of a map task; a row for each bucket."""
        return Pack(self._layout)(self._rows(batches))

    def _rows(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            times = batch.column("cedr").to_pylist() if "cedr" in batch.schema.names else [None] * batch.num_rows
            for path, time in zip(batch.column("path").to_pylist(), times, strict=True):
                try:
                    for rows in self._read(unquote(urlparse(path).path)):
                        yield self._travelling(rows, time)
                except (pa.ArrowInvalid, pa.ArrowKeyError, KeyError, OSError) as error:
                    detail = str(error).splitlines()[0]
                    hint = "mend the file, or let Spark read it: cedr.events(spark.read…)"
                    raise StreamError(
                        Diagnostic("unreadable-file", f"{path} cannot be read", detail=detail, hint=hint)
                    ) from None

    def _needed(self) -> list[str]:
        slots = {name for of in self._layout.types for name in of.slots}
        needed = {*self._form.header.values(), *slots, *([self._key] if self._key else [])}
        return [name for name in self._form.types if name in needed]

    def _read(self, path: str) -> Iterator[Any]:
        needed = self._needed()
        types = {name: _TYPES[of] for name, of in self._form.types.items()}
        if self._form.name == "parquet":
            yield from self._parquet(path, needed, types)
            return
        names = None if self._form.head else list(self._form.types)
        with pa_csv.open_csv(
            path,
            pa_csv.ReadOptions(column_names=names, use_threads=False, block_size=_BLOCK),
            pa_csv.ParseOptions(delimiter=self._form.separator),
            pa_csv.ConvertOptions(
                column_types={name: types[name] for name in needed},
                include_columns=needed,
                strings_can_be_null=True,
                null_values=[""],
                quoted_strings_can_be_null=False,
            ),
        ) as reader:
            yield from reader

    def _parquet(self, path: str, needed: list[str], types: dict[str, pa.DataType]) -> Iterator[Any]:
        kind = self._form.header["type"]
        with pa_parquet.ParquetFile(path, read_dictionary=[kind], coerce_int96_timestamp_unit="us") as file:
            missing = [name for name in needed if name not in file.schema_arrow.names]
            if missing:
                message = f'there is no column "{missing[0]}"'
                raise KeyError(message)
            for batch in file.iter_batches(_ROWS, columns=needed, use_threads=False):
                columns = {name: batch.column(name) for name in needed}
                yield {
                    name: column if pa.types.is_dictionary(column.type) else self._fitted(column, name, types[name])
                    for name, column in columns.items()
                }

    def _fitted(self, column: Any, name: str, of: pa.DataType) -> Any:
        """A column in the type that was declared; in Parquet an instant without a zone is in UTC, as Spark has it."""
        if self._form.types[name] == "timestamp" and pa.types.is_timestamp(column.type):
            return column.cast(pa.timestamp("us", column.type.tz)).cast(pa.timestamp("us", "UTC"))
        return column if column.type == of else column.cast(of)

    # -- the columns that travel --------------------------------------------------------------------------------------

    def _travelling(self, rows: Any, time: int | None) -> pa.RecordBatch:
        layout, header = self._layout, self._form.header
        given = {name: rows[name] for name in self._needed()}
        count = len(given[header["vs"]])
        codes, name = self._codes(given[header["type"]])
        columns: dict[str, Any] = {"code": codes, "name": name}
        for part, at in header.items():
            if part in _TIMES:
                columns[part] = self._micros(given[at], self._form.types[at])
            elif part != "type":
                columns[part] = given[at]
        if time is not None:
            columns["id"] = columns["id"].cast(pa.string())
            columns["kind"] = pa.array(np.zeros(count, np.int8))
            columns["cedr"] = pa.array(np.full(count, time))
        if layout.buckets > 1:
            by = given[self._key] if self._key else columns["id"].cast(pa.string())
            columns["bucket"] = pa.array(buckets_of(by, layout.buckets))
        slots = {slot: name for of in layout.types for name, slot in of.slots.items()}
        for slot in sorted(slots):
            columns[slot] = self._zoned(given[slots[slot]], self._form.types[slots[slot]])
        return pa.RecordBatch.from_pydict(columns)

    def _codes(self, column: Any) -> tuple[Any, Any]:
        """The number of each type among those that are read, and the names of types that nobody declared."""
        if pa.types.is_dictionary(column.type):
            numbers, _ = self._codes(column.dictionary)
            codes = pc.fill_null(numbers.take(column.indices), UNKNOWN)
        else:
            read = [of.name for of in self._layout.types]
            found = pc.index_in(column, pa.array(read, pa.string())).to_numpy(zero_copy_only=False)
            codes = np.where(np.isnan(found), UNREAD, found).astype(np.int8) if found.dtype != np.int32 else found
            if self._closed is not None:
                known = pc.is_in(column, pa.array(sorted({*read, *self._closed}), pa.string()))
                codes = np.where(known.to_numpy(zero_copy_only=False), codes, UNKNOWN)
            if column.null_count:
                codes = np.where(column.is_null().to_numpy(zero_copy_only=False), UNKNOWN, codes)
            codes = pa.array(codes.astype(np.int8))
        unknown = pc.equal(codes, UNKNOWN)
        if not pc.any(unknown, min_count=0).as_py():
            return codes, pa.nulls(len(codes), pa.string())
        plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        return codes, pc.if_else(unknown, plain.cast(pa.string()), pa.scalar(None, pa.string()))

    def _micros(self, column: Any, of: str) -> Any:
        """A time as an integer.  Reading: R1."""
        if of == "date":
            return pc.multiply(column.cast(pa.int32()).cast(pa.int64()), 86_400_000_000)
        return self._zoned(column, of).cast(pa.int64())

    def _zoned(self, column: Any, of: str) -> Any:
        """Instants as such: what has no zone is in that of the session."""
        if of != "timestamp" or not pa.types.is_timestamp(column.type) or column.type.tz:
            return column
        if self._form.zone in ("UTC", "Etc/UTC", "GMT", "Z"):
            return column.cast(pa.timestamp("us", "UTC"))
        return pc.assume_timezone(column, self._form.zone, ambiguous="earliest", nonexistent="raise").cast(
            pa.timestamp("us", "UTC")
        )
