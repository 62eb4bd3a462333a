"""A predicate that is false for all pairs, or for all but one: candidates must not pile up."""

from __future__ import annotations

import numpy as np
import pytest

from cedr.model.level import MIDDLE
from tests.long.feeding import Said, feed, in_batches, pipeline_of
from tests.long.memory import MEGABYTE, measured

pytestmark = pytest.mark.slow

QUERY = """TYPE A (v INTEGER, n INTEGER); TYPE B (v INTEGER, n INTEGER);
EVENT Q WHEN SEQUENCE(A AS x, B AS y, 1000000) WHERE {x.v + y.v = 7} OUTPUT x.n AS x, y.n AS y"""


def matches(count: int, true_pairs: int, batch: int) -> list[list[int]]:
    """All A come before all B and within scope, without a key: every pair is a candidate."""
    kind = np.repeat([0, 1], count)
    vs = np.arange(2 * count)
    value = np.full(2 * count, 100)
    value[:true_pairs], value[count : count + true_pairs] = 3, 4
    said = feed(pipeline_of(QUERY, MIDDLE), in_batches(("A", "B"), kind, vs, batch, v=value), Said(("x", "y")))
    return said.table().tolist()


@pytest.mark.parametrize("batch", [1_000, 100_000])
@pytest.mark.parametrize(("true_pairs", "found"), [(0, []), (1, [[0, 6_000]])])
def test_thirty_six_million_candidates(batch: int, true_pairs: int, found: list[list[int]]) -> None:
    """R21: no pair satisfies the predicate, or exactly one."""
    assert matches(6_000, true_pairs, batch) == found


def one_batch(large: bool) -> int:
    return len(matches(8_000 if large else 100, 0, 100_000))


def test_candidates_are_looked_at_in_bounded_chunks() -> None:
    """64 million candidate pairs would be a gigabyte as pairs of row numbers alone."""
    found, raised = measured(one_batch)
    assert found == 0
    assert raised < 400 * MEGABYTE
