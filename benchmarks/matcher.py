"""The obvious matcher: one event at a time, a dictionary of lists; what one would write by hand for this one query.

It takes events in order only, keeps no state for late ones, retracts nothing, and makes neither IDs nor guarantees.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from benchmarks.machines import Batch
from cedr.model.time import HOUR, Time

SCOPE = 12 * HOUR

Seen = tuple[Time, str, str, int, int, float]
Match = tuple[str, str, str, Time, Time, int, int, int, float]


class Matcher:
    """Each INSTALL with its first SHUTDOWN within 12 hours, by machine."""

    def __init__(self) -> None:
        self._open: dict[int, list[Seen]] = defaultdict(list)

    def step(self, batch: Batch) -> list[Match]:
        """The matches that a batch of events completes."""
        return [match for event in in_order(batch) for match in self._take(event)]

    def _take(self, event: Seen) -> Iterator[Match]:
        time, kind, identity, machine, serial, load = event
        if kind == "INSTALL":
            self._open[machine].append(event)
        elif kind == "SHUTDOWN" and machine in self._open:
            waiting = self._open.pop(machine)
            for installed, _, install, _, install_serial, _ in waiting:
                if installed < time <= installed + SCOPE:
                    key = f"{install}/{identity}"
                    yield key, install, identity, time, installed + SCOPE, machine, install_serial, serial, load
            if waiting[-1][0] == time:
                self._open[machine] = [install for install in waiting if install[0] == time]


def in_order(batch: Batch) -> list[Seen]:
    """The events of a batch as tuples, by time."""
    rows: list[Seen] = []
    for kind, columns in batch.columns.items():
        names = ("id", "Machine_Id", "Serial", "Load")
        times, *rest = (columns.column(name).to_pylist() for name in ("time", *names))
        rows.extend(zip(times, [kind] * len(times), *rest, strict=True))
    return sorted(rows)
