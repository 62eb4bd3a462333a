"""Events a second, bounded and as a stream, beside the pipeline that moves the same data and does nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.expected import CIDR07, FIRST, Tally, cidr07_tally, first_tally
from benchmarks.files import Files
from benchmarks.measuring import Showing
from benchmarks.on_spark import nothing
from benchmarks.on_spark.as_many import ALL, PAIRS
from benchmarks.on_spark.ours import (
    PAYLOAD,
    Cost,
    bounded,
    costing,
    counted_bounded,
    counted_stream,
    own_workers,
    streamed,
    written_bounded,
    written_stream,
)
from benchmarks.spark_by_hand import Measured, first_by_hand, nothing_bounded, nothing_streaming

Row = dict[str, Any]
SHARE = 0.6
"""Of what the pipeline that does nothing manages."""
RATE = 1.2
"""Million events a second, bounded."""
TIMES = 12.0
"""Faster than the query by hand."""
BY_SPARK, NOTHING_AT_ALL = "nothing, read by Spark", "nothing"
AS_MANY, AS_WIDE = "nothing, with as many rows as CIDR07", "nothing, with as many rows of all columns"
"""Nothing but what the sink takes: a query that says three rows for each event cannot be faster than this."""
NOTHING = {False: (nothing_bounded, nothing.bounded), True: (nothing_streaming, nothing.streaming)}
QUERIES = {"FIRST": FIRST, "CIDR07": CIDR07}


@dataclass(frozen=True)
class Bench:
    """What is measured on."""

    spark: SparkSession
    files: Files
    events: int
    rounds: int
    showing: Showing

    def expected(self, name: str) -> Tally:
        """What a query must find."""
        return {"FIRST": first_tally, "CIDR07": cidr07_tally}[name](self.files.drawn)

    def folder(self, form: str) -> Path:
        """The files of a format."""
        return self.files.csv if form == "csv" else self.files.parquet


@dataclass(frozen=True)
class Case:
    """Something to run; gives what it cost and whether it was right."""

    name: str
    run: Callable[[], tuple[Cost, bool]]


def of_nothing(bench: Bench, name: str, run: Callable[..., Measured], form: str) -> Case:
    """A pipeline that does nothing."""

    def once() -> tuple[Cost, bool]:
        with own_workers(bench.spark), costing() as cost:
            found = run(bench.spark, bench.folder(form))
        cost.seconds = found.seconds
        return cost, found.seen == bench.events

    return Case(name, once)


def throughput(bench: Bench, *, streaming: bool) -> list[Row]:
    """Both formats and both queries, each beside nothing, round after round; then each once into files, to compare."""
    rows = []
    for form in ("parquet", "csv"):
        by_spark, by_workers = NOTHING[streaming]
        cases = [of_nothing(bench, BY_SPARK, by_spark, form), of_nothing(bench, NOTHING_AT_ALL, by_workers, form)]
        said = bench.expected("CIDR07").count
        for case, columns in ((AS_MANY, PAIRS[streaming]), (AS_WIDE, ALL[streaming])):
            cases.append(of_nothing(bench, case, partial(by_workers, rows=said, columns=columns), form))
        for name in QUERIES:
            for direct, slim in ((False, False), (True, False), (True, True)):
                cases.append(_counting(bench, name, form, streaming=streaming, direct=direct, slim=slim))
        costs = _rounds(bench, cases, f"{'streaming' if streaming else 'bounded'}, {form}")
        rows += [_row(bench, case, form, costs, bounded=not streaming) for case in cases]
        for name in QUERIES:
            right = _compared(bench, name, form, streaming=streaming)
            for row in rows:
                if row["format"] == form and row["case"].startswith(name):
                    row["right"] &= right
    return rows


def _counting(bench: Bench, name: str, form: str, *, streaming: bool, direct: bool, slim: bool) -> Case:
    """A query into a sink that keeps nothing; all columns of the result, or those of the pairs alone."""
    expected = bench.expected(name).count
    columns = _columns(streaming=streaming) if slim else None

    def once() -> tuple[Cost, bool]:
        make = streamed if streaming else bounded
        frame = make(bench.spark, bench.folder(form), QUERIES[name], direct=direct, columns=columns)
        ran = counted_stream(frame) if streaming else counted_bounded(frame)
        return ran.cost, ran.rows == expected

    how = "" if direct else ", read by Spark"
    return Case(f"{name}, {'the pairs' if slim else 'all columns'}{how}", once)


def _columns(*, streaming: bool) -> list[str]:
    return [*(["change"] if streaming else []), *PAYLOAD]


def _compared(bench: Bench, name: str, form: str, *, streaming: bool) -> bool:
    """Whether the pairs, written to files, are the expected ones: not only as many."""
    make, write = (streamed, written_stream) if streaming else (bounded, written_bounded)
    _, tally = write(make(bench.spark, bench.folder(form), QUERIES[name], columns=_columns(streaming=streaming)))
    return tally == bench.expected(name)


def by_hand(bench: Bench) -> list[Row]:
    """FIRST as a stream from Parquet files to Parquet files: one group a machine by hand, and ours."""
    expected = bench.expected("FIRST")

    def hand() -> tuple[Cost, bool]:
        with own_workers(bench.spark), costing() as cost:
            found = first_by_hand(bench.spark, bench.files.parquet)
        cost.seconds = found.seconds
        return cost, found.tally == expected

    def ours() -> tuple[Cost, bool]:
        frame = streamed(bench.spark, bench.files.parquet, FIRST, columns=_columns(streaming=True))
        cost, tally = written_stream(frame)
        return cost, tally == expected

    cases = [Case("by hand, one group a machine", hand), Case("FIRST", ours)]
    costs = _rounds(bench, cases[1:], "as by hand") | _rounds(bench, cases[:1], "by hand", once=True)
    rows = []
    for case in cases:
        cost, right = costs[case.name]
        factors = [_ratio(costs[cases[0].name][0].seconds, cost.seconds), _ratio(costs[cases[0].name][0].cpu, cost.cpu)]
        row = _figures(bench, case.name, "parquet", cost, right=right)
        limits = {"limit": TIMES, "verdict": _at_least(factors[0], TIMES)} if case is cases[1] else {}
        rows.append({**row, "times by hand": factors[0], "by CPU": factors[1], "limit": None, "verdict": "", **limits})
    return rows


def _rounds(bench: Bench, cases: list[Case], what: str, *, once: bool = False) -> dict[str, tuple[Cost, bool]]:
    """The medians of all rounds; the cases take turns, so that all see the same machine."""
    found: dict[str, list[tuple[Cost, bool]]] = {case.name: [] for case in cases}
    rounds = 1 if once else bench.rounds
    done = bench.showing.bar(what, rounds * len(cases))
    for _ in range(rounds):
        for case in cases:
            cost, right = case.run()
            found[case.name].append((cost, right))
            bench.showing.say(f"{what}: {case.name}: {cost.seconds:.2f} s, {cost.cpu or 0:.2f} CPU s")
            done()
    return {
        name: (_middle([cost for cost, _ in runs]), all(right for _, right in runs)) for name, runs in found.items()
    }


def _middle(costs: list[Cost]) -> Cost:
    used = [cost.cpu for cost in costs if cost.cpu is not None]
    return Cost(median(cost.seconds for cost in costs), median(used) if used else None)


def _row(bench: Bench, case: Case, form: str, costs: dict[str, tuple[Cost, bool]], *, bounded: bool) -> Row:
    cost, right = costs[case.name]
    beside = costs[BY_SPARK if case.name.endswith(BY_SPARK.partition(", ")[2]) else NOTHING_AT_ALL][0]
    row = _figures(bench, case.name, form, cost, right=right)
    if case.name in (BY_SPARK, NOTHING_AT_ALL, AS_MANY, AS_WIDE):
        none = dict.fromkeys(("share of nothing", "by CPU", "of as many rows", "limit"))
        return {**row, **none, "verdict": ""}
    share, by_cpu = _ratio(beside.seconds, cost.seconds), _ratio(beside.cpu, cost.cpu)
    alike = {"CIDR07, the pairs": AS_MANY, "CIDR07, all columns": AS_WIDE}.get(case.name)
    many = None if alike is None else _ratio(costs[alike][0].seconds, cost.seconds)
    enough = _at_least(share, SHARE)
    if bounded and row["million events/s"] < RATE:
        enough = "over"
    if enough == "over" and _at_least(many, SHARE) == "ok":
        enough = "ok beside as many rows"
    limit = f"{SHARE} and {RATE} M/s" if bounded else f"{SHARE}"
    return {
        **row,
        "share of nothing": share,
        "by CPU": by_cpu,
        "of as many rows": many,
        "limit": limit,
        "verdict": enough,
    }


def _figures(bench: Bench, name: str, form: str, cost: Cost, *, right: bool) -> Row:
    return {
        "case": name,
        "format": form,
        "right": right,
        "seconds": round(cost.seconds, 2),
        "CPU seconds": None if cost.cpu is None else round(cost.cpu, 2),
        "million events/s": round(bench.events / cost.seconds / 1e6, 3),
    }


def _ratio(one: float | None, other: float | None) -> float | None:
    return None if not one or not other else round(one / other, 2)


def _at_least(found: float | None, limit: float) -> str:
    return "ok" if found is not None and found >= limit else "over"
