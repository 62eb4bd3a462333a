"""JSON Lines as columns: an object on each line.

Reading: R2.  Arrow reads many lines at once.  Where it cannot, because a line is broken or a field has values of two
types, the lines are halved until few are left, and these are read one by one: so the faulty line is found, and all
others are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.json as pa_json

from cedr.connect.jsonlines import Fault, parse
from cedr.data.csv_files import named
from cedr.data.files import DataFile, broken
from cedr.data.json_columns import Piece, assembled
from cedr.data.origins import Raw, partitions
from cedr.data.places import Places
from cedr.data.rejected import Rejected
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError

_BLOCK: Final = 1 << 23
_FEW: Final = 64
_LONGEST: Final = 1 << 28
_MARK: Final = b"\xef\xbb\xbf"


class JsonFiles:
    """Some files of JSON Lines."""

    def __init__(self, files: Sequence[DataFile]) -> None:
        self._files = files
        self._pieces: list[Piece] | None = None
        self._rejected: list[Rejected] = []
        self._places = Places()

    @property
    def name(self) -> str:
        """The first of them, and how many more."""
        return named(self._files)

    def names(self) -> list[str]:
        """The fields that any object has; for that all lines are read."""
        return list(dict.fromkeys(name for piece in self._read() for name in piece.table.column_names))

    def types(self) -> dict[str, pa.DataType]:
        """Each line has its own."""
        return {}

    def read(self, columns: Sequence[str]) -> Raw:
        """Some fields of all objects."""
        made = assembled(self._read(), columns, self._places)
        rejected = [*self._rejected, *made.rejected]
        return Raw(made.table, self._places, rejected, made.warnings, made.untyped, made.dropped)

    def _read(self) -> list[Piece]:
        if self._pieces is None:
            self._pieces = []
            for file in self._files:
                constants = partitions(file.path)
                for piece in _Lines(file, self._rejected).pieces():
                    self._places.add(file.path, piece.first, piece.table.num_rows)
                    self._pieces.append(_with(piece, constants))
        return self._pieces


def _with(piece: Piece, constants: Mapping[str, str]) -> Piece:
    table = piece.table
    for name, value in constants.items():
        if name not in table.column_names:
            table = table.append_column(name, pa.repeat(pa.scalar(value), table.num_rows))
    return Piece(table, piece.first)


class _Lines:
    """The lines of one file."""

    def __init__(self, file: DataFile, rejected: list[Rejected]) -> None:
        self._file = file
        self._rejected = rejected
        self._texts: list[tuple[str, pa.DataType]] = []

    def pieces(self) -> Iterator[Piece]:
        """Rows that follow each other, as tables, each with the number of its first line."""
        first = 1
        for block in self._blocks():
            yield from self._tables(block, first)
            first += block.count(b"\n") + (not block.endswith(b"\n"))

    def _blocks(self) -> Iterator[bytes]:
        """Whole lines, some megabytes at a time."""
        held = b""
        with self._file.open() as stream:
            while True:
                try:
                    more = bytes(stream.read(_BLOCK))
                except OSError as error:
                    raise broken(self._file.path, str(error)) from None
                if not more:
                    break
                held = held + more
                if held.startswith(_MARK):
                    held = held.removeprefix(_MARK)
                cut = held.rfind(b"\n") + 1
                if cut:
                    yield held[:cut]
                    held = held[cut:]
                elif len(held) > _LONGEST:
                    raise broken(self._file.path, "a line is longer than 256 MB; are there line ends in it?")
        if held.strip():
            yield held

    def _tables(self, lines: bytes, first: int) -> Iterator[Piece]:
        if not lines.strip():
            return
        if first == 1 and lines.lstrip().startswith(b"["):
            hint = "write one object on each line: jq -c '.[]' FILE"
            primary = f'"{self._file.path}" is one JSON array, not JSON Lines'
            raise StreamError(Diagnostic("unknown-format", primary, hint=hint))
        count = lines.count(b"\n") + (not lines.endswith(b"\n"))
        try:
            table = self._parsed(lines)
            if table.num_rows == count:
                yield Piece(table, first)
                return
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass
        if count > _FEW:
            middle = _middle(lines)
            if 0 < middle < len(lines):
                yield from self._tables(lines[:middle], first)
                yield from self._tables(lines[middle:], first + lines.count(b"\n", 0, middle))
                return
        yield from self._one_by_one(lines, first)

    def _parsed(self, lines: bytes) -> pa.Table:
        """As Arrow reads them; a text that looks like a time stays the text it is."""
        options = pa_json.ReadOptions(use_threads=False, block_size=len(lines) + 1)
        for _ in range(2):
            known = pa_json.ParseOptions(explicit_schema=pa.schema(self._texts), unexpected_field_behavior="infer")
            table = pa_json.read_json(pa.BufferReader(lines), options, known)
            taken = [each.name for each in table.schema if pa.types.is_timestamp(each.type)]
            if not taken:
                break
            self._texts += [(name, pa.string()) for name in taken]
        return table.select([name for name in table.column_names if table.column(name).null_count < len(table)])

    def _one_by_one(self, lines: bytes, first: int) -> Iterator[Piece]:
        for number, line in enumerate(lines.split(b"\n"), first):
            if line.strip():
                try:
                    row = self._object(line)
                    yield Piece(pa.Table.from_pylist([row]), number)
                except (Fault, pa.ArrowException, OverflowError, UnicodeDecodeError) as fault:
                    reason = _first_line(fault)
                    kind = "the line is not a JSON object"
                    text = line[:200].decode("utf-8", "replace")
                    self._rejected.append(Rejected("bad-json", kind, reason, self._file.path, number, text))

    def _object(self, line: bytes) -> dict[str, Any]:
        value = parse(line.decode("utf-8"))
        if not isinstance(value, dict):
            raise Fault("bad-json", "the line is not an object")
        return {name: _plain(item) for name, item in value.items()}


def _plain(value: object) -> object:
    """A float that remembers its text as a plain one."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return float(value) if isinstance(value, float) else value


def _first_line(fault: Exception) -> str:
    text = fault.primary if isinstance(fault, Fault) else str(fault)
    return text.splitlines()[0] if text else type(fault).__name__


def _middle(lines: bytes) -> int:
    """The end of a line near the middle."""
    return lines.find(b"\n", len(lines) // 2) + 1 or lines.rfind(b"\n", 0, len(lines) // 2) + 1
