"""Seeded trades as Arrow columns: a symbol, a price and an amount, in order, partly late, partly retracted.

``trades`` draws them, ``batches`` cuts them into what a pipeline takes in one step, each with a sound guarantee.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmarks.machines import Integers
from cedr.consistency.batch import EventBatch
from cedr.model.stream import Guarantee, Message, Retract
from cedr.model.time import MINUTE, SECOND, Time

START: Time = 1_700_000_000 * SECOND
RATE = 1_000
"""Trades a second."""
TYPES = "TYPE TRADE (symbol INTEGER, price FLOAT, amount INTEGER); TYPE ORDERED (symbol INTEGER, price FLOAT); "


@dataclass(frozen=True, slots=True)
class Trades:
    """Trades in the order of arrival."""

    stream: str
    symbol: Integers
    price: np.ndarray
    amount: Integers
    vs: Integers
    serial: Integers
    arrival: Integers
    retracted: np.ndarray
    """Which of them are retracted, some time after they have arrived."""
    delay: int

    def __len__(self) -> int:
        return len(self.vs)

    def take(self, rows: Integers) -> Trades:
        """Some of them, in the order given."""
        names = ("symbol", "price", "amount", "vs", "serial", "arrival", "retracted")
        return Trades(self.stream, *(getattr(self, name)[rows] for name in names), self.delay)


def trades(
    count: int, symbols: int, *, stream: str = "TRADE", late: float = 0.0, retracted: float = 0.0, seed: int = 11
) -> Trades:
    """``count`` trades; a share ``late`` of them arrives up to ten minutes later, another share is retracted."""
    random = np.random.default_rng(seed)
    vs = START + np.sort(random.integers(0, count * SECOND // RATE, count))
    delay = 10 * MINUTE if late or retracted else 0
    behind = np.where(random.random(count) < late, random.integers(1, 10 * MINUTE + 1, count), 0)
    drawn = Trades(
        stream,
        random.integers(0, symbols, count),
        random.integers(4, 4_000, count) / 4.0,  # sums of quarters are exact in NumPy, too
        random.integers(1, 1_000, count),
        vs,
        np.arange(count),
        vs + behind,
        random.random(count) < retracted,
        delay,
    )
    return drawn.take(np.argsort(drawn.arrival, kind="stable")) if late else drawn


@dataclass(frozen=True, slots=True)
class Batch:
    """The trades of one step, what is retracted in it, and the guarantee that follows."""

    columns: dict[str, pa.RecordBatch]
    retractions: tuple[Retract, ...]
    guarantee: Time

    def messages(self) -> list[Message | EventBatch]:
        """As a pipeline takes it; what this costs is part of what is measured."""
        inserts = [EventBatch.from_table(name, rows) for name, rows in self.columns.items()]
        return [*inserts, *self.retractions, Guarantee(self.guarantee)]


def batches(drawn: Trades, size: int) -> Iterator[Batch]:
    """Batches of ``size`` trades; what is retracted is so in the batch after the one in which it came."""
    columns = arrow(drawn)
    waiting: tuple[Retract, ...] = ()
    for start in range(0, len(drawn), size):
        stop = min(start + size, len(drawn))
        last = stop == len(drawn)
        guarantee = START + 365 * 86_400 * SECOND if last else int(drawn.arrival[stop]) - drawn.delay - 1
        if drawn.retracted.any():
            guarantee = guarantee if last else guarantee - size * SECOND // RATE
        chosen = np.flatnonzero(drawn.retracted[start:stop]) + start
        now, waiting = waiting, tuple(_retraction(drawn, row) for row in chosen.tolist())
        yield Batch({drawn.stream: columns.slice(start, stop - start)}, now, guarantee)


def _retraction(drawn: Trades, row: int) -> Retract:
    start = int(drawn.vs[row])
    return Retract(f"{drawn.stream}/{int(drawn.serial[row])}@{start}", start)


def arrow(drawn: Trades) -> pa.RecordBatch:
    """Trades as Arrow columns."""
    columns = {"id": pa.array(drawn.serial), "time": pa.array(drawn.vs), "symbol": pa.array(drawn.symbol)}
    columns["price"] = pa.array(drawn.price)
    if drawn.stream == "TRADE":
        columns["amount"] = pa.array(drawn.amount)
    return pa.record_batch(columns)
