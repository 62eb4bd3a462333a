"""Grouping keys of buckets, chosen so that Spark puts each bucket into a partition of its own.

Spark sends a group to the partition ``pmod(murmur3(key, seed 42), partitions)``.  Consecutive numbers would leave some
partitions empty and give others two buckets, which halves the speed.
"""

from __future__ import annotations

from functools import lru_cache

_MASK = 0xFFFFFFFF


@lru_cache(maxsize=16)
def tokens(buckets: int) -> tuple[int, ...]:
    """One key for each of as many partitions; the first is always 0, whatever their number.

    >>> tokens(1), sorted(partition(token, 3) for token in tokens(3))
    ((0,), [0, 1, 2])
    """
    found: dict[int, int] = {}
    number = 0
    while len(found) < buckets:
        found.setdefault(partition(number, buckets), number)
        number += 1
    return tuple(sorted(found.values()))


def dealt(buckets: int, shares: int) -> tuple[int, ...]:
    """Keys for so many shares of each bucket: those of one bucket meet in one partition of as many as buckets.

    What hashes to a share hashes to its bucket too: share 5 of 2 buckets is of bucket 5 % 2.

    >>> dealt(3, 1) == tokens(3), [partition(token, 2) for token in dealt(2, 3)]
    (True, [1, 0, 1, 0, 1, 0])
    """
    found: dict[int, list[int]] = {partition(token, buckets): [] for token in tokens(buckets)}
    number = 0
    while any(len(held) < shares for held in found.values()):
        found[partition(number, buckets)].append(number)
        number += 1
    return tuple(held[share] for share in range(shares) for held in found.values())


def partition(key: int, partitions: int) -> int:
    """Where Spark puts an integer key."""
    hashed = _murmur(key)
    return (hashed - (1 << 32) if hashed & 0x80000000 else hashed) % partitions


def _murmur(value: int) -> int:
    """Spark's hash of an integer: MurmurHash3, 32 bits, seed 42."""
    mixed = (value * 0xCC9E2D51) & _MASK
    mixed = (_rotated(mixed, 15) * 0x1B873593) & _MASK
    hashed = (_rotated(42 ^ mixed, 13) * 5 + 0xE6546B64) & _MASK
    hashed ^= 4
    hashed = ((hashed ^ (hashed >> 16)) * 0x85EBCA6B) & _MASK
    hashed = ((hashed ^ (hashed >> 13)) * 0xC2B2AE35) & _MASK
    return hashed ^ (hashed >> 16)


def _rotated(value: int, by: int) -> int:
    return ((value << by) | (value >> (32 - by))) & _MASK
