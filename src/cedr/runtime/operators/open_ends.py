"""Predicates and expressions over an open Ve: undecided until g reaches it.  Reading: R36."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.operators.contract import before
from cedr.runtime.store.holders import NONE, HeldRows
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, Rows


class OpenEnds:
    """The rows of an input of which some expression reads a Ve that may still be shortened."""

    def __init__(
        self, relation: Relation, names: frozenset[str], shown_from: Callable[[Rows], Rows] | None = None
    ) -> None:
        """``shown_from``: from which instant on a row shows in the output, where that is not its Sync."""
        self._relation, self._names = relation, names
        self._shown_from = shown_from or (lambda rows: relation.table.os.view[rows])
        self._rows = HeldRows()
        relation.table.hold(self._rows)

    def update(self, delta: Delta) -> None:
        """Take in a change of the input."""
        self._rows.remove(delta.removed)
        self._rows.add(delta.added)

    def clear(self) -> None:
        """There are no rows."""
        self._rows.rows = NONE

    def decide(self, known: Time, frozen: Time) -> None:
        """Stop waiting for rows whose ends g has reached, and for those that bear on nothing."""
        self._rows.rows = self._open(known, frozen)

    def guarantee(self, known: Time, frozen: Time) -> Time:
        """Just before the first instant at which a row with an open end shows, and at most g.

        ``frozen``: rows with Vs up to here bear on nothing that may still be emitted.  Reading: R34.
        """
        return before(known, self._shown_from(self._open(known, frozen)))

    def before_open(self, known: Time) -> Time:
        """The instant before the smallest Vs of a row with an open end; FOREVER where there is none."""
        rows = self._open(known, BEGINNING)
        return int(self._relation.table.vs.view[rows].min()) - 1 if len(rows) else FOREVER

    def _open(self, known: Time, frozen: Time) -> Rows:
        rows = self._rows.rows
        open_ = np.zeros(len(rows), dtype=np.bool_)
        for name in self._names:
            open_ |= self._ends(name, rows) > known
        found: Rows = rows[open_ & (self._relation.table.vs.view[rows] > frozen)]
        return found

    def _ends(self, name: str, rows: Rows) -> Rows:
        if name == "":
            own: Rows = self._relation.table.ve.view[rows]
            return own
        reach = self._relation.variables.get(name)
        if reach is None or not len(reach.target.table):
            return np.full(len(rows), np.iinfo(np.int64).min)
        at = reach.rows(rows)
        return np.where(at >= 0, reach.target.table.ve.view[at], np.iinfo(np.int64).min)
