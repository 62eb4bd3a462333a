"""Repairs of what was said: which rows, by which ends, and with which Sync.

Paper: Section 4.  Readings: R3, R7, R33, R34.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.emission.changes import KEPT, Spoken
from cedr.model.time import Time
from cedr.runtime.kernels.segments import is_sorted

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


def sync_after(os: Time, new_oe: Time, new_ve: Time) -> Time:
    """Reading: R7."""
    named = [oe for oe in (new_oe,) if oe != KEPT] + [max(os, ve) for ve in (new_ve,) if ve != KEPT]
    return max(os, min(named))
