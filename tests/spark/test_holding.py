"""What is held between two batches, and let go of."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from cedr.spark.step import pipeline_cache as holding
from cedr.spark.step.pipeline_cache import Holder
from cedr.spark.step.worker import Work


class Ring:
    """Only the collector frees it."""

    def __init__(self) -> None:
        self.own = self


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_a_pipeline_is_held_for_the_step_it_made_last() -> None:
    holder, made = Holder(), Ring()
    holder.keep("a", made, "first")  # type: ignore[arg-type]
    assert holder.take("b", "first") is None
    assert holder.take("a", "first") is made  # type: ignore[comparison-overlap]
    assert holder.take("a", "first") is None


def test_a_pipeline_of_another_step_is_let_go_of() -> None:
    holder = Holder()
    seen = _held_when_the_process_settled(holder)
    assert holder.take("a", "second") is None
    holder.keep("b", Ring(), "first")  # type: ignore[arg-type]
    assert seen() is None


def test_a_pipeline_whose_step_fails_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise ArithmeticError

    monkeypatch.setattr(holding, "work", fails)
    holder = Holder()
    seen = _held_when_the_process_settled(holder)
    bucket: Any = holder.take("a", "first")
    with pytest.raises(ArithmeticError):
        holder.step(bucket, Work("a", "first", [], 0, [], 0, []), None)  # type: ignore[arg-type]
    del bucket
    gc.collect()
    assert seen() is not None
    holder.keep("b", Ring(), "first")  # type: ignore[arg-type]
    assert seen() is None


def _held_when_the_process_settled(holder: Holder) -> weakref.ref[Ring]:
    made = Ring()
    holder.keep("a", made, "first")  # type: ignore[arg-type]
    gc.collect()
    gc.freeze()
    return weakref.ref(made)
