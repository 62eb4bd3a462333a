"""Runs the benchmarks, prints tables and keeps the figures: ``python -m benchmarks [NAME ...] [--events N ...]``.

The names are ``algebra``, ``answers``, ``catalog``, ``data``, ``oracle``, ``runtime``, ``startup`` and
``subscriptions``; without one, all run.
"""

from __future__ import annotations

import os

os.environ["NUMBA_NUM_THREADS"] = "1"  # read when numba is imported

import argparse
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from rich.progress import Progress

from benchmarks import algebra, answers, catalog, data_in, oracle, runtime, startup, subscriptions
from benchmarks.measuring import Showing, Sizes
from benchmarks.reporting import keep, print_tables, wide

Tables = dict[str, list[dict[str, Any]]]

HELP = {
    "events": "how many events go through the runtime",
    "keys": "how many machines they are of",
    "batch": "how many events a step takes",
    "rounds": "how often each case is measured",
    "large": "events of the large state",
    "small": "events of the small state",
    "singles": "how many single events",
    "only": "cases whose name holds this text, or one of: throughput, state_sizes, latencies",
}


def main() -> None:
    """Run what was asked for; one JSON file for each name."""
    parser = argparse.ArgumentParser(prog="benchmarks", description="measure, side by side in one run")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="algebra, answers, catalog, data, oracle, runtime, startup, subscriptions; without one, all",
    )
    for size in fields(Sizes):
        kind = type(size.default)
        parser.add_argument(f"--{size.name}", type=kind, default=size.default, help=HELP[size.name])
    given = vars(parser.parse_args())
    names = given.pop("names")
    known = benchmarks(Sizes(**given))
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are: {', '.join(known)}")
    console = wide()
    for name in names or known:
        with Progress(console=console, transient=True) as progress:
            tables = known[name](Showing(progress))
        print_tables(console, tables)
        console.print(f"kept in {keep(name, tables, given)}")


def benchmarks(sizes: Sizes) -> dict[str, Callable[[Showing], Tables]]:
    """All benchmarks by name."""
    return {
        "algebra": lambda showing: algebra.run(sizes, showing),
        "answers": lambda showing: answers.run(sizes, showing),
        "catalog": lambda showing: catalog.run(sizes, showing),
        "data": lambda showing: data_in.run(sizes, showing),
        "oracle": lambda showing: {"oracle": oracle.run(showing.bar("oracle", 2))},
        "runtime": lambda showing: runtime.run(sizes, showing),
        "subscriptions": lambda showing: subscriptions.run(sizes, showing),
        "startup": lambda showing: {"from nothing to an answer": startup.run(showing)},
    }


main()
