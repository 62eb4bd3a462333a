"""Runs of beliefs: where a group holds revisions, it is evaluated once for each run of instants.

Paper: Section 3.3.2 (the shredded canonical form).  Readings: R9, R10.  A group and a run of occurrence instants in
which no belief changes make a group of their own, with the rows believed then; so the operators themselves never see
more than one version of an event, and plain groups pay nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.kernels import segments as kernels
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.store.segments import Sorted
from cedr.runtime.store.table import Mask, Rows
from cedr.runtime.store.times import earlier, later


class Intervals(NamedTuple):
    """Intervals of anchor time in some groups, both ends included."""

    groups: Rows
    low: Rows
    high: Rows

    def take(self, chosen: Rows | Mask) -> Intervals:
        """Some of them."""
        return Intervals(*(column[chosen] for column in self))

    def united(self) -> Intervals:
        """Overlapping ones of a group as one; they are in the order of (group, low)."""
        groups, low, high = (column.copy() for column in self)
        count = kernels.united(groups, low, high)
        return Intervals(groups[:count], low[:count], high[:count])


class Window(NamedTuple):
    """How far before and after an interval of anchors the rows of an input lie that bear on it."""

    before: int
    after: int


class Runs(NamedTuple):
    """The runs of some intervals: which interval each belongs to, and its occurrence instants [start, end)."""

    owner: Rows
    start: Rows
    end: Rows


class Gathered(NamedTuple):
    """Rows that bear on some intervals, in the order of intervals and time, and from when to when each is believed."""

    owner: Rows
    times: Rows
    rows: Rows
    start: Rows
    end: Rows


def runs_of(gathered: Sequence[Gathered], at: Intervals) -> tuple[list[Sorted], Runs]:
    """The believed rows of each part that was gathered by run, and the runs: no belief changes within one."""
    owners: list[int] = []
    bounds: list[tuple[Time, Time]] = []
    pieces: list[list[tuple[Rows, Rows]]] = [[] for _ in gathered]
    for number in range(len(at.groups)):
        parts = [_of(part, number) for part in gathered]
        cuts = np.unique(np.concatenate([[BEGINNING, FOREVER], *(p.start for p in parts), *(p.end for p in parts)]))
        for start, end in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
            owners.append(number)
            bounds.append((start, end))
            for piece, part in zip(pieces, parts, strict=True):
                here = (part.start <= start) & (start < part.end)
                piece.append((part.times[here], part.rows[here]))
    run_bounds = np.array(bounds, dtype=np.int64).reshape(-1, 2)
    runs = Runs(np.array(owners, dtype=np.int64), run_bounds[:, 0], run_bounds[:, 1])
    return [_sorted(piece) for piece in pieces], runs


def gather(source: Input, window: Window, at: Intervals, known: Time | None) -> Gathered:
    """The rows of an input that bear on some intervals."""
    store = source.store.sorted
    places = store.locate(at.groups, earlier(at.low, window.before), later(at.high, window.after))
    owner, place = places.expand()
    rows, times = store.rows[place], store.times[place]
    if known is not None:
        heard = source.relation.table.os.view[rows] <= known
        owner, rows, times = owner[heard], rows[heard], times[heard]
    return Gathered(owner, times, rows, *source.believed(rows, known))


def _of(part: Gathered, number: int) -> Gathered:
    first, end = np.searchsorted(part.owner, [number, number + 1])
    return Gathered(*(column[first:end] for column in part))


def _sorted(pieces: list[tuple[Rows, Rows]]) -> Sorted:
    size = np.array([len(times) for times, _ in pieces], dtype=np.int64)
    empty = np.empty(0, dtype=np.int64)
    times = np.concatenate([empty, *(times for times, _ in pieces)])
    return Sorted.of(size, times, np.concatenate([empty, *(rows for _, rows in pieces)]))


class Held(NamedTuple):
    """Instances that hold over maximal runs: references, the interval they belong to, [start, end)."""

    references: list[Rows]
    owner: Rows
    start: Rows
    end: Rows


def united(references: list[Rows], runs_found: Rows, runs: Runs) -> Held:
    """The same instance in neighbouring runs is one, over the maximal run.  Reading: R9."""
    owner = runs.owner[runs_found]
    order = np.lexsort((runs_found, *reversed(references), owner))
    columns = [owner[order], *(column[order] for column in references)]
    run = runs_found[order]
    follows = np.zeros(len(order), dtype=np.bool_)
    if len(order) > 1:
        follows[1:] = run[1:] == run[:-1] + 1
        for column in columns:
            follows[1:] &= column[1:] == column[:-1]
    first = np.flatnonzero(~follows)
    last = np.append(first[1:], len(order))[: len(first)] - 1
    return Held([c[first] for c in columns[1:]], columns[0][first], runs.start[run[first]], runs.end[run[last]])
