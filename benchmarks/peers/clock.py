"""The clock of the contest, the same for everyone: a minute to warm up, then the median of a few runs.

A fresh JVM runs everything slowly until its compiler has caught up, which takes it about as long whatever it runs: so
everyone has the same time for it, not the same number of runs.  It uses the standard library alone, so that the scripts
of the peers' environment can use it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

try:
    from benchmarks.peers.family_cpu import family_cpu
except ImportError:  # in the peers' environment, where this folder is all there is
    from family_cpu import family_cpu

WARM = 60.0
"""Seconds in which runs to warm up begin, one of each kind at least."""
RUNS = 3


def contest(write: Callable[[str], None], match: Callable[[], None], out: str, begin: float) -> None:
    """Run the query to files, below ``out`` the last time, and without writing; print seconds as JSON.

    ``begin`` is when the contestant began to start.
    """
    started = perf_counter()
    while True:
        _away(write, out)
        match()
        if perf_counter() - started >= WARM:
            break
    start = perf_counter() - begin
    cpu = family_cpu()
    written = [_seconds(lambda: _away(write, out)) for _ in range(RUNS - 1)] + [_seconds(lambda: write(out))]
    used = family_cpu()
    matched = [_seconds(match) for _ in range(RUNS)]
    print(
        json.dumps(
            {
                "seconds": median(written),
                "matching": median(matched),
                "start": start,
                "cpu": None if used is None or cpu is None else (used - cpu) / RUNS,
            }
        )
    )


def _seconds(run: Callable[[], None]) -> float:
    begin = perf_counter()
    run()
    return perf_counter() - begin


def _away(write: Callable[[str], None], out: str) -> None:
    with TemporaryDirectory(prefix="away-", dir=Path(out).parent) as folder:
        write(str(Path(folder) / "pairs"))
