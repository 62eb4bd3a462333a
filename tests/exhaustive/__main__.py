"""All small histories in all orders, for every operator: ``make exhaustive``.

    make exhaustive                             everything
    make exhaustive ARGS='--slice 1/50'         a fiftieth
    make exhaustive ARGS='--only UNLESS'        the queries that hold a text
    make exhaustive ARGS='--only FROM'          the algebra: joins, windows, aggregates, TOP and so on

Prints how many cases were tried, and the shortest difference of each query that has one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from multiprocessing import Pool
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tests.exhaustive import check, row_check
from tests.exhaustive.check import Count
from tests.exhaustive.patterns import CASES as PATTERNS
from tests.exhaustive.patterns import Case
from tests.exhaustive.relations import RELATIONS, Relation

CASES: tuple[Case | Relation, ...] = (*PATTERNS, *RELATIONS)
"""Patterns and FROM queries."""

CHUNK = 60
"""Groups of runs in one piece of work: a few seconds."""


class Piece(NamedTuple):
    """Some groups of runs of a case, by their numbers."""

    case: int
    groups: range


def pieces(only: str, part: tuple[int, int]) -> Iterator[Piece]:
    """The work, or its part ``i`` of ``n``; what is long comes first."""
    number, of = part
    cases = sorted(range(len(CASES)), key=lambda case: CASES[case].together)
    for case in (n for n in cases if only in str(CASES[n])):
        every = range(number - 1, len(work(case)), of)
        yield from (Piece(case, every[start : start + CHUNK]) for start in range(0, len(every), CHUNK))


def work(number: int) -> Sequence[object]:
    """The groups of runs of a case."""
    case = CASES[number]
    return check.work(case) if isinstance(case, Case) else row_check.work(case)


def do(piece: Piece) -> tuple[int, Count, list[str]]:
    case = CASES[piece.case]
    if isinstance(case, Case):
        groups = check.work(case)
        return piece.case, *check.check(case, [groups[number] for number in piece.groups])
    row_groups = row_check.work(case)
    return piece.case, *row_check.check(case, [row_groups[number] for number in piece.groups])


def part_of(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        message = f'"{text}" is not a part like 1/50'
        raise argparse.ArgumentTypeError(message)
    return int(number), int(of)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make exhaustive", description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--slice", type=part_of, default=(1, 1), metavar="I/N", help="only the I-th of N parts")
    parser.add_argument("--only", default="", metavar="TEXT", help="only queries that hold this text")
    parser.add_argument(
        "--processes", type=int, default=None, metavar="N", help="as many as there are cores, unless given"
    )
    given = parser.parse_args(arguments)
    console = Console()
    todo = list(pieces(given.only, given.slice))
    total, differences = Count(), dict[int, list[str]]()
    columns = (
        TextColumn("exhaustive"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[found]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar, Pool(given.processes) as pool:
        task = bar.add_task("", total=len(todo), found="")
        for case, count, found in pool.imap_unordered(do, todo):
            total += count
            if found:
                differences.setdefault(case, []).extend(found)
            bar.update(task, advance=1, found=f"{total.differences:,} differences" if differences else "")
    for texts in differences.values():
        console.print(f"{len(texts):,} times like this: {min(texts, key=len)}", highlight=False, markup=False)
    console.print(
        f"exhaustive: {len({piece.case for piece in todo})} queries, {total.cases:,} cases in {total.steps:,} steps, "
        f"{total.differences:,} differences",
        highlight=False,
    )
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
