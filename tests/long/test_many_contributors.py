"""Patterns of ten contributors."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow.compute as pc
import pytest

from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from tests.long.feeding import Integers, Said, feed, in_batches, pipeline_of

pytestmark = pytest.mark.slow

KINDS = tuple(f"E{number}" for number in range(10))
TYPES = "".join(f"TYPE {kind} (k INTEGER, n INTEGER); " for kind in KINDS)
PARAMETERS = ", ".join(f"{kind} AS e{number}" for number, kind in enumerate(KINDS))
LEVELS = pytest.mark.parametrize("level", [STRONG, MIDDLE], ids=str)


def query(operator: str, scope: int) -> str:
    where = "WHERE CorrelationKey(k, EQUAL) OUTPUT e0.k AS k, e0.n AS first, e9.n AS last"
    return f"{TYPES} EVENT Q WHEN {operator}({PARAMETERS}, {scope}) {where}"


def ways(times: list[list[int]], start: int, scope: int) -> int:
    """How many chains of one time for each type, rising, begin at ``start`` and end within scope."""
    chains = Counter({start: 1})
    for kind in times[1:]:
        chains = Counter({
            time: sum(count for before, count in chains.items() if before < time)
            for time in set(kind)
            if time <= start + scope
        })  # fmt: skip
    return sum(chains.values())


def drawn(keys: int, each: int, span: int, seed: int) -> tuple[Integers, Integers, Integers]:
    """For each key and type ``each`` events with times of their own within ``span``; sorted by time."""
    random = np.random.default_rng(seed)
    kind = np.tile(np.repeat(np.arange(10), each), keys)
    key = np.repeat(np.arange(keys), 10 * each)
    # later types tend to come later, so that there are chains at all
    offset = np.stack([random.permutation(span)[: 10 * each] for _ in range(keys)]).ravel()
    vs = key // 10 + kind * (span // 4) + offset
    order = np.argsort(vs, kind="stable")
    return kind[order], key[order], vs[order]


@LEVELS
def test_a_sequence_of_ten(level: ConsistencyLevel) -> None:
    """R11: one output for each rising chain, counted here by adding up, type by type."""
    kind, key, vs = drawn(keys=400, each=3, span=40, seed=1)
    scope = 110
    pipeline = pipeline_of(query("SEQUENCE", scope), level)
    found = np.zeros(400, dtype=np.int64)
    for number, batch in enumerate(in_batches(KINDS, kind, vs, 2_000, k=key), start=1):
        said = pipeline.step(batch, number)[0].to_arrow()
        for change, sign in (("insert", 1), ("retract", -1)):
            chosen = said.filter(pc.equal(said.column("change"), change))
            if chosen.num_rows:
                found += sign * np.bincount(chosen.column("k").to_numpy(), minlength=400)
                assert pc.list_value_length(chosen.column("contributors")).unique().to_pylist() == [10]
    expected = []
    for each in range(400):
        times = [vs[(key == each) & (kind == place)].tolist() for place in range(10)]
        expected.append(sum(ways(times, start, scope) for start in times[0]))
    assert found.tolist() == expected
    assert sum(expected) > 50_000


@LEVELS
def test_all_of_ten(level: ConsistencyLevel) -> None:
    """R13: one event of each type for each key, in any order: an output where they lie within the scope."""
    kind, key, vs = drawn(keys=2_000, each=1, span=40, seed=2)
    scope = 105
    said = feed(
        pipeline_of(query("ALL", scope), level), in_batches(KINDS, kind, vs, 5_000, k=key), Said(("k", "first", "last"))
    )
    lowest, highest = np.full(2_000, 2**60), np.full(2_000, -1)
    np.minimum.at(lowest, key, vs)
    np.maximum.at(highest, key, vs)
    distinct = np.array([len(np.unique(vs[key == each])) == 10 for each in range(2_000)])
    expected = np.flatnonzero((highest - lowest <= scope) & distinct)
    assert 200 < len(expected) < 1_900
    assert np.array_equal(np.sort(said.table()[:, 0]), expected)
