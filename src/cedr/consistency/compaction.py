"""Compaction: tables drop the rows that nobody holds any more.

Reading: R37.  Rows are appended and never moved; now and then, when about as many have been appended as were kept the
last time, the tables are copied without what is gone.  So the cost follows what arrives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.arrivals import Arrivals
from cedr.consistency.monitor import Monitor
from cedr.runtime.table import Table, each_once

Rows = NDArray[np.int64]
_SPARE = 1 << 16
"""So many rows more than twice what was kept are let grow."""


class Compaction:
    """Watches how much the tables hold."""

    def __init__(self, arrivals: Arrivals, monitors: Sequence[Monitor]) -> None:
        self._arrivals, self._monitors = arrivals, monitors
        self._kept = 0

    @property
    def due(self) -> bool:
        """Whether it is time."""
        return self._total() > 2 * self._kept + _SPARE

    def run(self) -> None:
        """Compact all tables."""
        held = {stream: [self._arrivals.held_rows(stream)] for stream in self._arrivals.tables}
        own: list[dict[int, Rows]] = []
        for monitor in self._monitors:
            rows = monitor.dataflow.held(monitor.feed.live(), monitor.voice.held())
            own.append(rows)
            for stream, table in self._arrivals.tables.items():
                held[stream].append(rows.get(id(table), np.empty(0, dtype=np.int64)))
        shared = {
            id(table): _compacted(table, each_once(len(table), held[stream]))
            for stream, table in self._arrivals.tables.items()
        }
        for stream, table in self._arrivals.tables.items():
            self._arrivals.renumber(stream, shared[id(table)])
        for monitor, rows in zip(self._monitors, own, strict=True):
            maps = dict(shared)
            for table in monitor.dataflow.tables():
                if id(table) not in maps:
                    maps[id(table)] = _compacted(table, rows[id(table)])
            for table in monitor.dataflow.tables():
                _refer(table, maps)
            monitor.dataflow.renumber(maps)
            monitor.voice.renumber(maps[id(monitor.dataflow.relation.table)])
        self._kept = self._total()

    def _total(self) -> int:
        tables = {id(table): len(table) for table in self._arrivals.tables.values()}
        for monitor in self._monitors:
            tables.update((id(table), len(table)) for table in monitor.dataflow.tables())
        return sum(tables.values())


def _compacted(table: Table, rows: Rows) -> Rows:
    """The new number of each old row, -1 for those dropped."""
    new = np.full(len(table), -1)
    new[rows] = np.arange(len(rows))
    table.keep(rows)
    return new


def _refer(table: Table, maps: dict[int, Rows]) -> None:
    for column, target in zip(table.references, table.targets, strict=True):
        view, new = column.view, maps[id(target)]
        view[:] = np.where(view >= 0, new[view], -1) if len(new) else -1
