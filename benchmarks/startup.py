"""How long it takes from nothing to an answer: whole processes, with and without machine code on disk.

A fresh installation is an empty folder for Numba's cache; the second run of the same process finds what the first one
left there.  What counts are seconds of the processor, which other programs disturb less than those on the wall; the
ratio is to a process that only imports NumPy and PyArrow.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import machines as draw
from benchmarks.expected import CIDR07
from benchmarks.measuring import Showing, Timings, verdict

Row = dict[str, Any]

EVENTS = 200_000
KEYS = 5_000
EXAMPLES = Path(__file__).parent.parent / "examples"
IMPORT, FRESH, AGAIN = 0.3, 5.0, 1.5
"""Seconds of the processor that a process may take."""
TIMES = 3

LIBRARIES = "import numpy, pyarrow"
SMALL = """
import cedr
cedr.evaluate({example!r} + ".cedr", {example!r} + ".jsonl", host="local", event="SameByKey").to_dicts()
"""
COMMAND = (
    "import sys; from cedr.cli.main import main; sys.argv = ['cedr', 'eval', {example!r} + '.cedr', "
    "'--messages', {example!r} + '.jsonl', '--host', 'local']; main()"
)
MANY = """
import sys
from pyarrow.parquet import ParquetFile
from cedr.consistency.batch import EventBatch
from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE
from cedr.model.stream import Guarantee
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_text
program = compile_text({query!r})
pipeline = Pipeline(program.queries["Q"].plan, MIDDLE, program.types, all_streams=False)
batches = [EventBatch.from_table(kind, ParquetFile({folder!r} + "/" + kind).read()) for kind in {kinds!r}]
said = [changes.to_arrow() for (changes,) in pipeline.whole([*batches, Guarantee(FOREVER - 1)], 1)]
"""


def run(showing: Showing) -> list[Row]:
    """All measurements, one line each."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        _events(folder)
        cases = {
            "the example, cedr.evaluate": SMALL.format(example=str(EXAMPLES / "machines")),
            "the example, cedr eval": COMMAND.format(example=str(EXAMPLES / "machines")),
            f"{EVENTS:,} events in columns": MANY.format(
                query=draw.TYPES_BY_TEXT + CIDR07, folder=str(folder), kinds=draw.KINDS
            ),
        }
        done = showing.bar("starting processes", 2 * TIMES + len(cases) * (1 + TIMES))
        base = _measured(LIBRARIES, folder / "none", done)
        found = [_row("NumPy and PyArrow", base, base, None), _row("import cedr", _import(done, folder), base, IMPORT)]
        for number, (case, lines) in enumerate(cases.items()):
            cache = folder / f"cache{number}"
            found.append(_row(f"{case}: first", _measured(lines, cache, done, 1), base, FRESH))
            found.append(_row(f"{case}: again", _measured(lines, cache, done), base, AGAIN))
    return found


def _import(done: Any, folder: Path) -> list[tuple[float, float]]:
    return _measured("import cedr", folder / "none", done)


def _events(folder: Path) -> None:
    drawn = draw.machines(EVENTS, KEYS)
    for kind, name in enumerate(draw.KINDS):
        rows = draw.arrow(drawn.take(np.flatnonzero(drawn.kind == kind)), name[0], text=True)
        pq.write_table(pa.Table.from_batches([rows]), folder / name)


def _measured(lines: str, cache: Path, done: Any, times: int = TIMES) -> list[tuple[float, float]]:
    """Seconds on the wall and of the processor, of so many processes one after the other."""
    found = []
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    for _ in range(times):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        subprocess.run([sys.executable, "-c", lines], env=environment, check=True, stdout=subprocess.DEVNULL)
        seconds, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append((seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
        done()
    return found


def _row(case: str, found: list[tuple[float, float]], base: list[tuple[float, float]], limit: float | None) -> Row:
    wall, processor = (Timings([each[which] for each in found]).middle for which in (0, 1))
    return {
        "case": case,
        "processor": round(processor, 2),
        "limit": limit,
        "verdict": verdict(processor, limit),
        "seconds": round(wall, 2),
        "ratio": round(processor / Timings([each[1] for each in base]).middle, 1),
    }
