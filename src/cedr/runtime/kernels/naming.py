"""Compiled loops that name composites: the IDs made for them, and the IDs of the events they are made of.

Reading: R8.  Of an event all that is needed lies together, in one record of four words: the two halves of its ID's
digest, then the text of its ID if it is short.  Records are fetched in blocks, so that many are on their way at once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import inlined, kernel
from cedr.runtime.kernels.murmur import absorbed, digested, finished, spell, word_at

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

RECORD: Final = 4
"""Words of a record."""
SPELLED: Final = 4
"""Words of an ID that was made, as text."""
SLACK_WORDS: Final = 3
"""Words that are written beyond the end of texts."""
_BLOCK: Final = 128
_SHORT: Final = 15
"""Bytes of a short text; the sixteenth says how many there are."""
_LONG: Final = np.uint64(255 << 56)
_SIZE: Final = np.uint64(56)
_TEXT: Final = np.uint64((1 << 56) - 1)
_LOWER_32: Final = np.uint64(0xFFFFFFFF)
_ONE: Final = np.uint64(1)
_TWO: Final = np.uint64(2)
_THREE: Final = np.uint64(3)
_SEVEN: Final = np.uint64(7)
_T32: Final = np.uint64(32)
_T63: Final = np.uint64(63)


@kernel
def record_texts(data: Bytes, offsets: Numbers, scratch: Bytes, records: Words) -> None:
    """The records of texts; ``scratch`` and ``data`` as for ``digested``."""
    words, texts = scratch.view(np.uint64), data[: len(data) // 8 * 8].view(np.uint64)
    scratch[0], scratch[1], scratch[2], scratch[3] = 115, 116, 114, 58
    for row in range(len(records)):
        start, size = offsets[row], offsets[row + 1] - offsets[row]
        records[row, 0], records[row, 1] = digested(data, texts, scratch, words, start, size)
        first = second = np.uint64(0)
        if size > _SHORT:
            second = _LONG
        elif size > 0:
            gap = np.uint64((16 - size) << 3)  # bits of what comes behind
            first = word_at(texts, start)
            if size > 8:
                second = ((word_at(texts, start + 8) << gap) >> gap) | (np.uint64(size) << _SIZE)
            else:
                gap -= np.uint64(64)
                first, second = (first << gap) >> gap, np.uint64(size) << _SIZE
        records[row, 2], records[row, 3] = first, second


@inlined
def fetch(records: Any, rows: Any, block: int, count: int, digests: Words, texts: Words) -> None:
    """The records of a block of composites: digests by contributor, texts one behind the other."""
    parts = len(rows)
    for part in range(parts):
        known, chosen = records[part], rows[part]
        for index in range(count):
            row, to = np.uint64(chosen[block + index]), np.uint64(index * parts + part)
            digests[part, 0, index], digests[part, 1, index] = known[row, 0], known[row, 1]
            texts[to, 0], texts[to, 1] = known[row, 2], known[row, 3]


@inlined
def make_ids(begin: Words, streams: Words, digests: Words, state: Words, halves: Words) -> None:
    """The IDs of a block, each in four pieces of 32 bits; ``begin``: the hash before the first contributor's ID.

    Always a whole block, column by column: so several rows are worked on by one instruction.
    """
    parts = len(streams)
    high, low = state[0], state[1]
    first, second = begin[0], begin[1]
    for index in range(_BLOCK):
        high[index], low[index] = absorbed(first, second, digests[0, 0, index], digests[0, 1, index])
    for part in range(1, parts):
        first, second = streams[part, 0], streams[part, 1]
        for index in range(_BLOCK):
            one, other = absorbed(high[index], low[index], first, second)
            high[index], low[index] = absorbed(one, other, digests[part, 0, index], digests[part, 1, index])
    length = np.uint64(16 * (1 + 2 * parts))
    for index in range(_BLOCK):
        high[index], low[index] = finished(high[index], low[index], length)
    for index in range(_BLOCK):
        halves[4 * index], halves[4 * index + 1] = high[index] >> _T32, high[index] & _LOWER_32
        halves[4 * index + 2], halves[4 * index + 3] = low[index] >> _T32, low[index] & _LOWER_32


@inlined
def write_long(text: Any, row: int, at: Any, begun: Any, out: Words) -> Any:
    """A text from where it stands, eight bytes at a time; its size."""
    data, begins = text
    place, shift = at >> _THREE, (at & _SEVEN) << _THREE
    for step in range(begins[row], begins[row + 1], 8):
        piece = word_at(data, step)
        out[place] = begun | (piece << shift)
        begun = (piece >> (_T63 - shift)) >> _ONE
        place += _ONE
    out[place] = begun
    return np.uint64(begins[row + 1] - begins[row])


@inlined
def write_short(first: Any, second: Any, at: Any, begun: Any, out: Words) -> Any:
    """A text of two words; its size."""
    place, shift = at >> _THREE, (at & _SEVEN) << _THREE
    back, text = _T63 - shift, second & _TEXT
    out[place] = begun | (first << shift)
    out[place + _ONE] = ((first >> back) >> _ONE) | (text << shift)
    out[place + _TWO] = (text >> back) >> _ONE
    return second >> _SIZE


@kernel
def name_composites(
    start: Words, streams: Words, records: Any, texts: Any, rows: Any, ids: Words, out: Words, offsets: Any
) -> Any:
    """IDs of composites as text, and the IDs of their contributors one behind the other; tuples have one of each.

    ``texts``: the bytes as words, and where each text begins.  What is not wanted, ``ids`` or ``offsets``, has no room.
    How many bytes of ``out`` were written; ``begun`` are those of its last word.
    """
    parts, n = len(rows), len(rows[0])
    digests, near = np.zeros((parts, 2, _BLOCK), np.uint64), np.empty((_BLOCK * parts, 2), np.uint64)
    state, halves = np.empty((2, _BLOCK), np.uint64), np.empty(SPELLED * _BLOCK, np.uint64)
    begin = np.empty(2, np.uint64)
    begin[0], begin[1] = absorbed(start[0], start[1], streams[0, 0], streams[0, 1])
    at = begun = np.uint64(0)
    offsets[:1] = 0
    for block in range(0, n, _BLOCK):
        count = min(_BLOCK, n - block)
        fetch(records, rows, block, count, digests, near)
        if len(ids):
            make_ids(begin, streams, digests, state, halves)
            spell(halves[: SPELLED * count], ids[SPELLED * block :])
        for record in range(count * parts if len(offsets) else 0):
            first, second = near[record, 0], near[record, 1]
            if second == _LONG:
                of = record % parts
                size = write_long(texts[of], rows[of][block + record // parts], at, begun, out)
            else:
                size = write_short(first, second, at, begun, out)
            at += size
            begun = out[at >> _THREE] & ((_ONE << ((at & _SEVEN) << _THREE)) - _ONE)
            offsets[block * parts + record + 1] = at
    return at
