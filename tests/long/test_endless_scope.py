"""A scope of FOREVER: the plan says that its state has no bound, and the answers are right all the same."""

from __future__ import annotations

import numpy as np
import pytest

from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.plan.compile import compile_text
from cedr.plan.explain import explain
from tests.long.feeding import Said, feed, first_after, in_batches, pipeline_of, same

pytestmark = pytest.mark.slow

QUERY = """TYPE A (k INTEGER, n INTEGER); TYPE B (k INTEGER, n INTEGER);
EVENT Q WHEN SEQUENCE(A AS x, FIRST B AS y, FOREVER) WHERE CorrelationKey(k, EQUAL) OUTPUT x.n AS x, y.n AS y"""


@pytest.mark.parametrize("level", [STRONG, MIDDLE], ids=str)
def test_explain_warns_and_the_query_runs(level: ConsistencyLevel) -> None:
    """R37: without a scope no event is ever forgotten; explain says so."""
    plan = compile_text(QUERY).queries["Q"].plan
    assert any("has no bound" in warning for warning in explain(plan, level).warnings)
    random = np.random.default_rng(1)
    count, keys = 200_000, 1_000
    kind, key = random.integers(0, 2, count), random.integers(0, keys, count)
    vs = np.sort(random.integers(0, 10**12, count))
    said = feed(pipeline_of(QUERY, level), in_batches(("A", "B"), kind, vs, 20_000, k=key), Said(("x", "y")))
    far = 2 * 10**12  # keys lie so far apart that none is within the scope of another
    codes = key * far + vs
    firsts, seconds = np.flatnonzero(kind == 0), np.flatnonzero(kind == 1)
    seconds = seconds[np.argsort(codes[seconds], kind="stable")]
    place = first_after(codes[firsts], codes[seconds], 10**12)
    assert same(said.table(), np.column_stack([firsts[place >= 0], seconds[place[place >= 0]]]))
