"""Pipelines that a worker process keeps between two batches, and drops."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from cedr.spark.state.pipeline_cache import PipelineCache, StepRequest, StepResult


class Ring:
    """Only the collector frees it."""

    def __init__(self) -> None:
        self.own = self


def fails(*_: Any) -> StepResult:
    """A step that always fails."""
    raise ArithmeticError


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_a_pipeline_is_kept_for_the_step_it_made_last() -> None:
    cache, made = PipelineCache[Ring](fails), Ring()
    cache.keep("a", made, "first")
    assert cache.take("b", "first") is None
    assert cache.take("a", "first") is made
    assert cache.take("a", "first") is None


def test_a_pipeline_of_another_step_is_dropped() -> None:
    cache = PipelineCache[Ring](fails)
    seen = _kept_when_the_process_settled(cache)
    assert cache.take("a", "second") is None
    cache.keep("b", Ring(), "first")
    assert seen() is None


def test_a_pipeline_whose_step_fails_is_dropped() -> None:
    cache = PipelineCache[Ring](fails)
    seen = _kept_when_the_process_settled(cache)
    bucket: Any = cache.take("a", "first")
    with pytest.raises(ArithmeticError):
        cache.step(bucket, StepRequest("a", "first", [], 0, [], 0, []), None)  # type: ignore[arg-type]
    del bucket
    gc.collect()
    assert seen() is not None
    cache.keep("b", Ring(), "first")
    assert seen() is None


def _kept_when_the_process_settled(cache: PipelineCache[Ring]) -> weakref.ref[Ring]:
    made = Ring()
    cache.keep("a", made, "first")
    gc.collect()
    gc.freeze()
    return weakref.ref(made)
