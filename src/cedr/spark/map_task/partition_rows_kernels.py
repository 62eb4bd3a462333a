"""Compiled loops that partition rows by small numbers; a number below 0 leaves its row out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import kernel

Numbers = npt.NDArray[Any]
Places = npt.NDArray[np.int64]


@kernel
def places(numbers: Numbers, starts: Places, out: Places) -> None:
    """Compute the place of each row; ``starts`` has the next place of each number."""
    for row in range(len(numbers)):
        number = numbers[row]
        out[row] = -1
        if number >= 0:
            out[row] = starts[number]
            starts[number] += 1


@kernel
def put(values: npt.NDArray[Any], places: Places, out: npt.NDArray[Any]) -> None:
    """Write each value to its place."""
    for row in range(len(values)):
        if places[row] >= 0:
            out[places[row]] = values[row]
