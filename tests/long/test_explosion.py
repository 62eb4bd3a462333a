"""Matches that explode: far more comes out than goes in, and it streams out in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc
import pytest

from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.stream import Guarantee
from tests.long.feeding import Batch, pipeline_of, rows
from tests.long.memory import MEGABYTE, measured

pytestmark = pytest.mark.slow

QUERY = """TYPE A (n INTEGER); TYPE B (n INTEGER);
EVENT Q WHEN SEQUENCE(A AS x, B AS y, 100000) OUTPUT x.n AS x, y.n AS y"""
FIRSTS, STEP = 4_000, 50


def exploding(seconds: int) -> Iterator[Batch]:
    """Many A, then B after B: each makes a pair with every A."""
    yield [rows("A", np.arange(FIRSTS), np.arange(FIRSTS)), Guarantee(FIRSTS - 1)]
    for start in range(0, seconds, STEP):
        numbers = np.arange(start, start + STEP)
        yield [rows("B", FIRSTS + numbers, numbers), Guarantee(FIRSTS + start + STEP - 1)]


def streamed(level: ConsistencyLevel, seconds: int) -> int:
    """How many pairs come out; their sums are checked on the way."""
    pipeline = pipeline_of(QUERY, level)
    count = firsts = lasts = 0
    for number, batch in enumerate(exploding(seconds), start=1):
        (changes,) = pipeline.step(batch, number)
        said = changes.to_arrow()
        assert changes.retractions == 0
        count += changes.inserts
        firsts += pc.sum(said.column("x")).as_py() or 0
        lasts += pc.sum(said.column("y")).as_py() or 0
    assert firsts == seconds * FIRSTS * (FIRSTS - 1) // 2
    assert lasts == FIRSTS * seconds * (seconds - 1) // 2
    return count


def strong(large: bool) -> int:
    return streamed(STRONG, 2_500 if large else STEP)


def middle(large: bool) -> int:
    return streamed(MIDDLE, 2_500 if large else STEP)


@pytest.mark.parametrize("function", [strong, middle], ids=["STRONG", "MIDDLE"])
def test_ten_million_outputs_stream_out_in_bounded_memory(function) -> None:
    """R37: what was said and is final is forgotten; only the events within scope stay."""
    found, raised = measured(function)
    assert found == 10_000_000
    assert raised < 300 * MEGABYTE
