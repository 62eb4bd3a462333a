"""Changes of one step: repairs of what was emitted, and inserts, each with its Sync.

Paper: Section 4.  Readings: R3, R7, R33, R34.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.emission.changes import KEPT, Spoken
from cedr.model.time import FOREVER, Time
from cedr.runtime.kernels.segments import is_sorted
from cedr.runtime.store.segments import by_time
from cedr.runtime.store.table import Table
from cedr.runtime.values.constant import always, constant
from cedr.runtime.values.growable import Growable
from cedr.runtime.values.run_length import together

Rows = NDArray[np.int64]


class Thresholds(NamedTuple):
    """The numbers of a level at one step: up to where rows are due, and the freezing line m.  Readings: R33, R34."""

    due: Time
    frozen: Time


class Repair(NamedTuple):
    """A retraction: of which row, as said when, its Oe before, its Ve before if not the row's, new ends, its Sync."""

    row: int
    said: Time
    oe: Time
    ve: Time
    new_oe: Time
    new_ve: Time
    sync: Time


def distinct(values: Rows) -> Rows:
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


def all_retractions(taken_back: Spoken, repairs: list[Repair]) -> Spoken:
    """Rows that are taken back as a whole, and repairs, in the order of Sync."""
    if repairs:
        columns = [np.array(column, dtype=np.int64) for column in zip(*repairs, strict=True)]
        others = Spoken(np.zeros(len(repairs), dtype=np.bool_), *columns)
        taken_back = Spoken._make(np.concatenate(pair) for pair in zip(taken_back, others, strict=True))
    if is_sorted(taken_back.sync):
        return taken_back
    order = np.argsort(taken_back.sync, kind="stable")
    return Spoken._make(column[order] for column in taken_back)


def inserts(table: Table, rows: Rows, said_oe: Growable, cedr_time: Time) -> Spoken:
    """Rows as inserts, in the order of Sync; ``said_oe``: the Oe with which each row is emitted."""
    n = len(rows)
    starts = table.os.view[together(rows)]
    if not is_sorted(starts):
        order = by_time(starts)
        rows, starts = rows[order], starts[order]
    kept = constant(KEPT, n)
    open_ = constant(FOREVER, n)
    ends = open_ if table.oe.implicit else said_oe.view[together(rows)].copy()
    is_insert, said = always(n), constant(cedr_time, n)
    return Spoken(is_insert, rows, said, ends, kept, kept, kept, starts)


def sync_after(os: Time, new_oe: Time, new_ve: Time) -> Time:
    """Reading: R7."""
    named = [oe for oe in (new_oe,) if oe != KEPT] + [max(os, ve) for ve in (new_ve,) if ve != KEPT]
    return max(os, min(named))
