"""What a batch costs against a large state and against a small one: it should follow the batch, not the state.

The small state is a part of the large one: the machines that the batches speak of, spread over all of them.  So both
pipelines get the very same batches and say the very same things.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from benchmarks import machines as draw
from benchmarks.expected import FIRST, Tally, first_tally
from benchmarks.machines import START, TYPES, Batch, Machines, batches
from benchmarks.measuring import Run, Showing, Sizes, drive, pipeline_of, verdict
from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.time import HOUR, MINUTE

LIMIT = 1.5
PROBE = 10_000
PROBES = 15
SPAN = 11 * HOUR  # within the scope of the query, so that no event is forgotten


@dataclass(frozen=True, slots=True)
class Probed:
    """What the batches took against one state, and with the segments that changed written out."""

    plain: Run
    with_segments: list[float]
    total: Tally
    rows: int


def state_sizes(sizes: Sizes, showing: Showing) -> list[dict[str, Any]]:
    """The ratio of the medians, at both levels."""
    every = max(1, sizes.large // sizes.small)
    keys = max(1, sizes.large // 10)
    large = draw.machines(sizes.large, keys, span=SPAN, seed=11)
    small = large.take(large.key % every == 0)
    probes = probe_events(keys, every, sizes.large)
    expected = first_tally(joined(small, probes))
    feed = batches(probes, PROBE, closing=-1)
    rows = []
    for level in (STRONG, MIDDLE):
        against_small = probed(small, feed, level, showing)
        against_large = probed(large, feed, level, showing)
        right = against_small.total == expected and against_small.plain.tally == against_large.plain.tally
        rows += [
            _row("step", level, against_large, against_small, right=right),
            _row("step and state()", level, against_large, against_small, right=right),
        ]
    return rows


def probe_events(keys: int, every: int, first_serial: int) -> Machines:
    """What comes after the state: events of the machines that both states know."""
    known = max(1, keys // every)
    count = 2 * PROBES * PROBE
    drawn = draw.machines(count, known, start=START + SPAN, span=30 * MINUTE, first_serial=first_serial, seed=13)
    return Machines(drawn.kind, drawn.key * every, drawn.vs, drawn.serial, drawn.arrival, drawn.delay, drawn.end)


def probed(state: Machines, feed: list[Batch], level: ConsistencyLevel, showing: Showing) -> Probed:
    """Load a state, then measure batches against it; then more of them with ``state()`` after each."""
    pipeline = pipeline_of(TYPES + FIRST, level)
    loading = batches(state, 500_000, closing=-1)
    name = f"{len(state):,} events, {level}"
    loaded = drive(pipeline, loading, showing.bar(f"loading {name}", len(loading)))
    plain = drive(pipeline, feed[:PROBES], showing.bar(f"batches against {name}", PROBES), first=1_000)
    rows = pipeline.measures()[0].total_rows
    segments, rest = _with_segments(pipeline, feed[PROBES:])
    total = Tally()
    for part in (loaded.tally, plain.tally, rest):
        total = Tally(total.count + part.count, (total.checksum + part.checksum) % 2**64)
    return Probed(plain, segments, total, rows)


def _with_segments(pipeline: Pipeline, feed: list[Batch]) -> tuple[list[float], Tally]:
    pipeline.state()
    seconds, tally = [], Tally()
    for number, batch in enumerate(feed, start=2_000):
        start = process_time()
        (changes,) = pipeline.step(batch.messages(), number)
        said = changes.to_arrow()
        pipeline.state()
        seconds.append(process_time() - start)
        tally.add_changes(said)
    return seconds, tally


def _row(what: str, level: ConsistencyLevel, large: Probed, small: Probed, *, right: bool) -> dict[str, Any]:
    steps = [(p.plain.steps if what == "step" else p.with_segments) for p in (large, small)]
    ratio = median(steps[0]) / median(steps[1])
    return {
        "case": f"{what}, {level}",
        "rows of state": f"{large.rows:,} / {small.rows:,}",
        "right": right,
        "ratio": round(ratio, 2),
        "mean": round(sum(steps[0]) / sum(steps[1]), 2),
        "slowest": round(max(steps[0]) / max(steps[1]), 2),
        "limit": LIMIT,
        "verdict": verdict(ratio, LIMIT),
        "seconds": f"{median(steps[0]):.4f} / {median(steps[1]):.4f}",
    }


def joined(first: Machines, second: Machines) -> Machines:
    """One after the other."""
    names = ("kind", "key", "vs", "serial", "arrival")
    columns = (np.concatenate([getattr(first, name), getattr(second, name)]) for name in names)
    return Machines(*columns, max(first.delay, second.delay), max(first.end, second.end))
