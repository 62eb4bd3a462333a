"""Stretches of time that hold about as many rows each.  Reading: R40 (what is said is in the order of Sync)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cedr.model.time import Time

ROWS = 1 << 18
"""So many rows at a time are near each other, and what is made of them finds the room of those before."""
_SAMPLE = 1 << 12


def stretches(times: Sequence[NDArray[np.int64]], rows: int = ROWS) -> list[Time]:
    """The instants at which to cut, the last stretch having no end; by a sample of the times of some columns.

    >>> stretches([np.arange(100)], rows=40), stretches([np.arange(100)], rows=30), stretches([np.arange(100)], rows=70)
    ([49], [32, 65], [])
    """
    total = sum(map(len, times))
    count = round(total / rows)
    if count < 2:
        return []
    every = max(1, total // _SAMPLE)
    sample = np.sort(np.concatenate([column[::every] for column in times]))
    places = np.arange(1, count) * total // count // every - 1
    found: list[Time] = np.unique(sample[np.clip(places, 0, len(sample) - 1)]).tolist()
    return found
