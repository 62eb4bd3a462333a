"""Which files a path names, and what they are: by their names first, by their first bytes where these say otherwise."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from glob import glob
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from cedr.connect.files import unreadable
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError

SUFFIXES: Final = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_PACKED: Final = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
_MAGIC: Final = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
_OTHERS: Final = {
    b"PK\x03\x04": "a zip archive, perhaps an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"Obj\x01": "an Avro file",
    b"ORC": "an ORC file",
    b"ARROW1": "an Arrow file",
    b"%PDF": "a PDF",
    b"SQLite format 3": "an SQLite database",
}
_EXCEL: Final = "save the sheet as CSV, or read it with pandas.read_excel and give the data frame"
_TAKEN: Final = (
    "CSV, JSON Lines and Parquet files are read, compressed or not; data frames and Arrow tables are taken as they are"
)
_HEAD: Final = 65_536


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file: its path, its format, and how it is compressed."""

    path: str
    format: str
    packed: str | None = None
    content: bytes | None = field(default=None, repr=False)
    """What standard input held, which can be read only once."""

    def open(self) -> Any:
        """Its bytes, unpacked, from the beginning."""
        try:
            raw = pa.OSFile(self.path) if self.content is None else pa.BufferReader(self.content)
            return pa.CompressedInputStream(raw, self.packed) if self.packed else raw
        except OSError as error:
            raise StreamError(unreadable(self.path, "the data", _plain(error))) from None

    def head(self, size: int = _HEAD) -> bytes:
        """Its first bytes, unpacked."""
        with self.open() as stream:
            try:
                return bytes(stream.read(size))
            except OSError as error:
                raise broken(self.path, str(error)) from None


def broken(path: str, why: str) -> StreamError:
    """The error for a file that is damaged."""
    first = why.strip().splitlines()[0] if why.strip() else "it cannot be read"
    return StreamError(Diagnostic("broken-file", f'cannot read "{path}": {first}'))


def data_files(given: str | PathLike[str] | Sequence[str | PathLike[str]], asked: str | None) -> list[DataFile]:
    """The files of a path, a folder, a pattern, or of several of these; all of one format.

    Raises ``StreamError`` where there is none, or one that is no data.
    """
    listed = [given] if isinstance(given, str | PathLike) else list(given)
    found = [file for each in listed for file in _files_of(fspath(each), asked)]
    kinds = {file.format for file in found}
    if len(kinds) > 1:
        names = ", ".join(
            f"{kind}: {next(file.path for file in found if file.format == kind)}" for kind in sorted(kinds)
        )
        primary = "the files have different formats"
        raise StreamError(
            Diagnostic("mixed-formats", primary, detail=names, hint="name those of one format, as in 'data/*.csv'")
        )
    return found


def _files_of(name: str, asked: str | None) -> Iterator[DataFile]:
    path = Path(name)
    if name == "-":
        content = sys.stdin.buffer.read()
        yield DataFile("-", asked or _kind_of(content, name), content=content)
    elif path.is_dir():
        inside = sorted(each for each in path.rglob("*") if each.is_file() and not _hidden(each, path))
        if not inside:
            raise StreamError(Diagnostic("no-files", f'the folder "{name}" has no files in it'))
        yield from (_file(str(each), asked) for each in inside)
    elif not path.exists() and any(mark in name for mark in "*?["):
        matching = sorted(each for each in glob(name, recursive=True) if Path(each).is_file())
        if not matching:
            raise StreamError(Diagnostic("no-files", f'no file has a name like "{name}"'))
        yield from (_file(each, asked) for each in matching)
    else:
        yield _file(name, asked)


def _hidden(path: Path, folder: Path) -> bool:
    """As Spark and others have it: what begins with a dot or an underscore is not data."""
    return any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)


def _file(name: str, asked: str | None) -> DataFile:
    try:
        with Path(name).open("rb") as stream:
            raw = stream.read(16)
    except (OSError, ValueError) as error:
        raise StreamError(unreadable(name, "the data", error)) from None
    path = Path(name)
    suffixes = [each.lower() for each in path.suffixes]
    packed = next((kind for magic, kind in _MAGIC.items() if raw.startswith(magic)), None)
    if packed is None and suffixes and suffixes[-1] == ".br":
        packed = "brotli"
    if suffixes and suffixes[-1] in _PACKED:
        suffixes = suffixes[:-1]
    other = next((kind for magic, kind in _OTHERS.items() if raw.startswith(magic)), None)
    if other is not None:
        raise StreamError(
            Diagnostic("unknown-format", f'"{name}" is {other}', detail=_TAKEN, hint=_EXCEL if "Excel" in other else "")
        )
    if packed is None and raw.startswith(b"PAR1"):
        return DataFile(name, "parquet")
    told = asked or SUFFIXES.get(suffixes[-1] if suffixes else "")
    if told == "parquet":
        raise StreamError(
            Diagnostic("broken-file", f'cannot read "{name}": it is no Parquet file, or only a part of one')
        )
    return DataFile(name, told or _by_content(name, packed), packed)


def _by_content(name: str, packed: str | None) -> str:
    return _kind_of(DataFile(name, "csv", packed).head(), name)


def _kind_of(content: bytes, name: str) -> str:
    head = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"{"):
        return "json"
    if head and b"\x00" not in head and any(mark in head.splitlines()[0] for mark in (b",", b";", b"\t", b"|")):
        return "csv"
    raise StreamError(
        Diagnostic("unknown-format", f'"{name}" does not say its format', detail=_TAKEN, hint="name it: format")
    )


def _plain(error: OSError) -> OSError:
    """Arrow's errors tell the number of the system's error in their text only."""
    return error if error.strerror else OSError(str(error).splitlines()[0])
