"""Digests and IDs of many rows: MurmurHash3_x64_128 in columns.

Reading: R8.  The same words as ``cedr.model.murmur`` and ``cedr.model.identity``; an ID is the hash of blocks of 16
bytes, one per part, so that a row's two words of state take in one part after the other.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import inlined, kernel

Words = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_FIRST: Final = np.uint64(0x87C37B91114253D5)
_SECOND: Final = np.uint64(0x4CF5AD432745937F)
_HIGH_SUM: Final = np.uint64(0x52DCE729)
_LOW_SUM: Final = np.uint64(0x38495AB5)
_FINAL_1: Final = np.uint64(0xFF51AFD7ED558CCD)
_FINAL_2: Final = np.uint64(0xC4CEB9FE1A85EC53)
_ZERO: Final = np.uint64(0)
_ONE: Final = np.uint64(1)
_TWO: Final = np.uint64(2)
_FOUR: Final = np.uint64(4)
_FIVE: Final = np.uint64(5)
_EIGHT: Final = np.uint64(8)
_TEN: Final = np.uint64(10)
_SIXTEEN: Final = np.uint64(16)
_T27: Final = np.uint64(27)
_T31: Final = np.uint64(31)
_T32: Final = np.uint64(32)
_T33: Final = np.uint64(33)
_T37: Final = np.uint64(37)
_T40: Final = np.uint64(40)
_T56: Final = np.uint64(56)
_T63: Final = np.uint64(63)
_DIGIT: Final = np.uint64(ord("0"))
_LOWER_16: Final = np.uint64(0xFFFF)
_LOWER_32: Final = np.uint64(0xFFFFFFFF)
_BYTES_OF_4: Final = np.uint64(0x000000FF000000FF)
_NIBBLES: Final = np.uint64(0x000F000F000F000F)
_ONES: Final = np.uint64(0x0101010101010101)
_SIXES: Final = np.uint64(0x0606060606060606)
_ZEROS: Final = np.uint64(0x3030303030303030)
_PREFIX: Final = np.uint64(int.from_bytes(b"str:32:", "little"))
_TEXT_1: Final = np.uint64(int.from_bytes(b"str:\0:", "little"))
_TEXT_2: Final = np.uint64(int.from_bytes(b"str:\0\0:", "little"))
_LENGTH_MADE: Final = np.uint64(39)

SLACK: Final = 64
"""Room for what stands before a text in its encoding and the zeros behind it."""


@kernel
def absorbed(high: Any, low: Any, first: Any, second: Any) -> tuple[Any, Any]:
    """The state after one block of 16 bytes."""
    first *= _FIRST
    high ^= ((first << _T31) | (first >> _T33)) * _SECOND
    high = (((high << _T27) | (high >> _T37)) + low) * _FIVE + _HIGH_SUM
    second *= _SECOND
    low ^= ((second << _T33) | (second >> _T31)) * _FIRST
    low = (((low << _T31) | (low >> _T33)) + high) * _FIVE + _LOW_SUM
    return high, low


@kernel
def avalanche(word: Any) -> Any:
    """Every bit of a word changes half of the bits of the result."""
    word = (word ^ (word >> _T33)) * _FINAL_1
    word = (word ^ (word >> _T33)) * _FINAL_2
    return word ^ (word >> _T33)


@kernel
def finished(high: Any, low: Any, length: Any) -> tuple[Any, Any]:
    """The hash of a message of this length, all of which is in the state."""
    high ^= length
    low ^= length
    high += low
    low += high
    high = avalanche(high)
    low = avalanche(low)
    high += low
    return high, low + high


@kernel
def hashed(words: Words, length: int) -> tuple[Any, Any]:
    """The hash of the first ``length`` bytes of ``words``, zeros behind them up to the next 16."""
    high = low = np.uint64(0)
    whole = length // 16
    for block in range(whole):
        high, low = absorbed(high, low, words[2 * block], words[2 * block + 1])
    if length % 16:
        first = words[2 * whole] * _FIRST
        high ^= ((first << _T31) | (first >> _T33)) * _SECOND
        second = words[2 * whole + 1] * _SECOND
        low ^= ((second << _T33) | (second >> _T31)) * _FIRST
    return finished(high, low, np.uint64(length))


@kernel
def write_decimal(scratch: Bytes, at: int, number: Any) -> int:
    """Writes an unsigned number in decimal digits; the place behind it."""
    digits = 1
    if number >= _TEN:
        rest = number // _TEN
        while rest > _ZERO:
            digits += 1
            rest //= _TEN
    for place in range(at + digits - 1, at - 1, -1):
        scratch[place] = np.uint8(_DIGIT + number % _TEN)
        number //= _TEN
    return at + digits


@kernel
def write_bytes(scratch: Bytes, at: int, data: Bytes, start: int, size: int) -> int:
    """Copies bytes in steps of 16, reading as far beyond them, and 16 zeros behind; the place behind what counts."""
    for step in range(0, size, 16):
        for place in range(16):
            scratch[at + step + place] = data[start + step + place]
    for place in range(16):
        scratch[at + size + place] = 0
    return at + size


@inlined
def word_at(words: Words, at: int) -> Any:
    """Eight bytes from anywhere; those before the first are any."""
    place = at >> 3
    shift = np.uint64((at & 7) << 3)
    return (words[place] >> shift) | ((words[place + 1] << (_T63 - shift)) << _ONE)


@inlined
def hashed_short(words: Words, start: int, size: int) -> tuple[Any, Any]:
    """The hash of ``str:<length>:<bytes>`` of a text of less than a hundred bytes, from where it stands."""
    if size < 10:
        before = 6
        prefix = _TEXT_1 | (np.uint64(48 + size) << _T32)
    else:
        before = 7
        tens = size // 10
        prefix = _TEXT_2 | (np.uint64(48 + tens) << _T32) | (np.uint64(48 + size - 10 * tens) << _T40)
    at, behind = start - before, np.uint64(8 * before)
    first = prefix | ((word_at(words, at) >> behind) << behind)
    high = low = np.uint64(0)
    length = size + before
    for _ in range(length >> 4):
        high, low = absorbed(high, low, first, word_at(words, at + 8))
        at += 16
        first = word_at(words, at)
    rest = length & 15
    if rest:
        second = np.uint64(0)
        if rest > 8:
            gap = np.uint64((16 - rest) << 3)
            second = (word_at(words, at + 8) << gap) >> gap
        else:
            gap = np.uint64((8 - rest) << 3)
            first = (first << gap) >> gap
        first *= _FIRST
        high ^= ((first << _T31) | (first >> _T33)) * _SECOND
        second *= _SECOND
        low ^= ((second << _T33) | (second >> _T31)) * _FIRST
    return finished(high, low, np.uint64(length))


@inlined
def digested(data: Bytes, texts: Words, scratch: Bytes, words: Words, start: int, size: int) -> tuple[Any, Any]:
    """The digest of a text: the hash of ``str:<length>:<bytes>``.

    ``scratch`` begins with ``str:`` and has ``SLACK`` bytes more than the longest text, in all a multiple of 16;
    ``data`` goes on for 16 bytes; ``words`` and ``texts`` are the same as words.
    """
    if size < 100:
        high, low = hashed_short(texts, start, size)
    else:
        at = write_decimal(scratch, 4, np.uint64(size))
        scratch[at] = 58
        end = write_bytes(scratch, at + 1, data, start, size)
        high, low = hashed(words, end)
    return high, low


@kernel
def digest_integers(values: Numbers, scratch: Bytes, high: Words, low: Words) -> None:
    """Digests of integers: of ``int:<length>:<digits>``; ``scratch`` has ``SLACK`` bytes."""
    words = scratch.view(np.uint64)
    scratch[0], scratch[1], scratch[2], scratch[3] = 105, 110, 116, 58
    digits = np.zeros(48, np.uint8)
    magnitudes = values.view(np.uint64)
    for row in range(len(values)):
        if values[row] < 0:
            digits[0] = 45
            size = write_decimal(digits, 1, _ZERO - magnitudes[row])
        else:
            size = write_decimal(digits, 0, magnitudes[row])
        at = write_decimal(scratch, 4, np.uint64(size))
        scratch[at] = 58
        end = write_bytes(scratch, at + 1, digits, 0, size)
        high[row], low[row] = hashed(words, end)


@kernel
def spelled(half: Any) -> Any:
    """The lower 32 bits of a word as eight hexadecimal digits, the first one in the lowest byte.

    No multiplication: so a loop over this works on several words at once.
    """
    half = (half >> _SIXTEEN) | ((half & _LOWER_16) << _T32)
    half = ((half >> _EIGHT) & _BYTES_OF_4) | ((half & _BYTES_OF_4) << _SIXTEEN)
    half = ((half >> _FOUR) & _NIBBLES) | ((half & _NIBBLES) << _EIGHT)
    letters = ((half + _SIXES) >> _FOUR) & _ONES  # 39 further on: 32 + 4 + 2 + 1
    return half + _ZEROS + ((letters << _FIVE) | (letters << _TWO) | (letters << _ONE) | letters)


@kernel
def spell(halves: Words, out: Words) -> None:
    """Some of these, one after the other."""
    for place in range(len(halves)):
        out[place] = spelled(halves[place])


@kernel
def digest_made(made_high: Words, made_low: Words, high: Words, low: Words) -> None:
    """Digests of IDs' texts: of ``str:32:<hex>``, seven bytes and 32."""
    for row in range(len(high)):
        one, two = spelled(made_high[row] >> _T32), spelled(made_high[row] & _LOWER_32)
        three, four = spelled(made_low[row] >> _T32), spelled(made_low[row] & _LOWER_32)
        first, second = absorbed(_ZERO, _ZERO, _PREFIX | (one << _T56), (one >> _EIGHT) | (two << _T56))
        first, second = absorbed(first, second, (two >> _EIGHT) | (three << _T56), (three >> _EIGHT) | (four << _T56))
        last = (four >> _EIGHT) * _FIRST
        first ^= ((last << _T31) | (last >> _T33)) * _SECOND
        high[row], low[row] = finished(first, second, _LENGTH_MADE)


