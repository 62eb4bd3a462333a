"""Predicates and expressions over an open Ve: undecided until g reaches it.  Reading: R36."""

from __future__ import annotations

import numpy as np

from cedr.model.time import Time
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import NONE, Delta, Rows


class OpenEnds:
    """The rows of an input of which some expression reads a Ve that may still be shortened."""

    def __init__(self, relation: Relation, names: frozenset[str]) -> None:
        self._relation, self._names = relation, names
        self.rows: Rows = NONE

    def update(self, delta: Delta) -> None:
        """Take in a change of the input."""
        if delta:
            self.rows = np.concatenate([np.setdiff1d(self.rows, delta.removed), delta.added])

    def let_go(self, line: Time) -> None:
        """Rows with Vs up to a line bear on nothing that is not frozen.  Reading: R34."""
        self.rows = self.rows[self._relation.table.vs.view[self.rows] > line]

    def undecided(self, known: Time) -> Time | None:
        """The smallest Sync of a row with an open end; rows whose ends g has reached are not looked at again."""
        open_ = np.zeros(len(self.rows), dtype=np.bool_)
        for name in self._names:
            open_ |= self._ends(name) > known
        self.rows = self.rows[open_]
        return int(self._relation.table.os.view[self.rows].min()) if len(self.rows) else None

    def _ends(self, name: str) -> Rows:
        if name == "":
            own: Rows = self._relation.table.ve.view[self.rows]
            return own
        reach = self._relation.variables.get(name)
        if reach is None or not len(reach.target.table):
            return np.full(len(self.rows), np.iinfo(np.int64).min)
        at = reach.rows(self.rows)
        return np.where(at >= 0, reach.target.table.ve.view[at], np.iinfo(np.int64).min)
