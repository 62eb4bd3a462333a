"""Annotated history tables: rows with their Sync.

Paper: Section 4, Figure 6: "an extra column, called Sync".  Made by ``HistoryTable.annotated``; read by
``cedr.model.equivalence``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cedr.model.row import HistoryRow
from cedr.model.time import Time


@dataclass(frozen=True, slots=True)
class AnnotatedRow:
    """A history row and its Sync.  Paper: Section 4, Figure 6."""

    sync: Time
    row: HistoryRow

    @property
    def cedr_start(self) -> Time:
        """Cs, which an annotated table must show."""
        if self.row.cedr_start is None:
            message = f"an annotated row needs Cs: {self.row}"
            raise ValueError(message)
        return self.row.cedr_start


@dataclass(frozen=True, slots=True)
class AnnotatedTable:
    """An immutable table of annotated rows.  Paper: Section 4, Figure 6."""

    rows: tuple[AnnotatedRow, ...] = ()

    def __iter__(self) -> Iterator[AnnotatedRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)
