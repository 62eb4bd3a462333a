"""The spectrum of levels, measured on the columnar engine: what falls, what grows, what is wrong and how old it is.

Paper: Section 5, Figures 8 and 9.  Readings: R33 to R35.  The numbers are those of docs/explanation/spectrum.md;
what is tested are their orderings.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

import spectrum
from cedr.model.time import FOREVER
from spectrum import BLOCKING, MEMORY, Cost, corners, frozen_when_it_mattered, grid, stream

pytestmark = pytest.mark.slow  # in `make test`


def with_more_blocking(memory: int) -> list[Cost]:
    return [grid()[blocking, memory] for blocking in BLOCKING]


def with_more_memory(blocking: int) -> list[Cost]:
    """Only where B is within M: above the diagonal both change."""
    return [grid()[blocking, memory] for memory in MEMORY if blocking <= memory]


@pytest.mark.parametrize("memory", MEMORY)
def test_with_blocking_output_falls_and_waiting_grows(memory: int) -> None:
    """Figure 9, upwards.  Reading: R33."""
    for less, more in pairwise(with_more_blocking(memory)):
        assert more.output <= less.output
        assert more.retractions <= less.retractions
        assert more.blocking >= less.blocking


@pytest.mark.parametrize("blocking", BLOCKING)
def test_with_memory_state_grows_and_errors_vanish(blocking: int) -> None:
    """Figure 9, to the right.  Reading: R34."""
    for less, more in pairwise(with_more_memory(blocking)):
        assert more.state >= less.state
        assert len(more.wrong) <= len(less.wrong)
        assert more.blocking == less.blocking


def test_the_spectrum_is_one() -> None:
    """Figure 9: the ends of each axis differ, or there would be nothing to choose."""
    weak, middle, strong = grid()[0, 0], grid()[0, FOREVER], grid()[FOREVER, FOREVER]
    assert strong.output < middle.output
    assert strong.blocking > middle.blocking == 0
    assert weak.state < middle.state
    assert len(weak.wrong) > len(middle.wrong) == 0


def test_a_larger_blocking_acts_as_memory() -> None:
    """Figure 9, above the diagonal."""
    for (blocking, memory), cost in grid().items():
        same = grid()[min(blocking, memory), memory]
        assert (cost.blocking, cost.state, cost.output, cost.wrong) == (
            same.blocking,
            same.state,
            same.output,
            same.wrong,
        )


@pytest.mark.parametrize("memory", MEMORY)
def test_errors_are_older_than_the_memory(memory: int) -> None:
    """Reading: R34: what is wrong had ended more than M before the message came that would have repaired it."""
    for cost in with_more_blocking(memory):
        for row in cost.wrong:
            assert frozen_when_it_mattered(cost, row, stream(orderly=False)), f"{row.id} at {cost.level}"


def test_strong_says_each_row_once() -> None:
    """Figure 8, Output Size "Minimal"."""
    for orderly in (True, False):
        assert corners()["STRONG", orderly].retractions == 0
    assert corners()["STRONG", True].output == corners()["STRONG", False].output


@pytest.mark.parametrize(("column", "low"), [("blocking", "STRONG"), ("state", "STRONG"), ("state", "MIDDLE")])
def test_disorder_costs_blocking_and_state(column: str, low: str) -> None:
    """Figure 8: Low where orderliness is high, High where it is low."""
    assert getattr(corners()[low, True], column) < getattr(corners()[low, False], column)


def test_strong_and_middle_keep_about_as_much() -> None:
    """Figure 8: "the middle and strong consistency levels have the same state size", and weak keeps least."""
    for orderly in (True, False):
        strong, middle, weak = (corners()[name, orderly].state for name in ("STRONG", "MIDDLE", "WEAK"))
        assert weak <= middle
        assert abs(strong - middle) <= middle // 4
    assert corners()["WEAK", False].state < corners()["MIDDLE", False].state


def test_middle_pays_for_disorder_with_output() -> None:
    """Figure 8, Output Size: Low, High for middle; weak is below middle."""
    assert corners()["MIDDLE", True].output < corners()["MIDDLE", False].output
    assert corners()["WEAK", False].output <= corners()["MIDDLE", False].output
    for orderly in (True, False):
        for name in ("MIDDLE", "WEAK"):
            assert corners()[name, orderly].blocking == 0


def test_the_page_shows_these_numbers() -> None:
    page = spectrum.spectrum_page()
    for cost in corners().values():
        assert f"| {cost.blocking:,} | {cost.state:,} | {cost.output:,} |" in page
