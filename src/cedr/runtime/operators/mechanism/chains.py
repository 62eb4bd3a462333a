"""Which rows were made of which, where an operator makes several rows of one, and one of several.

Reading: R37.  The rows made of a row are a chain, the newest first, so that a change of it finds them without a search.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.model.time import Time
from cedr.runtime.kernels import intervals as kernels
from cedr.runtime.store.holders import NONE, Following
from cedr.runtime.store.table import Rows, Table
from cedr.runtime.values.growable import Growable

_SMALL = 4096
"""Below so many rows, those that are settled are looked for every time."""


class Chains:
    """The rows of a table by the rows of its inputs that they refer to, the first references of the table."""

    def __init__(self, table: Table, inputs: Sequence[Table]) -> None:
        self._table = table
        self._heads = [_Heads(each) for each in inputs]
        self._after = [Growable(np.int64) for _ in inputs]
        self._gone = Growable(np.bool_)
        self._open = NONE
        """The rows that may still be taken back."""
        self._fresh: list[Rows] = []
        self._count = 0
        self._looked_at = 0
        table.hold(self)

    def add(self, made: Rows) -> None:
        """Rows were made, in their order."""
        if not len(made):
            return
        self._widen(len(self._table))
        for heads, after, column in zip(self._heads, self._after, self._table.references, strict=False):
            rows = column.view[made]
            kernels.link(rows, made, heads.reaching(), after.view)
        self._fresh.append(made)
        self._count += len(made)

    def _widen(self, size: int) -> None:
        """Rows that others have put into the table are in no chain."""
        self._gone.fill(size - len(self._gone), value=False)
        for after in self._after:
            after.fill(size - len(after), -1)

    def of(self, which: int, rows: Rows) -> Rows:
        """The rows made of some rows of an input that are not gone; one made of two of them only once."""
        if not len(rows) or not len(self._after[which]):
            return NONE
        given = (rows, self._heads[which].reaching(), self._after[which].view, self._gone.view)
        out = np.empty(len(rows), np.int64)
        count = kernels.chained(*given, out)
        if count > len(out):
            out = np.empty(count, np.int64)
            kernels.chained(*given, out)
        return out[:count]

    def remove(self, made: Rows) -> None:
        """Some rows are gone."""
        self._gone.view[made] = True

    def settle(self, final: Time, ended: Time) -> None:
        """Rows with Vs and Ve up to some lines are never taken back; not each time all rows are looked at."""
        if self._count > _SMALL and self._count < 2 * self._looked_at:
            return
        rows = self.held()
        rows = rows[(self._table.vs.view[rows] > final) | (self._table.ve.view[rows] > ended)]
        self._open, self._fresh, self._count = rows, [], len(rows)
        self._looked_at = len(rows)

    # -- a holder -----------------------------------------------------------------------------------------------------

    def held(self) -> Rows:
        """The rows that may still be taken back."""
        rows = np.concatenate([self._open, *self._fresh])
        return rows[~self._gone.view[rows]] if len(rows) else rows

    @property
    def empty(self) -> bool:
        """Whether there is none."""
        return not self._count or not len(self.held())

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers; a chain goes on behind the rows that were dropped."""
        self._widen(len(new))
        kept = np.flatnonzero(new >= 0)
        for heads, after in zip(self._heads, self._after, strict=True):
            resolved = np.empty(len(new), np.int64)
            kernels.spliced(after.view, new, resolved)
            for column in (heads.heads, after):
                view = column.view
                some = view >= 0
                view[some] = resolved[view[some]]
            after.keep(kept)
        rows = new[np.concatenate([self._open, *self._fresh])]
        self._open, self._fresh = rows[rows >= 0], []
        self._count = len(self._open)
        self._gone.keep(kept)

    def clear(self) -> None:
        """The table has no rows."""
        for heads, after in zip(self._heads, self._after, strict=True):
            heads.heads.truncate(0)
            after.truncate(0)
        self._gone.truncate(0)
        self._open, self._fresh, self._count = NONE, [], 0

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        columns = [*self._after, *(heads.heads for heads in self._heads), self._gone]
        return sum(column.nbytes for column in columns) + 8 * self._count


class _Heads(Following):
    """The newest row made of each row of an input."""

    def __init__(self, source: Table) -> None:
        self._source = source
        self.heads = Growable(np.int64)
        source.hold(self)

    def reaching(self) -> Rows:
        """The heads, for all rows that there are by now."""
        self.heads.fill(len(self._source) - len(self.heads), -1)
        return self.heads.view

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers of the input's rows."""
        self.heads.fill(len(new) - len(self.heads), -1)
        self.heads.keep(np.flatnonzero(new >= 0))

    def clear(self) -> None:
        """The input has no rows."""
        self.heads.truncate(0)
