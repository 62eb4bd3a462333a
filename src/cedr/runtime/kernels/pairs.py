"""Compiled loops for pairs: SEQUENCE of two parameters that only keys and times relate.

Readings: R11, R25, R49.  For each row of the last parameter the rows of the first one that go with it are a range.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.model.time import BEGINNING, FOREVER
from cedr.runtime.kernels.jit import inlined, kernel
from cedr.runtime.kernels.segments import ROW, SIZE, START, TIME, fetched

Array = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

TIED: Final = -1
"""Instead of a number: rows at one time compete, and their IDs decide."""
GROUP, PLACE, LOW, HIGH = range(4)
"""What is found of a row of the last parameter: its group and place, and the range of places that goes with it."""
_BLOCK: Final = 64
_NEAR: Final = 16
"""Of what comes in order, all that matters is at the end."""


@inlined
def first_from(entries: Array, left: int, right: int, time: int) -> int:
    """The first place between two with a time that is not before the given one; looked for from the end at first."""
    steps = 0
    while left < right and steps < _NEAR and entries[right - 1, TIME] >= time:
        right -= 1
        steps += 1
    if steps < _NEAR:
        return right
    while left < right:
        middle = (left + right) // 2
        if entries[middle, TIME] < time:
            left = middle + 1
        else:
            right = middle
    return left


@kernel
def ranges(first: Any, last: Any, at: Any, scope: int, modes: tuple[bool, bool, bool], found: Array) -> tuple[int, int]:
    """For each row of the last parameter the range of the first parameter's places that go with it.

    ``first``, ``last``: pieces and entries; ``at``: groups and places.  ``modes``: whether only those count that no
    other row of the last parameter is nearer to (FIRST on the last one), whether only the latest (LAST on the first
    one), and whether rows at one time go together (WITH TIES).  ``found`` gets group, place, and where the range begins
    and ends: they are asked for together.  The number of pairs, or ``TIED``; the other number means nothing.
    """
    nearest, latest, ties = modes
    tick = 1 if ties else 0
    pieces, entries = first
    last_pieces, last_entries = last
    groups, places = at
    total, touched = 0, 0
    for i in range(len(places)):
        if i % _BLOCK == 0:
            touched ^= fetched(pieces, entries, groups[i : i + _BLOCK])
        group, place = groups[i], places[i]
        start = stop = 0
        if group < len(pieces):
            start = pieces[group, START]
            stop = start + pieces[group, SIZE]
        time = last_entries[place, TIME]
        earliest = BEGINNING if scope == FOREVER else time - scope
        if nearest:
            oldest = last_pieces[group, START]
            if place > oldest:
                before = last_entries[place - 1, TIME]
                if before == time:
                    return TIED, touched
                earliest = max(earliest, before + tick)
            if place + 1 < oldest + last_pieces[group, SIZE] and last_entries[place + 1, TIME] == time:
                return TIED, touched
        right = first_from(entries, start, stop, time + tick)
        left = first_from(entries, start, right, earliest)
        if latest and right - left > 1:
            if entries[right - 1, TIME] == entries[right - 2, TIME]:
                return TIED, touched
            left = right - 1
        found[i, GROUP], found[i, PLACE], found[i, LOW], found[i, HIGH] = group, place, left, right
        total += right - left
    return total, touched


@kernel
def appended(pieces: Array, groups: Array, places: Array) -> None:
    """Of groups in order, each as often as rows were appended to it: the places of these rows."""
    i = 0
    while i < len(groups):
        j = i
        while j < len(groups) and groups[j] == groups[i]:
            j += 1
        end = pieces[groups[i], START] + pieces[groups[i], SIZE]
        for k in range(i, j):
            places[k] = end - (j - k)
        i = j


@kernel
def pairs(entries: Array, last_entries: Array, found: Array, order: Array, lifetime: tuple[bool, int], out: Any) -> int:
    """The pairs of some ranges: rows of both, their times and groups; what is returned means nothing.

    ``found``: as ``ranges`` has it, to be taken in an order.  ``lifetime``: whether it is counted from the last one of
    a pair, and how long it is.
    """
    from_last, length = lifetime
    first, last, vs, ve, rt, of = out
    near = np.empty((_BLOCK, 4), np.int64)
    n, touched = 0, 0
    for start in range(0, len(order), _BLOCK):
        count = min(_BLOCK, len(order) - start)
        for i in range(count):  # many at once are on their way
            at = order[start + i]
            for column in range(4):
                near[i, column] = found[at, column]
        for i in range(count):
            touched ^= last_entries[near[i, PLACE], ROW]
            if near[i, LOW] < near[i, HIGH]:
                touched ^= entries[near[i, LOW], ROW]
        for i in range(count):
            place, group = near[i, PLACE], near[i, GROUP]
            row, time = last_entries[place, ROW], last_entries[place, TIME]
            for which in range(near[i, LOW], near[i, HIGH]):
                began = entries[which, TIME]
                first[n], last[n], vs[n], rt[n], of[n] = entries[which, ROW], row, time, began, group
                begins = time if from_last else began
                ve[n] = FOREVER if begins > FOREVER - length else begins + length
                n += 1
    return touched


@kernel
def until_next(pieces: Array, entries: Array, groups: Array, times: Array, high: Array) -> None:
    """Lowers each of ``high`` to the next time after the given one at which its group has a row; none: to that one."""
    for i in range(len(groups)):
        group = groups[i]
        if group < 0 or group >= len(pieces):
            high[i] = times[i]
            continue
        left = pieces[group, START]
        stop = left + pieces[group, SIZE]
        right = stop
        while left < right:
            middle = (left + right) // 2
            if entries[middle, TIME] <= times[i]:
                left = middle + 1
            else:
                right = middle
        high[i] = min(high[i], entries[left, TIME] if left < stop else times[i])


@kernel
def none_within(pieces: Array, entries: Array, groups: Array, low: Array, high: Array, out: Mask) -> None:
    """Whether no row of each group has low <= time <= high; neighbours that ask the same are told the same."""
    for i in range(len(groups)):
        group = groups[i]
        if i and group == groups[i - 1] and low[i] == low[i - 1] and high[i] == high[i - 1]:
            out[i] = out[i - 1]
            continue
        out[i] = True
        if group < 0 or group >= len(pieces) or low[i] > high[i]:
            continue
        left = pieces[group, START]
        stop = left + pieces[group, SIZE]
        right = stop
        while left < right:
            middle = (left + right) // 2
            if entries[middle, TIME] < low[i]:
                left = middle + 1
            else:
                right = middle
        out[i] = left == stop or entries[left, TIME] > high[i]
