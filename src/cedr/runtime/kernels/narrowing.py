"""Compiled loops for narrow numbers: how large their steps are, and the steps themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import kernel

Numbers = npt.NDArray[np.int64]
Places = npt.NDArray[np.int64]


@kernel
def surveyed(numbers: Numbers, most: Numbers, odd: Numbers) -> tuple[int, int]:
    """The least and the largest of some numbers; ``odd`` counts the steps between them that are negative or too large.

    For each of three limits, ``most``.  Steps may be wrong where numbers are very far apart.
    """
    least = largest = numbers[0]
    one, two, four = np.uint64(most[0]), np.uint64(most[1]), np.uint64(most[2])
    ones = twos = fours = np.int64(0)
    for row in range(1, len(numbers)):
        least, largest = min(least, numbers[row]), max(largest, numbers[row])
        step = np.uint64(numbers[row] - numbers[row - 1])  # what is negative is very large
        ones += step > one
        twos += step > two
        fours += step > four
    odd[0], odd[1], odd[2] = ones, twos, fours
    return least, largest


@kernel
def stepped(numbers: Numbers, most: int, out: npt.NDArray[Any], places: Places) -> None:
    """The step to each number, 0 to the first; also 0 where it is negative or too large, with its place."""
    before, found = numbers[0], 0
    for row in range(len(numbers)):
        step = numbers[row] - before
        before = numbers[row]
        if step < 0 or step > most:
            places[found] = row
            found += 1
            step = 0
        out[row] = step
