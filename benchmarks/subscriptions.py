"""How fast events find their subscriptions: ``symbol = X AND price > p``, thousands of them, about one match per event.

In the same run: a plain Python dictionary of lists, event by event, and a Polars join with the table of subscriptions.
All find the same pairs.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from resource import RUSAGE_SELF, getrusage
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa

import cedr
from benchmarks.measuring import Showing, Sizes, one_thread
from cedr.model.stream import Guarantee

Row = dict[str, Any]
SYMBOLS = 10_000
TYPE = "TYPE TRADE (symbol STRING, price FLOAT)"
COUNTS = (100, 1_000, 10_000, 100_000)
WARM = 3
"""Batches before the first that is measured."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The events, batch by batch, and the subscriptions: the symbol and the price of each."""

    symbols: list[np.ndarray[Any, np.dtype[np.int32]]]
    prices: list[np.ndarray[Any, np.dtype[np.float64]]]
    names: pa.Array

    def batch(self, number: int, *, coded: bool) -> cedr.EventBatch:
        """One batch, its symbols as a dictionary or as plain texts; every event has an end."""
        places = self.symbols[number]
        symbols = pa.DictionaryArray.from_arrays(pa.array(places), self.names)
        ids = np.arange(len(places)) + number * len(places)
        payload = {"symbol": symbols if coded else symbols.dictionary_decode(), "price": self.prices[number]}
        return cedr.EventBatch("TRADE", ids, ids, ids + 1, payload=payload)


