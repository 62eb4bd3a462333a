"""The contest: ``python -m benchmarks.peers [--events N] [--keys N] [--rounds N] [--only TEXT]``; figures as JSON."""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from rich.progress import Progress

from benchmarks import files
from benchmarks.expected import Tally, first_tally
from benchmarks.measuring import Showing
from benchmarks.peers.contest import CONTESTANTS, FLINK, Finding, found_in
from benchmarks.peers.environment import python
from benchmarks.reporting import keep, print_tables, wide

Row = dict[str, Any]


def main() -> None:
    """Run the contestants one after the other, compare what they found, keep the figures."""
    parser = argparse.ArgumentParser(prog="benchmarks.peers", description="the same query by others")
    parser.add_argument("--events", type=int, default=5_000_000, help="how many events")
    parser.add_argument("--keys", type=int, default=100_000, help="of how many machines")
    parser.add_argument("--rounds", type=int, default=1, help="how often each runs")
    parser.add_argument("--only", default="", help="those whose name holds this text")
    given = vars(parser.parse_args())
    console = wide()
    python()
    with Progress(console=console, transient=True) as progress:
        showing = Showing(progress)
        written = files.write(given["events"], given["keys"], showing.bar("writing files", 0))
        expected = first_tally(written.drawn)
        showing.say(f"expected: {expected.count:,} pairs in {given['events']:,} events")
        chosen = {name: run for name, run in CONTESTANTS.items() if given["only"].lower() in name.lower()}
        done = showing.bar("contest", len(chosen) * given["rounds"])
        rows = []
        for name, run in chosen.items():
            findings, right = [], True
            for _ in range(given["rounds"]):
                finding, tally = _once(run, written.csv)
                findings.append(finding)
                right &= tally == expected
                done()
            rows.append(_row(name, findings, given["events"], tally, right=right))
            showing.say(f"{name}: {rows[-1]['seconds']} s")
    for row in rows:
        row["times faster than Flink"] = _factor(row, rows, "seconds")
        row["matching alone"] = _factor(row, rows, "matching")
    tables = {"each INSTALL with its first SHUTDOWN within 12 hours, from CSV files to CSV files": rows}
    print_tables(console, tables)
    console.print(f"kept in {keep('peers', tables, {**given, 'load average': os.getloadavg()[0]})}")


def _once(run: Any, csv: Path) -> tuple[Finding, Tally]:
    with TemporaryDirectory(prefix="pairs-", dir=files.FOLDER) as folder:
        out = Path(folder) / "pairs"
        finding = run(csv, out)
        tally = found_in(out)
        shutil.rmtree(out)
        return finding, tally


def _row(name: str, findings: list[Finding], events: int, tally: Tally, *, right: bool) -> Row:
    seconds = median(finding.seconds for finding in findings)
    used = [finding.cpu for finding in findings]
    return {
        "who": name,
        "pairs": tally.count,
        "right": right,
        "seconds": round(seconds, 2),
        "matching": round(median(finding.matching for finding in findings), 2),
        "million events/s": round(events / seconds / 1e6, 3),
        "CPU seconds": None if None in used else round(median(used), 2),
        "start": round(median(finding.start for finding in findings), 2),
    }


def _factor(row: Row, rows: list[Row], what: str) -> float | None:
    flink = [other[what] for other in rows if other["who"] == FLINK]
    return round(flink[0] / row[what], 1) if flink else None


main()
