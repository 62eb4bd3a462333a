"""Texts of chosen rows, copied byte by byte into the buffers of an Arrow array."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import inlined, kernel
from cedr.runtime.kernels.murmur import word_at

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

SLACK: Final = 16
"""Bytes read and written beyond the end of texts."""

BLOCK: Final = 128
_NONE: Final = np.uint64(0)
_EIGHT: Final = np.uint64(8)
_BYTE: Final = np.uint64(255)
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


@inlined
def after(words: Words, one: int, other: int, size: int) -> Any:
    """Whether the first text comes after the second, in the order of their bytes; both are of one size."""
    for place in range(0, size, 8):
        first, second = word_at(words, one + place), word_at(words, other + place)
        if size - place < 8:
            beyond = np.uint64((8 - size + place) << 3)
            first, second = first << beyond, second << beyond
        if first != second:
            while (first ^ second) & _BYTE == _NONE:
                first, second = first >> _EIGHT, second >> _EIGHT
            return (first & _BYTE) > (second & _BYTE)
    return False


@kernel
def greatest(words: Words, offsets: Numbers) -> tuple[bool, int]:
    """Whether each text is greater than all before it, a longer one always; and which is the greatest.

    ``words``: the bytes of the texts, which go on for ``SLACK`` bytes.
    """
    rising, best = True, 0
    for row in range(1, len(offsets) - 1):
        more = offsets[row + 1] - offsets[row] - (offsets[best + 1] - offsets[best])
        if more > 0 or (more == 0 and after(words, offsets[row], offsets[best], offsets[row + 1] - offsets[row])):
            best = row
        else:
            rising = False
    return rising, best
