"""What is said in Python about data that is not what it should be: never nothing, and always what to do.

Each golden file has the call, what it gives, and what is said; ``tests/cli/bad_data`` has the same of the command.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import cedr
from cedr.diagnostics.exceptions import CedrError

PAIR = "EVENT Pair WHEN SEQUENCE(TX AS a, TX AS b, 5 minutes) WHERE CorrelationKey(card, EQUAL) OUTPUT a.card AS card\n"
WORDS: dict[str, Any] = {"type": "TX", "id": "id"}
TIMES = pd.to_datetime(["2026-01-01 00:00", "2026-01-01 00:01"], utc=True)
FRAME = pd.DataFrame({"id": ["1", "2"], "time": TIMES, "card": ["x", "x"], "amount": [1.0, 2.0]})
TICKS = FRAME.assign(time=[1767225600, 1767225660])
MANY = pd.concat([FRAME.assign(id=[f"{n}a", f"{n}b"]) for n in range(20)])
SUM = f"{PAIR[:-1]}, a.amount + b.amount AS amount"
DECLARED = f"TYPE TX (card STRING, amount FLOAT);\n{SUM}"
HALF = FRAME.assign(amount=["1", "abc"])
rows = FRAME.to_dict("records")

CASES: dict[str, Callable[[], Any]] = {
    # no query, no data
    "the data before the query": lambda: cedr.evaluate(FRAME, PAIR, **WORDS),  # type: ignore[arg-type]
    "a number as query": lambda: cedr.compile(3),  # type: ignore[arg-type]
    "no query": lambda: cedr.run(None, FRAME, **WORDS),  # type: ignore[arg-type,call-overload]
    "a number": lambda: cedr.evaluate(PAIR, 3, **WORDS),
    "no data": lambda: cedr.evaluate(PAIR, **WORDS),
    "bytes": lambda: cedr.evaluate(PAIR, b"id,time", **WORDS),
    "an open file": lambda: cedr.evaluate(PAIR, io.BytesIO(b"id,time"), **WORDS),
    "a Series": lambda: cedr.evaluate(PAIR, FRAME["card"], **WORDS),
    "an array": lambda: cedr.evaluate(PAIR, FRAME.to_numpy()),
    "a lazy frame": lambda: cedr.evaluate(PAIR, pl.from_pandas(FRAME).lazy(), **WORDS),
    "a list of numbers": lambda: cedr.evaluate(PAIR, [1, 2], **WORDS),
    "a generator of numbers": lambda: cedr.evaluate(PAIR, iter([1, 2]), **WORDS),
    "columns for types": lambda: cedr.evaluate(PAIR, {"id": [1], "time": [1]}, id="id"),
    "no file of that name": lambda: cedr.run(PAIR, "nothing.csv", **WORDS),
    # words
    "a frame without words": lambda: cedr.evaluate(PAIR, FRAME),
    "a word that does not exist": lambda: cedr.evaluate(PAIR, FRAME, typ="TX"),
    "another type": lambda: cedr.evaluate(PAIR, FRAME, type="PAYMENT"),
    "words for what comes one by one": lambda: cedr.run(PAIR, iter(rows), **WORDS),
    "a level that does not exist": lambda: cedr.evaluate(PAIR, FRAME, consistency="STRONGER", **WORDS),
    "a host that does not exist": lambda: cedr.evaluate(PAIR, FRAME, host="flink", **WORDS),
    # times and units
    "whole numbers without a unit": lambda: cedr.evaluate(PAIR, TICKS, **WORDS),
    "ticks over timestamps": lambda: cedr.evaluate(PAIR.replace("5 minutes", "300"), FRAME, **WORDS),
    "fractions without a unit": lambda: cedr.evaluate(PAIR, TICKS.assign(time=TICKS.time + 0.5), **WORDS),
    # rows that are read, and what is said once about all of them
    "no rows": lambda: cedr.evaluate(PAIR, FRAME[:0], **WORDS),
    "a type that never comes": lambda: cedr.evaluate(
        PAIR.replace("TX AS b", "PAYMENT AS b"), FRAME.assign(kind="TX"), type="kind", id="id"
    ),
    "times that tie": lambda: cedr.evaluate(PAIR, FRAME.assign(time=TIMES[0]), **WORDS),
    "STRONG without a guarantee": lambda: cedr.run(PAIR, FRAME, consistency="STRONG", **WORDS),
    "later than declared": lambda: cedr.evaluate(PAIR, FRAME[::-1], disorder="30 seconds", **WORDS),
    "one value that does not fit": lambda: cedr.evaluate(
        SUM, MANY.assign(amount=["abc", *map(str, range(39))]), bad_rows=0.1, **WORDS
    ),
    "half of the rows": lambda: cedr.evaluate(DECLARED, HALF, **WORDS),
    "half of the rows, allowed": lambda: cedr.evaluate(DECLARED, HALF, bad_rows=0.5, **WORDS),
}


def told(call: Callable[[], Any]) -> str:
    try:
        given = call()
    except CedrError as error:
        return f"{type(error).__name__}\n{error}\n"
    lines = [repr(given)] if isinstance(given, cedr.Result) else []
    lines += [each.render() for each in given.warnings]
    return "\n".join([*lines, *getattr(given, "remarks", ())]) + "\n"


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(Path(__file__).parent / "said" / f"{name.replace(' ', '-')}.txt", told(CASES[name]))


def test_rows_that_an_iterator_gives_are_data() -> None:
    lines = ["id,time,card", "1,2026-01-01 00:00:00,x", "2,2026-01-01 00:01:00,x"]
    for given in (iter(rows), csv.DictReader(lines)):
        assert len(cedr.evaluate(PAIR, given, **WORDS)) == 1


def test_described_data_is_shown_in_a_line() -> None:
    both = cedr.events(FRAME, **WORDS) | cedr.events(pa.table({"t": [1]}), type="B", time="t", time_unit="s")
    assert repr(both) == (
        "<events pandas data frame, type='TX', id='id' | Arrow table, type='B', time='t', time_unit='s'>"
    )
