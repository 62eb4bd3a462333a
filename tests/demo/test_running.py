"""The demo in this process: what it costs, and that the figures of a level do not depend on the other levels.

Paper: Section 5, Figure 8.  Readings: R34 (M forgets), R35.
"""

from __future__ import annotations

import pytest

from cedr.model.level import MIDDLE, STRONG, WEAK, ConsistencyLevel
from cedr_demo.arriving import Arriving, Scale
from cedr_demo.demo import query_text
from cedr_demo.running import LEVELS, LocalRun, alone
from cedr_demo.watching import Peak, Watching


@pytest.fixture(scope="module")
def watched() -> tuple[Watching, dict[ConsistencyLevel, Peak]]:
    watching = Watching(Arriving(Scale()), query_text())
    run = LocalRun(watching.query, watching.arriving)
    for batch in run.batches(lambda: None):
        watching.take(batch)
    peaks = {level: Peak.of([batch[place] for batch in run.costs()]) for place, level in enumerate(LEVELS)}
    return watching, peaks


@pytest.fixture(scope="module")
def weak_alone(watched: tuple[Watching, dict[ConsistencyLevel, Peak]]) -> Peak:
    watching, _ = watched
    return Peak.of([batch[0] for batch in alone(watching.query, watching.arriving, WEAK)])


def test_weak_keeps_little_more_than_half_of_what_middle_keeps(
    watched: tuple[Watching, dict[ConsistencyLevel, Peak]], weak_alone: Peak
) -> None:
    """The gain of WEAK that the screen shows: M = 0 forgets what can change no live alert.  Reading: R34."""
    _, peaks = watched
    assert weak_alone.kept < 0.6 * peaks[MIDDLE].kept
    assert peaks[STRONG].kept > peaks[MIDDLE].kept
    assert peaks[STRONG].held > 0
    assert peaks[MIDDLE].held == peaks[WEAK].held == 0


@pytest.mark.parametrize("level", LEVELS, ids=str)
def test_a_level_alone_keeps_as_much_as_beside_the_others(
    watched: tuple[Watching, dict[ConsistencyLevel, Peak]], level: ConsistencyLevel
) -> None:
    watching, peaks = watched
    run = LocalRun(watching.query, watching.arriving, [level])
    told = [told for batch in run.batches(lambda: None) for told in batch.told]
    own = Peak.of([batch[0] for batch in run.costs()])
    shared = peaks[MIDDLE if level == WEAK else level]  # one set of operators keeps what both need
    assert (peaks[level].kept, peaks[level].held) == (shared.kept, shared.held)
    assert own.held == peaks[level].held
    assert (own.kept == shared.kept) == (level != WEAK)
    assert sum(each.inserted for each in told) == watching.accounts[level].said
    assert sum(each.removes for each in told) == watching.accounts[level].removed


def test_all_levels_agree_with_the_oracle_at_the_sync_point(
    watched: tuple[Watching, dict[ConsistencyLevel, Peak]],
) -> None:
    watching, _ = watched
    found = watching.judged(watching.meant())
    assert found.holds
    strong, middle, weak = found.levels
    assert strong.to.none
    assert middle.to.none
    assert weak.to.wrong > 0
    assert watching.accounts[STRONG].removed == 0
    assert watching.accounts[MIDDLE].removed > 10 * watching.accounts[WEAK].removed > 0
    assert watching.dead_letters == 0
