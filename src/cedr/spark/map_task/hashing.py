"""Computes the bucket of each value of an Arrow column, exactly as Spark's ``pmod(hash(column), buckets)``.

Spark may read a file today and a worker tomorrow: its events must go to the same buckets.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.runtime.kernels.jit import inlined, kernel

_SEED: Final = 42


def buckets_of(column: pa.Array, buckets: int) -> Any:
    """The bucket of each whole number or text; NULL has the bucket of the seed."""
    missing = np.zeros(0, np.bool_) if not column.null_count else column.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_integer(column.type):
        values = column.cast(pa.int64())
        numbers = (values.fill_null(0) if len(missing) else values).to_numpy()
        return _of_numbers(numbers, missing, np.int64(buckets))
    offsets, data = _bytes(column.cast(pa.string()))
    return _of_texts(offsets, data, missing, np.int64(buckets))


def _bytes(column: Any) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """The offsets of texts, and their bytes."""
    _, offsets, data = column.buffers()
    if offsets is None or not len(column):
        return np.zeros(1, np.int32), np.zeros(0, np.uint8)
    places = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    return places, np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)


@inlined
def _mixed(hashed: np.uint32, word: np.uint32) -> np.uint32:
    word = np.uint32(word * np.uint32(0xCC9E2D51))
    word = np.uint32((word << np.uint32(15)) | (word >> np.uint32(17)))
    hashed = np.uint32(hashed ^ np.uint32(word * np.uint32(0x1B873593)))
    hashed = np.uint32((hashed << np.uint32(13)) | (hashed >> np.uint32(19)))
    return np.uint32(np.uint32(hashed * np.uint32(5)) + np.uint32(0xE6546B64))


@inlined
def _finished(hashed: np.uint32, length: np.uint32, buckets: np.int64) -> np.int64:
    hashed = np.uint32(hashed ^ length)
    hashed = np.uint32((hashed ^ (hashed >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    hashed = np.uint32((hashed ^ (hashed >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    hashed = np.uint32(hashed ^ (hashed >> np.uint32(16)))
    signed = np.int64(hashed)
    if signed >= np.int64(1) << np.int64(31):
        signed -= np.int64(1) << np.int64(32)
    return signed % buckets


@kernel
def _of_numbers(numbers: Any, missing: Any, buckets: np.int64) -> Any:
    found = np.empty(len(numbers), np.int32)
    for row in range(len(numbers)):
        if len(missing) and missing[row]:
            found[row] = np.int64(_SEED) % buckets
            continue
        word = np.uint64(numbers[row])
        hashed = _mixed(np.uint32(_SEED), np.uint32(word & np.uint64(0xFFFFFFFF)))
        hashed = _mixed(hashed, np.uint32(word >> np.uint64(32)))
        found[row] = _finished(hashed, np.uint32(8), buckets)
    return found


@kernel
def _of_texts(offsets: Any, data: Any, missing: Any, buckets: np.int64) -> Any:
    found = np.empty(len(offsets) - 1, np.int32)
    for row in range(len(offsets) - 1):
        if len(missing) and missing[row]:
            found[row] = np.int64(_SEED) % buckets
            continue
        low, high = np.int64(offsets[row]), np.int64(offsets[row + 1])
        hashed = np.uint32(_SEED)
        place = low
        while place + 4 <= high:  # words of four bytes, the lowest first
            word = np.uint32(data[place]) | (np.uint32(data[place + 1]) << np.uint32(8))
            word |= (np.uint32(data[place + 2]) << np.uint32(16)) | (np.uint32(data[place + 3]) << np.uint32(24))
            hashed = _mixed(hashed, np.uint32(word))
            place += 4
        while place < high:  # the rest, as signed bytes
            word = np.uint32(data[place])
            if data[place] >= 128:
                word |= np.uint32(0xFFFFFF00)
            hashed = _mixed(hashed, np.uint32(word))
            place += 1
        found[row] = _finished(hashed, np.uint32(high - low), buckets)
    return found
