"""Compiled loops over rows that are alive for a while: who is alive together, and what is left of a lifetime.

Paper: Section 6, Definition 9.  Readings: R29, R37.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cedr.model.time import BEGINNING, FOREVER
from cedr.runtime.kernels.jit import kernel
from cedr.runtime.kernels.pairs import first_from
from cedr.runtime.kernels.segments import ROW, SIZE, START, TIME, fetched

Array = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_BLOCK = 64


@kernel
def alive(store: Any, ends: Array, probes: Any, longest: int, state: Array, out: Any) -> int:
    """Rows of a store that are alive together with probes, as pairs; how many, until there is no room left.

    ``store``: pieces and entries, of rows none of which lives longer than ``longest``; ``ends``: Ve by row.
    ``probes``: groups, Vs and Ve of each.  ``state``: the probe and the place to go on with; after the last probe all
    is found.
    """
    pieces, entries = store
    names, groups, starts, stops = probes
    owners, rows, vs, ve, since = out
    n, room, touched = 0, len(rows), 0
    while state[0] < len(groups):
        i = state[0]
        if i % _BLOCK == 0:
            touched ^= fetched(pieces, entries, groups[i : i + _BLOCK])
        group = groups[i]
        if group < 0 or group >= len(pieces):
            state[0], state[1] = i + 1, -1
            continue
        first = pieces[group, START]
        end = first + pieces[group, SIZE]
        place = state[1]
        if place < 0:  # the first one that may still be alive
            least = BEGINNING
            if longest < FOREVER and starts[i] >= BEGINNING + longest:
                least = starts[i] - longest + 1
            place = first_from(entries, first, end, least)
        while place < end and entries[place, TIME] < stops[i]:
            row, time = entries[place, ROW], entries[place, TIME]
            end_of_row = ends[row]
            if end_of_row > starts[i]:
                if n == room:
                    state[1] = place
                    return n
                owners[n], rows[n] = names[i], row
                vs[n], since[n] = max(time, starts[i]), min(time, starts[i])
                ve[n] = min(end_of_row, stops[i])
                n += 1
            place += 1
        state[0], state[1] = i + 1, -1
    return n + (touched & 0)


@kernel
def left_over(starts: Array, stops: Array, first: Array, holes: Any, out: Any) -> int:
    """The maximal parts of lifetimes outside some intervals; how many.

    ``first``: where the intervals of each lifetime begin, in the order of their starts, and where the last ones end.
    """
    begins, ends = holes
    owners, vs, ve = out
    n = 0
    for i in range(len(starts)):
        since = starts[i]
        for k in range(first[i], first[i + 1]):
            if begins[k] > since:
                owners[n], vs[n], ve[n] = i, since, min(begins[k], stops[i])
                n += 1
            since = max(since, ends[k])
            if since >= stops[i]:
                break
        if since < stops[i]:
            owners[n], vs[n], ve[n] = i, since, stops[i]
            n += 1
    return n


@kernel
def link(rows: Array, made: Array, heads: Array, after: Array) -> None:
    """Puts each row that was made of another one before those that were made of that one earlier."""
    for i in range(len(rows)):
        if rows[i] >= 0:
            after[made[i]] = heads[rows[i]]
            heads[rows[i]] = made[i]


@kernel
def chained(rows: Array, heads: Array, after: Array, gone: Mask, out: Array) -> int:
    """The rows made of some rows, but for those that are gone; how many.  ``out`` is filled as far as it goes."""
    n = 0
    for row in rows:
        at = heads[row] if row < len(heads) else -1
        while at >= 0:
            if not gone[at]:
                if n < len(out):
                    out[n] = at
                n += 1
            at = after[at]
    return n


@kernel
def spliced(after: Array, new: Array, resolved: Array) -> None:
    """For each old row the new number of it or of the first one after it that stays; later ones come first."""
    for old in range(len(new)):
        if new[old] >= 0:
            resolved[old] = new[old]
        elif after[old] >= 0:
            resolved[old] = resolved[after[old]]
        else:
            resolved[old] = -1
