"""Tables as files: Parquet, CSV, JSON Lines; written under a hidden name first, so that nobody reads half a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from cedr.data.files import SUFFIXES
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError, unwritable

_ROWS: Final = 10_000


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write a table; the ending of the name tells the format.  Raises ``StreamError``."""
    name, form = Path(path), format_of(path)
    hidden = name.with_name(f".{name.name}.part")
    try:
        _WRITERS[form](table, hidden)
        os.replace(hidden, name)
    except OSError as error:
        raise unwritable(name, error) from None
    finally:
        hidden.unlink(missing_ok=True)


def format_of(path: str | os.PathLike[str]) -> str:
    """The format that the ending of a name tells.  Raises ``StreamError``."""
    form = SUFFIXES.get(Path(path).suffix.lower())
    if form is None:
        detail = f"endings: {', '.join(sorted(SUFFIXES))}"
        raise StreamError(Diagnostic("unknown-format", f'the name "{path}" does not say its format', detail=detail))
    return form


def _parquet(table: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pa_parquet

    pa_parquet.write_table(table, path, compression="zstd")


def _csv(table: pa.Table, path: Path) -> None:
    import pyarrow.csv as pa_csv

    separator = "\t" if path.name.removesuffix(".part").endswith(".tsv") else ","
    pa_csv.write_csv(flat(table), path, pa_csv.WriteOptions(delimiter=separator))


def _json(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8") as stream:
        for batch in table.to_batches(_ROWS):
            for row in batch.to_pylist():
                stream.write(json.dumps(row, default=_plain, ensure_ascii=False) + "\n")


_WRITERS: Final[dict[str, Callable[[pa.Table, Path], None]]] = {"parquet": _parquet, "csv": _csv, "json": _json}


def flat(table: pa.Table) -> pa.Table:
    """Lists of IDs as texts with spaces between them, other nested values as JSON: what fits into one cell."""
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type):
            column = pc.binary_join(column, " ")
        elif pa.types.is_nested(column.type):
            column = pa.array(
                [
                    None if value is None else json.dumps(value, default=_plain, ensure_ascii=False)
                    for value in column.to_pylist()
                ],
                pa.string(),
            )
        elif pa.types.is_null(column.type):
            column = column.cast(pa.string())
        elif pa.types.is_duration(column.type):
            column = column.cast(pa.int64())
        columns[name] = column
    return pa.table(columns)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else str(value)
