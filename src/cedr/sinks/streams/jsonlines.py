"""Change rows as lines of JSON in one file.

Beside the file stands ``.NAME.cedr``: the number of the last whole batch, and the length of the file with it.  What a
crash left behind that length is cut off before the next batch is written.
"""

from __future__ import annotations

import json
import os
from os import PathLike
from pathlib import Path

import pyarrow as pa

from cedr.sinks.contract import Output
from cedr.sinks.durable import write_durably
from cedr.sinks.errors import altered, differs, dropped, failed, not_ours
from cedr.sinks.streams.lines import as_data, as_line


class JsonLines:
    """A sink that is a file of lines."""

    promise = "exactly once: half a batch that a crash leaves is cut off before the next one is written"

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(path)
        self._mark = self._path.with_name(f".{self._path.name}.cedr")
        self._place = f'the file "{self._path}"'
        self._batch: int | None = None
        self._length = 0
        self._columns: list[str] = []

    def open(self, output: Output) -> None:
        """Make the file, or look how far it goes."""
        self._columns = [f"{field.name} {field.type}" for field in output.schema]
        try:
            if not self._mark.exists():
                if self._path.exists():
                    raise not_ours(self._place)
                self._note()
                self._path.touch()
            known = json.loads(self._mark.read_text("utf-8"))
            self._batch, self._length = known["batch"], known["length"]
            if known["columns"] != self._columns:
                raise differs(self._place, "its lines have other fields")
            self._check()
        except OSError as error:
            raise failed(self._place, error) from None

    def stored(self) -> int | None:
        """The last whole batch."""
        return self._batch

    def write(self, batch: int, changes: pa.Table) -> None:
        """Append the lines, then note how far the file goes."""
        if self._batch is not None and batch <= self._batch:
            return
        lines = "".join(f"{as_line(row)}\n" for row in as_data(changes)).encode()
        try:
            self._check()
            with self._path.open("r+b") as stream:
                stream.truncate(self._length)
                stream.seek(self._length)
                stream.write(lines)
                stream.flush()
                os.fsync(stream.fileno())
            self._note(batch, self._length + len(lines))
        except OSError as error:
            raise failed(self._place, error) from None
        self._batch, self._length = batch, self._length + len(lines)

    def close(self) -> None:
        """Nothing is held."""

    def _check(self) -> None:
        if not self._path.exists():
            if self._length:
                raise dropped(self._place, self._batch)
            self._path.touch()
        found = self._path.stat().st_size
        if found < self._length:
            raise altered(self._place, f"it has {found:,} bytes, and should have {self._length:,}")

    def _note(self, batch: int | None = None, length: int = 0) -> None:
        known = {"batch": batch, "length": length, "columns": self._columns}
        write_durably(self._mark, json.dumps(known).encode())
