"""The rows of an input with their groups, and those whose start or end nobody has asked for yet.  Reading: R33."""

from __future__ import annotations

import numpy as np

from cedr.model.time import FOREVER, Time
from cedr.runtime.operators.mechanism.group_codes import GroupCodes
from cedr.runtime.store.row_queue import RowQueue
from cedr.runtime.store.table import Delta, Rows, Table
from cedr.runtime.values.growable import Growable

_GONE = -1


class WaitingRows:
    """Rows that are known, by number.  A holder of their table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._groups = Growable(np.int64)
        """The group of each row of the table, -1 where it is not known here."""
        self._count = 0
        self._starts, self._ends = RowQueue(), RowQueue()
        table.hold(self)

    def __len__(self) -> int:
        return self._count

    def groups(self, rows: Rows) -> Rows:
        """The groups of some rows, also of those that have just gone."""
        found: Rows = self._groups.view[rows]
        return np.where(found <= _GONE, -2 - found, found)

    def due(self, until: Time) -> bool:
        """Whether a row waits for a time up to here."""
        return min(self._starts.first, self._ends.first) <= until

    def change(self, delta: Delta, applied: Time, until: Time, codes: GroupCodes) -> tuple[Rows, Rows, Rows]:
        """Take in a change; starts and ends that become steps, or were: rows, times, +1 or -1."""
        vs, ve = self._table.vs.view, self._table.ve.view
        parts = [*self._gone(delta.removed, applied)]
        added = delta.added[ve[delta.added] > vs[delta.added]]
        if len(added):
            self._groups.fill(len(self._table) - len(self._groups), _GONE)
            self._drop_waiting(added[self._groups.view[added] < _GONE])
            self._groups.view[added] = codes.of(added)
            self._count += len(added)
        for queue, column, sign in ((self._starts, vs, 1), (self._ends, ve, -1)):
            waited = queue.take(until)
            waited = waited[self._groups.view[waited] >= 0]
            times = column[added]
            later = times > until
            parts.append((np.concatenate([waited, added[~later]]), column, sign))
            waits = later & (times < FOREVER)
            queue.add(times[waits], added[waits])
        rows = np.concatenate([part for part, _, _ in parts])
        times = np.concatenate([column[part] for part, column, _ in parts])
        return rows, times, np.concatenate([np.full(len(part), sign) for part, _, sign in parts])

    def _gone(self, removed: Rows, applied: Time) -> list[tuple[Rows, Rows, int]]:
        """Starts and ends that were steps, of rows that are no longer there."""
        vs, ve = self._table.vs.view, self._table.ve.view
        rows = removed[removed < len(self._groups)]
        rows = rows[self._groups.view[rows] >= 0]
        self._groups.view[rows] = -2 - self._groups.view[rows]
        self._count -= len(rows)
        return [(rows[vs[rows] <= applied], vs, -1), (rows[ve[rows] <= applied], ve, 1)]

    def _drop_waiting(self, rows: Rows) -> None:
        """Rows that went and come again may still wait since the first time."""
        if len(rows):
            for name, column in (("_starts", self._table.vs), ("_ends", self._table.ve)):
                waiting = np.setdiff1d(getattr(self, name).waiting(), rows)
                setattr(self, name, RowQueue())
                getattr(self, name).add(column.view[waiting], waiting)

    def live(self) -> Rows:
        """The rows that are known."""
        return np.flatnonzero(self._groups.view >= 0)

    def forget(self, line: Time) -> None:
        """Rows that end up to a line are known no longer."""
        rows = self.live()
        gone = rows[self._table.ve.view[rows] <= line]
        self._groups.view[gone] = _GONE
        self._count -= len(gone)

    def known_groups(self) -> Rows:
        """The groups of rows that are known."""
        found: Rows = np.unique(self._groups.view[self.live()])
        return found

    def regroup(self, new: Rows) -> None:
        """Take over the new numbers of the groups."""
        groups = self._groups.view
        groups[:] = np.where(groups >= 0, new[np.maximum(groups, 0)], _GONE) if len(new) else _GONE

    # -- rows held ----------------------------------------------------------------------------------------------------

    def held(self) -> Rows:
        """The rows that are known."""
        return self.live()

    @property
    def empty(self) -> bool:
        """Whether no row is known."""
        return not self._count

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers of the rows."""
        kept = np.flatnonzero(new >= 0)
        self._groups.keep(kept[kept < len(self._groups)])
        self._starts.renumber(new)
        self._ends.renumber(new)

    def clear(self) -> None:
        """No row is known."""
        self._groups.truncate(0)
        self._starts, self._ends, self._count = RowQueue(), RowQueue(), 0

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._groups.nbytes + self._starts.nbytes + self._ends.nbytes
