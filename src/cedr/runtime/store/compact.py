"""Compaction: tables drop the rows that nobody holds any more.

Reading: R37.  A row that stays must not refer to one that is dropped: what refers to a table is compacted with it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from cedr.runtime.kernels.segments import renumber_references
from cedr.runtime.store.table import Rows, Table, each_once


def concerned(tables: Sequence[Table], due: Collection[int]) -> set[int]:
    """The tables that are due, those whose rows refer to them, and so on; all by identity.

    ``tables``: those that refer to others come after these.
    """
    found = set(due)
    for table in tables:
        if any(id(target) in found for target in table.targets):
            found.add(id(table))
    return found


def compact(tables: Sequence[Table], due: Collection[int]) -> None:
    """Drop from the tables that are due, by identity, every row that no holder keeps and no kept row refers to.

    ``tables``: all of them, those that refer to others after these.
    """
    chosen = [table for table in tables if id(table) in due]
    kept = _closed(chosen)
    new_numbers = {id(table): _compacted(table, kept[id(table)]) for table in chosen}
    for table in tables:
        _refer(table, new_numbers)
    for table in chosen:
        for holder in table.holders:
            holder.renumber(new_numbers[id(table)])


def _closed(tables: Sequence[Table]) -> dict[int, Rows]:
    """The rows held of each table, with those that they refer to, and so on."""
    held = {id(table): [table.held()] for table in tables}
    closed: dict[int, Rows] = {}
    for table in reversed(tables):
        rows = closed[id(table)] = each_once(len(table), held[id(table)])
        for column, target in zip(table.references, table.targets, strict=True):
            if id(target) in held:
                reached = column.view[rows]
                held[id(target)].append(reached[reached >= 0])
    return closed


def _compacted(table: Table, rows: Rows) -> Rows:
    """Keep some rows; the new number of each old row, -1 for those dropped."""
    new = np.full(len(table), -1)
    new[rows] = np.arange(len(rows))
    table.keep(rows)
    return new


def _refer(table: Table, new_numbers: Mapping[int, Rows]) -> None:
    for column, target in zip(table.references, table.targets, strict=True):
        new = new_numbers.get(id(target))
        if new is not None and len(new):
            renumber_references(column.view, new)
        elif new is not None:
            column.view[:] = -1
