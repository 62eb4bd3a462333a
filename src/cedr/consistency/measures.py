"""Measures that every host can show.  Paper: Figure 8 (blocking, state size, output size)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cedr.model.level import ConsistencyLevel
from cedr.model.time import Time


@dataclass(frozen=True, slots=True)
class Measures:
    """What a level has taken in, holds, and has said."""

    level: ConsistencyLevel
    received: int
    admitted: int
    held: int
    longest_held: Time
    inserts: int
    retractions: int
    guarantees: int
    late: int
    """Messages that came with a Sync below the largest Sync or guarantee so far.

    Those behind the guarantee of their own provider are among them, and dead letters too.
    """
    frozen: int
    """Rows not said, or not taken back, because they lie before m."""
    unknown: int
    """Retractions of rows that are unknown or forgotten, and that no insert can bring any more.

    They are no dead letters.  The oracle forgets nothing, so it may count fewer.  Reading: R37.
    """
    dead_letters: int
    duplicates: int
    ties: int
    """Events that share Vs and key with another event of the parameters of one operator, where that is not WITH TIES.

    Such events never follow each other.  Reading: R49.
    """
    rows: Mapping[str, int]
    """Rows of state by operator."""
    bytes: Mapping[str, int]
    """Bytes of state by operator."""
    run: int = 0
    """Which set of operators holds this state: levels with the same number share one."""

    @property
    def total_rows(self) -> int:
        """Rows of state of all operators."""
        return sum(self.rows.values())

    @property
    def total_bytes(self) -> int:
        """Bytes of state of all operators."""
        return sum(self.bytes.values())
