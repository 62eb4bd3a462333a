"""MurmurHash3_x64_128, seed 0: the hash under the IDs of outputs.

Reading: R8.  128 bits, the same on every machine, and made of multiplications, rotations and sums of 64-bit words
alone, so that the IDs of many rows can be computed at once, column by column, as ``cedr.runtime`` does.  It spreads
well and is fast; it is no protection against somebody who chooses IDs so that they collide.
"""

from __future__ import annotations

from struct import unpack
from typing import Final

FIRST: Final = 0x87C37B91114253D5
SECOND: Final = 0x4CF5AD432745937F
_WORD: Final = 0xFFFFFFFFFFFFFFFF


def murmur(message: bytes) -> tuple[int, int]:
    """The two 64-bit halves of the hash of a message.

    >>> [f"{half:016x}" for half in murmur(b"hello")]
    ['cbd8a7b341bd9b02', '5b1e906a48ae1d19']
    """
    length = len(message)
    rest = length % 16
    whole = message + bytes(16 - rest) if rest else message  # a word of zeros changes nothing but where it is mixed
    words = unpack(f"<{len(whole) // 8}Q", whole)
    high = low = 0
    for at in range(0, length // 16 * 2, 2):
        high ^= _scattered(words[at], FIRST, 31, SECOND)
        high = ((((high << 27 | high >> 37) & _WORD) + low) * 5 + 0x52DCE729) & _WORD
        low ^= _scattered(words[at + 1], SECOND, 33, FIRST)
        low = ((((low << 31 | low >> 33) & _WORD) + high) * 5 + 0x38495AB5) & _WORD
    if rest:
        high ^= _scattered(words[-2], FIRST, 31, SECOND)
        low ^= _scattered(words[-1], SECOND, 33, FIRST)
    return _finished(high ^ length, low ^ length)


def _scattered(word: int, before: int, turn: int, after: int) -> int:
    word = word * before & _WORD
    return (word << turn | word >> (64 - turn)) * after & _WORD


def _finished(high: int, low: int) -> tuple[int, int]:
    high = (high + low) & _WORD
    low = (low + high) & _WORD
    high, low = _avalanche(high), _avalanche(low)
    high = (high + low) & _WORD
    return high, (low + high) & _WORD


def _avalanche(word: int) -> int:
    word = (word ^ word >> 33) * 0xFF51AFD7ED558CCD & _WORD
    word = (word ^ word >> 33) * 0xC4CEB9FE1A85EC53 & _WORD
    return word ^ word >> 33
