"""Compiled loops that gather: values of chosen rows, rows reached along references.

A row of -1 is one that is left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import kernel

Numbers = npt.NDArray[np.int64]


@kernel
def gather(values: npt.NDArray[Any], rows: Numbers, out: npt.NDArray[Any]) -> Any:
    """Values of chosen rows, of row -1 any; whether all rows are there."""
    least = np.int64(0)
    for place in range(len(rows)):
        row = rows[place]
        least = min(least, row)
        out[place] = values[max(row, 0)]
    return least >= 0


@kernel
def follow(references: Numbers, rows: Numbers, out: Numbers) -> None:
    """The rows that some rows refer to; -1 stays -1."""
    for place in range(len(rows)):
        row = rows[place]
        out[place] = references[row] if row >= 0 else -1
