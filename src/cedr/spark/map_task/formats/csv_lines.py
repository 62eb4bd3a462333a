"""Reads lines of CSV as Spark does; but a value that Spark would silently read as NULL is a fault.

Reading: R2.  A record ends with its line, also within quotes: Spark's multiLine=false.  A quote within a quoted value
is written twice (RFC 4180): Spark's escape='"'.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from cedr.spark.map_task.formats import values
from cedr.spark.map_task.formats.lines import Columns, Part, Typed, blocks, packed
from cedr.spark.map_task.formats.plain_csv import PlainCsv

_LINE_END, _RETURN, _QUOTE = b'\n\r"'
_HEAD: Final = 1 << 16
"""The bytes that are examined for a line of names."""
_BOOLEANS: Final = {"true": True, "false": False}
_QUOTED: Final = '"(?:[^"]|"")*"'
_TIMES: Final = ("timestamp", "timestamp_ntz", "date")


class CsvLines(Typed):
    """Reads some columns; ``names`` are those of the file, in order; the column ``coded`` may become a dictionary."""

    place = "column"

    def __init__(
        self,
        types: Mapping[str, str],
        arrow: Mapping[str, pa.DataType],
        names: Sequence[str],
        form: tuple[str, str],
        coded: str | None = None,
    ) -> None:
        separator, zone = form
        super().__init__(types, arrow, zone)
        self._names = list(names)
        self._parse = pa_csv.ParseOptions(delimiter=separator)
        self._separator = separator.encode()
        mark = re.escape(separator)
        self._record = re.compile(f'(?:{_QUOTED}|[^"{mark}][^{mark}]*|)(?:{mark}(?:{_QUOTED}|[^"{mark}][^{mark}]*|))*')
        written = {name: values.LOCAL if of == values.INSTANT else of for name, of in arrow.items()}
        self._typed = self._converted(written)
        self._texts = self._converted({name: pa.string() for name in types})
        self._plain = self._converted(written | {name: pa.string() for name, of in types.items() if of in _TIMES})
        self._iso = True
        """Whether Arrow could read all times so far."""
        self._plain_lines = PlainCsv.fitting(types, written, names, separator, coded)
        """The faster reader; None if the lines are not plain."""

    def _converted(self, types: Mapping[str, pa.DataType]) -> pa_csv.ConvertOptions:
        return pa_csv.ConvertOptions(
            column_types=types,
            include_columns=list(self._types),
            include_missing_columns=True,
            strings_can_be_null=True,
            null_values=[""],
            quoted_strings_can_be_null=True,
            true_values=["true", "True", "TRUE"],
            false_values=["false", "False", "FALSE"],
        )

    def together(self, lines: bytes) -> Columns:
        """Read many lines.  Raises ``ValueError`` if one cannot be read, or might be read differently alone."""
        plain = None if self._plain_lines is None else self._plain_lines.read(lines)
        if plain is None:
            plain = self._by_arrow(lines)
            self._plain_lines = None
        return {name: self._fitted(plain[name], of) for name, of in self._types.items()}

    def _by_arrow(self, lines: bytes) -> Columns:
        quoted = b'"' in lines
        if quoted and not _closed(lines, self._separator):
            raise ValueError
        count = (
            _records(lines) if quoted or b"\r" in lines else None
        )  # otherwise each line is a record for every reader
        if self._iso:
            try:
                found = self._read(lines, self._typed)
            except pa.ArrowInvalid:
                found = self._read(lines, self._plain)
                self._iso = False
        else:
            found = self._read(lines, self._plain)
        if count is not None and found.num_rows != count:
            raise ValueError
        whole = found.combine_chunks()
        return {name: values.joined(whole.column(name)) for name in self._types}

    def _read(self, lines: bytes, how: pa_csv.ConvertOptions) -> Any:
        options = pa_csv.ReadOptions(column_names=self._names, use_threads=False, block_size=max(len(lines), 1) + 1)
        return pa_csv.read_csv(pa.BufferReader(lines), options, self._parse, how)

    def _fitted(self, column: Any, of: str) -> Any:
        text = pa.types.is_string(column.type)
        match of:
            case "timestamp":
                return values.instants(column, self._zone) if text else values.zoned(column, self._zone)
            case "timestamp_ntz" if text:
                return values.locals_of(column)
            case "date" if text:
                return values.days(column)
            case _:
                return column

    def alone(self, line: bytes) -> list[Mapping[str, Any]]:
        """Read one line.  Raises ``ValueError`` with the cause."""
        try:
            text = line.decode("utf-8")
            (row,) = self._read(line, self._texts).to_pylist()
        except UnicodeDecodeError:
            message = "it is not UTF-8"
            raise ValueError(message) from None
        except pa.ArrowInvalid as error:
            raise ValueError(str(error).removeprefix("CSV parse error: Row #1: ")) from None
        if not self._record.fullmatch(text):
            message = "a value in quotes does not end where its line or the next value does"
            raise ValueError(message)
        return [self._row(row)]

    def _of(self, text: str, of: str, arrow: pa.DataType) -> Any:
        match of:
            case "string":
                return text
            case "boolean" if text.lower() in _BOOLEANS:
                return _BOOLEANS[text.lower()]
            case "timestamp":
                return values.instant(text, self._zone)
            case "timestamp_ntz":
                return values.local(text)
            case "date":
                return values.day(text)
            case "float" | "double":
                return values.number(text)
            case "tinyint" | "smallint" | "int" | "bigint":
                return values.whole(text, arrow)
            case _:
                message = f'"{text}" is not of type {of}'
                raise ValueError(message)


def head_of(path: str, separator: str) -> tuple[list[str], int]:
    """The names in the first line that is not empty, and the offset of the next line."""
    for block in blocks(Part(path)):
        place = 0
        while place < len(block.data):
            end = block.data.find(b"\n", place) + 1 or len(block.data)
            line = block.data[place:end].rstrip(b"\r\n")
            if line.strip():
                names = next(csv.reader([line.decode("utf-8")], delimiter=separator))
                return names, block.offset + end
            place = end
    return [], 0


def named_first(path: str, separator: str, names: Sequence[str]) -> bool:
    """Whether the first line that is not empty has all these names among its values."""
    with pa.input_stream(path, compression="detect" if packed(path) else None) as file:
        text = file.read(_HEAD).decode("utf-8-sig", "replace")
    line = next((line for line in text.splitlines() if line.strip()), "")
    return set(names) <= set(next(csv.reader([line], delimiter=separator), []))


def _records(lines: bytes) -> int:
    """The number of lines that are not empty; raises ``ValueError`` if lines end in different ways."""
    letters = np.frombuffer(lines, np.uint8)
    ends = letters == _LINE_END
    begin = np.empty_like(ends)  # whether a line begins here
    begin[:1], begin[1:] = True, ends[:-1]
    if b"\r" in lines:
        returns = letters == _RETURN
        if not np.array_equal(returns[:-1], ends[1:]) or ends[0] or returns[-1]:
            raise ValueError
        ends = returns
    empty = np.count_nonzero(begin & ends)
    return int(np.count_nonzero(ends)) - int(empty) + (not lines.endswith(b"\n"))


def _closed(lines: bytes, separator: bytes) -> bool:
    """Whether quotes begin and end values in turn, apart from doubled quotes."""
    letters = np.frombuffer(lines, np.uint8)
    quotes = np.flatnonzero(letters == _QUOTE)
    if (np.diff(quotes) == 1).any():
        letters = np.frombuffer(lines.replace(b'""', b""), np.uint8)
        quotes = np.flatnonzero(letters == _QUOTE)
    if len(quotes) % 2:
        return False
    around = np.concatenate([[_LINE_END], letters, [_LINE_END]])
    before, after = around[quotes[::2]], around[quotes[1::2] + 2]
    begin = (before == separator[0]) | (before == _LINE_END)
    end = (after == separator[0]) | (after == _LINE_END) | (after == _RETURN)
    return bool(begin.all() and end.all())
