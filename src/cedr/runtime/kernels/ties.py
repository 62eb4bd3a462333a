"""Compiled loop for the measure *ties*: rows of two inputs that share group and time.  Reading: R49."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import kernel

Array = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@kernel
def meet(
    one: tuple[Array, Array, Array],
    other: tuple[Array, Array, Array],
    same: bool,  # noqa: FBT001 - kernels know no keywords
    met: Mask,
    met_too: Mask,
) -> None:
    """Marks the rows of two inputs that share group and time with a row of the other one.

    ``one``, ``other``: groups, times and rows, in the order of (group, time).  ``same``: both are of one table, so that
    a row does not meet itself.
    """
    groups, times, rows = one
    other_groups, other_times, other_rows = other
    i, j = 0, 0
    while i < len(groups) and j < len(other_groups):
        group, time = groups[i], times[i]
        if group < other_groups[j] or (group == other_groups[j] and time < other_times[j]):
            i += 1
        elif group > other_groups[j] or time > other_times[j]:
            j += 1
        else:
            end, other_end = i + 1, j + 1
            while end < len(groups) and groups[end] == group and times[end] == time:
                end += 1
            while other_end < len(other_groups) and other_groups[other_end] == group and other_times[other_end] == time:
                other_end += 1
            if not (same and end - i == 1 and other_end - j == 1 and rows[i] == other_rows[j]):
                met[i:end] = True
                met_too[j:other_end] = True
            i, j = end, other_end
