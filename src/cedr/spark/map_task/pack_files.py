"""Map tasks that read files without Spark: they have columns from the start.

Readings: R1 (times are microseconds), R2, R33.  They pack the same as ``pack`` does when Spark reads the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.spark.layout.layout import UNKNOWN, UNREAD, Arriving, FileForm, Layout
from cedr.spark.layout.read_faults import ReadFault
from cedr.spark.layout.state_partitions import with_state_partitions
from cedr.spark.map_task.formats.lines import Part, local_path
from cedr.spark.map_task.formats.reader import Reader
from cedr.spark.map_task.formats.times import WHOLE, checked_times, counted, formatted
from cedr.spark.map_task.formats.values import LOCAL, decoded, zoned
from cedr.spark.map_task.hashing import buckets_of
from cedr.spark.map_task.pack import Pack

_TIMES: Final = ("vs", "ve", "os", "oe", "promise")


class PackFiles:
    """Given to ``mapInArrow`` on rows that each name a part of a file: its path, part and number of parts."""

    def __init__(
        self,
        layout: Layout,
        form: FileForm,
        key: str | None,
        closed: frozenset[str] | None,
        *,
        forgiving: bool = False,
    ) -> None:
        self._layout, self._form, self._key = layout, form, key
        self._closed, self._forgiving = closed, forgiving

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Read and pack the files of a map task: a row for each bucket."""
        self._layout = with_state_partitions(self._layout)
        given = files_in(batches)
        letters: list[ReadFault] = []
        time = given[0].get("cedr") if given else None
        rows = FileRows(
            self._layout, self._form, self._key, self._closed, len(self._layout.tokens), forgiving=self._forgiving
        )
        return Pack(self._layout, letters)(rows.read(given, letters), time)


def files_in(batches: Iterator[Any]) -> list[dict[str, Any]]:
    """The parts of files of a map task, in an order that a replay repeats."""
    given = [row for batch in batches for row in batch.to_pylist()]
    return sorted(given, key=lambda row: (row["path"], row.get("part") or 0))


class FileRows:
    """Reads files as the columns of a layout."""

    def __init__(
        self,
        layout: Arriving,
        form: FileForm,
        key: str | None,
        closed: frozenset[str] | None,
        buckets: int,
        *,
        forgiving: bool,
    ) -> None:
        self._layout, self._form, self._key, self._buckets = layout, form, key, buckets
        self._closed = closed
        """All types that exist; None if there may be others."""
        self._forgiving = forgiving
        """Whether a fault of a file becomes a dead letter; otherwise the query fails."""

    def read(self, given: list[dict[str, Any]], letters: list[ReadFault]) -> Iterator[Any]:
        """The rows of parts of files, in batches; adds what cannot be read to ``letters``."""
        reader = Reader(self._form, self._needed())
        for row in given:
            part = Part(local_path(row["path"]), row.get("part") or 0, row.get("parts") or 1, row.get("length"))
            self._check(part.path)
            try:
                for read in reader.read(part):
                    if not isinstance(read, ReadFault):
                        yield self._input_columns(read, row.get("cedr"))
                    elif self._forgiving:
                        letters.append(read)
                    else:
                        raise _refusal(read)
            except OSError as error:
                detail = str(error).splitlines()[0]
                raise StreamError(Diagnostic("unreadable-file", f"{part.path} cannot be read", detail=detail)) from None

    def _check(self, path: str) -> None:
        column = self._form.partitioned(path)
        if column is not None:
            detail = f'the column "{column}" is told by the name of its folder'
            hint = "let Spark read it: cedr.events(spark.readStream…)"
            raise StreamError(Diagnostic("unreadable-file", f"{path} cannot be read", detail=detail, hint=hint))

    def _needed(self) -> list[str]:
        slots = {name for of in self._layout.types for name in of.slots}
        needed = {*self._form.header.values(), *slots, *([self._key] if self._key else [])}
        return [name for name in self._form.types if name in needed]

    # -- the columns of the layout ------------------------------------------------------------------------------------

    def _input_columns(self, rows: Any, time: int | None) -> pa.RecordBatch:
        layout, header = self._layout, self._form.header
        given = {name: rows[name] for name in self._needed()}
        count = len(given[header["vs"]])
        columns: dict[str, Any] = self._typed(given, count)
        times = {part: self._micros(given[at], self._form.types[at]) for part, at in header.items() if part in _TIMES}
        columns |= checked_times(times) if self._form.unit or self._form.format else times
        for part, at in header.items():
            if part not in _TIMES and part != "type":
                columns[part] = decoded(given[at])
        if time is not None:
            columns["cedr"] = pa.array(np.full(count, time))
        if self._buckets > 1:
            by = given[self._key] if self._key else columns["id"].cast(pa.string())
            columns["bucket"] = pa.array(buckets_of(by, self._buckets))
        slots = {slot: name for of in layout.types for name, slot in of.slots.items()}
        for slot in sorted(slots):
            columns[slot] = decoded(given[slots[slot]])
        return pa.RecordBatch.from_pydict(columns)

    def _typed(self, given: Mapping[str, Any], count: int) -> dict[str, Any]:
        """The columns ``code`` and ``name``: the codes of types, and the names of undeclared ones."""
        if self._form.type is None:
            codes, name = self._codes(given[self._form.header["type"]])
            return {"code": codes, "name": name}
        (code,) = self._numbers(pa.array([self._form.type]))
        return {"code": pa.array(np.full(count, code.as_py(), np.int8))}

    def _codes(self, column: Any) -> tuple[Any, Any]:
        """The code of the type of each row, and the names of undeclared types."""
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()  # there are few types and many rows
        numbers = self._numbers(column.dictionary)
        codes = numbers.take(column.indices)
        if not column.null_count and UNKNOWN not in numbers.to_pylist():
            return codes, pa.nulls(len(codes), pa.string())
        codes = pc.fill_null(codes, UNKNOWN)
        names = column.dictionary_decode().cast(pa.string())
        return codes, pc.if_else(pc.equal(codes, UNKNOWN), names, pa.scalar(None, pa.string()))

    def _numbers(self, types: Any) -> Any:
        """The codes of some types."""
        read = {of.name: number for number, of in enumerate(self._layout.types)}
        other = {name: UNREAD for name in self._closed or ()}
        missing = UNREAD if self._closed is None else UNKNOWN
        numbers = {**other, **read}
        codes = [UNKNOWN if name is None else numbers.get(str(name), missing) for name in types.to_pylist()]
        return pa.array(codes, pa.int8())

    def _micros(self, column: Any, of: str) -> Any:
        """Times as whole numbers.  Readings: R1, R50."""
        form = self._form
        if of == "string":
            return formatted(column, form.format or "", form.local or "UTC")
        if of in ("date", "timestamp_ntz") and form.local not in (None, "UTC"):
            column = zoned(column.cast(LOCAL), form.local)
        elif of == "date":
            column = column.cast(LOCAL)
        return counted(column.cast(pa.int64()), form.unit if of in WHOLE else None, truncate=form.truncate)


def _refusal(fault: ReadFault) -> StreamError:
    hint = 'mend it, or have it among the dead letters: dead_letters=True, or unreadable="dead-letter"'
    return StreamError(Diagnostic(fault.code, fault.primary, detail=fault.detail, hint=hint))
