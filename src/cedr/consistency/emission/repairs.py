"""Changes of one step: repairs of what was emitted, and inserts, each with its Sync.

Paper: Section 4.  Readings: R3, R7, R33, R34.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.emission.changes import KEPT, Spoken
from cedr.consistency.emission.ends import SaidEnds
from cedr.model.time import FOREVER, Time
from cedr.runtime.kernels.segments import is_sorted
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.segments import by_time
from cedr.runtime.store.table import Table
from cedr.runtime.values.constant import always, constant
from cedr.runtime.values.run_length import together

Rows = NDArray[np.int64]


class Thresholds(NamedTuple):
    """The numbers of a level at one step: up to where rows are due, and the freezing line m.  Readings: R33, R34."""

    due: Time
    frozen: Time


class Pairs(NamedTuple):
    """Rows that were emitted and are meant no longer, and the new rows of the same ID and Os."""

    old: Rows
    new: Rows

    def take(self, chosen: NDArray[np.bool_]) -> Pairs:
        """Some of them."""
        return Pairs(self.old[chosen], self.new[chosen])


class Ends(NamedTuple):
    """Oe and Ve of some rows."""

    oe: Rows
    ve: Rows

    def take(self, chosen: NDArray[np.bool_]) -> Ends:
        """Those of some of the rows."""
        return Ends(self.oe[chosen], self.ve[chosen])

    @property
    def first(self) -> Rows:
        """The smaller one."""
        found: Rows = np.minimum(self.oe, self.ve)
        return found


def once(values: Rows) -> Rows:
    """Each value once, in order: by sorting, which for numbers is several times as fast as NumPy's hashing."""
    ordered = np.sort(values)
    first: Rows = ordered[np.concatenate([ordered[:1] == ordered[:1], ordered[1:] != ordered[:-1]])]
    return first


def among(values: Rows, wanted: Rows) -> NDArray[np.bool_]:
    """Which values are among some others, given in their order."""
    if not len(wanted) or not len(values) or int(values.min()) > int(wanted[-1]):
        return np.zeros(len(values), dtype=np.bool_)
    places = np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)
    found: NDArray[np.bool_] = wanted[places] == values
    return found


def paired(relation: Relation, old: Rows, added: Rows) -> tuple[Rows, Rows]:
    """The places of old rows and of new ones that have the same ID and Os, two by two.  Reading: R34."""
    starts = relation.table.os.view
    places = np.flatnonzero(among(starts[together(added)], once(starts[old])))
    if not len(places):
        return places, places
    both = np.concatenate([old, added[places]])
    columns = (starts[both], *relation.digests(both))
    order = np.lexsort(columns)
    same = np.ones(len(order) - 1, dtype=np.bool_)
    for column in columns:
        ordered = column[order]
        same &= ordered[1:] == ordered[:-1]
    return order[:-1][same], places[order[1:][same] - len(old)]  # the sort is stable: old ones come first


def alike(relation: Relation, pairs: Pairs) -> NDArray[np.bool_]:
    """Which pairs look the same but for their ends."""
    table = relation.table
    found: NDArray[np.bool_] = table.vs.view[pairs.old] == table.vs.view[pairs.new]
    found &= table.rt.view[pairs.old] == table.rt.view[pairs.new]
    if found.any():
        some = pairs.take(found)
        found[found] = relation.same_payloads(some.old, some.new)
    return found


def retracted(rows: Rows, said: Rows, ends: Ends, own_ve: Rows, os: Rows, new: Ends | None = None) -> Spoken:
    """Retractions of rows with the ends as emitted; ``new``: the ends to which they are shortened, else removed."""
    kept = constant(KEPT, len(rows))
    named = Ends(kept, kept)
    if new is not None:
        named = Ends(*(np.where(after == before, KEPT, after) for after, before in zip(new, ends, strict=True)))
    ve = np.where(ends.ve == own_ve, KEPT, ends.ve)
    sync = os if new is None else _sync_after(os, named)
    return Spoken(np.zeros(len(rows), dtype=np.bool_), rows, said, ends.oe, ve, *named, sync)


def _sync_after(os: Rows, named: Ends) -> Rows:
    """The Sync of shortenings.  Reading: R7."""
    oe = np.where(named.oe == KEPT, FOREVER, named.oe)
    ve = np.where(named.ve == KEPT, FOREVER, np.maximum(os, named.ve))
    found: Rows = np.maximum(os, np.minimum(oe, ve))
    return found


def in_order(parts: Sequence[Spoken]) -> Spoken:
    """Retractions, some in each part, in the order of Sync."""
    together_ = parts[0] if len(parts) == 1 else Spoken._make(np.concatenate(c) for c in zip(*parts, strict=True))
    if is_sorted(together_.sync):
        return together_
    order = np.argsort(together_.sync, kind="stable")
    return Spoken._make(column[order] for column in together_)


def inserts(table: Table, rows: Rows, ends: SaidEnds, cedr_time: Time) -> Spoken:
    """Rows as inserts, in the order of Sync, with the ends with which they are emitted."""
    n = len(rows)
    starts = table.os.view[together(rows)]
    if not is_sorted(starts):
        order = by_time(starts)
        rows, starts = rows[order], starts[order]
    kept = constant(KEPT, n)
    oe = constant(FOREVER, n) if table.oe.implicit else ends.said_oe.view[together(rows)].copy()
    ve = kept if ends.own else ends.longer(rows)
    return Spoken(always(n), rows, constant(cedr_time, n), oe, ve, kept, kept, starts)
