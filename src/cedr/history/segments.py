"""Files of change rows: sorted by a key, so that the rows of one of its values lie together."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pa_dataset
import pyarrow.parquet as pa_parquet

from cedr.sinks.durable import sync_folder

_GROUP: Final = 1 << 15
"""Rows that are read together: those of one key are in one group of a file, or in two."""


def file_of(first: int, last: int, size: int) -> str:
    """The name of a file: the batches in it, and how often it was put together."""
    return f"batches-{first:010}-{last:010}-{size}.parquet"


def write_segment(folder: Path, file: str, rows: pa.Table, key: str) -> None:
    """Write rows, on the disk when this returns."""
    path, hidden = folder / file, folder / f".{file}.part"
    by = [(name, "ascending") for name in dict.fromkeys((key, "id", "seq"))]
    try:
        pa_parquet.write_table(
            rows.sort_by(by), hidden, compression="zstd", row_group_size=_GROUP, write_page_index=True
        )
        with hidden.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(hidden, path)
        sync_folder(folder)
    finally:
        hidden.unlink(missing_ok=True)


def read_segments(folder: Path, files: list[str], columns: pa.Schema, only: Any = None) -> pa.Table:
    """The rows of files for which an expression holds.  Raises ``FileNotFoundError`` where one is there no more."""
    if not files:
        return columns.empty_table()
    paths = [str(folder / file) for file in files]
    found = pa_dataset.dataset(paths, schema=columns, format="parquet")
    return found.to_table(filter=only)


def last_of_each_row(rows: pa.Table) -> pa.Table:
    """Of each K what was said last of it, the rows that never were included."""
    if not rows.num_rows:
        return rows
    last = rows.select(["K", "seq"]).group_by("K").aggregate([("seq", "max")]).column("seq_max").combine_chunks()
    return rows.filter(pc.is_in(rows.column("seq"), last))
