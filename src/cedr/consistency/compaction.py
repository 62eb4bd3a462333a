"""Compaction: tables drop the rows that nobody holds any more.

Reading: R37.  Rows are appended and never moved; now and then, when about as many have been appended as were kept the
last time, the tables are copied without what is gone.  So the cost follows what arrives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.admission.door import Arrivals
from cedr.consistency.run import Monitor
from cedr.runtime.kernels.segments import renumber_references
from cedr.runtime.store.table import Table, each_once

Rows = NDArray[np.int64]
_SPARE = 1 << 16
"""So many rows are let grow in any case."""


class Compaction:
    """Watches how much the tables hold: each is compacted when it is worth it, with those that refer to it."""

    def __init__(self, arrivals: Arrivals, monitors: Sequence[Monitor]) -> None:
        self._arrivals, self._monitors = arrivals, monitors
        self._kept: dict[int, int] = {}
        self.spare = _SPARE

    def run_if_due(self) -> None:
        """Compact the tables that have grown enough."""
        due = {id(table) for table in self._tables() if self._grown(table)}
        known = self._arrivals.known
        for stream, table in self._arrivals.tables.items():
            if len(table) <= 2 * known(stream) + self.spare // 4:  # most of it is still known
                due.discard(id(table))
        if due:
            # a row that is kept must not refer to one that is dropped: what refers to a table is compacted with it
            self._run(due.union(*(monitor.dataflow.concerned(due) for monitor in self._monitors)))

    def _grown(self, table: Table) -> bool:
        kept = self._kept.get(id(table), 0)
        return len(table) > kept + max(kept, self.spare)

    def run(self) -> None:
        """Compact all tables."""
        self._run({id(table) for table in self._tables()})

    def _run(self, due: set[int]) -> None:
        shared = {stream: table for stream, table in self._arrivals.tables.items() if id(table) in due}
        held = {stream: [self._arrivals.held_rows(stream)] for stream in shared}
        own: list[dict[int, Rows]] = []
        for monitor in self._monitors:
            rows = monitor.dataflow.held(due, monitor.feed.live_rows, monitor.voice.held())
            own.append(rows)
            for stream, table in shared.items():
                held[stream].append(rows.get(id(table), np.empty(0, dtype=np.int64)))
        maps = {id(table): _compacted(table, each_once(len(table), held[stream])) for stream, table in shared.items()}
        for stream, table in shared.items():
            self._arrivals.renumber(stream, maps[id(table)])
        for monitor, rows in zip(self._monitors, own, strict=True):
            self._compact(monitor, {table: some for table, some in rows.items() if table in due}, maps)
        for table in self._tables():
            if id(table) in due:
                self._kept[id(table)] = len(table)

    def _compact(self, monitor: Monitor, rows: Mapping[int, Rows], shared: Mapping[int, Rows]) -> None:
        maps, dataflow = dict(shared), monitor.dataflow
        for table in dataflow.tables():
            if id(table) in rows and id(table) not in maps:
                maps[id(table)] = _compacted(table, rows[id(table)])
        for table in dataflow.tables():
            _refer(table, maps)
        dataflow.renumber(maps)
        if id(dataflow.relation.table) in maps:
            monitor.voice.renumber(maps[id(dataflow.relation.table)])

    def _tables(self) -> list[Table]:
        tables = {id(table): table for table in self._arrivals.tables.values()}
        for monitor in self._monitors:
            tables.update((id(table), table) for table in monitor.dataflow.tables())
        return list(tables.values())


def _compacted(table: Table, rows: Rows) -> Rows:
    """The new number of each old row, -1 for those dropped."""
    new = np.full(len(table), -1)
    new[rows] = np.arange(len(rows))
    table.keep(rows)
    return new


def _refer(table: Table, maps: Mapping[int, Rows]) -> None:
    for column, target in zip(table.references, table.targets, strict=True):
        new = maps.get(id(target))
        if new is not None and len(new):
            renumber_references(column.view, new)
        elif new is not None:
            column.view[:] = -1
