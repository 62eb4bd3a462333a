"""Hash tables in arrays: open addressing, the next place tried is the one behind.

Tables have a power of two places.  A kernel that may fill its table stops in time and says how far it came; the caller
makes the table larger and goes on from there.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import inlined, kernel, lookup

Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]

BLOCK: Final = 64
SMALL: Final = 1 << 20
"""Integers from 0 to before this are numbers of places, and need no table."""
_ONE: Final = np.uint64(1)
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_PRIME: Final = np.uint64(0x100000001B3)
_T32: Final = np.uint64(32)
_SEED: Final = np.uint64(0xCBF29CE484222325)


@inlined
def spread(word: Any) -> Any:
    """A word whose lower bits depend on all bits of the given one."""
    word = (word ^ (word >> _T32)) * _GOLDEN
    return word ^ (word >> _T32)


# -------------------------------------------------------------------- integers to codes


@lookup("direct", "table", "codes")
def code_integers(
    direct: Numbers, table: Numbers, codes: Numbers, values: Numbers, out: Numbers, state: Numbers
) -> None:
    """Codes of values; ``out`` is -1 where no code is wanted.  Small values stand in ``direct``, which is long enough.

    ``state`` is: the next row, the codes given so far, the keys in this table.  Stops where the table is half full.
    """
    mask = np.uint64(len(table) - 1)
    words = values.view(np.uint64)
    room = len(table) // 2
    for row in range(state[0], len(values)):
        if out[row] < 0:
            continue
        value = values[row]
        if 0 <= value < SMALL:
            if direct[value] < 0:
                direct[value] = state[1]
                state[1] += 1
            out[row] = direct[value]
            continue
        place = spread(words[row]) & mask
        while codes[place] >= 0 and table[place] != value:
            place = (place + _ONE) & mask
        if codes[place] < 0:
            if state[2] >= room:
                state[0] = row
                return
            table[place] = value
            codes[place] = state[1]
            state[1] += 1
            state[2] += 1
        out[row] = codes[place]
    state[0] = len(values)


@kernel
def largest_small(values: Numbers) -> int:
    """The largest of the small values, -1 where there is none."""
    largest = -1
    for value in values:
        if value < SMALL:
            largest = max(largest, value)
    return largest


@kernel
def recode_integers(old_table: Numbers, old_codes: Numbers, renamed: Numbers, table: Numbers, codes: Numbers) -> int:
    """Moves the keys whose code has a new name into an empty table; how many there are."""
    mask = np.uint64(len(table) - 1)
    words = old_table.view(np.uint64)
    moved = 0
    for slot in range(len(old_table)):
        code = old_codes[slot]
        if code < 0 or renamed[code] < 0:
            continue
        place = spread(words[slot]) & mask
        while codes[place] >= 0:
            place = (place + _ONE) & mask
        table[place] = old_table[slot]
        codes[place] = renamed[code]
        moved += 1
    return moved


# -------------------------------------------------------------------- texts to codes
# A place of the table is a row of four: hash, code (-1 where it is free), and start and size of the text.


@inlined
def fetch_texts(table: Numbers, kept: Bytes, source: Any, rows: Numbers, block: Words) -> int:
    """Hash, start and size of the texts at some rows, into ``block``.

    The places where they belong are read, and the texts there: that brings them near before they are compared.
    """
    data, offsets = source
    mask = np.uint64(len(table) - 1)
    for index in range(len(rows)):
        row = rows[index]
        if row >= 0:
            start, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
            word = _SEED
            for place in range(start, end):
                word = (word ^ np.uint64(data[place])) * _PRIME
            block[index, 0], block[index, 1], block[index, 2] = spread(word) >> _ONE, start, end - start
    touched = 0
    for index in range(len(rows)):
        touched |= kept[table[block[index, 0] & mask, 2]]
    return touched


@inlined
def same_bytes(one: Bytes, start: Any, other: Bytes, other_start: Any, size: Any) -> bool:
    """Whether two stretches of bytes are the same."""
    for place in range(size):
        if one[start + place] != other[other_start + place]:
            return False
    return True


@inlined
def place_of_text(table: Numbers, kept: Bytes, word: Any, data: Bytes, start: Any, size: Any) -> Any:
    """Where a text with this hash is in the table, or the free place where it would be."""
    mask = np.uint64(len(table) - 1)
    place = word & mask
    while table[place, 1] >= 0:
        if (
            np.uint64(table[place, 0]) == word
            and np.uint64(table[place, 3]) == size
            and same_bytes(kept, np.uint64(table[place, 2]), data, start, size)
        ):
            break
        place = (place + _ONE) & mask
    return place


@kernel
def keep_text(entry: Numbers, values: Any, kept: Bytes, data: Bytes, start: Any) -> None:
    """Fills a free place, and copies the text to the bytes kept."""
    entry[0], entry[1], entry[2], entry[3] = values
    for index in range(entry[3]):
        kept[entry[2] + index] = data[start + index]


@lookup("table", "kept")
def code_texts(table: Numbers, kept: Bytes, source: Any, rows: Numbers, out: Numbers, state: Numbers) -> None:
    """Codes of the texts at these rows of the source, which is data and offsets; of row -1 it is -1.

    ``state`` is: the next row, the codes given so far, the keys in this table, the bytes of their texts,
    and a place where something is done with what was fetched.  Stops where the table is half full, or the room for
    bytes used up.
    """
    data, _ = source
    block = np.zeros((BLOCK, 3), np.uint64)
    while state[0] < len(rows):
        begin = state[0]
        end = min(begin + BLOCK, len(rows))
        state[4] |= fetch_texts(table, kept, source, rows[begin:end], block)
        for index in range(begin, end):
            if rows[index] < 0:
                out[index] = -1
                continue
            word, start, length = block[index - begin, 0], block[index - begin, 1], block[index - begin, 2]
            place = place_of_text(table, kept, word, data, start, length)
            if table[place, 1] < 0:
                size = np.int64(length)
                if 2 * state[2] >= len(table) or state[3] + size > len(kept):
                    state[0] = index
                    return
                keep_text(table[place], (np.int64(word), state[1], state[3], size), kept, data, np.int64(start))
                state[1] += 1
                state[2] += 1
                state[3] += size
            out[index] = table[place, 1]
        state[0] = end


@kernel
def recode_texts(old: Any, renamed: Numbers, table: Numbers, kept: Bytes, state: Numbers) -> None:
    """Moves the texts whose code has a new name into an empty table; ``state`` as above."""
    old_table, old_kept = old
    mask = np.int64(len(table) - 1)
    for slot in range(len(old_table)):
        code = old_table[slot, 1]
        if code < 0 or renamed[code] < 0:
            continue
        word, size = old_table[slot, 0], old_table[slot, 3]
        place = word & mask
        while table[place, 1] >= 0:
            place = (place + 1) & mask
        keep_text(table[place], (word, renamed[code], state[3], size), kept, old_kept, old_table[slot, 2])
        state[2] += 1
        state[3] += size
