"""Compiled loops that gather: values of chosen rows, rows reached along references, texts and IDs of contributors.

A row of -1 is one that is left out.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.jit import inlined, kernel
from cedr.runtime.murmur_kernels import absorbed, finished, spelled

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

_LOWER_32: Final = np.uint64(0xFFFFFFFF)
_T32: Final = np.uint64(32)
_BLOCK: Final = 128
_SEVEN: Final = np.uint64(7)
_EIGHT: Final = np.uint64(8)
_NONE: Final = np.uint64(0)


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


@inlined
def copy(texts: Bytes, first: Any, out: Bytes, at: Any, size: Any) -> None:
    """Copies bytes, in steps of eight where there are as many: the last step may overlap the one before."""
    if size >= _EIGHT:
        for step in range(_NONE, size - _SEVEN, _EIGHT):
            for place in range(_NONE, _EIGHT):
                out[at + step + place] = texts[first + step + place]
        for place in range(_NONE, _EIGHT):
            out[at + size - _EIGHT + place] = texts[first + size - _EIGHT + place]
    else:
        for place in range(_NONE, size):
            out[at + place] = texts[first + place]


@kernel
def contributor_offsets(offsets: Any, rows: Any, out_offsets: Numbers) -> None:
    """Where the IDs of the contributors of each row begin, one behind the other, and where the last one ends."""
    parts, n = len(rows), len(rows[0])
    for part in range(parts):
        starts, chosen = offsets[part], rows[part]
        for place in range(n):
            row = chosen[place]
            out_offsets[place * parts + part + 1] = starts[row + 1] - starts[row]
    out_offsets[0] = 0
    for place in range(n * parts):
        out_offsets[place + 1] += out_offsets[place]


@kernel
def contributor_texts(data: Any, offsets: Any, rows: Any, out_offsets: Numbers, out: Bytes) -> Any:
    """The IDs of the contributors of each row, to where they belong; tuples hold one array for each contributor.

    The memory of a block of rows is fetched before it is needed; what is returned means nothing.
    """
    parts, n = len(rows), len(rows[0])
    begins = np.empty(_BLOCK, np.uint64)
    touched = np.uint8(0)
    for block in range(0, n, _BLOCK):
        count = min(_BLOCK, n - block)
        for part in range(parts):
            starts, chosen, texts = offsets[part], rows[part], data[part]
            for index in range(count):
                begins[index] = starts[chosen[block + index]]
            for index in range(count):
                touched |= texts[begins[index]]
            for index in range(count):
                place = (block + index) * parts + part
                at = np.uint64(out_offsets[place])
                copy(texts, begins[index], out, at, np.uint64(out_offsets[place + 1]) - at)
    return touched


@kernel
def spell_composites(start: Words, streams: Words, highs: Any, lows: Any, rows: Any, out: Words) -> None:
    """The IDs of composites as text: stream and ID of each contributor; tuples hold one array for each of them."""
    parts, n = len(rows), len(rows[0])
    length = np.uint64(16 * (1 + 2 * parts))
    state, near = np.empty((_BLOCK, 2), np.uint64), np.empty((_BLOCK, 2), np.uint64)
    for block in range(0, n, _BLOCK):
        count = min(_BLOCK, n - block)
        for index in range(count):
            state[index, 0], state[index, 1] = start[0], start[1]
        for part in range(parts):
            of_high, of_low, chosen = highs[part], lows[part], rows[part]
            for index in range(count):  # many at once are on their way
                at = chosen[block + index]
                near[index, 0], near[index, 1] = of_high[at], of_low[at]
            first, second = streams[part, 0], streams[part, 1]
            for index in range(count):
                high, low = absorbed(state[index, 0], state[index, 1], first, second)
                state[index, 0], state[index, 1] = absorbed(high, low, near[index, 0], near[index, 1])
        for index in range(count):
            high, low = finished(state[index, 0], state[index, 1], length)
            row = 4 * (block + index)
            out[row], out[row + 1] = spelled(high >> _T32), spelled(high & _LOWER_32)
            out[row + 2], out[row + 3] = spelled(low >> _T32), spelled(low & _LOWER_32)
