"""Reads parts of files of lines: a part has the lines that begin in its range of bytes, whatever their length.

Readings: R39, R41.  As in Spark a record ends with its line.  Many lines are read together.  If that fails they are
halved until few are left, which are read one by one: this finds the lines that cannot be read, and uses the others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, NamedTuple, Protocol

import pyarrow as pa

from cedr.spark.layout.read_faults import ReadFault

Columns = Mapping[str, Any]
"""Columns of equal length by name."""

_BLOCK: Final = 4 << 20
"""The bytes that are read at a time."""
_LONGEST: Final = 1 << 28
"""The most bytes of a line."""
_FEW: Final = 64
"""At most this many lines are read one by one."""
_ENDS: Final = re.compile(rb"\r\n|\r|\n")
_MARK: Final = b"\xef\xbb\xbf"
PACKED: Final = (".gz", ".bz2", ".zst", ".lz4")
"""The suffixes of compressed files."""


class Part(NamedTuple):
    """One part of a file."""

    path: str
    part: int = 0
    parts: int = 1
    length: int | None = None
    """The bytes of the whole file, from its listing."""


class Block(NamedTuple):
    """Whole lines, and the offset of the first."""

    offset: int
    data: bytes


class Form(Protocol):
    """Reads lines of one format."""

    def together(self, lines: bytes) -> Columns:
        """Read many lines.  Raises ``ValueError`` if one cannot be read, or might be read differently alone."""

    def alone(self, line: bytes) -> list[Mapping[str, Any]]:
        """Read one line: its rows, as values by name.  Raises ``ValueError`` with the cause."""

    def columns(self, rows: list[Mapping[str, Any]]) -> Columns:
        """Rows as columns."""


class Typed:
    """Converts values to the types of their columns; all formats of lines share it."""

    place: ClassVar[str]
    """The word for a column in errors."""

    def __init__(self, types: Mapping[str, str], arrow: Mapping[str, pa.DataType], zone: str) -> None:
        self._types, self._arrow, self._zone = types, arrow, zone

    def columns(self, rows: list[Mapping[str, Any]]) -> Columns:
        """Rows as columns."""
        return {name: pa.array([row[name] for row in rows], of) for name, of in self._arrow.items()}

    def _row(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values of the columns that are read, in their types; a missing value is NULL."""
        return {name: self._value(values.get(name), name) for name in self._types}

    def _value(self, value: Any, name: str) -> Any:
        try:
            return None if value is None else self._of(value, self._types[name], self._arrow[name])
        except ValueError as error:
            message = f'{self.place} "{name}": {error}'
            raise ValueError(message) from None

    def _of(self, value: Any, of: str, arrow: pa.DataType) -> Any:
        """Convert a value to the type of its column.  Raises ``ValueError`` with the cause."""
        raise NotImplementedError


def local_path(path: str) -> str:
    """The local path of a path from Spark: ``file:/a b`` and ``file:///a b`` are ``/a b``."""
    plain = path.removeprefix("file:")
    return "/" + plain.lstrip("/") if plain != path else path


def packed(path: str) -> bool:
    """Whether a file is compressed; then it has only one part."""
    return path.endswith(PACKED)


def read(given: Part, form: Form, first: int = 0) -> Iterator[Columns | ReadFault]:
    """Read the lines of a part from the byte ``first`` on: columns, and the faults of lines that cannot be read."""
    counted = _LineCounter(given.path)
    for block in blocks(given, first):
        yield from _read(block, form, counted)


def _read(block: Block, form: Form, counted: _LineCounter) -> Iterator[Columns | ReadFault]:
    try:
        yield form.together(block.data)
    except ValueError:
        middle = _middle(block.data)
        if middle and block.data.count(b"\n") > _FEW:
            yield from _read(Block(block.offset, block.data[:middle]), form, counted)
            yield from _read(Block(block.offset + middle, block.data[middle:]), form, counted)
        else:
            yield from _one_by_one(block, form, counted)


def _middle(data: bytes) -> int:
    """The offset of a line that begins near the middle; 0 if none does."""
    found = data.find(b"\n", len(data) // 2) + 1
    if not 0 < found < len(data):
        found = data.rfind(b"\n", 0, len(data) // 2) + 1
    return found if found < len(data) else 0


def _one_by_one(block: Block, form: Form, counted: _LineCounter) -> Iterator[Columns | ReadFault]:
    rows: list[Mapping[str, Any]] = []
    wrong: list[ReadFault] = []
    for number, line in enumerate(_ENDS.split(block.data)):
        if not line.strip():
            continue
        try:
            rows += form.alone(line)
        except ValueError as error:
            place = f"line {counted.before(block.offset) + number + 1}"
            detail = str(error).splitlines()[0]
            wrong.append(ReadFault.of_line(counted.path, place, detail, line.decode("utf-8", "replace")))
    if rows:
        yield form.columns(rows)
    yield from wrong


# -- bytes ------------------------------------------------------------------------------------------------------------


def blocks(given: Part, first: int = 0) -> Iterator[Block]:
    """The lines of a part, some megabytes at a time; only those that begin at ``first`` or later."""
    if packed(given.path):
        if given.part == 0:
            with pa.input_stream(given.path, compression="detect") as stream:
                stream.read(first)
                yield from _blocks(stream, first, None)
        return
    size = os.path.getsize(given.path) if given.length is None else given.length
    low, high = (size * part // given.parts for part in (given.part, given.part + 1))
    with open(given.path, "rb") as file:
        start = max(_line_start(file, low), first)
        last = given.part == given.parts - 1
        if start < high or last:
            file.seek(start)
            yield from _blocks(file, start, None if last else high)


def _blocks(file: Any, offset: int, high: int | None) -> Iterator[Block]:
    """Whole lines from here up to the end of the line with the byte before ``high``."""
    held = b""
    while high is None or offset < high:
        more = file.read(_BLOCK)
        data = held + more
        if not data:
            return
        cut = data.rfind(b"\n") + 1 if more else len(data)
        if not cut:
            if len(data) > _LONGEST:
                message = f"a line is longer than {_LONGEST:,} bytes"
                raise ValueError(message)
            held = data
            continue
        if high is not None and offset + cut > high:
            stop = data.find(b"\n", high - 1 - offset) + 1
            cut = stop or cut
        mark = len(_MARK) if offset == 0 and data.startswith(_MARK) else 0
        if cut > mark:
            yield Block(offset + mark, data[mark:cut])
        held, offset = data[cut:], offset + cut


def _line_start(file: Any, low: int) -> int:
    """The offset of the first line that begins at or after a byte."""
    if low == 0:
        return 0
    file.seek(low - 1)
    place = low - 1
    while True:
        data: bytes = file.read(1 << 16)
        found = data.find(b"\n")
        if found >= 0:
            return place + found + 1
        place += len(data)
        if not data:
            return place


class _LineCounter:
    """Counts the lines before an offset; counts each line once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._offset = self._count = 0

    def before(self, offset: int) -> int:
        """The number of lines that end before an offset at which a line begins."""
        if offset < self._offset:
            self._offset = self._count = 0
        if offset > self._offset:
            with pa.input_stream(self.path, compression="detect" if packed(self.path) else None) as file:
                file.read(self._offset)
                self._count += _ends(file, offset - self._offset)
            self._offset = offset
        return self._count


def _ends(file: Any, count: int) -> int:
    found, last = 0, b""
    while count > 0 and (data := file.read(min(_BLOCK, count))):
        found += data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")
        found -= last == b"\r" and data.startswith(b"\n")
        last, count = data[-1:], count - len(data)
    return found
