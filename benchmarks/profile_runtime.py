"""Where the time of a run goes, function by function: ``python -m benchmarks.profile_runtime [--case TEXT] …``.

The first run is not looked at: it compiles.  Then the same run is profiled, and the functions are listed by the share
of the time that they take themselves, and by the share that they take with all they call.
"""

from __future__ import annotations

import os

os.environ["NUMBA_NUM_THREADS"] = "1"  # read when numba is imported

import argparse
import cProfile
import pstats
from pathlib import Path
from time import process_time

from rich.console import Console
from rich.table import Table

from benchmarks import machines as draw
from benchmarks.measuring import Sizes, lexsort, one_thread
from benchmarks.reporting import wide
from benchmarks.runtime import cases

Entry = tuple[str, int, float, float]


def main() -> None:
    """Profile the cases whose name holds a text."""
    parser = argparse.ArgumentParser(prog="profile", description=__doc__.splitlines()[0])
    parser.add_argument("--case", default="FIRST, in order, STRONG", help="cases whose name holds this text")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=20_000)
    parser.add_argument("--batch", type=int, default=100_000)
    parser.add_argument("--lines", type=int, default=25)
    given = parser.parse_args()
    one_thread()
    for case in cases(Sizes(events=20_000, keys=400, batch=2_000, only=given.case)):
        case.run(case.feed, lambda: None)
    base = lexsort(draw.machines(given.events, given.keys))
    console = wide()
    for case in cases(Sizes(events=given.events, keys=given.keys, batch=given.batch, only=given.case)):
        bare = case.run(case.feed, lambda: None)
        profile = cProfile.Profile(process_time)
        profile.enable()
        run = case.run(case.feed, lambda: None)
        profile.disable()
        console.print(f"[bold]{case.name}[/]: {bare.seconds / base:.2f} times the lexsort ({bare.seconds:.3f} s)")
        console.print(f"right: {run.tally == case.expected}, {run.inserts:,} inserts, {run.retractions:,} retractions")
        show(console, entries(profile), given.lines)


def entries(profile: cProfile.Profile) -> list[Entry]:
    """Function, calls, own seconds, seconds with all it calls."""
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    return [(_place(*where), calls, own, whole) for where, (_, calls, own, whole, _) in stats.items()]


def _place(file: str, line: int, function: str) -> str:
    if file == "~":
        return function
    parts = Path(file).parts
    below = parts[parts.index("cedr") + 1 :] if "cedr" in parts else parts[-2:]
    return f"{'/'.join(below)}:{line} {function}"


def show(console: Console, found: list[Entry], lines: int) -> None:
    """Two tables: by own time and by whole time."""
    total = sum(own for *_, own, _ in found) or 1.0
    for title, column in (("own time", 2), ("with all it calls", 3)):
        table = Table("share", "calls", "seconds", "function", title=title, title_justify="left")
        for entry in sorted(found, key=lambda e: -float(e[column]))[:lines]:
            seconds = float(entry[column])
            table.add_row(f"{seconds / total:.1%}", f"{entry[1]:,}", f"{seconds:.3f}", entry[0])
        console.print(table)


if __name__ == "__main__":
    main()
