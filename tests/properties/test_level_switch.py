"""Switching a running query to another level.

Paper: Section 5, "one can seamlessly switch from one consistency level to another at these points".  Reading: R38.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cedr.language.syntax import File
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.testing import strategies as some
from tests.consistency.engines import BOTH, Engine, MakesEngine
from tests.properties.standing import (
    FILES,
    HISTORIES,
    REVISABLE,
    REVISED,
    Story,
    arriving,
    plan_of,
    said,
    shown,
    syncs,
    telling,
    to,
    truth,
)
from tests.semantics.stepping import engine as stepping_engine
from tests.semantics.stepping import message

CATALOG = REVISABLE
ARRIVALS = st.one_of(arriving(HISTORIES), arriving(REVISED))
REMEMBERING = st.one_of(st.sampled_from((STRONG, MIDDLE)), some.levels(memory=FOREVER))


@BOTH
@given(FILES, st.lists(st.one_of(st.none(), REMEMBERING), min_size=1, max_size=8), ARRIVALS)
def test_promises_survive_switches(
    engine: MakesEngine, file: File, switches: list[ConsistencyLevel | None], story: Story
) -> None:
    """Readings: R35, R38: with M = FOREVER every t <= g' is final, whatever was switched and when."""
    history, batches = story
    plan = plan_of(file, CATALOG)
    running, expected, changes = engine(plan, MIDDLE, CATALOG), truth(plan, history), []
    for number, batch in enumerate(batches):
        if (level := switches[number % len(switches)]) is not None:
            running.switch(level)
        changes += running.step(batch, number + 1)
        assert to(said(changes), running.guarantee) == to(expected, running.guarantee)


@BOTH
@given(FILES, REMEMBERING, REMEMBERING, st.integers(0, 5), ARRIVALS)
def test_from_a_sync_point_on_it_is_as_if_the_level_had_always_held(
    engine: MakesEngine, file: File, before: ConsistencyLevel, after: ConsistencyLevel, when: int, story: Story
) -> None:
    """Reading: R38: once what was not yet due has been said, the two streams go on alike."""
    _, batches = story
    plan = plan_of(file, CATALOG)
    switched, always = engine(plan, before, CATALOG), engine(plan, after, CATALOG)
    since: int | None = None
    for number, batch in enumerate(batches, 1):
        one, other = switched.step(batch, number), always.step(batch, number)
        if since is not None and number > since + 1:
            assert Counter(telling(one)) == Counter(telling(other))
        if since is not None and number > since:
            assert Counter(map(shown, switched.said)) == Counter(map(shown, always.said))
        if since is None and number > when and switched.at_sync_point:
            switched.switch(after)
            since = number


@BOTH
@given(FILES, REMEMBERING, ARRIVALS)
def test_at_sync_point_waits_for_one(engine: MakesEngine, file: File, before: ConsistencyLevel, story: Story) -> None:
    """Reading: R38: AT SYNC POINT."""
    _, batches = story
    running = engine(plan_of(file, CATALOG), before, CATALOG)
    running.switch(STRONG, at_sync_point=True)
    levels, spoken = list[ConsistencyLevel](), list[Time]()
    for number, batch in enumerate(batches, 1):
        spoken += syncs(running.step(batch, number))
        levels.append(running.level)
        assert (running.level == STRONG) == (before == STRONG or STRONG in levels[:-1] or _free(running, spoken))
    assert all(not (one == STRONG and other != STRONG) for one, other in pairwise(levels))


def _free(running: Engine, spoken: list[Time]) -> bool:
    """Every message said so far has Sync <= g'."""
    return max(spoken, default=BEGINNING) <= running.guarantee


def test_a_shortening_said_early_is_provisional() -> None:
    """Reading: R38: retractions are messages too; that of Sync 1 is provisional while g' is 0."""
    running = stepping_engine("EVENT Q WHEN A AS a", MIDDLE)
    at = []
    for time, line in enumerate(("A a 0..3 K=k", "retract k ve=1", "guarantee 0", "guarantee 1"), 1):
        running.step([message(line)], time)
        at.append(running.at_sync_point)
    assert at == [False, False, False, True]
