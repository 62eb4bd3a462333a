"""A hash table from digests to row numbers, in one array: high, low and row of each place, row -1 where it is free.

A digest is a good hash of itself.  Places are found in blocks of events, the memory of a block fetched before it is
needed.  Removal moves later entries back, so that no marks remain.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.jit import kernel

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

BLOCK: Final = 64


@kernel
def fetch(table: Numbers, high: Numbers, start: int, end: int, touched: Numbers) -> None:
    """Reads the places where the entries of a block belong, which brings them near."""
    mask = np.int64(len(table) - 1)
    for index in range(start, end):
        touched[0] |= table[high[index] & mask, 2]


@kernel
def place_of(table: Numbers, high: Any, low: Any) -> Any:
    """Where a digest is, or the free place where it would be."""
    mask = np.int64(len(table) - 1)
    place = high & mask
    while table[place, 2] >= 0 and not (table[place, 0] == high and table[place, 1] == low):
        place = (place + 1) & mask
    return place


@kernel
def find(table: Numbers, high: Numbers, low: Numbers, out: Numbers) -> None:
    """The rows of digests, -1 where there is none."""
    touched = np.zeros(1, np.int64)
    for start in range(0, len(high), BLOCK):
        end = min(start + BLOCK, len(high))
        fetch(table, high, start, end, touched)
        for index in range(start, end):
            out[index] = table[place_of(table, high[index], low[index]), 2]


@kernel
def insert(table: Numbers, high: Numbers, low: Numbers, rows: Numbers) -> int:
    """Sets the rows of digests; how many digests were new."""
    touched = np.zeros(1, np.int64)
    new = 0
    for start in range(0, len(high), BLOCK):
        end = min(start + BLOCK, len(high))
        fetch(table, high, start, end, touched)
        for index in range(start, end):
            place = place_of(table, high[index], low[index])
            if table[place, 2] < 0:
                table[place, 0] = high[index]
                table[place, 1] = low[index]
                new += 1
            table[place, 2] = rows[index]
    return new


@kernel
def insert_new(table: Numbers, high: Numbers, low: Numbers, rows: Numbers, new: Mask) -> None:
    """Sets the rows of digests that have none, and says which those are; of equal ones the first."""
    touched = np.zeros(1, np.int64)
    for start in range(0, len(high), BLOCK):
        end = min(start + BLOCK, len(high))
        fetch(table, high, start, end, touched)
        for index in range(start, end):
            place = place_of(table, high[index], low[index])
            new[index] = table[place, 2] < 0
            if new[index]:
                table[place, 0] = high[index]
                table[place, 1] = low[index]
                table[place, 2] = rows[index]


@kernel
def replace(table: Numbers, high: Numbers, low: Numbers, rows: Numbers) -> None:
    """Sets the rows of digests that have one."""
    touched = np.zeros(1, np.int64)
    for start in range(0, len(high), BLOCK):
        end = min(start + BLOCK, len(high))
        fetch(table, high, start, end, touched)
        for index in range(start, end):
            place = place_of(table, high[index], low[index])
            if table[place, 2] >= 0:
                table[place, 2] = rows[index]


@kernel
def remove(table: Numbers, high: Numbers, low: Numbers, out: Numbers) -> None:
    """Removes digests; the rows they had, or -1."""
    touched = np.zeros(1, np.int64)
    mask = np.int64(len(table) - 1)
    for start in range(0, len(high), BLOCK):
        end = min(start + BLOCK, len(high))
        fetch(table, high, start, end, touched)
        for index in range(start, end):
            hole = place_of(table, high[index], low[index])
            out[index] = table[hole, 2]
            if out[index] < 0:
                continue
            place = (hole + 1) & mask
            while table[place, 2] >= 0:
                if ((place - table[place, 0]) & mask) >= ((place - hole) & mask):  # it may stand as early as the hole
                    table[hole, 0], table[hole, 1] = table[place, 0], table[place, 1]
                    table[hole, 2] = table[place, 2]
                    hole = place
                place = (place + 1) & mask
            table[hole, 2] = -1


@kernel
def move(old: Numbers, table: Numbers) -> None:
    """Puts all entries of a table into an empty one."""
    for slot in range(len(old)):
        if old[slot, 2] >= 0:
            place = place_of(table, old[slot, 0], old[slot, 1])
            table[place, 0], table[place, 1], table[place, 2] = old[slot, 0], old[slot, 1], old[slot, 2]
