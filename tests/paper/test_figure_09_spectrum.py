"""Figure 9: the spectrum of levels, memory M on one axis and blocking B on the other.

Paper: Section 5: "The interesting part of the spectrum is the lower right triangle since increasing the maximum
blocking time beyond the maximum memory time has no effect on operator behavior."  Readings: R33 to R35.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.time import FOREVER
from tests.semantics.stepping import engine, message, say

UNLESS = "EVENT Q WHEN UNLESS(A, B, 5)"
ARRIVED = (
    "A a1 1",
    "A a2 3",
    "A a3 9",
    "B b1 4",
    "B b2 10",
    "A a4 12",
    "B b3 13",
    "guarantee 20",
    "A a5 30",
    "guarantee 40",
)


def level(blocking: int, memory: int, *, cedr_time: bool = False) -> ConsistencyLevel:
    return ConsistencyLevel(Bound(blocking, cedr_time), Bound(memory, cedr_time))


def told(at: ConsistencyLevel, arrived: tuple[str, ...] = ARRIVED, every: int = 1) -> list[list[str]]:
    running = engine(UNLESS, at)
    return [[say(c) for c in running.step([message(line)], n * every)] for n, line in enumerate(arrived, 1)]


def said(steps: list[list[str]]) -> list[str]:
    return [text for step in steps for text in step if not text.startswith("!")]


def test_the_corners_have_names() -> None:
    """Figure 9: lower left, lower right, upper right."""
    assert (level(0, 0), level(0, FOREVER), level(FOREVER, FOREVER)) == (WEAK, MIDDLE, STRONG)


@pytest.mark.parametrize(("blocking", "memory"), [(1, 0), (FOREVER, 0), (9, 4), (FOREVER, 4)])
def test_blocking_beyond_memory_has_no_effect(blocking: int, memory: int) -> None:
    """Figure 9: only the lower right triangle counts: a larger B acts as M."""
    assert told(level(blocking, memory)) == told(level(memory, memory))


def test_the_corners_differ() -> None:
    """Figure 9: each corner has its own behaviour on a disorderly stream."""
    weak, middle, strong = (said(told(at)) for at in (WEAK, MIDDLE, STRONG))
    assert strong == ["+a5 [30,35)"]
    assert middle == ["+a1 [1,6)", "+a2 [3,8)", "+a3 [9,14)", "-a1", "-a2", "-a3", "+a4 [12,17)", "-a4", "+a5 [30,35)"]
    assert weak == ["+a1 [1,6)", "+a2 [3,8)", "+a3 [9,14)", "-a3", "+a4 [12,17)", "-a4", "+a5 [30,35)"]


def test_along_the_x_axis_more_and_more_is_repaired() -> None:
    """Figure 9: "to remember progressively further and further into the past, but remain non-blocking"."""
    repaired = [{t for t in said(told(level(0, memory))) if t.startswith("-")} for memory in (0, 1, 2, 3, 4, FOREVER)]
    assert all(one <= other for one, other in pairwise(repaired))
    assert repaired[0] == {"-a3", "-a4"}
    assert repaired[-1] == {"-a1", "-a2", "-a3", "-a4"}
    assert len({frozenset(found) for found in repaired}) == 3  # a2 [3, 8) needs M = 1, a1 [1, 6) needs M = 3


def test_upwards_less_and_less_is_taken_back() -> None:
    """Figure 9: from the lower right to the upper right corner, retractions give way to waiting."""
    numbers = [sum(t.startswith("-") for t in said(told(level(b, FOREVER)))) for b in (0, 1, 3, 5, 8, FOREVER)]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] == 4
    assert numbers[-1] == 0


def test_all_levels_that_remember_end_alike() -> None:
    """Figure 9, the right edge: "willing to … remember everything": the same rows in the end."""
    for blocking in (0, 2, 6, FOREVER):
        running = engine(UNLESS, level(blocking, FOREVER))
        for time, line in enumerate(ARRIVED, 1):
            running.step([message(line)], time)
        assert [row.id for row in running.said] == ["a5"]


def test_limits_in_cedr_time() -> None:
    """Figure 9: "limit blocking and memory to specific lengths of either application or CEDR time" (R33)."""
    arrived = ("A a1 1", "A a2 1", "B b1 3", "A a3 30", "A a4 31")
    waiting = ConsistencyLevel(Bound(2, cedr_time=True), Bound(FOREVER))
    # b is the h of 2 ago: at CEDR time 3 that of 1, at 5 that of 3
    assert told(waiting, arrived) == [[], [], ["+a1 [1,6)", "+a2 [1,6)"], [], ["-a1", "-a2"]]
    # the same batches, 2 apart on the server's clock
    assert told(waiting, arrived, every=2) == [[], ["+a1 [1,6)", "+a2 [1,6)"], [], ["-a1", "-a2"], ["+a3 [30,35)"]]
    # forgetting by the server's clock: m is the h of M ago, so one step later a1 is not touched any more
    weak = level(0, 0, cedr_time=True)
    assert said(told(weak, ("A a1 1", "A a2 9", "B b1 3"))) == ["+a1 [1,6)", "+a2 [9,14)"]
    patient = level(0, 2, cedr_time=True)
    assert said(told(patient, ("A a1 1", "A a2 9", "B b1 3"))) == ["+a1 [1,6)", "+a2 [9,14)", "-a1"]
