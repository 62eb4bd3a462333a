"""Compiled loops: the filters of a segment that events may match."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import lookup

Array = npt.NDArray[Any]
Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

BLOCK: Final = 32
"""Filters whose largest high end is known together, and blocks of these."""
_WIDE: Final = BLOCK * BLOCK


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
    keyed: bool,
    ranged: bool,
    start: int,
    events: Places,
    places: Places,
) -> tuple[int, int]:
    """The places of filters for each event from ``start`` on: gives the first event that is left, and how many.

    Filters lie in the order of key and low end.  Those with the key of an event whose low end is not above its value
    are a range of places; among them those whose high end lies below are passed over, whole blocks at a time.
    """
    count, room = 0, len(events)
    size = len(usable)
    for event in range(start, size):
        if not usable[event]:
            continue
        low, high = 0, offsets[len(offsets) - 1]
        if keyed:
            code = codes[event]
            if code < 0:
                continue
            low, high = offsets[code], offsets[code + 1]
        begun = count
        if ranged:
            value = values[event]
            left, right = low, high
            while left < right:
                middle = (left + right) // 2
                if lows[middle] <= value:
                    left = middle + 1
                else:
                    right = middle
            high = left
            place = low
            while place < high:
                if place % BLOCK == 0:
                    if place % _WIDE == 0 and place + _WIDE <= high and peaks[place // _WIDE] < value:
                        place += _WIDE
                        continue
                    if place + BLOCK <= high and tops[place // BLOCK] < value:
                        place += BLOCK
                        continue
                if highs[place] >= value:
                    if count == room:
                        return event, begun
                    events[count], places[count] = event, place
                    count += 1
                place += 1
        else:
            if high - low > room - count:
                return event, begun
            for place in range(low, high):
                events[count], places[count] = event, place
                count += 1
    return size, count


@lookup("offsets", "lows")
def expected(
    codes: Places,
    values: Array,
    usable: Mask,
    offsets: Places,
    lows: Array,
    highs: Array,
    keyed: bool,
    ranged: bool,
) -> int:
    """How many filters the events would have to be looked at with, at most; ``highs`` in order, without keys only."""
    count = 0
    for event in range(len(usable)):
        if not usable[event]:
            continue
        low, high = 0, offsets[len(offsets) - 1]
        if keyed:
            code = codes[event]
            if code < 0:
                continue
            low, high = offsets[code], offsets[code + 1]
        if ranged:
            value = values[event]
            below = np.searchsorted(lows[low:high], value, side="right")
            above = 0
            if len(highs):
                above = np.searchsorted(highs, value, side="left")
            count += max(0, below - above)
        else:
            count += high - low
    return count
