"""What the queries must find, computed by NumPy on the whole, and tallies to compare it with what a pipeline said.

A tally is a count and a checksum that does not depend on order, so that millions of matches are compared without
keeping them: inserts count, retractions count back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks.machines import INSTALL, RESTART, SHUTDOWN, Integers, Machines
from cedr.connect.chance import mixed
from cedr.model.time import HOUR, MINUTE

FIRST = """EVENT Q WHEN SEQUENCE(INSTALL AS x, FIRST SHUTDOWN AS y, 12 hours)
WHERE CorrelationKey(Machine_Id, EQUAL)
OUTPUT x.Machine_Id AS machine, x.Serial AS install, y.Serial AS shutdown, y.Load AS load"""

CIDR07 = """EVENT Q WHEN UNLESS(SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 12 hours), RESTART AS z, 5 minutes)
WHERE CorrelationKey(Machine_Id, EQUAL)
OUTPUT x.Machine_Id AS machine, x.Serial AS install, y.Serial AS shutdown, y.Load AS load"""

SCOPE, CALM = 12 * HOUR, 5 * MINUTE
_KEY = 1 << 40
"""Larger than any span of times with a scope added: keys do not run into each other."""

_MASK = (1 << 64) - 1


@dataclass(slots=True)
class Tally:
    """How many pairs, and the sum of the products of their hashes, modulo 2**64."""

    count: int = 0
    checksum: int = 0

    def add(self, first: Integers, second: Integers, sign: int = 1) -> None:
        """Count pairs, or count them back."""
        self.count += sign * len(first)
        self.checksum = (self.checksum + sign * int((hashed(first) * hashed(second)).sum())) & _MASK

    def add_changes(self, said: pa.RecordBatch) -> None:
        """Count what a step said."""
        kinds = said.column("change")
        for kind, sign in (("insert", 1), ("retract", -1)):
            rows = said.filter(pc.equal(kinds, kind))
            if not rows.num_rows:
                continue
            self.add(rows.column("install").to_numpy(), rows.column("shutdown").to_numpy(), sign)


def hashed(serials: Integers) -> NDArray[np.uint64]:
    """Serial numbers mixed to 64 bits."""
    return mixed(serials.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15))


def first_pairs(drawn: Machines) -> tuple[Integers, Integers]:
    """Serial numbers of each INSTALL and its first SHUTDOWN within 12 hours."""
    installs, codes = _by_code(drawn, INSTALL)
    shutdowns, ends = _by_code(drawn, SHUTDOWN)
    if not len(ends):
        return installs[:0], shutdowns[:0]
    place = np.searchsorted(ends, codes, side="right")
    near = np.minimum(place, len(ends) - 1)
    found = (place < len(ends)) & (ends[near] - codes <= SCOPE)
    return installs[found], shutdowns[near[found]]


def first_tally(drawn: Machines) -> Tally:
    """The tally of ``FIRST``."""
    tally = Tally()
    tally.add(*first_pairs(drawn))
    return tally


def cidr07_tally(drawn: Machines) -> Tally:
    """The tally of ``CIDR07``: all pairs within 12 hours whose SHUTDOWN no RESTART follows within 5 minutes."""
    installs, codes = _by_code(drawn, INSTALL)
    shutdowns, ends = _by_code(drawn, SHUTDOWN)
    _, restarts = _by_code(drawn, RESTART)
    restarted = np.searchsorted(restarts, ends, side="right") < np.searchsorted(restarts, ends + CALM, side="left")
    low, high = np.searchsorted(ends, codes, side="right"), np.searchsorted(ends, codes + SCOPE, side="right")
    counts = np.concatenate([[0], np.cumsum(~restarted)])
    sums = np.concatenate([[np.uint64(0)], np.cumsum(np.where(restarted, np.uint64(0), hashed(shutdowns)))])
    checksum = int((hashed(installs) * (sums[high] - sums[low])).sum()) & _MASK
    return Tally(int((counts[high] - counts[low]).sum()), checksum)


def _by_code(drawn: Machines, kind: int) -> tuple[Integers, Integers]:
    """Serial numbers and (key, Vs) as one number, of one type, in the order of (key, Vs, ID)."""
    rows = drawn.take(drawn.kind == kind)
    base = int(drawn.vs.min()) if len(drawn) else 0
    codes = rows.key * _KEY + (rows.vs - base)
    order = np.lexsort((rows.serial, codes))
    return rows.serial[order], codes[order]
