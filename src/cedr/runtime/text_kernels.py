"""Texts of chosen rows, copied byte by byte into the buffers of an Arrow array."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.jit import kernel

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]

SLACK: Final = 16
"""Bytes read and written beyond the end of texts."""

BLOCK: Final = 128
_NONE: Final = np.uint64(0)
_SIXTEEN: Final = np.uint64(SLACK)


@kernel
def total_size(offsets: Numbers, rows: Numbers) -> int:
    """Bytes of the texts at these rows; row -1 has none."""
    total = 0
    for row in rows:
        if row >= 0:
            total += offsets[row + 1] - offsets[row]
    return total


@kernel
def gather(data: Bytes, offsets: Numbers, rows: Numbers, out: Bytes, out_offsets: npt.NDArray[Any], start: int) -> None:
    """Copies texts one behind the other; the first offset is ``start``, and what is copied begins at ``out[0]``.

    Sixteen bytes are copied at once, so that short texts need no loop of a length of their own: ``data`` and ``out``
    go on for ``SLACK`` bytes.  Rows are taken in blocks, the memory of a block fetched before it is needed.
    """
    starts, sizes = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    touched = np.empty(1, np.uint8)
    at = np.uint64(0)
    out_offsets[0] = start
    for block in range(0, len(rows), BLOCK):
        count = min(BLOCK, len(rows) - block)
        for index in range(count):
            row = rows[block + index]
            starts[index], sizes[index] = 0, 0
            if row >= 0:
                starts[index] = offsets[row]
                sizes[index] = offsets[row + 1] - offsets[row]
        for index in range(count):
            touched[0] |= data[starts[index]]
        for index in range(count):
            first, size = starts[index], sizes[index]
            for place in range(_NONE, _SIXTEEN):
                out[at + place] = data[first + place]
            if size > _SIXTEEN:
                for place in range(_SIXTEEN, size):
                    out[at + place] = data[first + place]
            at += size
            out_offsets[block + index + 1] = start + np.int64(at)
