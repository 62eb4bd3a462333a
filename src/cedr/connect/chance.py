"""Chance without state: each number drawn is a function of the seed, of what it is for, and of whom it is for.

So the same seed gives the same numbers on every machine and with every version of every library, any part can be drawn
without what comes before it, and what was drawn once need not be kept: it can be drawn again.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FRACTION = 2.0**-53


def mixed(numbers: Words) -> Words:
    """Numbers mixed to 64 bits that look like chance (the finaliser of splitmix64)."""
    mixing = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixing = (mixing ^ (mixing >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixing ^ (mixing >> np.uint64(31))


class Chance:
    """Numbers drawn for numbered things; each purpose is a sequence of its own.

    >>> chance = Chance(7)
    >>> chance.below("colour", np.arange(5), 3).tolist(), chance.below("colour", np.array([3]), 3).tolist()
    ([2, 0, 0, 1, 0], [1])
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._starts: dict[str, Words] = {}

    def below(self, purpose: str, numbers: Integers, bound: int) -> Integers:
        """For each of the numbers one of 0 … bound - 1, all equally likely."""
        return (self._words(purpose, numbers) % np.uint64(bound)).astype(np.int64)

    def happens(self, purpose: str, numbers: Integers, share: float) -> Mask:
        """For each of the numbers whether it is among the share of them to which something happens."""
        if share <= 0.0:
            return np.zeros(len(numbers), np.bool_)
        fractions = (self._words(purpose, numbers) >> np.uint64(11)) * _FRACTION
        return np.asarray(fractions < share)

    def choice(self, purpose: str, numbers: Integers, shares: tuple[float, ...]) -> NDArray[np.int8]:
        """For each of the numbers which of several things happens, each to its share of them."""
        fractions = (self._words(purpose, numbers) >> np.uint64(11)) * _FRACTION
        return np.searchsorted(np.cumsum(shares)[:-1], fractions, side="right").astype(np.int8)

    def _words(self, purpose: str, numbers: Integers) -> Words:
        start = self._starts.get(purpose)
        if start is None:
            digest = blake2b(f"{self._seed}/{purpose}".encode(), digest_size=8).digest()
            start = self._starts[purpose] = np.array([int.from_bytes(digest, "little")], np.uint64)
        return mixed(start + numbers.astype(np.uint64) * _GAMMA)
