"""A stream whose keys come and go, with advancing guarantees: what is forgotten keeps up with what comes."""

from __future__ import annotations

from statistics import median

import pytest

from benchmarks.machines import TYPES
from benchmarks.soak import PATTERN, SCOPE, Flow
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from tests.long.feeding import pipeline_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("level", [STRONG, MIDDLE], ids=str)
def test_state_is_flat_and_as_small_as_its_scope(level: ConsistencyLevel) -> None:
    """R37: an event goes once the guarantee is past its scope; no store holds more than the events within it."""
    flow = Flow(batch=4_000)
    pipeline = pipeline_of(TYPES + PATTERN, level)
    rows, sizes = [], []
    for number, batch in enumerate(flow.batches(400_000), start=1):
        pipeline.step(batch, number)
        measures = pipeline.measures()[0]
        rows.append(max(measures.rows.values()))
        sizes.append(measures.total_bytes)
    needed = flow.batch * (SCOPE + flow.lag) / flow.step
    assert max(rows[50:]) < 2.5 * needed
    assert median(sizes[75:]) <= 1.1 * median(sizes[50:75])
    assert max(sizes[50:]) <= 2 * median(sizes[50:])  # what is dropped is dropped now and then, not at each step
    assert measures.dead_letters == 0
