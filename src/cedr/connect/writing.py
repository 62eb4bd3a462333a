"""Generated messages to where they are wanted: a file, a folder in which files appear, or a stream of lines.

A file is written under a hidden name and then renamed, so that whoever watches a folder never sees half a file, and an
interrupted run leaves none.  Memory follows what is written at a time, not the size of the whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import BinaryIO, Protocol

import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from cedr.connect.chance import Integers
from cedr.connect.delivery import CHUNK, Delivery
from cedr.connect.generated import Rendering
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError, unwritable

SUFFIXES = {".jsonl": "jsonl", ".json": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet"}
FORMATS = ("jsonl", "csv", "parquet")
PER_FILE = 100_000
_TURNS = 10
"""A stream of lines at a chosen pace is written so often in a second."""


class Writer(Protocol):
    """Takes messages in the order of arrival."""

    def write(self, codes: Integers) -> None:
        """Write some more."""

    def close(self) -> None:
        """That was all."""


class _Lines:
    def __init__(self, stream: BinaryIO, rendering: Rendering) -> None:
        self._stream, self._rendering = stream, rendering

    def write(self, codes: Integers) -> None:
        left = self._rendering.lines(codes)
        while left:  # an unbuffered stream may take less than it is given
            left = left[self._stream.write(left) :]
        self._stream.flush()

    def close(self) -> None:
        self._stream.flush()


class _Csv:
    def __init__(self, stream: BinaryIO, rendering: Rendering) -> None:
        self._rendering = rendering
        schema = rendering.texts(np.empty(0, np.int64)).schema
        options = pa_csv.WriteOptions(quoting_style="none")
        self._writer = pa_csv.CSVWriter(stream, schema, write_options=options)

    def write(self, codes: Integers) -> None:
        self._writer.write_table(self._rendering.texts(codes))

    def close(self) -> None:
        self._writer.close()


class _Parquet:
    def __init__(self, stream: BinaryIO, rendering: Rendering) -> None:
        self._rendering = rendering
        schema = rendering.table(np.empty(0, np.int64)).schema
        self._writer = pa_parquet.ParquetWriter(stream, schema, compression="zstd")

    def write(self, codes: Integers) -> None:
        self._writer.write_table(self._rendering.table(codes), row_group_size=max(1, len(codes)))

    def close(self) -> None:
        self._writer.close()


_WRITERS: dict[str, Callable[[BinaryIO, Rendering], Writer]] = {"jsonl": _Lines, "csv": _Csv, "parquet": _Parquet}


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast messages appear: so many a second, by a clock that can be another one."""

    per_second: float
    clock: Callable[[], float] = monotonic
    wait: Callable[[float], None] = sleep

    def __post_init__(self) -> None:
        if not 0 < self.per_second < float("inf"):
            raise StreamError(Diagnostic("bad-pace", f"the pace must be more than nothing, not {self.per_second:g}"))

    def keeper(self) -> Callable[[int], None]:
        """Starts now; call what it gives before each write with how many messages will then be out."""
        start = self.clock()

        def keep(count: int) -> None:
            left = start + count / self.per_second - self.clock()
            if left > 0:
                self.wait(left)

        return keep


Done = Callable[[int], object]
"""Is told how many of the events have been dealt with."""


def format_of(name: str, asked: str | None = None) -> str:
    """The format of a file by its suffix, unless one is asked for.  Raises ``StreamError``."""
    if asked is not None and asked not in FORMATS:
        detail = f"formats: {', '.join(FORMATS)}"
        raise StreamError(Diagnostic("unknown-format", f'there is no format "{asked}"', detail=detail))
    found = asked or SUFFIXES.get(Path(name).suffix.lower())
    if found is None:
        detail = f"endings: {', '.join(SUFFIXES)}"
        hint = "name the format, or end the name of a folder with a slash"
        raise StreamError(
            Diagnostic("unknown-format", f'the name "{name}" does not say its format', detail=detail, hint=hint)
        )
    return found


def write_file(
    delivery: Delivery, path: Path, form: str, *, replace: bool = False, done: Done = lambda _: None
) -> None:
    """All messages into one file."""
    rendering = Rendering(delivery)
    with _appearing(path, replace=replace) as stream:
        writer = _WRITERS[form](stream, rendering)
        for codes in delivery.codes():
            writer.write(codes)
            done(delivery.counts.events)
        writer.close()


def write_folder(
    delivery: Delivery,
    folder: Path,
    form: str,
    *,
    per_file: int = PER_FILE,
    pace: Pace | None = None,
    replace: bool = False,
    done: Done = lambda _: None,
) -> int:
    """Files of ``per_file`` messages that appear in a folder one after the other; how many."""
    if per_file < 1:
        raise StreamError(Diagnostic("bad-count", f"a file must hold at least one message, not {per_file:,}"))
    _prepare(folder, replace=replace)
    rendering, keep = Rendering(delivery), pace.keeper() if pace else None
    number = sent = 0
    for number, codes in enumerate(_pieces(delivery, per_file), 1):
        sent += len(codes)
        if keep is not None:
            keep(sent)
        with _appearing(folder / f"part-{number:06}.{form}", replace=replace) as stream:
            writer = _WRITERS[form](stream, rendering)
            writer.write(codes)
            writer.close()
        done(delivery.counts.events)
    return number


def write_lines(delivery: Delivery, stream: BinaryIO, *, pace: Pace | None = None, done: Done = lambda _: None) -> None:
    """All messages as lines of JSON to an open stream."""
    writer, keep = _Lines(stream, Rendering(delivery)), pace.keeper() if pace else None
    size = CHUNK if pace is None else max(1, int(pace.per_second) // _TURNS)
    sent = 0
    for codes in _pieces(delivery, size):
        sent += len(codes)
        if keep is not None:
            keep(sent)
        writer.write(codes)
        done(delivery.counts.events)


def _pieces(delivery: Delivery, size: int) -> Iterator[Integers]:
    """The messages cut into pieces of one size, the last one smaller."""
    kept: list[Integers] = []
    count = 0
    for codes in delivery.codes(min(CHUNK, max(1024, size))):
        kept.append(codes)
        count += len(codes)
        if count >= size:
            whole = np.concatenate(kept)
            stop = count - count % size
            yield from (whole[low : low + size] for low in range(0, stop, size))
            kept, count = [whole[stop:]], count - stop
    if count:
        yield np.concatenate(kept)


@contextmanager
def _appearing(path: Path, *, replace: bool) -> Iterator[BinaryIO]:
    """A file that is there once it is whole."""
    if path.exists() and not replace:
        raise _already_there(path)
    hidden = path.with_name(f".{path.name}.part")
    try:
        with hidden.open("wb") as stream:
            yield stream
        os.replace(hidden, path)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        hidden.unlink(missing_ok=True)


def _prepare(folder: Path, *, replace: bool) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not replace and any(folder.iterdir()):
            raise _already_there(folder)
    except OSError as error:
        raise unwritable(folder, error) from None


def _already_there(path: Path) -> StreamError:
    what = "holds files" if path.is_dir() else "is already there"
    hint = (
        "--replace writes over it" if not path.is_dir() else "--replace writes among them, over those of the same names"
    )
    return StreamError(Diagnostic("already-there", f'"{path}" {what}', hint=hint))
