"""One key that has nearly all the events: work must follow what changes, not how many events the key has."""

from __future__ import annotations

import numpy as np
import pytest

from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from tests.long.feeding import Integers, Said, feed, first_after, in_batches, pipeline_of, same

pytestmark = pytest.mark.slow

KINDS = ("A", "B")
SCOPE = 3_600
QUERY = f"""TYPE A (k INTEGER, n INTEGER); TYPE B (k INTEGER, n INTEGER);
EVENT Q WHEN SEQUENCE(A AS x, FIRST B AS y, {SCOPE}) WHERE CorrelationKey(k, EQUAL) OUTPUT x.n AS x, y.n AS y"""
LEVELS = pytest.mark.parametrize("level", [STRONG, MIDDLE], ids=str)


def expected(kind: Integers, vs: Integers) -> Integers:
    """Each A with the first B after it; of several at one time the one with the smallest ID."""
    firsts, seconds = np.flatnonzero(kind == 0), np.flatnonzero(kind == 1)
    seconds = seconds[np.lexsort((seconds, vs[seconds]))]
    place = first_after(vs[firsts], vs[seconds], SCOPE)
    return np.column_stack([firsts[place >= 0], seconds[place[place >= 0]]])


def hot(count: int, seed: int) -> tuple[Integers, Integers]:
    """Two types in turn at random, about four events a tick: equal times are common."""
    random = np.random.default_rng(seed)
    return random.integers(0, 2, count), np.sort(random.integers(0, count // 4, count))


@LEVELS
def test_a_million_events_of_one_key(level: ConsistencyLevel) -> None:
    """R25: each A has its first B, whatever the number of events under the key."""
    kind, vs = hot(1_000_000, seed=1)
    said = Said(("x", "y"))
    feed(pipeline_of(QUERY, level), in_batches(KINDS, kind, vs, 50_000, k=np.zeros(len(vs), dtype=np.int64)), said)
    assert same(said.table(), expected(kind, vs))
    assert said.retractions == 0 or level is MIDDLE


@LEVELS
def test_late_events_of_one_hot_key(level: ConsistencyLevel) -> None:
    """R28: a tenth of the events is late; the choices are made again, for what they affect."""
    kind, vs = hot(200_000, seed=2)
    random = np.random.default_rng(3)
    lag = 2_000
    order = np.argsort(vs + np.where(random.random(len(vs)) < 0.1, random.integers(0, lag, len(vs)), 0), kind="stable")
    kind, vs = kind[order], vs[order]
    said = Said(("x", "y"))
    keys = np.zeros(len(vs), dtype=np.int64)
    feed(pipeline_of(QUERY, level), in_batches(KINDS, kind, vs, 10_000, lag, k=keys), said)
    assert same(said.table(), expected(kind, vs))


@LEVELS
def test_one_hot_key_among_many(level: ConsistencyLevel) -> None:
    """Nine events of ten have one key, the others each their own: these find nothing."""
    kind, vs = hot(300_000, seed=4)
    keys = np.where(np.arange(len(vs)) % 10 == 0, np.arange(len(vs)), -1)
    said = Said(("x", "y"))
    feed(pipeline_of(QUERY, level), in_batches(KINDS, kind, vs, 50_000, k=keys), said)
    masked = np.where(keys == -1, kind, 2)
    assert same(said.table(), expected(masked, vs))
