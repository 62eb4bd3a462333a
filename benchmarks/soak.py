"""A long run with advancing guarantees: does memory stay flat?  ``python -m benchmarks.soak --messages 10000000``.

Machines come and go all the time, so that what belongs to the dead ones must be forgotten; some events are late, some
are retracted.  State and resident memory are sampled; the last quarter of the run is compared with the one before it.
"""

from __future__ import annotations

import os

os.environ["NUMBA_NUM_THREADS"] = "1"  # read when numba is imported

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

from benchmarks.machines import KINDS, SHARES, START, TYPES, Machines, arrow
from benchmarks.measuring import one_thread, pipeline_of
from benchmarks.reporting import keep, print_tables, sparkline, wide
from cedr.consistency.batch import EventBatch
from cedr.model.level import NAMED_LEVELS, ConsistencyLevel
from cedr.model.stream import Guarantee, Message, Retract
from cedr.model.time import HOUR, MINUTE

PATTERN = """EVENT Q WHEN UNLESS(SEQUENCE(INSTALL AS x, FIRST SHUTDOWN AS y, 1 hour), RESTART AS z, 5 minutes)
WHERE CorrelationKey(Machine_Id, EQUAL)
OUTPUT x.Machine_Id AS machine, x.Serial AS install, y.Serial AS shutdown"""
AVERAGE = """EVENT Q FROM INSTALL AS x WINDOW MOVING 1 hour GROUP BY x.Machine_Id % 1000 AS bay
OUTPUT bay, AVG(x.Load) AS load"""
SESSIONS = """EVENT Q FROM SHUTDOWN AS y WINDOW SESSION 5 minutes GROUP BY y.Machine_Id AS machine
OUTPUT machine, COUNT(*) AS times"""
QUERIES = {"pattern": PATTERN, "average": AVERAGE, "sessions": SESSIONS}
SCOPE = HOUR + 5 * MINUTE
BATCH = 10_000
SAMPLES = 240
LATE, RETRACTED = 0.05, 0.005
SLACK = 1.1
MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Flow:
    """How the stream flows: messages a batch, the time it covers, how many machines are there and how fast they go."""

    batch: int = BATCH
    step: int = 4 * MINUTE
    machines: int = 20_000
    renewed: int = 1_000

    @property
    def lag(self) -> int:
        """How late an event may be."""
        return 2 * self.step

    def batches(self, messages: int, seed: int = 5) -> Iterator[list[Message | EventBatch]]:
        """All batches, one at a time: nothing of them is kept here."""
        for number in range(-(-messages // self.batch)):
            drawn = self.drawn(number, np.random.default_rng((seed, number)))
            parts: list[Message | EventBatch] = []
            for kind, name in enumerate(KINDS):
                rows = drawn.take(drawn.kind == kind)
                parts += [EventBatch.from_table(name, arrow(rows, name[0])), *self._retractions(rows, name)]
            yield [*parts, Guarantee(drawn.end - self.lag - 1)]

    def drawn(self, number: int, random: np.random.Generator) -> Machines:
        """The events of one batch."""
        start = START + number * self.step
        vs = random.integers(start, start + self.step, self.batch)
        vs -= np.where(random.random(self.batch) < LATE, random.integers(0, self.lag, self.batch), 0)
        kind = np.searchsorted(np.cumsum(SHARES)[:-1], random.random(self.batch), side="right").astype(np.int8)
        key = number * self.renewed + random.integers(0, self.machines, self.batch)
        serial = np.arange(self.batch) + number * self.batch
        return Machines(kind, key, vs, serial, vs, self.lag, start + self.step)

    def _retractions(self, rows: Machines, name: str) -> list[Message]:
        """Every so many events is taken back at once."""
        chosen = rows.take(rows.serial % int(1 / RETRACTED) == 0)
        pairs = zip(chosen.serial.tolist(), chosen.vs.tolist(), strict=True)
        return [Retract(f"{name}/{name[0]}{serial:09}@{vs}") for serial, vs in pairs]


@dataclass(slots=True)
class Samples:
    """What was seen in the course of a run."""

    rows: list[float] = field(default_factory=list)
    bytes: list[float] = field(default_factory=list)
    resident: list[float] = field(default_factory=list)


def soak(
    level: ConsistencyLevel, messages: int, flow: Flow, progress: Progress, query: str = PATTERN
) -> list[dict[str, Any]]:
    """One level: three lines, each with its course."""
    pipeline = pipeline_of(TYPES + query, level)
    total = -(-messages // flow.batch)
    every = max(1, total // SAMPLES)
    samples, said = Samples(), 0
    task = progress.add_task(f"soak at {level}", total=total)
    for number, batch in enumerate(flow.batches(messages), start=1):
        (changes,) = pipeline.step(batch, number)
        said += changes.to_arrow().num_rows
        progress.advance(task)
        if number % every == 0:
            measures = pipeline.measures()[0]
            samples.rows.append(float(measures.total_rows))
            samples.bytes.append(measures.total_bytes / MEGABYTE)
            samples.resident.append(resident() / MEGABYTE)
    needed = flow.batch * (SCOPE + flow.lag) / flow.step
    measures = pipeline.measures()[0]
    note = f"{said:,} changes, {measures.late:,} late, {measures.dead_letters:,} dead letters"
    progress.console.print(f"{level}: {note}; about {needed:,.0f} events lie within the scope", highlight=False)
    return [_row(f"{level}: {name}", values) for name, values in _courses(samples)]


def _courses(samples: Samples) -> list[tuple[str, list[float]]]:
    return [
        ("rows of state", samples.rows),
        ("MiB of state", samples.bytes),
        ("MiB resident", samples.resident),
    ]


def _row(name: str, values: list[float]) -> dict[str, Any]:
    quarter = max(1, len(values) // 4)
    before, after = max(values[-2 * quarter : -quarter] or values), max(values[-quarter:])
    return {
        "what": name,
        "course": sparkline(values),
        "third quarter": round(before, 1),
        "last quarter": round(after, 1),
        "verdict": "flat" if after <= SLACK * before else "grows",
    }


def resident() -> int:
    """Bytes of memory that the process holds now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    """Soak at each level that was asked for."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--levels", nargs="+", choices=list(NAMED_LEVELS), default=["MIDDLE", "STRONG"])
    parser.add_argument("--query", choices=list(QUERIES), default="pattern")
    given = parser.parse_args()
    one_thread()
    console = wide()
    with Progress(console=console, transient=True) as progress:
        rows = [
            row
            for name in given.levels
            for row in soak(NAMED_LEVELS[name], given.messages, Flow(given.batch), progress, QUERIES[given.query])
        ]
    print_tables(console, {"soak": rows})
    console.print(f"kept in {keep('soak', {'soak': rows}, vars(given))}")


if __name__ == "__main__":
    main()
