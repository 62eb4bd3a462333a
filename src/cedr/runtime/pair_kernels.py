"""Compiled loops for pairs: SEQUENCE of two parameters that only keys and times relate.

Reading: R11, R25.  For each row of the last parameter the rows of the first one that go with it are a range, whose ends
only move on from one row to the next.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.model.time import BEGINNING, FOREVER
from cedr.runtime.jit import kernel
from cedr.runtime.segment_kernels import ROW, SIZE, START, TIME

Array = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

TIED: Final = -1
"""Instead of a number: rows at one time compete, and their IDs decide."""


@kernel
def ranges(
    first: Any, last: Any, groups: Array, scope: int, nearest: bool, latest: bool, out: tuple[Array, Array, Array]
) -> int:
    """For each row of the last parameter its place, and the range of the first parameter's places that go with it.

    ``first``: pieces and entries; ``last``: entries, and first and last place for each of the groups.  ``nearest``: only
    what no other row of the last parameter is nearer to (FIRST on the last parameter); ``latest``: only the latest (LAST
    on the first).  The number of pairs, or ``TIED``.
    """
    pieces, entries = first
    last_pieces, last_entries, begin, end = last
    places, low, high = out
    total, n = 0, 0
    for i in range(len(groups)):
        group = groups[i]
        if begin[i] == end[i]:
            continue
        start = stop = 0
        if group < len(pieces):
            start = pieces[group, START]
            stop = start + pieces[group, SIZE]
        oldest = last_pieces[group, START]
        newest = oldest + last_pieces[group, SIZE]
        left, right = start, stop
        least = BEGINNING if scope == FOREVER else last_entries[begin[i], TIME] - scope
        if nearest and begin[i] > oldest:
            least = max(least, last_entries[begin[i] - 1, TIME])
        while left < right:
            middle = (left + right) // 2
            if entries[middle, TIME] < least:
                left = middle + 1
            else:
                right = middle
        for place in range(begin[i], end[i]):
            time = last_entries[place, TIME]
            earliest = BEGINNING if scope == FOREVER else time - scope
            if nearest and place > oldest:
                before = last_entries[place - 1, TIME]
                if before == time:
                    return TIED
                earliest = max(earliest, before)
            if nearest and place + 1 < newest and last_entries[place + 1, TIME] == time:
                return TIED
            while left < stop and entries[left, TIME] < earliest:
                left += 1
            right = max(right, left)
            while right < stop and entries[right, TIME] < time:
                right += 1
            from_ = left
            if latest and right - left > 1:
                if entries[right - 1, TIME] == entries[right - 2, TIME]:
                    return TIED
                from_ = right - 1
            places[n], low[n], high[n] = place, from_, right
            total += right - from_
            n += 1
    return total


@kernel
def last_of(pieces: Array, groups: Array, out: Any) -> int:
    """Of groups in order, each as often as rows were appended to it: each once, and the places of these rows."""
    found, begin, end = out
    n, i = 0, 0
    while i < len(groups):
        j = i
        while j < len(groups) and groups[j] == groups[i]:
            j += 1
        found[n] = groups[i]
        end[n] = pieces[groups[i], START] + pieces[groups[i], SIZE]
        begin[n] = end[n] - (j - i)
        n += 1
        i = j
    return n


@kernel
def pairs(entries: Array, last_entries: Array, found: Any, groups: Array, scope: int, out: Any) -> None:
    """The pairs of some ranges: rows of both, their times and groups.  ``groups``: that of each range."""
    places, low, high = found
    first, last, vs, ve, rt, of = out
    n = 0
    for i in range(len(places)):
        row, time, group = last_entries[places[i], ROW], last_entries[places[i], TIME], groups[i]
        for place in range(low[i], high[i]):
            began = entries[place, TIME]
            first[n], last[n], vs[n], rt[n], of[n] = entries[place, ROW], row, time, began, group
            ve[n] = FOREVER if began > FOREVER - scope else began + scope
            n += 1


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
def any_within(pieces: Array, entries: Array, groups: Array, low: Array, high: Array, out: Mask) -> None:
    """Whether there is a row with low <= time <= high in each group; neighbours that ask the same are told the same."""
    for i in range(len(groups)):
        group = groups[i]
        if i and group == groups[i - 1] and low[i] == low[i - 1] and high[i] == high[i - 1]:
            out[i] = out[i - 1]
            continue
        out[i] = False
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
        out[i] = left < stop and entries[left, TIME] <= high[i]
