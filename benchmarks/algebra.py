"""How fast the algebra is on a stream, as ratios to a lexsort of the same rows, each case checked against NumPy.

Moving averages, windows, running counts and interval joins; in order, and with late and retracted trades.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.expected import Tally
from benchmarks.machines import Integers
from benchmarks.measuring import Run, Showing, Sizes, one_thread, pipeline_of, verdict
from benchmarks.trades import TYPES, Batch, Trades, batches, trades
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.time import FOREVER, MINUTE

Row = dict[str, Any]
SYMBOLS = 1_000

MOVING = """EVENT Q FROM TRADE AS t WINDOW MOVING 10 minutes GROUP BY t.symbol
OUTPUT t.symbol AS symbol, AVG(t.price) AS price"""
TUMBLING = """EVENT Q FROM TRADE AS t WINDOW TUMBLING 1 minute GROUP BY t.symbol
OUTPUT t.symbol AS symbol, COUNT(*) AS n, SUM(t.amount) AS amount"""
RUNNING = "EVENT Q FROM TRADE AS t GROUP BY t.symbol OUTPUT t.symbol AS symbol, COUNT(*) AS n"
JOIN = """EVENT Q FROM (FROM TRADE AS t WINDOW MOVING 10 minutes OUTPUT t.symbol AS symbol, t.price AS price) AS a
JOIN (FROM ORDERED AS o WINDOW MOVING 10 minutes OUTPUT o.symbol AS symbol, o.price AS price) AS b
ON a.symbol = b.symbol OUTPUT a.price AS bid, b.price AS ask"""


@dataclass(frozen=True, slots=True)
class Case:
    """One query over trades at a level, with the ratio it may take and what must come out."""

    name: str
    limit: float | None
    text: str
    level: ConsistencyLevel
    rows: list[Trades]
    expected: Callable[[list[Trades]], Tally] | None
    batch: int


class LifetimeTally(Tally):
    """Rows by Vs and Ve: a row is counted once its Ve is known, and counted back when it is removed.

    Of trades in order a row that has its Ve keeps it.
    """

    def add_changes(self, said: pa.RecordBatch) -> None:
        """Count what a step emitted."""
        known = said.filter(pc.less(said.column("Ve"), FOREVER))
        self.add(known.column("Vs").to_numpy(), known.column("Ve").to_numpy())


def run(sizes: Sizes, showing: Showing) -> dict[str, list[Row]]:
    """Measure every case, some rounds."""
    one_thread()
    for case in cases(Sizes(events=20_000, batch=2_000, only=sizes.only)):
        _through(case, lambda: None)
    rows = []
    for case in cases(sizes):
        expected = None if case.expected is None else case.expected(case.rows)
        ratios, seconds, found = [], [], Run()
        for number in range(1, sizes.rounds + 1):
            base = _lexsort(case.rows)
            steps = sum(-(-len(each) // case.batch) for each in case.rows)
            found = _through(case, showing.bar(f"{case.name}, round {number}", steps))
            ratios.append(found.seconds / base)
            seconds.append(found.seconds)
            showing.say(f"{case.name}: {ratios[-1]:.2f} (round {number})")
        rows.append(_row(case, expected, found, ratios, seconds))
    return {"times a lexsort by (key, time) of the same rows": rows}


def _row(case: Case, expected: Tally | None, found: Run, ratios: list[float], seconds: list[float]) -> Row:
    ratio = median(ratios)
    events = sum(map(len, case.rows))
    return {
        "case": case.name,
        "inserts": found.inserts,
        "retractions": found.retractions,
        "right": "" if expected is None else found.tally == expected,
        "ratio": round(ratio, 2),
        "limit": case.limit,
        "verdict": verdict(ratio, case.limit),
        "seconds": round(median(seconds), 3),
        "million events/s": round(events / median(seconds) / 1e6, 2),
    }


def _through(case: Case, done: Callable[[], object]) -> Run:
    found, pipeline = Run(tally=LifetimeTally()), pipeline_of(TYPES + case.text, case.level)
    for number, batch in enumerate(_feed(case), 1):
        start = process_time()
        (changes,) = pipeline.step(batch.messages(), number)
        said = changes.to_arrow()
        found.add(changes, said, process_time() - start)
        done()
    return found


def _feed(case: Case) -> Iterable[Batch]:
    """The batches of one stream, or those of two side by side."""
    feeds = [batches(rows, case.batch // len(case.rows)) for rows in case.rows]
    for parts in zip(*feeds, strict=True):
        columns = {name: rows for part in parts for name, rows in part.columns.items()}
        retractions = tuple(each for part in parts for each in part.retractions)
        yield Batch(columns, retractions, min(part.guarantee for part in parts))


def _lexsort(rows: list[Trades]) -> float:
    key, time = (np.concatenate([getattr(each, name) for each in rows]) for name in ("symbol", "vs"))
    start = process_time()
    np.lexsort((time, key))
    return process_time() - start


def cases(sizes: Sizes) -> list[Case]:
    """All cases that were asked for."""
    plain = [trades(sizes.events, SYMBOLS)]
    late = [trades(sizes.events, SYMBOLS, late=0.05, retracted=0.05)]
    each = sizes.events // 5
    two = [trades(each, 100_000), trades(each, 100_000, stream="ORDERED", seed=12)]
    make = partial(Case, batch=sizes.batch)
    found = [
        make("moving average, STRONG", 3.0, MOVING, STRONG, plain, moving),
        make("moving average, MIDDLE", 4.5, MOVING, MIDDLE, plain, moving),
        make("moving average, 5 % late, 5 % retracted, MIDDLE", 11.25, MOVING, MIDDLE, late, None),
        make("tumbling minute, MIDDLE", 1.0, TUMBLING, MIDDLE, plain, tumbling),
        make("tumbling minute, 5 % late, 5 % retracted, MIDDLE", 2.5, TUMBLING, MIDDLE, late, None),
        make("running count, MIDDLE", 2.0, RUNNING, MIDDLE, plain, None),
        make("interval join, MIDDLE", 2.5, JOIN, MIDDLE, two, joined),
    ]
    return [case for case in found if sizes.only.lower() in case.name.lower()]


# -- what must come out -----------------------------------------------------------------------------------------------


def moving(rows: list[Trades]) -> Tally:
    """Lifetimes of the averages: between any two instants at which a trade enters or leaves, where the mean differs."""
    (drawn,) = rows
    ones = np.ones(len(drawn), np.int64)
    times = np.concatenate([drawn.vs, drawn.vs + 10 * MINUTE])
    return _spans(
        np.tile(drawn.symbol, 2),
        times,
        np.concatenate([ones, -ones]),
        [np.concatenate([drawn.price, -drawn.price])],
        lambda count, sums: [sums[0] / count],
    )


def tumbling(rows: list[Trades]) -> Tally:
    """The window of each trade's minute, as its result is valid: for the minute after it."""
    (drawn,) = rows
    start = drawn.vs // MINUTE * MINUTE + MINUTE
    ones = np.ones(len(drawn), np.int64)
    return _spans(
        np.tile(drawn.symbol, 2),
        np.concatenate([start, start + MINUTE]),
        np.concatenate([ones, -ones]),
        [np.concatenate([drawn.amount, -drawn.amount])],
        lambda count, sums: [count, sums[0]],
    )


