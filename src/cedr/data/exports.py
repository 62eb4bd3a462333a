"""What a table can become: Arrow, pandas, polars, a file, a table in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

from cedr.connect.tables import Table
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError

if TYPE_CHECKING:
    import pyarrow as pa

SHOWN = 40
"""So many rows are shown where nobody says how many."""


class Exports(ABC):
    """Rows that can be had as columns."""

    @abstractmethod
    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows as an Arrow table, or the columns that are named."""

    @abstractmethod
    def as_table(self, limit: int | None = SHOWN, *, clocks: bool = False) -> tuple[str, Table]:
        """A title, and the first rows as text."""

    def to_pandas(self, columns: Sequence[str] | None = None) -> Any:
        """All rows as a pandas data frame."""
        _require("pandas")
        return self.to_arrow(columns).to_pandas()

    def to_polars(self, columns: Sequence[str] | None = None) -> Any:
        """All rows as a polars data frame."""
        return _require("polars").from_arrow(self.to_arrow(columns))

    def write(self, path: str | PathLike[str], columns: Sequence[str] | None = None) -> None:
        """All rows into a Parquet, CSV or JSON Lines file; the ending of the name tells which."""
        from cedr.data.writing import write_table

        write_table(self.to_arrow(columns), path)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        title, table = self.as_table()
        heads = "".join(f"<th>{escape(head)}</th>" for head in table.heads)
        rows = "".join(
            f"<tr>{''.join(_cell(table, place, cell) for place, cell in enumerate(row))}</tr>" for row in table.rows
        )
        note = f"<p>{escape(table.note)}</p>" if table.note else ""
        caption = f"<caption>{escape(title)}</caption>"
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{note}"


def _cell(table: Table, place: int, cell: str) -> str:
    style = ' style="text-align: right"' if place in table.right else ' style="text-align: left"'
    return f"<td{style}>{escape(cell)}</td>"


def _require(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        primary = f"{name} is not installed"
        raise HostError(Diagnostic("missing-package", primary, hint=f"pip install {name}")) from None
