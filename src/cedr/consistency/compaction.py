"""When tables are compacted.

Reading: R37.  Rows are appended and never moved; now and then, when about as many have been appended as were kept the
last time, a table is copied without what nobody holds.  So the cost follows what arrives.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from cedr.consistency.admission.door import Arrivals
from cedr.runtime.dataflow.dataflow import Dataflow
from cedr.runtime.store.compact import compact, concerned
from cedr.runtime.store.table import Table

_SPARE = 1 << 16
"""So many rows are let grow in any case."""
_WORTH_CLEARING = 1024
"""So many rows that nobody needs may stay: less room is not worth the look at who holds them."""


class Compaction:
    """Watches how much the tables hold: each is compacted when it is worth it, with those that refer to it."""

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._kept: dict[int, int] = {}
        self.spare = _SPARE

    def run_if_due(self, dataflows: Sequence[Dataflow]) -> None:
        """Clear the tables that nobody needs, and compact those that have grown enough."""
        for dataflow in dataflows:
            for together in dataflow.own:
                _clear(together)
        every = chain(self._arrivals.tables.values(), *(dataflow.tables for dataflow in dataflows))
        due = {id(table) for table in every if self._grown(table)}
        if not due:
            return
        tables = self._tables(dataflows)
        for source in self._arrivals.ledger.sources.values():
            if len(source.table) <= 2 * source.events + self.spare // 4:  # most of it is still known
                due.discard(id(source.table))
        if due:
            self._run(dataflows, tables, due)

    def _grown(self, table: Table) -> bool:
        rows = len(table)
        if rows <= self.spare:
            return False
        kept = self._kept.get(id(table), 0)
        return rows > kept + max(kept, self.spare)

    def run(self, dataflows: Sequence[Dataflow]) -> None:
        """Compact all tables."""
        tables = self._tables(dataflows)
        self._run(dataflows, tables, {id(table) for table in tables})

    def _run(self, dataflows: Sequence[Dataflow], tables: list[Table], due: set[int]) -> None:
        due = concerned(tables, due)
        compact(tables, due)
        for dataflow in dataflows:
            dataflow.keys.restart()
        self._kept.update((id(table), len(table)) for table in tables if id(table) in due)

    def _tables(self, dataflows: Sequence[Dataflow]) -> list[Table]:
        """All tables, those that refer to others after these."""
        tables = {id(table): table for table in self._arrivals.tables.values()}
        for dataflow in dataflows:
            tables.update((id(table), table) for table in dataflow.tables)
        return list(tables.values())


def _clear(tables: Sequence[Table]) -> None:
    """Clear some tables where nobody holds a row of any of them: what came has gone again."""
    if sum(len(table) for table in tables) >= _WORTH_CLEARING and all(table.unheld for table in tables):
        for table in tables:
            table.clear()
