"""What is left of rows outside the lifetimes of those that they meet: LEFT and ANTI joins.

Paper: Section 6.  Readings: R8, R9, R10, R29: per instant, run of beliefs by run of beliefs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cedr.model.time import Interval, Time
from cedr.runtime.kernels.intervals import left_over
from cedr.runtime.operators.mechanism.arranged_input import first_os
from cedr.runtime.operators.mechanism.arrangement import Pairs
from cedr.runtime.operators.mechanism.matches import Matches
from cedr.runtime.store.table import Header, Mask, Rows, plain_header


class Rest(NamedTuple):
    """What is left of rows: which rows, and the headers."""

    rows: Rows
    header: Header


class _Hole(NamedTuple):
    """A lifetime that cuts a row, and from when to when it is believed."""

    start: Time
    end: Time
    alive: Interval


class LeftOver:
    """Finds what is left of rows of the left input."""

    def __init__(self, matches: Matches) -> None:
        self._matches = matches

    def of(self, rows: Rows) -> Rest:
        """What is left of some rows, each given once."""
        met = self._matches.of(0, rows)
        plain = self._plain(rows, met)
        if plain is None:
            return self._of_plain(rows, met)
        smooth, rough = self._of_plain(rows[plain], self._of_rows(met, rows[plain])), self._believed(rows[~plain], met)
        header = Header(*(np.concatenate(columns) for columns in zip(smooth.header, rough.header, strict=True)))
        return Rest(np.concatenate([smooth.rows, rough.rows]), header)

    def _plain(self, rows: Rows, met: Pairs) -> Mask | None:
        """Of which rows it and all that it meets are plain; None: all."""
        tables = [source.relation.table for source in self._matches.inputs]
        if all(table.plain.implicit for table in tables):
            return None
        rough = np.unique(met.probes[~tables[1].plain.view[met.rows]])
        found: Mask = tables[0].plain.view[rows] & ~np.isin(rows, rough)
        return None if found.all() else found

    def _of_rows(self, met: Pairs, rows: Rows) -> Pairs:
        return met.take(np.isin(met.probes, rows))

    def _of_plain(self, rows: Rows, met: Pairs) -> Rest:
        """One run of beliefs.  Reading: R9."""
        left, right = (source.relation.table for source in self._matches.inputs)
        rows = np.sort(rows)
        vs, ve = right.vs.view[met.rows], right.ve.view[met.rows]
        order = np.lexsort((vs, met.probes))
        first = np.searchsorted(met.probes[order], np.append(rows, np.iinfo(np.int64).max))
        most = len(rows) + len(order)
        owner, start, end = (np.empty(most, np.int64) for _ in range(3))
        holes = (vs[order], ve[order])
        count = left_over(left.vs.view[rows], left.ve.view[rows], first, holes, (owner, start, end))
        rows = rows[owner[:count]]
        return Rest(rows, plain_header(start[:count], end[:count], left.rt.view[rows]))

    def _believed(self, rows: Rows, met: Pairs) -> Rest:
        """Run by run: a part that is the same in neighbouring runs is one row.  Readings: R9, R10."""
        inputs = self._matches.inputs
        left, right = (source.relation.table for source in inputs)
        met = self._of_rows(met, rows)
        holes: dict[int, list[_Hole]] = defaultdict(list)
        cutting = (met.probes, *inputs[1].believed(met.rows), right.vs.view[met.rows], right.ve.view[met.rows])
        for row, start, end, vs, ve in zip(*(column.tolist() for column in cutting), strict=True):
            holes[row].append(_Hole(start, end, Interval(vs, ve)))
        found: list[tuple[int, Time, Time, Time, Time]] = []
        heads = (rows, *inputs[0].believed(rows), left.vs.view[rows], left.ve.view[rows], first_os(inputs, 0, rows))
        for row, start, end, vs, ve, first in zip(*(column.tolist() for column in heads), strict=True):
            for part, begins, ends in _held(Interval(vs, ve), start, end, holes[row]):
                os = max(begins, part.start, first)
                if ends > os:
                    found.append((row, part.start, part.end, os, ends))
        made, vs, ve, os, oe = np.array(found, dtype=np.int64).reshape(-1, 5).T.copy()
        return Rest(made, Header(vs, ve, os, oe, left.rt.view[made], np.zeros(len(made), np.bool_)))


def _held(alive: Interval, start: Time, end: Time, holes: Iterable[_Hole]) -> list[tuple[Interval, Time, Time]]:
    """The parts of a lifetime outside holes, over maximal runs of beliefs within [start, end)."""
    holes = list(holes)
    bounds = {start, end, *(at for hole in holes for at in (hole.start, hole.end) if start < at < end)}
    held: dict[Interval, list[tuple[Time, Time]]] = {}
    for begins, ends in pairwise(sorted(bounds)):
        for part in _outside(alive, [hole.alive for hole in holes if hole.start <= begins < hole.end]):
            known = held.setdefault(part, [])
            if known and known[-1][1] == begins:
                known[-1] = (known[-1][0], ends)
            else:
                known.append((begins, ends))
    return [(part, *run) for part, runs in held.items() for run in runs]


def _outside(alive: Interval, holes: list[Interval]) -> list[Interval]:
    parts, since = [], alive.start
    for hole in sorted(holes):
        parts.append(Interval(since, min(hole.start, alive.end)))
        since = max(since, hole.end)
    parts.append(Interval(since, alive.end))
    return [part for part in parts if not part.empty]
