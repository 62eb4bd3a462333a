"""The ends of rows as they were emitted, and those that are told later.

Readings: R33 (ends are due like rows), R7.  Oe is told when it is due.  A row with an open end is emitted with
Ve = FOREVER, and its Ve is told when it is due; so is a Ve that became smaller after its row was emitted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.emission.changes import KEPT
from cedr.model.time import FOREVER, Time
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.row_queue import RowQueue
from cedr.runtime.values.constant import constant
from cedr.runtime.values.growable import Growable
from cedr.runtime.values.run_length import together

Rows = NDArray[np.int64]


class SaidEnds:
    """Oe and Ve of the rows of a relation as emitted, and a queue of those that are not due."""

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        self.said_oe = Growable(np.int64)
        """Oe as emitted, of all rows of the table."""
        self._said_ve = Growable(np.int64)
        """Ve as emitted, KEPT where it is that of the row; shorter than the table where that is so for all others."""
        self._queue = RowQueue()

    def __len__(self) -> int:
        return len(self._queue)

    # -- as emitted ---------------------------------------------------------------------------------------------------

    def longer(self, rows: Rows) -> Rows:
        """Ve as emitted where it is not that of the row; KEPT elsewhere."""
        if not len(self._said_ve):
            return constant(KEPT, len(rows))
        known = rows < len(self._said_ve)
        if known.all():
            found: Rows = self._said_ve.view[rows]
            return found
        return np.where(known, self._said_ve.view[np.where(known, rows, 0)], KEPT)

    def said_ves(self, rows: Rows) -> Rows:
        """The Ve of rows as emitted."""
        own: Rows = self._relation.table.ve.view[rows]
        if not len(self._said_ve):
            return own
        longer = self.longer(rows)
        return np.where(longer == KEPT, own, longer)

    def note(self, rows: Rows, oe: Rows, ve: Rows) -> None:
        """Rows are known with these ends from now on; what they do not have yet is told when it is due."""
        table = self._relation.table
        if not table.oe.implicit:
            self.said_oe.view[together(rows)] = oe
        own = table.ve.view[together(rows)]
        longer = ve != own
        if len(self._said_ve) or longer.any():
            self._said_ve.fill(len(self.said_oe) - len(self._said_ve), KEPT)
            self._said_ve.view[rows] = np.where(longer, ve, KEPT)
            later = np.flatnonzero(ve > own)
            self._queue.add(np.maximum(table.os.view[rows[later]], own[later]), rows[later])

    @property
    def own(self) -> bool:
        """Whether all rows were emitted with their own Ve."""
        return not len(self._said_ve)

    @property
    def plain(self) -> bool:
        """Whether all rows are emitted with the ends that they have."""
        return self._relation.open_ended is None and self._relation.table.oe.implicit

    def told_before(self, rows: Rows, oe: Rows, ve: Rows) -> tuple[Rows, Rows]:
        """Oe and Ve of rows that were emitted before a restart; another Oe that they have is told when it is due."""
        table = self._relation.table
        ends, own = table.oe.view[rows], table.ve.view[rows]
        later = ends != oe
        self._queue.add(ends[later], rows[later])
        return oe, np.where(ve == KEPT, own, ve)

    def forget(self, rows: Rows) -> None:
        """Some rows are not emitted any more."""
        if len(self._said_ve):
            self._said_ve.view[rows[rows < len(self._said_ve)]] = KEPT

    # -- what is due --------------------------------------------------------------------------------------------------

    def first(self, rows: Rows, due: Time) -> tuple[Rows, Rows]:
        """Oe and Ve with which rows are emitted for the first time."""
        table = self._relation.table
        ve = self.due_ve(rows, constant(KEPT, len(rows)), due)
        oe = constant(FOREVER, len(rows))
        return (oe if table.oe.implicit else self.due_oe(rows, oe, due)), ve

    def due_oe(self, rows: Rows, said: Rows, due: Time) -> Rows:
        """Oe of rows as far as it is due, or was told; another one is told later."""
        ends = self._relation.table.oe.view[together(rows)]
        later = (ends > due) & (ends != said) & (ends < FOREVER)
        if later.any():
            self._queue.add(ends[later], rows[later])
            ends = np.where(later, FOREVER, ends)
        return ends

    def due_ve(self, rows: Rows, said: Rows, due: Time) -> Rows:
        """Ve of rows; of those with open ends as far as it is due, or was told."""
        table, open_ended = self._relation.table, self._relation.open_ended
        ends = table.ve.view[together(rows)]
        if open_ended is None:
            return ends
        later = (np.maximum(table.os.view[together(rows)], ends) > due) & (ends != said) & open_ended(rows)
        return np.where(later, FOREVER, ends)

    def take(self, due: Time) -> Rows:
        """The rows of which an end has become due, in any order, some of them maybe twice."""
        return self._queue.take(due)

    def waiting(self) -> Rows:
        """The rows of which an end is told later."""
        return self._queue.waiting()

    # -- rows ---------------------------------------------------------------------------------------------------------

    def keep(self, rows: Rows) -> None:
        """Only these rows remain, in this order."""
        self.said_oe.keep(rows[rows < len(self.said_oe)])
        if len(self._said_ve):
            self._said_ve.keep(rows[rows < len(self._said_ve)])

    def renumber(self, new: Rows) -> None:
        """The rows got other numbers."""
        self._queue.renumber(new)

    def clear(self) -> None:
        """There are no rows."""
        self.said_oe.truncate(0)
        self._said_ve.truncate(0)