@kernel
def spell_made(made_high: Words, made_low: Words, out: Words) -> None:
    """IDs as text, 32 bytes each."""
    for row in range(len(made_high)):
        out[4 * row] = spelled(made_high[row] >> _T32)
        out[4 * row + 1] = spelled(made_high[row] & _LOWER_32)
        out[4 * row + 2] = spelled(made_low[row] >> _T32)
        out[4 * row + 3] = spelled(made_low[row] & _LOWER_32)


@kernel
def absorb_part(high: Words, low: Words, first: Any, second: Any) -> None:
    """Takes one part, the same for all, into every row's state."""
    for row in range(len(high)):
        high[row], low[row] = absorbed(high[row], low[row], first, second)


@kernel
def absorb_each(high: Words, low: Words, first: Words, second: Words) -> None:
    """Takes one part, a row's own, into every row's state."""
    for row in range(len(high)):
        high[row], low[row] = absorbed(high[row], low[row], first[row], second[row])


@kernel
def absorb_chosen(high: Words, low: Words, stream: Words, digests: Words, rows: Numbers) -> None:
    """Takes a stream's digest and the chosen row of some digests into every row's state; of row -1 any."""
    for row in range(len(high)):
        first, second = absorbed(high[row], low[row], stream[0], stream[1])
        at = max(rows[row], 0)
        high[row], low[row] = absorbed(first, second, digests[at, 0], digests[at, 1])


@kernel
def finish(high: Words, low: Words, length: Any) -> None:
    """Makes every row's state its hash."""
    for row in range(len(high)):
        high[row], low[row] = finished(high[row], low[row], length)


@kernel
def make_in_order(start: Words, streams: Words, highs: Words, lows: Words, order: Numbers, made: Words) -> None:
    """IDs of composites: stream and ID of each contributor, in an order of each row's own, ended by -1."""
    for row in range(order.shape[0]):
        first, second = start[0], start[1]
        parts = 1
        for place in range(order.shape[1]):
            which = order[row, place]
            if which < 0:
                break
            first, second = absorbed(first, second, streams[which, 0], streams[which, 1])
            first, second = absorbed(first, second, highs[which, row], lows[which, row])
            parts += 2
        made[0, row], made[1, row] = finished(first, second, np.uint64(16 * parts))
