"""Starts and durations as columns of time.

Paper: Section 6, Definition 12.  Reading: R31: a duration of zero or less, or a start of FOREVER, drops the event; so
does NULL.
"""

from __future__ import annotations

from decimal import Decimal
from math import floor
from typing import Any, NamedTuple

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.expressions.vector import FLOATS, INTEGERS, OBJECTS, TRUTHS, Mask, kind_of, not_null
from cedr.runtime.store.table import Rows
from cedr.runtime.values.vector import Vector

_TOO_LARGE = 2.0**63


class Lifetimes(NamedTuple):
    """Lifetimes of some rows: which of those that were asked for have one, from when to when."""

    places: Rows
    vs: Rows
    ve: Rows

    def take(self, chosen: Mask) -> Lifetimes:
        """Some of them."""
        return Lifetimes(*(column[chosen] for column in self))


def lifetimes_of(start: Vector, duration: Vector) -> Lifetimes:
    """The lifetimes that starts and durations give.

    >>> lifetimes_of(Vector(np.array([1, 2, FOREVER])), Vector(np.array([5, 0, 7])))
    Lifetimes(places=array([0]), vs=array([1]), ve=array([6]))
    """
    starts, given = times_of(start)
    lengths, long = times_of(duration)
    keep = given & long & (starts != FOREVER) & (lengths > 0)
    places = np.flatnonzero(keep)
    vs, length = starts[places], lengths[places]
    endless = (length == FOREVER) | ((vs > 0) & (length > FOREVER - vs))
    return Lifetimes(places, vs, np.where(endless, FOREVER, vs + np.where(endless, 0, length)))


def times_of(vector: Vector) -> tuple[Rows, Mask]:
    """Numbers as times, rounded down; what is no number has none."""
    kind, present = kind_of(vector), not_null(vector)
    if kind in (INTEGERS, TRUTHS):
        return np.asarray(vector.values, np.int64), present
    if kind == FLOATS:
        return _of_floats(vector.values), present & ~np.isnan(vector.values)
    found, known = np.zeros(len(present), np.int64), np.zeros(len(present), np.bool_)
    if kind == OBJECTS:
        for place, value in enumerate(vector.values):
            time = _time(value)
            known[place] = time is not None
            found[place] = time or 0
    return found, known


def _of_floats(values: Any) -> Rows:
    down = np.floor(np.nan_to_num(values, nan=0.0, posinf=_TOO_LARGE, neginf=-_TOO_LARGE))
    inside = np.clip(down, -_TOO_LARGE, _TOO_LARGE - 1024)
    return np.where(down >= _TOO_LARGE, FOREVER, inside.astype(np.int64))


def _time(value: object) -> Time | None:
    if not isinstance(value, int | float | Decimal) or value != value:  # noqa: PLR0124 - NaN
        return None
    if not -_TOO_LARGE <= value < _TOO_LARGE:
        return FOREVER if value > 0 else BEGINNING
    return floor(value)
