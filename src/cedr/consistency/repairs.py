"""Repairs of what was said: which rows, by which ends, and with which Sync.

Paper: Section 4.  Readings: R3, R7, R33, R34.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.changes import KEPT
from cedr.model.time import Time

Rows = NDArray[np.int64]


class Thresholds(NamedTuple):
    """The numbers of a level at one step: up to where rows are due, and the freezing line m.  Readings: R33, R34."""

    due: Time
    frozen: Time


class Repair(NamedTuple):
    """A retraction: of which row, as said when, its Oe before, the ends it names, and its Sync."""

    row: int
    said: Time
    oe: Time
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
    if not len(wanted):
        return np.zeros(len(values), dtype=np.bool_)
    places = np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)
    found: NDArray[np.bool_] = wanted[places] == values
    return found


def sync_after(os: Time, new_oe: Time, new_ve: Time) -> Time:
    """Reading: R7."""
    named = [oe for oe in (new_oe,) if oe != KEPT] + [max(os, ve) for ve in (new_ve,) if ve != KEPT]
    return max(os, min(named))
