"""The ends of rows as they were said, and those that are said later.

Readings: R33 (ends are due like rows), R7.  Oe is said when it is due; a Ve that became smaller after its row was said
is said when it is due, and until then the row keeps the Ve that was said.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.emission.changes import KEPT
from cedr.consistency.row_queue import RowQueue
from cedr.model.time import FOREVER, Time
from cedr.runtime.store.relation import Relation
from cedr.runtime.values.constant import constant
from cedr.runtime.values.growable import Growable
from cedr.runtime.values.run_length import together

Rows = NDArray[np.int64]


class SaidEnds:
    """Oe and Ve of the rows of a relation as said, and a queue of those that are not due."""

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        self.said_oe = Growable(np.int64)
        self._said_ve: dict[int, Time] = {}
        """Ve as said, of rows that end earlier by now."""
        self._queue = RowQueue()

    def __len__(self) -> int:
        return len(self._queue)

    def said_ve(self, row: int) -> Time:
        """The Ve of a row as said."""
        return self._said_ve.get(row, int(self._relation.table.ve.view[row]))

    def longer(self, rows: Rows) -> Rows:
        """Ve as said where it is not that of the row; KEPT elsewhere."""
        if not self._said_ve:
            return constant(KEPT, len(rows))
        return np.array([self._said_ve.get(row, KEPT) for row in rows.tolist()], dtype=np.int64)

    def said_ves(self, rows: Rows) -> Rows:
        """The Ve of rows as said."""
        longer = self.longer(rows)
        found: Rows = np.where(longer == KEPT, self._relation.table.ve.view[rows], longer)
        return found

    def due(self, rows: Rows, due: Time) -> Rows:
        """Oe of rows that are said now, as far as it is due; what is not is said later."""
        if self._relation.table.oe.implicit:
            return constant(FOREVER, len(rows))
        ends = self._relation.table.oe.view[together(rows)]
        later = (ends > due) & (ends < FOREVER)
        if later.any():
            self._queue.add(ends[later], rows[later], 0)
            ends = np.where(later, FOREVER, ends)
        return ends

    def close_later(self, row: int, oe: Time) -> None:
        """Oe of a row that was said is told when it is due."""
        self._queue.add(np.array([oe]), np.array([row]), 0)

    def shorten_later(self, row: int, said: Time) -> None:
        """A row ends earlier than was said: that is told when its end is due."""
        table = self._relation.table
        self._said_ve[row] = said
        self._queue.add(np.maximum(table.os.view[[row]], table.ve.view[[row]]), np.array([row]), 0)

    def shortened(self, row: int) -> None:
        """The Ve of a row was told."""
        self._said_ve.pop(row, None)

    def take(self, due: Time) -> list[int]:
        """The rows of which an end has become due, each once."""
        return list(dict.fromkeys(self._queue.take(due).tolist()))

    def waiting(self) -> Rows:
        """The rows of which an end is told later."""
        return self._queue.waiting()

    def unsaid(self, rows: Rows) -> None:
        """Some rows are said no longer."""
        if self._said_ve:
            for row in rows.tolist():
                self._said_ve.pop(row, None)

    def renumber(self, new: Rows) -> None:
        """The rows got other numbers."""
        self._queue.renumber(new)
        self._said_ve = {int(new[row]): ve for row, ve in self._said_ve.items()}
