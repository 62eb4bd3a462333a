"""CSV files as columns of text.

Reading: R2.  A value in quotes may go on over lines (RFC 4180).  A line with too few or too many values is not used;
the others are.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as pa_csv

from cedr.data.files import DataFile, broken
from cedr.data.origins import Raw, missing_columns, partitions, united
from cedr.data.places import Places
from cedr.data.rejected import Rejected
from cedr.data.words import Words
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError

_SEPARATORS: Final = (",", ";", "\t", "|")
_BLOCK: Final = 1 << 24
_WIDEST: Final = 1 << 30
_UTF8: Final = ("utf-8", "utf8", "utf-8-sig")


class CsvFiles:
    """Some CSV files with the same columns."""

    def __init__(self, files: Sequence[DataFile], words: Words) -> None:
        self._files = files
        self._words = words
        self._heads: dict[str, list[str]] = {}

    @property
    def name(self) -> str:
        """The first of them, and how many more."""
        return named(self._files)

    def names(self) -> list[str]:
        """The columns of all files, in the order in which they come."""
        found = dict.fromkeys(name for file in self._files for name in (*self._head(file), *partitions(file.path)))
        return list(found)

    def types(self) -> dict[str, pa.DataType]:
        """CSV knows no types."""
        return {}

    def read(self, columns: Sequence[str]) -> Raw:
        """Some columns as texts; an empty value without quotes is NULL."""
        places, rejected, tables = Places(), list[Rejected](), []
        for file in self._files:
            table, skipped = self._table(file, columns)
            rejected += skipped
            _place(places, file.path, table.num_rows, [each.row for each in skipped], first=1 + self._words.header)
            tables.append(table)
        told = {file.path: {*self._head(file), *partitions(file.path)} for file in self._files}
        return Raw(united(tables, columns), places, rejected, missing_columns(told, columns), frozenset(columns))

    def _head(self, file: DataFile) -> list[str]:
        if file.path not in self._heads:
            self._heads[file.path] = self._read_head(file)
        return self._heads[file.path]

    def _read_head(self, file: DataFile) -> list[str]:
        first = self._first(file)
        if not first.strip():
            return []
        names = next(csv.reader(StringIO(first), delimiter=self._separator(first)), [])
        if not self._words.header:
            return [f"column{number}" for number, _ in enumerate(names, 1)]
        doubled = [name for name, count in Counter(names).items() if count > 1]
        if doubled:
            raise StreamError(Diagnostic("bad-header", f'{file.path}: two columns are called "{doubled[0]}"'))
        return [name.strip() or f"column{number}" for number, name in enumerate(names, 1)]

    def _first(self, file: DataFile) -> str:
        """The first lines, of which the first row is."""
        head = file.head()
        if head.startswith((b"\xff\xfe", b"\xfe\xff")) and self._words.encoding in _UTF8:
            raise _encoding(file.path, "it is UTF-16", "utf-16")
        try:
            text = head.decode(self._words.encoding, "strict" if len(head) < 65_536 else "ignore")
        except (UnicodeDecodeError, LookupError) as error:
            raise _encoding(file.path, str(error), "latin-1") from None
        return text.removeprefix("\ufeff").lstrip("\r\n")

    def _separator(self, first: str) -> str:
        """The separator that was named, or the one that the first line has most of."""
        if self._words.separator is not None:
            return self._words.separator
        line = first.splitlines()[0] if first else ""
        return max(_SEPARATORS, key=lambda mark: (_outside_quotes(line, mark), -_SEPARATORS.index(mark)))

    def _table(self, file: DataFile, columns: Sequence[str]) -> tuple[pa.Table, list[Rejected]]:
        head = self._head(file)
        asked = [name for name in columns if name in head]
        if not head:
            return pa.table({}), []
        try:
            table, skipped = self._parsed(file, head, asked or head[:1], _BLOCK)
        except pa.ArrowInvalid as error:
            raise self._told(file, error) from None
        except OSError as error:
            raise broken(file.path, str(error)) from None
        constants = {name: value for name, value in partitions(file.path).items() if name in columns}
        for name, value in constants.items():
            table = table.append_column(name, pa.repeat(pa.scalar(value), table.num_rows))
        return table, skipped

    def _parsed(self, file: DataFile, head: list[str], asked: list[str], block: int) -> tuple[pa.Table, list[Rejected]]:
        skipped: list[Rejected] = []

        def skip(row: Any) -> str:
            kind = f"the row has not {row.expected_columns} values, as the others have"
            reason = f"the row has {row.actual_columns} values, not {row.expected_columns}"
            skipped.append(Rejected("bad-row", kind, reason, file.path, row.number or 0, row.text[:200]))
            return "skip"

        header = self._words.header
        read = pa_csv.ReadOptions(
            column_names=head,
            skip_rows=1 if header else 0,
            use_threads=False,
            block_size=block,
            encoding=self._words.encoding,
        )
        parse = pa_csv.ParseOptions(
            delimiter=self._separator(self._first(file)), newlines_in_values=True, invalid_row_handler=skip
        )
        convert = pa_csv.ConvertOptions(
            column_types=dict.fromkeys(head, pa.string()),
            include_columns=asked,
            strings_can_be_null=True,
            null_values=[""],
            quoted_strings_can_be_null=False,
        )
        try:
            with file.open() as stream:
                return pa_csv.read_csv(stream, read, parse, convert), skipped
        except pa.ArrowInvalid as error:
            if "straddling" in str(error) and block < _WIDEST:  # one value is longer than a block
                return self._parsed(file, head, asked, block * 8)
            if "Empty CSV file" in str(error):
                return pa.table({name: pa.nulls(0, pa.string()) for name in asked}), []
            raise

    def _told(self, file: DataFile, error: Exception) -> StreamError:
        why = str(error)
        if "UTF8" in why or "UTF-8" in why:
            return _encoding(file.path, "it is not UTF-8 text", "latin-1")
        return broken(file.path, why.removeprefix("CSV parse error: "))


def _encoding(path: str, why: str, guess: str) -> StreamError:
    hint = f'if it is text of another encoding, name it: encoding="{guess}"'
    return StreamError(Diagnostic("wrong-encoding", f'cannot read "{path}": {why}', hint=hint))


def _outside_quotes(line: str, mark: str) -> int:
    return sum(part.count(mark) for part in line.split('"')[::2])


def _place(places: Places, name: str, count: int, skipped: list[int], first: int) -> None:
    """The numbers of the rows that were read: all but those that were skipped."""
    at = first
    left = count
    for number in sorted(skipped):
        run = max(0, min(number - at, left))
        places.add(name, at, run)
        left -= run
        at = number + 1
    places.add(name, at, left)


def named(files: Sequence[DataFile]) -> str:
    """Files in a message: the first, and how many more."""
    more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
    return f"{files[0].path}{more}"
