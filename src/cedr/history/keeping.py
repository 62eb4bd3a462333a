"""The sink that keeps the history of an output: each batch is a file, until several are put together.

Paper: Section 4 (history tables).  Readings: R40, R48.  The file is on the disk before the catalog lists it, together
with the number of its batch: exactly once.
"""

from __future__ import annotations

import os
import sqlite3
from os import PathLike
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from cedr.data.change_rows import is_row
from cedr.history.catalog import Catalog, Segment
from cedr.history.compaction import compact
from cedr.history.segments import file_of, write_segment
from cedr.model.time import Time
from cedr.sinks.contract import Output
from cedr.sinks.errors import differs, failed


class Keep:
    """Keeps every change row of an output in a folder, which several outputs may share."""

    promise = "exactly once: a batch is a file that the catalog lists together with its number"

    def __init__(self, folder: str | PathLike[str], *, key: str = "id", keep: Time | None = None) -> None:
        """``key`` is the column by which rows are looked up most.

        ``keep``: how long before the last CEDR time it can be asked what was believed; None: for ever.
        """
        self._folder, self._key, self._keep = Path(folder), key, keep
        self._place = f'the history in "{self._folder}"'
        self._catalog: Catalog | None = None
        self._name = ""
        self._batch: int | None = None

    def open(self, output: Output) -> None:
        """Make the folder and the catalog, or go on; files that no catalog lists are removed."""
        self._name = output.name
        try:
            self._files.mkdir(parents=True, exist_ok=True)
            self._catalog = Catalog(self._folder)
            known = self._catalog.known(self._name)
            if known is None:
                if self._key not in output.schema.names:
                    raise differs(self._place, f'there is no column "{self._key}" to sort its rows by')
                self._catalog.add_table(self._name, output.schema, self._key)
            elif not known.columns.equals(output.schema):
                raise differs(self._place, f"{self._name} has other columns")
            else:
                self._key = known.key  # what is sorted stays so
            self._batch = None if known is None else known.batch
            self._check_files()
        except (sqlite3.Error, OSError) as error:
            raise failed(self._place, error) from None

    def stored(self) -> int | None:
        """The last batch that is kept."""
        return self._batch

    def write(self, batch: int, changes: pa.Table) -> None:
        """Keep the rows of a batch; guarantees and levels are none."""
        if self._batch is not None and batch <= self._batch:
            return
        catalog = self._catalog
        if catalog is None:
            raise failed(self._place, "it is not open")
        rows = changes.filter(is_row(changes))
        try:
            if rows.num_rows:
                segment = _segment(file_of(batch, batch, 0), batch, rows)
                write_segment(self._files, segment.file, rows, self._key)
                with catalog.together():
                    catalog.add(self._name, segment)
                    catalog.stored(self._name, batch)
                compact(catalog, self._files, self._name, self._keep)
            else:
                catalog.stored(self._name, batch)
        except (sqlite3.Error, OSError) as error:
            raise failed(self._place, error) from None
        self._batch = batch

    def close(self) -> None:
        """Close the catalog."""
        if self._catalog is not None:
            self._catalog.close()
        self._catalog = None

    @property
    def _files(self) -> Path:
        return self._folder / self._name

    def _check_files(self) -> None:
        assert self._catalog is not None
        listed = {segment.file for segment in self._catalog.segments(self._name)}
        there = set(os.listdir(self._files))
        missing = sorted(listed - there)
        if missing:
            raise failed(self._place, f'the file "{missing[0]}" is gone')
        for name in there - listed:
            (self._files / name).unlink()


def _segment(file: str, batch: int, rows: pa.Table) -> Segment:
    times = pc.min_max(rows.column("Cs")).as_py()
    return Segment(file, 0, batch, batch, times["min"], times["max"], rows.num_rows)
