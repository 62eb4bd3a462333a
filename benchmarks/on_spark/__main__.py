"""The Spark host, measured: ``python -m benchmarks.on_spark [--events N] [--rounds N] [--only NAME ...]``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rich.progress import Progress

from benchmarks import files
from benchmarks.expected import CIDR07, FIRST
from benchmarks.measuring import Showing
from benchmarks.on_spark.defaults import defaults
from benchmarks.on_spark.fixed import fixed
from benchmarks.on_spark.growth import growth
from benchmarks.on_spark.ours import bounded, counted_bounded
from benchmarks.on_spark.throughput import Bench, by_hand, throughput
from benchmarks.reporting import keep, print_tables, wide
from benchmarks.spark_by_hand import session

Rows = list[dict[str, Any]]


def main() -> None:
    """Measure what was asked for, one after the other in one session; tables, and figures as JSON."""
    given = _arguments()
    console = wide()
    load = os.getloadavg()
    with Progress(console=console, transient=True) as progress:
        showing = Showing(progress)
        written = files.write(given["events"], given["keys"], showing.bar("writing files", 0))
        bench = Bench(session(), written, given["events"], given["rounds"], showing)
        known: dict[str, tuple[str, Callable[[], Rows]]] = {
            "bounded": ("bounded, all files at once", lambda: throughput(bench, streaming=False)),
            "streaming": ("a stream, one file a batch, durable state", lambda: throughput(bench, streaming=True)),
            "by-hand": ("beside transformWithStateInPandas by hand", lambda: by_hand(_small(bench, given))),
            "growth": (
                "small batches against states",
                lambda: growth(bench.spark, given["large"], given["small"], showing),
            ),
            "fixed": ("batches with nothing to do", lambda: fixed(bench.spark, showing)),
            "defaults": (
                "a session with Spark's own defaults",
                lambda: defaults(bench.files.parquet, given["rounds"], showing),
            ),
        }
        chosen = given["only"] or list(known)
        _warm(bench)
        tables: dict[str, Rows] = {}
        for name in chosen:
            title, measure = known[name]
            tables[title] = measure()
            print_tables(console, {title: tables[title]})
            loads = {"load average before": load[0], "load average after": os.getloadavg()[0]}
            path = keep("spark", tables, {**given, **loads})  # after each: the next one may take long
        bench.spark.stop()
    console.print(f"kept in {path}; load average {load[0]:.1f} before, {os.getloadavg()[0]:.1f} after")


def _small(bench: Bench, given: dict[str, Any]) -> Bench:
    """By hand a batch takes minutes, whatever comes later: one or two are enough to compare."""
    events = min(given["events"], given["by_hand_events"])
    written = files.write(events, given["keys"], bench.showing.bar("writing files", 0))
    return replace(bench, files=written, events=events)


def _warm(bench: Bench) -> None:
    """Once without counting: the JVM compiles, workers start and load their kernels."""
    done = bench.showing.bar("warming up", 2)
    for text in (FIRST, CIDR07):
        counted_bounded(bounded(bench.spark, bench.files.parquet, text))
        done()


def _arguments() -> dict[str, Any]:
    parser = argparse.ArgumentParser(prog="benchmarks.on_spark", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--events", type=int, default=5_000_000, help="how many events")
    parser.add_argument("--keys", type=int, default=100_000, help="of how many machines")
    parser.add_argument("--rounds", type=int, default=3, help="how often each case runs")
    parser.add_argument("--large", type=int, default=10_000_000, help="events of the large state")
    parser.add_argument("--small", type=int, default=100_000, help="events of the small state")
    parser.add_argument("--by-hand-events", type=int, default=500_000, help="how many of them by hand")
    names = ("bounded", "streaming", "by-hand", "growth", "fixed", "defaults")
    parser.add_argument("--only", nargs="+", choices=names, help="some of the tables")
    return vars(parser.parse_args())


main()
