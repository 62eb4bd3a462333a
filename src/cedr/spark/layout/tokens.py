"""Tokens: grouping keys of buckets, chosen so that Spark puts each bucket into a partition of its own.

Spark sends a group to the partition ``pmod(murmur3(key, seed 42), partitions)``.  Consecutive numbers would leave some
partitions empty and give others two buckets, which halves the speed.
"""

from __future__ import annotations

from functools import lru_cache

_MASK = 0xFFFFFFFF


@lru_cache(maxsize=16)
def tokens(buckets: int) -> tuple[int, ...]:
    """One token for each bucket, in as many partitions; the first is always 0, whatever the number.

    >>> tokens(1), sorted(partition(token, 3) for token in tokens(3))
    ((0,), [0, 1, 2])
    """
    chosen: dict[int, int] = {}
    number = 0
    while len(chosen) < buckets:
        chosen.setdefault(partition(number, buckets), number)
        number += 1
    return tuple(sorted(chosen.values()))


def share_tokens(buckets: int, shares: int) -> tuple[int, ...]:
    """A token for each share of each bucket; the shares of one bucket are in one partition.

    A key that hashes to a share also hashes to its bucket: of 2 buckets, share 5 belongs to bucket 5 % 2.

    >>> share_tokens(3, 1) == tokens(3), [partition(token, 2) for token in share_tokens(2, 3)]
    (True, [1, 0, 1, 0, 1, 0])
    """
    chosen: dict[int, list[int]] = {partition(token, buckets): [] for token in tokens(buckets)}
    number = 0
    while any(len(own) < shares for own in chosen.values()):
        chosen[partition(number, buckets)].append(number)
        number += 1
    return tuple(own[share] for share in range(shares) for own in chosen.values())


def partition(key: int, partitions: int) -> int:
    """The partition in which Spark puts an integer key."""
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
