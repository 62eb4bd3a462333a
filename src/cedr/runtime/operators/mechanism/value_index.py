"""Rows by a number of theirs, so that bounds of it are a search of ranges.

Paper: Section 6, Definition 9.  Numbers are searched as the nearest fraction, which keeps their order but for those
that lie closer: so a search finds some pairs too many, never too few, and the predicate decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cedr.model.time import Time
from cedr.plan.analyses.bands import Band
from cedr.runtime.expressions.compile import compile_vector, to_values
from cedr.runtime.expressions.vector import FLOATS, INTEGERS, Mask, kind_of, not_null
from cedr.runtime.kernels import segments as kernels
from cedr.runtime.operators.mechanism.arrangement import Pairs, Probes
from cedr.runtime.store.relation import Frame, Relation
from cedr.runtime.store.segments import Places, Segments, in_order
from cedr.runtime.store.table import Rows
from cedr.runtime.values.vector import Vector

_AT_ONCE = 1 << 18
_MARGIN = 2.0**-50
"""More than rounding changes a sum, as a share of what is added."""
_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class ValueIndex:
    """The rows of one input by an expression, and the bounds that rows of the other input set to it."""

    def __init__(self, band: Band, own: Relation, other: Relation) -> None:
        self._own, self._other = own, other
        self._bounded = compile_vector(band.bounded)
        self._low = [(compile_vector(bound.expression), bound.less) for bound in band.low]
        self._high = [(compile_vector(bound.expression), bound.less) for bound in band.high]
        self._store = Segments(own.table)
        self._changed = 0

    def add(self, rows: Rows) -> None:
        """Rows come."""
        self._store.add(*self._placed(rows))
        self._changed += len(rows)

    def remove(self, rows: Rows) -> None:
        """Rows go."""
        self._store.remove(*self._placed(rows))

    def forget_ended(self, line: Time) -> None:
        """Drop rows with Ve <= line; not each time all of them are looked at."""
        if not len(self._store) or self._changed * 4 < len(self._store):
            return
        self._changed = 0
        rows = self._store.held()
        self._store.remove(*self._placed(rows[self._own.table.ve.view[rows] <= line]))

    def _placed(self, rows: Rows) -> tuple[Rows, Rows, Rows]:
        rows = rows[self._own.table.ve.view[rows] > self._own.table.vs.view[rows]]
        numbers, known = ordered(self._bounded(Frame([(self._own, rows)])))
        return in_order(np.zeros(int(known.sum()), np.int64), numbers[known], rows[known])

    def ranges(self, rows: Rows) -> Places:
        """Where the rows lie that rows of the other input do not exclude."""
        frame = Frame([(self._other, rows)])
        low, high = np.full(len(rows), _LEAST), np.full(len(rows), _MOST)
        for bounds, limit, tighter, way in ((self._low, low, np.maximum, -1), (self._high, high, np.minimum, 1)):
            for bound, less in bounds:
                numbers, known = ordered(bound(frame), less, way)
                tighter(limit, numbers, out=limit)
                high[~known] = _LEAST  # nothing is within no bound
                low[~known] = _MOST
        begin, end = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        store = self._store.sorted
        return Places(begin, end, kernels.locate(*store, np.zeros(len(rows), np.int64), low, high, begin, end))

    def alive(self, probes: Probes, places: Places) -> Iterator[Pairs]:
        """The rows in these places that are alive together with probes, in parts of limited size."""
        after = np.cumsum(places.counts)
        entries, table = self._store.sorted.rows, self._own.table
        for start in range(0, places.total, _AT_ONCE):
            at = np.arange(start, min(start + _AT_ONCE, places.total))
            owner = np.searchsorted(after, at, side="right")
            rows = entries[places.end[owner] - (after[owner] - at)]
            one, other = table.vs.view[rows], probes.vs[owner]
            vs, ve = np.maximum(one, other), np.minimum(table.ve.view[rows], probes.ve[owner])
            found = Pairs(probes.rows[owner], rows, vs, ve, np.minimum(one, other))
            yield found.take(vs < ve)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._store.nbytes


def ordered(vector: Vector, less: float = 0.0, way: int = 0) -> tuple[Rows, Mask]:
    """Numbers, less a number, as whole numbers in the same order, and which are numbers at all.

    ``way``: where something is taken off, the result is a little too large (1) or too small (-1) rather than rounded.

    >>> ordered(Vector(np.array([-1.5, -0.0, 0.0, 2.0])))[0].argsort(kind="stable").tolist()
    [0, 1, 2, 3]
    """
    known = not_null(vector)
    if kind_of(vector) in (INTEGERS, FLOATS):
        fractions = np.asarray(vector.values, np.float64) + 0.0  # one zero only
    else:
        fractions = np.array([_fraction(value) for value in to_values(vector)], np.float64) + 0.0
    known = known & ~np.isnan(fractions)
    if less:
        finite = np.isfinite(fractions)
        margin = way * _MARGIN * (np.abs(fractions[finite]) + abs(less))
        fractions = fractions.copy()
        fractions[finite] += margin - less
    bits = fractions.view(np.int64)
    return bits ^ ((bits >> 63) & _MOST), known


def _fraction(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
    except (TypeError, ValueError):
        return np.nan