def stream_of(events: int, batch: int) -> Stream:
    """A stream from a seed."""
    random = np.random.default_rng(7)
    sizes = [batch] * max(1, events // batch)
    symbols = [random.integers(0, SYMBOLS, size).astype(np.int32) for size in sizes]
    return Stream(symbols, [random.random(size) * 100 for size in sizes], pa.array([f"S{n}" for n in range(SYMBOLS)]))


def limits_of(count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The price of each subscription; nearly every event of its symbol is above it."""
    return np.round(np.random.default_rng(count).random(count), 3)


def subscribed(count: int) -> tuple[cedr.Subscriptions, float]:
    """So many subscriptions, and the seconds that adding them has taken."""
    subscriptions = cedr.Subscriptions(TYPE)
    texts = {f"s{n}": f"symbol = 'S{n % SYMBOLS}' AND price > {p}" for n, p in enumerate(limits_of(count).tolist())}
    start = process_time()
    subscriptions.add_all(texts)
    return subscriptions, process_time() - start


Measured = tuple[float, int]
"""Seconds of CPU, and the pairs that were found."""


def timed(batches: Sequence[Any], work: Callable[[Any], int], done: Callable[[], object]) -> Measured:
    """The batches after the first few."""
    seconds, found = [], 0
    gc.collect()
    for number, batch in enumerate(batches):
        start = process_time()
        pairs = work(batch)
        if number >= WARM:
            seconds.append(process_time() - start)
            found += pairs
        done()
    return sum(seconds), found


def matched(stream: Stream, count: int, done: Callable[[], object], *, coded: bool) -> Measured:
    """The index alone."""
    subscriptions, _ = subscribed(count)
    batches = [stream.batch(number, coded=coded) for number in range(len(stream.symbols))]
    return timed(batches, lambda batch: len(subscriptions.match(batch)), done)


def stepped(stream: Stream, count: int, done: Callable[[], object]) -> Measured:
    """With the engine, which would route retractions, and keeps what may still be retracted."""
    subscriptions, _ = subscribed(count)
    batches = [stream.batch(number, coded=True) for number in range(len(stream.symbols))]
    return timed(batches, lambda batch: len(subscriptions.step([batch, Guarantee(int(batch.vs[-1]))])), done)


def by_dictionary(stream: Stream, count: int, done: Callable[[], object]) -> Measured:
    """A dictionary from symbol to the prices of its subscriptions, event by event."""
    known: dict[str, list[tuple[int, float]]] = {}
    for number, price in enumerate(limits_of(count).tolist()):
        known.setdefault(f"S{number % SYMBOLS}", []).append((number, price))
    names = stream.names.to_pylist()

    def work(number: int) -> int:
        pairs = []
        rows = zip(texts[number], stream.prices[number].tolist(), strict=True)
        for row, (symbol, price) in enumerate(rows):
            for subscription, limit in known.get(symbol, ()):
                if price > limit:
                    pairs.append((row, subscription))
        return len(pairs)

    texts = [[names[place] for place in places.tolist()] for places in stream.symbols]
    return timed(range(len(stream.symbols)), work, done)


def by_join(stream: Stream, count: int, done: Callable[[], object]) -> Measured:
    """A Polars join of each batch with the table of subscriptions, and the rest as a filter; on one thread."""
    import polars

    limits = limits_of(count)
    table = polars.DataFrame(
        {"symbol": [f"S{n % SYMBOLS}" for n in range(count)], "limit": limits, "subscription": np.arange(count)}
    )
    frames = [
        polars.DataFrame({"symbol": stream.names.take(pa.array(places)), "price": prices})
        for places, prices in zip(stream.symbols, stream.prices, strict=True)
    ]

    def work(frame: polars.DataFrame) -> int:
        found = frame.with_row_index("event").join(table, on="symbol").filter(polars.col("price") > polars.col("limit"))
        return len(found.select("event", "subscription"))

    return timed(frames, work, done)


WAYS: dict[str, Callable[[Stream, int, Callable[[], object]], Measured]] = {
    "match, symbols as a dictionary": lambda stream, count, done: matched(stream, count, done, coded=True),
    "match, symbols as texts": lambda stream, count, done: matched(stream, count, done, coded=False),
    "step, with beliefs": stepped,
    "a dictionary of lists, in Python": by_dictionary,
    "a Polars join": by_join,
}


def run(sizes: Sizes, showing: Showing) -> dict[str, list[Row]]:
    """Measure every way at every number of subscriptions."""
    one_thread()
    stream = stream_of(min(sizes.events, 3_000_000), sizes.batch)
    rows: list[Row] = []
    for name, way in WAYS.items():
        few = 0.0
        for count in COUNTS:
            if sizes.only.lower() not in f"{name} {count}".lower():
                continue
            done = showing.bar(f"{name}, {count:,}", sizes.rounds * len(stream.symbols))
            measured = [way(stream, count, done) for _ in range(sizes.rounds)]
            seconds, events = median(each for each, _ in measured), sum(map(len, stream.symbols[WARM:]))
            few = few or seconds
            rows.append(
                {
                    "way": name,
                    "subscriptions": count,
                    "million events/s": round(events / seconds / 1e6, 2),
                    "times 100": round(seconds / few, 2),
                    "matches per event": round(measured[0][1] / events, 3),
                }
            )
    _compare(rows)
    return {"symbol = X AND price > p, one thread": rows, "100,000 subscriptions": [memory()]}


def _compare(rows: list[Row]) -> None:
    """All ways find as much."""
    for row in rows:
        same = {each["matches per event"] for each in rows if each["subscriptions"] == row["subscriptions"]}
        row["right"] = len(same) == 1


def memory() -> Row:
    """What a hundred thousand subscriptions take: bytes beyond what the process had, and seconds."""
    gc.collect()
    before = getrusage(RUSAGE_SELF).ru_maxrss
    subscriptions, seconds = subscribed(100_000)
    subscriptions.match(stream_of(10_000, 10_000).batch(0, coded=True))
    start = process_time()
    subscriptions.add_all({f"more{n}": f"symbol = 'S{n}' AND price > 1.5" for n in range(1_000)})
    subscriptions.match(stream_of(1, 1).batch(0, coded=True))
    more = process_time() - start
    return {
        "peak of the process, MB": round(getrusage(RUSAGE_SELF).ru_maxrss / 1024),
        "more than before, MB": round((getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024),
        "constants, MB": round(subscriptions.nbytes / 2**20, 1),
        "seconds to add": round(seconds, 2),
        "seconds for 1,000 more, and a lookup": round(more, 3),
    }
