"""A hash table from digests to row numbers, one word for each place: part of the digest and a row, 0 where it is free.

A digest is a good hash of itself, and stands with its row: the part of it in the table only tells most others apart.
Places are found in blocks of events, the memory of a block fetched before it is needed.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import lookup

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]
Kinds = npt.NDArray[np.int8]
Mask = npt.NDArray[np.bool_]

BLOCK: Final = 64
ROW_BITS: Final = 40
_ROW: Final = np.uint64((1 << ROW_BITS) - 1)
_PART: Final = np.uint64(((1 << 64) - 1) ^ ((1 << ROW_BITS) - 1))
_FREE: Final = np.uint64(0)
_ONE: Final = np.uint64(1)


@lookup("table", "known")
def find(table: Words, known: Words, wanted: Words, out: Numbers) -> Any:
    """The rows of digests, -1 where there is none; ``known``: the digests of all rows, two words each at least.

    What it returns means nothing: it is what was fetched.
    """
    mask = np.uint64(len(table) - 1)
    fetched = _FREE
    for start in range(0, len(wanted), BLOCK):
        end = min(start + BLOCK, len(wanted))
        for index in range(start, end):
            fetched |= table[wanted[index, 0] & mask]
        for index in range(start, end):
            out[index] = -1
            high, low = wanted[index, 0], wanted[index, 1]
            place = high & mask
            while True:
                entry = table[place]
                if entry == _FREE:
                    break
                if ((entry ^ high) & _PART) == _FREE:
                    row = np.int64(entry & _ROW) - 1
                    if known[row, 0] == high and known[row, 1] == low:
                        out[index] = row
                        break
                place = (place + _ONE) & mask
    return fetched


@lookup("table", "known", "kinds")
def insert_new(table: Words, known: Words, kinds: Kinds, rows: Numbers, new: Mask) -> tuple[int, Any]:
    """Puts in rows whose digests are not there, or only with rows of kind 0; says which, and how many places it took.

    Of equal digests the first counts.  The second thing it returns means nothing: it is what was fetched.
    """
    mask = np.uint64(len(table) - 1)
    fetched = _FREE
    taken = 0
    for start in range(0, len(rows), BLOCK):
        end = min(start + BLOCK, len(rows))
        for index in range(start, end):
            fetched |= table[known[rows[index], 0] & mask]
        for index in range(start, end):
            row = rows[index]
            high = known[row, 0]
            place = high & mask
            unknown = True
            while True:
                entry = table[place]
                if entry == _FREE:
                    taken += 1
                    break
                if ((entry ^ high) & _PART) == _FREE:
                    old = np.int64(entry & _ROW) - 1
                    if known[old, 0] == high and known[old, 1] == known[row, 1]:
                        unknown = kinds[old] == 0
                        break
                place = (place + _ONE) & mask
            new[index] = unknown
            if unknown:
                table[place] = (high & _PART) | np.uint64(row + 1)
    return taken, fetched
