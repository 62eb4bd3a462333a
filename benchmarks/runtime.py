"""How fast the runtime is, as ratios: to a lexsort of the same rows, to a smaller state, to a matcher by hand.

All ratios are taken within one run, because machines differ.  Every run's matches are compared with those that NumPy
finds on the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from benchmarks import machines as draw
from benchmarks.expected import CIDR07, FIRST, Tally, cidr07_tally, first_tally
from benchmarks.latency import latencies
from benchmarks.machines import TYPES, TYPES_BY_TEXT, Batch, batches
from benchmarks.matcher import Matcher
from benchmarks.measuring import (
    Run,
    Showing,
    Sizes,
    Timings,
    drive,
    drive_whole,
    lexsort,
    one_thread,
    pipeline_of,
    verdict,
)
from benchmarks.state_size import state_sizes
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.time import FOREVER

Row = dict[str, Any]
BY_HAND = "FIRST, in order, by hand in Python"


@dataclass(frozen=True, slots=True)
class Case:
    """One way to run a query over the events, with the ratio it may take."""

    name: str
    limit: float | None
    rows: draw.Machines
    feed: list[Batch]
    expected: Tally
    run: Callable[[list[Batch], Callable[[], object]], Run]
    rounds: int = FOREVER


@dataclass(slots=True)
class Measured:
    """What the rounds of one case gave."""

    case: Case
    timings: Timings = field(default_factory=Timings)
    base: Timings = field(default_factory=Timings)
    """A lexsort of the same rows, in the same order of arrival."""
    last: Run = field(default_factory=Run)

    def take(self, run: Run, base: float) -> None:
        """One more round."""
        self.timings.seconds.append(run.seconds)
        self.base.seconds.append(base)
        self.last = run

    def row(self) -> Row:
        """A line of the table."""
        base = self.base
        ratio = median(mine / sort for mine, sort in zip(self.timings.seconds, base.seconds, strict=True))
        return {
            "case": self.case.name,
            "inserts": self.last.inserts,
            "retractions": self.last.retractions,
            "right": self.last.tally == self.case.expected,
            "ratio": round(ratio, 2),
            "best": round(self.timings.best / base.best, 2),
            "limit": self.case.limit,
            "verdict": verdict(ratio, self.case.limit),
            "seconds": round(self.timings.middle, 3),
        }


def run(sizes: Sizes, showing: Showing) -> dict[str, list[Row]]:
    """Measure everything; a table for each question.  With ``only``, those whose name holds that text."""
    one_thread()
    warm_up(showing)
    found = {}
    if sizes.only not in ("state_sizes", "latencies"):
        rows = throughput(sizes, showing)
        found["times a lexsort by (key, time) of the same rows"] = rows
        found["times faster than the matcher by hand"] = factors(rows)
    if sizes.only in ("", "state_sizes"):
        found["times the same batch against the small state"] = state_sizes(sizes, showing)
    if sizes.only in ("", "latencies"):
        found["single events, milliseconds"] = latencies(sizes, showing)
    return found


def warm_up(showing: Showing) -> None:
    """Compile every kernel on a small stream, so that compilation is not measured."""
    sizes = Sizes(events=20_000, keys=500, batch=2_000)
    found = cases(sizes)
    done = showing.bar("warming up", sum(len(case.feed) for case in found))
    wrong = [case.name for case in found if case.run(case.feed, done).tally != case.expected]
    if wrong:
        showing.say(f"[red]wrong matches already on a small stream: {', '.join(wrong)}")


def throughput(sizes: Sizes, showing: Showing) -> list[Row]:
    """The events through each case, some rounds; beside them the lexsort."""
    chosen = cases(sizes, showing)
    rows = draw.machines(sizes.events, sizes.keys)
    shuffled = rows.take(np.random.default_rng(1).permutation(len(rows)))
    base, disordered = Timings(), Timings()
    measured = [Measured(case) for case in chosen]
    for number in range(1, sizes.rounds + 1):
        for each in (each for each in measured if each.case.rounds >= number):
            sorting = lexsort(each.case.rows)
            done = showing.bar(f"{each.case.name}, round {number}", len(each.case.feed))
            each.take(each.case.run(each.case.feed, done), sorting)
            showing.say(f"{each.case.name}: {each.last.seconds / sorting:.2f} (round {number})")
        base.seconds.append(lexsort(rows))
        disordered.seconds.append(lexsort(shuffled))
    found = [each.row() for each in measured]
    return [*found, _lexsort_row("lexsort", base, base), _lexsort_row("lexsort of shuffled rows", disordered, base)]


def factors(rows: list[Row]) -> list[Row]:
    """How many times faster the cases of the same query are than the matcher by hand."""
    hand = [row["seconds"] for row in rows if row["case"] == BY_HAND]
    same = [row for row in rows if row["case"].startswith("FIRST") and row["case"] != BY_HAND]
    return [{"case": row["case"], "factor": round(hand[0] / row["seconds"], 1)} for row in same if hand]


def _lexsort_row(name: str, timings: Timings, base: Timings) -> Row:
    ratio = round(timings.middle / base.middle, 2)
    best = round(timings.best / base.best, 2)
    blank = dict.fromkeys(("inserts", "retractions", "right"), "")
    rest = {"ratio": ratio, "best": best, "limit": None, "verdict": "", "seconds": round(timings.middle, 3)}
    return {"case": name, **blank, **rest}


def cases(sizes: Sizes, showing: Showing | None = None) -> list[Case]:
    """All cases that were asked for."""
    drawn = draw.machines(sizes.events, sizes.keys)
    late = draw.machines(sizes.events, sizes.keys, late=0.1)
    orderly, disorderly = batches(drawn, sizes.batch), batches(late, sizes.batch)
    whole, by_text = batches(drawn, len(drawn)), batches(drawn, sizes.batch, text=True)
    first, cidr07 = first_tally(drawn), cidr07_tally(drawn)
    if showing is not None:
        showing.say(f"expected: {first.count:,} first pairs, {cidr07.count:,} pairs of CIDR07_Example")
    texts = through(TYPES_BY_TEXT + FIRST, MIDDLE)
    found = [
        Case("FIRST, in order, STRONG", 2.5, drawn, orderly, first, through(TYPES + FIRST, STRONG)),
        Case("FIRST, in order, MIDDLE", 2.5, drawn, orderly, first, through(TYPES + FIRST, MIDDLE)),
        Case("FIRST, 10 % late, STRONG", 6.0, late, disorderly, first, through(TYPES + FIRST, STRONG)),
        Case("FIRST, 10 % late, MIDDLE", 6.0, late, disorderly, first, through(TYPES + FIRST, MIDDLE)),
        Case("FIRST, one batch", 1.5, drawn, whole, first, through(TYPES + FIRST, MIDDLE)),
        Case("FIRST, in order, keys as text, MIDDLE", None, drawn, by_text, first, texts),
        Case("CIDR07, in order, STRONG", 6.0, drawn, orderly, cidr07, through(TYPES + CIDR07, STRONG)),
        Case("CIDR07, in order, MIDDLE", 6.0, drawn, orderly, cidr07, through(TYPES + CIDR07, MIDDLE)),
        Case("CIDR07, bounded", 6.0, drawn, whole, cidr07, partial(_bounded, TYPES + CIDR07)),
        Case("CIDR07, one batch", None, drawn, whole, cidr07, through(TYPES + CIDR07, STRONG)),
        Case(BY_HAND, None, drawn, orderly, first, by_hand, rounds=1),
    ]
    whole = sizes.only in ("throughput", "state_sizes", "latencies")
    return [case for case in found if whole or sizes.only.lower() in case.name.lower()]


def through(text: str, level: ConsistencyLevel) -> Callable[[list[Batch], Callable[[], object]], Run]:
    """Run a query at a level."""
    return partial(_through, text, level)


def _through(text: str, level: ConsistencyLevel, feed: list[Batch], done: Callable[[], object]) -> Run:
    return drive(pipeline_of(text, level), feed, done)


def _bounded(text: str, feed: list[Batch], done: Callable[[], object]) -> Run:
    """All events at once, after which nothing comes."""
    return drive_whole(pipeline_of(text, STRONG), feed, done)


def by_hand(feed: list[Batch], done: Callable[[], object]) -> Run:
    """The same batches through the matcher by hand."""
    run, matcher = Run(), Matcher()
    for batch in feed:
        start = process_time()
        found = matcher.step(batch)
        run.steps.append(process_time() - start)
        pairs = np.array([match[6:8] for match in found], dtype=np.int64).reshape(-1, 2)
        run.tally.add(pairs[:, 0], pairs[:, 1])
        run.inserts += len(found)
        done()
    return run