Values = Callable[[np.ndarray, list[np.ndarray]], list[np.ndarray]]


def _spans(group: Integers, times: Integers, ones: Integers, columns: list[np.ndarray], values: Values) -> Tally:
    order = np.lexsort((times, group))
    group, times = group[order], times[order]
    count, sums = np.cumsum(ones[order]), [np.cumsum(column[order]) for column in columns]
    last = np.append((group[1:] != group[:-1]) | (times[1:] != times[:-1]), True)
    group, times, count = group[last], times[last], count[last]
    sums = [column[last] for column in sums]
    with np.errstate(all="ignore"):
        shown = values(count, sums)
    alive = count > 0
    same = np.append(False, (group[1:] == group[:-1]) & alive[1:] & alive[:-1])
    for column in shown:
        same[1:] &= column[1:] == column[:-1]
    first = np.flatnonzero(alive & ~same)
    breaks = np.flatnonzero(~same)  # a row lasts until the next instant that does not go on with it
    ends = times[breaks[np.searchsorted(breaks, first, side="right")]]
    found = LifetimeTally()
    found.add(times[first], ends)
    return found


def joined(rows: list[Trades]) -> Tally:
    """Pairs of one symbol less than ten minutes apart: from the later start to the earlier end."""
    left, right = (each.take(np.lexsort((each.vs, each.symbol))) for each in rows)
    span = np.int64(1) << 44
    base = min(int(left.vs.min()), int(right.vs.min())) - 20 * MINUTE
    keys = right.symbol * span + (right.vs - base)
    own = left.symbol * span + (left.vs - base)
    low = np.searchsorted(keys, own - 10 * MINUTE, side="right")
    high = np.searchsorted(keys, own + 10 * MINUTE, side="left")
    sizes = high - low
    one = np.repeat(left.vs, sizes)
    offsets = np.repeat(np.cumsum(sizes) - sizes, sizes)
    other = right.vs[np.repeat(low, sizes) + np.arange(len(one)) - offsets]
    found = LifetimeTally()
    found.add(np.maximum(one, other), np.minimum(one, other) + 10 * MINUTE)
    return found
