"""Holders: whoever keeps row numbers of a table registers with it.

Reading: R37.  A table drops the rows that no holder keeps, and tells each holder the new numbers of the others.  So
compaction is the business of the store: no operator takes part in it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from cedr.runtime.values.growable import Rows

NONE: Rows = np.empty(0, dtype=np.int64)
"""No row."""


class Holder(Protocol):
    """Keeps row numbers of one table."""

    def held(self) -> Rows:
        """The rows that must stay."""

    @property
    def empty(self) -> bool:
        """Whether no row must stay; costs no time that grows with the rows."""

    def renumber(self, new: Rows) -> None:
        """Take over the new number of each old row; -1 where the row was dropped."""

    def clear(self) -> None:
        """Forget everything: the table has no rows any more."""


class HeldRows:
    """Some rows of a table, in no order."""

    def __init__(self) -> None:
        self.rows: Rows = NONE

    def __len__(self) -> int:
        return len(self.rows)

    def held(self) -> Rows:
        """The rows."""
        return self.rows

    @property
    def empty(self) -> bool:
        """Whether there is no row."""
        return not len(self.rows)

    def add(self, rows: Rows) -> None:
        """Keep further rows."""
        if len(rows):
            self.rows = np.concatenate([self.rows, rows]) if len(self.rows) else rows

    def remove(self, rows: Rows) -> None:
        """Keep some rows no longer."""
        if len(rows):
            self.rows = np.setdiff1d(self.rows, rows)

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers."""
        self.rows = new[self.rows]

    def clear(self) -> None:
        """Keep no row."""
        self.rows = NONE


class Following:
    """A holder that keeps no row by itself: what it knows of a row goes with the row."""

    def held(self) -> Rows:
        """No row."""
        return NONE

    @property
    def empty(self) -> bool:
        """It keeps no row."""
        return True
