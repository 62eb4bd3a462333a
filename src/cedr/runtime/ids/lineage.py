"""K of what is said, as columns.  Reading: R8."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cedr.runtime.kernels.lineage import MOST, ROOM, SLACK, as_words, write_keys
from cedr.runtime.values.texts import LARGEST_32, text_buffers

Times = npt.NDArray[np.int64]


def lineage_keys(ids: pa.Array, starts: Times, said: Times) -> pa.Array:
    """K: ID, Os, and the CEDR time at which the row was said.

    >>> lineage_keys(pa.array(["a", "bc"]), np.array([7, -7]), np.array([1, 12])).to_pylist()
    ['a@7/1', 'bc@-7/12']
    """
    offsets, data = text_buffers(ids)
    first, last = int(offsets[0]), int(offsets[-1])
    if last + SLACK > len(data):
        offsets, data = offsets - first, np.concatenate([data[first:last], np.zeros(SLACK, np.uint8)])
    out = np.empty(last - first + MOST * len(ids) + SLACK, np.uint8)
    small = len(out) <= LARGEST_32
    ends, digits = np.empty(len(ids) + 1, np.int32 if small else np.int64), np.zeros(2 * ROOM, np.uint8)
    starts, said = (np.ascontiguousarray(times) for times in (starts, said))
    size = write_keys(as_words(data), offsets, starts, said, digits, as_words(digits), as_words(out), ends)
    kind = pa.StringArray if small else pa.LargeStringArray
    return kind.from_buffers(len(ids), pa.py_buffer(ends), pa.py_buffer(out[: int(size)]))
