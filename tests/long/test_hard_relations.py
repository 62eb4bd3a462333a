"""The algebra where it is hard: hot groups, storms, many partners, sessions and windows without measure, odd values.

Readings: R20 (NULL, NaN), R29 to R31, R45.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import cedr
from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE
from cedr.model.stream import Guarantee, Retract
from cedr.model.time import FOREVER
from tests.long.feeding import Said, feed, pipeline_of, rows
from tests.long.memory import MEGABYTE, measured

pytestmark = pytest.mark.slow

TYPES = "TYPE A (k INTEGER, v INTEGER, n INTEGER); TYPE B (k INTEGER, v INTEGER, n INTEGER); "
CENTURY = 100 * 365 * 86_400 * 1_000_000


def standing(count: int, aggregate: str, *, seed: int = 3) -> tuple[Pipeline, np.ndarray]:
    """A group with ``count`` rows that are alive at once, which came in ten batches, and their values."""
    values = np.random.default_rng(seed).integers(0, 1_000, count)
    window = f"WINDOW MOVING {10 * count}"
    pipeline = pipeline_of(f"{TYPES} EVENT Q FROM A AS a {window} GROUP BY a.k OUTPUT {aggregate} AS x", MIDDLE)
    for number, part in enumerate(np.array_split(np.arange(count), 10)):
        batch = rows("A", part, part, k=np.zeros(len(part), np.int64), v=values[part])
        pipeline.step([batch, Guarantee(int(part[-1]) - 1)], number)
    return pipeline, values


EXPECTED = {
    "COUNT(*)": len,
    "MIN(a.v)": min,
    "SUM(a.v)": sum,
    "COUNT(DISTINCT a.v)": lambda values: len(set(values)),
    "MEDIAN(a.v)": lambda values: sorted(values)[(len(values) + 1) // 2 - 1],
    "LAST(a.v)": lambda values: values[-1],
}


@pytest.mark.parametrize("aggregate", EXPECTED)
def test_one_hot_group(aggregate: str) -> None:
    """Each event changes a group of 20,000 rows that are alive, and costs no look at all of them."""
    count = 20_000
    pipeline, values = standing(count, aggregate)
    (changes,) = pipeline.step([rows("A", *[np.array([count])] * 2, k=np.array([0]), v=np.array([500]))], 11)
    (last,) = [c.event for c in changes.to_changes() if c.kind == "insert" and c.event] or [None]
    expected = EXPECTED[aggregate]([*values.tolist(), 500])
    before = EXPECTED[aggregate](values.tolist())
    assert (before if last is None else last.payload["x"]) == expected


def test_the_minimum_is_retracted_again_and_again() -> None:
    """A storm: each retraction takes the smallest value away, and the next one is found each time."""
    count = 800
    pipeline = pipeline_of(f"{TYPES} EVENT Q FROM A AS a GROUP BY a.k OUTPUT a.k AS k, MIN(a.v) AS least", MIDDLE)
    all_at_once = np.zeros(count, np.int64)
    pipeline.step([rows("A", all_at_once, np.arange(count), k=all_at_once, v=np.arange(count))], 0)
    for number in range(count // 2):
        (changes,) = pipeline.step([Retract(f"A/A{number:08}@0", 0)], number + 1)
        (found,) = [c.event.payload["least"] for c in changes.to_changes() if c.kind == "insert" and c.event]
        assert found == number + 1


def many_partners(large: bool) -> int:
    """Rows that join with 10,000 others each, ten at a time."""
    partners, count = (10_000, 300) if large else (100, 10)
    text = f"{TYPES} EVENT Q FROM A AS a JOIN B AS b ON a.k = b.k OUTPUT a.n AS a, b.n AS b"
    pipeline = pipeline_of(text, MIDDLE)
    zeros = np.zeros(partners, np.int64)
    pipeline.step([rows("B", zeros, np.arange(partners), k=zeros, v=zeros)], 0)
    found = 0
    for start in range(0, count, 10):
        numbers = np.arange(start, start + 10)
        of = np.zeros(10, np.int64)
        (changes,) = pipeline.step([rows("A", numbers + 1, numbers, k=of, v=of), Guarantee(start)], start + 1)
        found += changes.to_arrow().num_rows
    return found


def test_ten_thousand_partners_for_each_row() -> None:
    """Three million rows leave, a hundred thousand in each step; what has left is not held."""
    found, raised = measured(many_partners)
    assert found == 3_000_000
    assert raised < 400 * MEGABYTE


def test_a_session_that_never_ends() -> None:
    """One row, which counts more and more; each step says how many."""
    text = f"{TYPES} EVENT Q FROM A AS a WINDOW SESSION 10 GROUP BY a.k OUTPUT COUNT(*) AS n"
    pipeline, size = pipeline_of(text, MIDDLE), 500
    for number in range(10):
        of = np.arange(number * size, (number + 1) * size)
        zeros = np.zeros(size, np.int64)
        (changes,) = pipeline.step([rows("A", of, of, k=zeros, v=zeros), Guarantee(int(of[-1]) - 1)], number)
        (row,) = [c.event for c in changes.to_changes() if c.kind == "insert" and c.event]
        assert (row.valid_start, row.valid_end, row.payload["n"]) == (0, FOREVER, (number + 1) * size)


@pytest.mark.parametrize("window", ["MOVING", "TUMBLING", "SESSION"])
@pytest.mark.parametrize("length", [1, CENTURY])
def test_windows_of_a_microsecond_and_of_a_century(window: str, length: int) -> None:
    """As the oracle has them; nothing is laid out instant by instant."""
    text = f"{TYPES} EVENT Q FROM A AS a WINDOW {window} {length} GROUP BY a.k OUTPUT a.k AS k, COUNT(*) AS n"
    times = np.sort(np.random.default_rng(5).integers(0, 60_000_000, 60))
    given = [event("A", number, time, k=number % 3, v=1, n=1) for number, time in enumerate(times.tolist())]
    same_as_the_oracle(text, given)


def test_ten_thousand_hops_in_a_window() -> None:
    """Reading: R31: a hopping window is one lifetime of each event, however many hops it has."""
    size, hop, count = 1_000_000, 100, 20_000
    text = f"{TYPES} EVENT Q FROM A AS a WINDOW HOPPING {size} EVERY {hop} GROUP BY a.k OUTPUT COUNT(*) AS n"
    times = np.sort(np.random.default_rng(6).integers(0, 10 * size, count))
    zeros = np.zeros(count, np.int64)
    pipeline = pipeline_of(text, MIDDLE)
    said = feed(
        pipeline,
        [[rows("A", times, np.arange(count), k=zeros, v=zeros), Guarantee(100 * size)]],
        Said(("Vs", "Ve", "n")),
    )
    steps = np.concatenate([(times // hop + 1) * hop, ((times + size) // hop + 1) * hop])
    change = np.concatenate([np.ones(count, np.int64), np.full(count, -1)])
    instants = np.unique(steps)
    alive = [int(change[steps <= instant].sum()) for instant in instants[:: len(instants) // 50]]
    table = said.table()
    for instant, expected in zip(instants[:: len(instants) // 50].tolist(), alive, strict=True):
        found = table[(table[:, 0] <= instant) & (table[:, 1] > instant)]
        assert found[:, 2].tolist() == ([expected] if expected else [])
    assert all(one[1] <= other[0] for one, other in pairwise(sorted(table.tolist())))


ODD = "TYPE A (k FLOAT, v FLOAT, d DECIMAL); TYPE B (k FLOAT, v FLOAT, d DECIMAL); "
VALUES = (None, float("nan"), 0.0, -0.0, 1.5, float("inf"), 1e308)
DECIMALS = (None, Decimal(0), Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal("1e-30"), Decimal("1e6144"))
QUERIES = {
    "group": "FROM A AS a GROUP BY a.k OUTPUT a.k AS k, COUNT(a.v) AS n, SUM(a.v) AS s, AVG(a.v) AS m, MAX(a.v) AS x",
    "decimals": "FROM A AS a GROUP BY a.k OUTPUT a.k AS k, SUM(a.d) AS s, AVG(a.d) AS m, MIN(a.d) AS x",
    "distinct": "FROM A AS a OUTPUT DISTINCT a.k AS k, a.d AS d",
    "top": "FROM A AS a GROUP BY a.k TOP 1 BY a.v DESC OUTPUT a.k AS k, a.v AS v",
    "join": "FROM A AS a JOIN B AS b ON a.k = b.k OUTPUT a.v AS v, b.v AS w",
    "left join": "FROM A AS a LEFT JOIN B AS b ON a.k = b.k AND a.v < b.v OUTPUT a.v AS v, b.v AS w",
    "anti join": "FROM A AS a ANTI JOIN B AS b ON a.k = b.k OUTPUT a.v AS v",
    "except": "FROM A AS a EXCEPT B AS b",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_odd_values(query: str) -> None:
    """NULL keys, NaN, zeros of both signs, infinities, decimals that overflow: as the oracle has them."""
    random = np.random.default_rng(8)
    given = []
    for number in range(80):
        k, v = (VALUES[place] for place in random.integers(0, len(VALUES), 2))
        start = int(random.integers(0, 40))
        payload = {"k": k, "v": v, "d": DECIMALS[random.integers(0, len(DECIMALS))]}
        given.append(event("AB"[number % 2], number, start, start + int(random.integers(1, 20)), **payload))
    same_as_the_oracle(f"{ODD} EVENT Q {query}", given)


def event(kind: str, number: int, start: int, end: int | None = None, **payload: Any) -> dict[str, Any]:
    """An event as a message."""
    return {"insert": {"type": kind, "id": f"e{number}", "vs": start, "ve": end, "payload": payload}}


def same_as_the_oracle(text: str, given: list[dict[str, Any]]) -> None:
    """All rows of the whole, by lifetime and payload."""
    found, meant = (
        Counter((r.id, r.valid_start, r.valid_end, repr(r.payload)) for r in cedr.evaluate(text, given, host=host).rows)
        for host in ("local", "oracle")
    )
    assert found == meant
    assert found
