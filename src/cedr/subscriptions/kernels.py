"""Compiled loops: the filters of a segment that events may match."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import inlined, lookup

Array = npt.NDArray[Any]
Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

BLOCK: Final = 32
"""Filters whose largest high end is known together, and blocks of these."""
_WIDE: Final = BLOCK * BLOCK


@inlined
def first_above(lows: Array, left: int, right: int, value: Any) -> int:
    """The first place between two whose low end lies above a value."""
    while left < right:
        middle = (left + right) // 2
        if lows[middle] <= value:
            left = middle + 1
        else:
            right = middle
    return left


@inlined
def not_below(tops: Array, peaks: Array, place: int, end: int, value: Any) -> int:
    """The first place from one on whose block may hold a high end that does not lie below a value."""
    while place < end and place % BLOCK == 0:
        if place % _WIDE == 0 and place + _WIDE <= end and peaks[place // _WIDE] < value:
            place += _WIDE
        elif place + BLOCK <= end and tops[place // BLOCK] < value:
            place += BLOCK
        else:
            break
    return place


@lookup("offsets", "lows", "highs", "tops", "peaks", "events", "places")
def candidates(
    codes: Places,
    values: Array,
    usable: Mask,
    offsets: Places,
    lows: Array,
    highs: Array,
    tops: Array,
    peaks: Array,
    start: int,
    events: Places,
    places: Places,
) -> tuple[int, int]:
    """The places of filters for each event from ``start`` on: gives the first event that is left, and how many.

    Filters lie in the order of key and low end.  Those with the key of an event whose low end is not above its value
    are a range of places; among them those whose high end lies below are passed over, whole blocks at a time.  Without
    ``codes`` all have one key, without ``values`` no interval.
    """
    count, room, size = 0, len(events), len(usable)
    keyed, ranged = len(codes) > 0, len(values) > 0
    for event in range(start, size):
        code = codes[event] if keyed else 0
        if not usable[event] or code < 0:
            continue
        begun, place, end = count, offsets[code], offsets[code + 1]
        if ranged:
            end = first_above(lows, place, end, values[event])
        while place < end:
            if ranged:
                place = not_below(tops, peaks, place, end, values[event])
                if place == end:
                    break
                if highs[place] < values[event]:
                    place += 1
                    continue
            if count == room:
                return event, begun
            events[count], places[count] = event, place
            count += 1
            place += 1
    return size, count


@lookup("offsets", "lows", "highs")
def expected(codes: Places, values: Array, usable: Mask, offsets: Places, lows: Array, highs: Array) -> int:
    """How many filters the events would have to be looked at with, about; ``highs`` in order, without keys only."""
    count = 0
    keyed, ranged = len(codes) > 0, len(values) > 0
    for event in range(len(usable)):
        code = codes[event] if keyed else 0
        if not usable[event] or code < 0:
            continue
        begin, end = offsets[code], offsets[code + 1]
        if ranged:
            end = first_above(lows, begin, end, values[event])
            end -= first_above(highs, 0, len(highs), values[event])
        count += max(0, end - begin)
    return count
