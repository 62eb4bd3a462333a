"""A compiled loop that writes K: an ID, Os, and the CEDR time at which the row was said, as ``ID@Os/time``.

Reading: R8.  Times follow each other closely: the digits of the one before are kept, and only others written anew.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import inlined, kernel
from cedr.runtime.kernels.murmur import write_decimal

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

MOST: Final = 42
"""Bytes of a K beside its ID, at the most."""
ROOM: Final = 32
"""Bytes for the digits of a time."""
SLACK: Final = 16
"""Bytes that are read beyond the end of IDs, and written beyond the end of what is written."""

_AT, _SLASH, _MINUS = np.uint64(64), np.uint64(47), np.uint8(45)
_LOWER: Final = 100_000_000
_HALF: Final = np.uint64(10_000)
_FOURS: Final = np.array(
    [[48 + number // ten % 10 for ten in (1000, 100, 10, 1)] for number in range(10_000)], np.uint8
)
"""All numbers of four digits."""
_ONE: Final = np.uint64(1)
_EIGHT: Final = np.uint64(8)
_NONE: Final = np.uint64(0)


@inlined
def copy(words: Words, first: Any, size: Any, out: Words, at: Any) -> Any:
    """Copies bytes, eight at a time and up to as many too many; the place behind them."""
    for step in range(_NONE, size, _EIGHT):
        out[at + step] = words[first + step]
    return at + size


@inlined
def tell(time: int, before: int, digits: Bytes, size: int) -> Any:
    """A time in decimal at the beginning of ``digits``, where ``before`` stands, of some size; its size."""
    if time == before:
        return size
    if time // _LOWER != before // _LOWER or before < _LOWER or time < _LOWER:
        if time < 0:
            digits[0] = _MINUS
            return write_decimal(digits, 1, np.uint64(-time))
        return write_decimal(digits, 0, np.uint64(time))
    rest = np.uint64(time % _LOWER)
    upper = rest // _HALF
    lower, last = rest - upper * _HALF, np.uint64(size - 4)
    for place in range(np.uint64(4)):
        digits[last - np.uint64(4) + place] = _FOURS[upper, place]
        digits[last + place] = _FOURS[lower, place]
    return size


@kernel
def write_keys(
    words: Words, offsets: Any, starts: Numbers, times: Numbers, digits: Bytes, told: Words, out: Words, ends: Any
) -> Any:
    """Writes K of all rows one behind the other; ``offsets`` and ``ends`` have one more than there are rows.

    ``words`` are the bytes of IDs, ``told`` those of ``digits``, which has ``ROOM`` bytes for each of the two times;
    ``out`` has room for the IDs, ``MOST`` bytes beside each, and ``SLACK``.  How many bytes were written.
    """
    start, said = digits[:ROOM], digits[ROOM:]
    start[0] = said[0] = 48
    of_start = of_said = 1
    start_before = said_before = 0
    at = _NONE
    ends[0] = 0
    for row in range(len(starts)):
        first = np.uint64(offsets[row])
        at = copy(words, first, np.uint64(offsets[row + 1]) - first, out, at)
        of_start = tell(starts[row], start_before, start, of_start)
        of_said = tell(times[row], said_before, said, of_said)
        start_before, said_before = starts[row], times[row]
        out[at] = _AT
        at = copy(told, _NONE, np.uint64(of_start), out, at + _ONE)
        out[at] = _SLASH
        at = copy(told, np.uint64(ROOM), np.uint64(of_said), out, at + _ONE)
        ends[row + 1] = at
    return at


def as_words(data: Bytes) -> Words:
    """Bytes, eight at a time from each of them on."""
    return np.ndarray((len(data) - 7,), np.uint64, data, strides=(1,))
