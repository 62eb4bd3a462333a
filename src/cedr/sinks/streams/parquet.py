"""Change rows as Parquet files in a folder, one for each batch that has rows.

The name of a file is the number of its batch: a batch that comes again takes the place of itself.
"""

from __future__ import annotations

import os
import re
from os import PathLike
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from cedr.sinks.contract import Output
from cedr.sinks.durable import sync_folder, write_durably
from cedr.sinks.errors import differs, dropped, failed, not_ours

_NAME: Final = re.compile(r"batch-(\d{10})\.parquet")
_MARK: Final = "_cedr.json"


class ParquetFolder:
    """A sink that is a folder of Parquet files."""

    promise = "exactly once: a batch is a file of that number, which is there whole or not at all"

    traceless = True
    """A batch without rows leaves no trace."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self._folder = Path(folder)
        self._place = f'the folder "{self._folder}"'
        self._batch: int | None = None
        self._schema: pa.Schema | None = None

    def open(self, output: Output) -> None:
        """Make the folder, or look at what it holds."""
        self._schema = output.schema
        mark, wanted = self._folder / _MARK, str(output.schema)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            names = [name for name in os.listdir(self._folder) if not name.startswith(".")]
            if not mark.exists():
                if names:
                    raise not_ours(self._place)
                write_durably(mark, wanted.encode())
            if mark.read_text("utf-8") != wanted:
                raise differs(self._place, "its files have other columns")
        except OSError as error:
            raise failed(self._place, error) from None
        found = [int(told[1]) for name in names if (told := _NAME.fullmatch(name))]
        self._batch = max(found, default=None)

    def stored(self) -> int | None:
        """The last batch that had rows."""
        return self._batch

    def write(self, batch: int, changes: pa.Table) -> None:
        """Write a file, and give it its name when it is whole."""
        if (self._batch is not None and batch <= self._batch) or not changes.num_rows:
            return
        path = self._folder / f"batch-{batch:010}.parquet"
        hidden = path.with_name(f".{path.name}.part")
        try:
            if not (self._folder / _MARK).exists():
                raise dropped(self._place, self._batch)
            pa_parquet.write_table(changes, hidden, compression="zstd")
            with hidden.open("rb") as written:
                os.fsync(written.fileno())
            os.replace(hidden, path)
            sync_folder(self._folder)
        except OSError as error:
            raise failed(self._place, error) from None
        finally:
            hidden.unlink(missing_ok=True)
        self._batch = batch

    def close(self) -> None:
        """Nothing is held."""
