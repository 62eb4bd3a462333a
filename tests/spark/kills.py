"""``make kills``: one stream, killed fifty times at drawn places, beside the same stream that nobody kills.

Prints each kill as it happens, and whether all that was written is what one process says of the same batches, row by
row, and what the other stream says.  Where the driver dies before Spark has written down what a batch is, the next
start may cut it otherwise; then the two streams are compared by what stands in the end, else to the letter.  The exit
code is 1 if something differs, if a job fails by itself, or if there were fewer kills than asked for.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from tests.spark import flow
from tests.spark.crashes import Crashes
from tests.spark.job import MORTAL
from tests.spark.processes import start

_LINE = "{kill:>4}  {who:<18}  {where:<26}  {batch:>5}  {left}"


def main() -> int:
    """Kill, compare, say."""
    parser = argparse.ArgumentParser(prog="kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=30, help="no more kills after so long")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cedr-kills-") as name:
        return run(Path(name), given.kills, given.seed, given.minutes)


def run(folder: Path, kills: int, seed: int, minutes: float) -> int:
    """The stream with kills, then the one without."""
    begun = time.monotonic()
    batches = kills + 10
    job = flow.prepared(folder / "killed", batches * 150, 165, seed, settings=MORTAL)
    print(f"{len(flow.files(folder / 'killed'))} batches, {kills} kills, seed {seed}", flush=True)
    left = "what the batch had left"
    print(_LINE.format(kill="kill", who="who", where="where", batch="batch", left=left), flush=True)
    crashes = Crashes(job, seed, kills, minutes * 60)
    for row in crashes.run():
        print(_LINE.format(**row, left=row[left]), flush=True)
    whole = flow.prepared(folder / "whole", batches * 150, 165, seed)
    process = start(replace(whole, folder=str(folder / "whole")))
    if process.wait(3_600):
        print(process.said())
        return 1
    found, expected = flow.written(folder / "killed"), flow.written(folder / "whole")
    torn = [number for number, files in enumerate(flow.composed(folder / "killed")) if len(files) != 1]
    different = flow.difference(flow.changes(found), flow.locally(job))
    different = different or flow.difference(flow.standing(found), flow.standing(expected))
    if not torn:  # the same batches: the same rows, to the letter
        different = different or flow.difference(found, expected)
    who = Counter("worker" if row["who"] == "worker" else "driver" for row in crashes.table)
    print(f"{len(crashes.table)} kills ({who['driver']} of the driver, {who['worker']} of Python workers), ", end="")
    print(f"{crashes.starts} starts, {time.monotonic() - begun:.0f} s")
    print(f"rows written: {found.total():,} with kills, {expected.total():,} without; ", end="")
    print(f"batches that Spark cut otherwise after a kill: {torn or 'none'}")
    print(different or "verdict: identical, no row lost, none doubled")
    return 1 if different or len(crashes.table) < kills else 0


if __name__ == "__main__":
    sys.exit(main())
