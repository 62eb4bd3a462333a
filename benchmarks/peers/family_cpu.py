"""CPU seconds of this process and of all that it has started and that still runs, by Linux's /proc.

On a machine that others use too this says more than the clock on the wall.  It uses the standard library alone, so that
the scripts of the peers' environment can use it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def family_cpu() -> float | None:
    """Seconds so far, None where there is no /proc."""
    family = family_seconds()
    return sum(family.values()) if family else None


def family_seconds() -> dict[int, float]:
    """Seconds so far of each process; of none where there is no /proc."""
    try:
        stats = dict(_stats())
    except OSError:
        return {}
    family = {os.getpid()}
    while True:
        found = {process for process, (parent, _) in stats.items() if parent in family} - family
        if not found:
            break
        family |= found
    return {process: stats[process][1] for process in family & stats.keys()}


def _stats() -> Iterator[tuple[int, tuple[int, float]]]:
    """Each process with its parent and its seconds, those of children that it has waited for included."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        yield int(folder.name), (int(fields[1]), sum(map(int, fields[11:15])) / _TICKS)
