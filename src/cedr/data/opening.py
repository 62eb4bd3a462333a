"""What was given as data: a path, a data frame, rows, or several of these by type; each becomes a source.

Whatever is none of these is an error that says what is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import IOBase
from os import PathLike, fspath
from typing import Any, Final

from cedr.data.csv_files import CsvFiles
from cedr.data.files import DataFile, data_files
from cedr.data.frames import frame_of, frame_of_rows, is_frame
from cedr.data.json_files import JsonFiles
from cedr.data.origins import Origin
from cedr.data.parquet_files import ParquetFiles
from cedr.data.sources import Source
from cedr.data.words import Words, words_of
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.diagnostics.naming import named

TAKEN: Final = (
    "taken are: the path of a CSV, JSON Lines or Parquet file, a folder or a pattern of them; a pandas or polars data "
    "frame; an Arrow table; rows as dictionaries; messages; EventBatch objects; a dictionary of these by event type"
)
_KINDS: Final = ("insert", "retract", "guarantee")


@dataclass(frozen=True, eq=False)
class LocalEvents:
    """Data for the local host with their words, as ``cedr.events`` gives it.  Join two with ``|``."""

    sources: tuple[Source, ...]

    def __or__(self, other: LocalEvents) -> LocalEvents:
        return LocalEvents((*self.sources, *other.sources))

    def __repr__(self) -> str:
        """Each source with its words."""
        return f"<events {' | '.join(map(str, self.sources))}>"


def local_events(data: Any, words: Mapping[str, Any]) -> LocalEvents:
    """Sources of what was given.  Raises ``StreamError`` where it is no data."""
    if isinstance(data, LocalEvents):
        if words:
            primary = f"the data are described already: {next(iter(words))}= comes too late"
            raise StreamError(Diagnostic("bad-word", primary, hint="say it in cedr.events(…)"))
        return data
    if isinstance(data, Mapping) and not is_message(data):
        return _by_type(data, words)
    checked = words_of(words)
    return LocalEvents((Source(origin_of(data, checked), checked),))


def _by_type(data: Mapping[Any, Any], words: Mapping[str, Any]) -> LocalEvents:
    if "type" in words and words["type"] is not None:
        raise StreamError(Diagnostic("bad-word", "the keys of the dictionary are the event types: type= says it again"))
    found: list[Source] = []
    for name, each in data.items():
        if not isinstance(name, str) or not name:
            raise wrong_data(data)
        if isinstance(each, LocalEvents):
            found += (replace(source, words=replace(source.words, type=f"'{name}'")) for source in each.sources)
        else:
            checked = words_of({**words, "type": f"'{name}'"})
            found.append(Source(origin_of(each, checked), checked))
    if not found:
        raise wrong_data(data)
    return LocalEvents(tuple(found))


def origin_of(data: Any, words: Words) -> Origin:
    """Where rows are read from.  Raises ``StreamError``."""
    if hasattr(data, "sparkSession"):
        hint = "cedr.query(query, cedr.events(frame, …)) asks a query of it"
        raise StreamError(
            Diagnostic("wrong-data", "this is a DataFrame of Spark, which the local host does not read", hint=hint)
        )
    if is_frame(data):
        return frame_of(data)
    if isinstance(data, str | PathLike) or _are_paths(data):
        return files_origin(data_files(data, words.format), words)
    rows = list(data) if isinstance(data, Iterable) and not isinstance(data, bytes | str) else None
    if rows and all(isinstance(row, Mapping) for row in rows):
        return frame_of_rows(rows)
    raise wrong_data(data)


def _are_paths(data: Any) -> bool:
    return isinstance(data, Sequence) and bool(data) and all(isinstance(each, str | PathLike) for each in data)


def files_origin(files: list[DataFile], words: Words) -> Origin:
    """Where the rows of files of one format are read from."""
    match files[0].format:
        case "csv":
            if words.separator is None and files[0].path.lower().split(".gz")[0].endswith(".tsv"):
                words = replace(words, separator="\t")
            return CsvFiles(files, words)
        case "json":
            return JsonFiles(files)
        case _:
            return ParquetFiles(files)


def wrong_data(data: Any) -> StreamError:
    """The error for something that is no data."""
    name = type(data).__name__
    hint = "collect() makes a data frame of it" if name == "LazyFrame" else ""
    hint = "give the path of the file" if isinstance(data, IOBase) else hint
    primary = f"{named(data)} is no data that a query can be asked of"
    return StreamError(Diagnostic("wrong-data", primary, detail=TAKEN, hint=hint))


def holds_messages(path: str | PathLike[str]) -> bool:
    """Whether a file is of our own form: its first line is an insert, a retraction or a guarantee."""
    name = fspath(path)
    try:
        (file, *_) = data_files(name, None)
    except StreamError:
        return False
    if file.format != "json" or file.packed:
        return False
    first = file.head().removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
    try:
        return is_message(json.loads(first))
    except (ValueError, RecursionError):
        return any(first.startswith(f'{{"{kind}"'.encode()) for kind in _KINDS)


def is_message(value: Any) -> bool:
    """Whether a dictionary is a message of our own form."""
    return (
        isinstance(value, Mapping)
        and any(kind in value for kind in _KINDS)
        and all(name in (*_KINDS, "source") for name in value)
        and all(isinstance(value.get(kind, {}), Mapping) for kind in ("insert", "retract"))
    )
