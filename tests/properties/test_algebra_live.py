"""The columnar engine emits what the naive one emits, for queries over interval streams.

Paper: Section 6.  Readings: R29 to R33, R36, R45.  With a finite M the levels promise less (R35), so that is asked of
the promises alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cedr.language.syntax import File
from cedr.model.event import Event, Payload
from cedr.model.intake import Intake
from cedr.model.level import Bound, ConsistencyLevel
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.semantics.evaluate import evaluate
from cedr.testing import strategies as some
from tests.consistency.comparing import compare
from tests.consistency.engines import BOTH, MakesEngine
from tests.consistency.scenarios import PLAIN, Scenario, scenarios
from tests.properties.standing import HISTORIES, Story, plan_of, run
from tests.properties.test_weak import SPREAD, stories

HALF = settings(max_examples=max(5, settings.default.max_examples // 2))


def agree(file: File, scenario: Scenario) -> None:
    """At the levels of the scenario, all of them with M = FOREVER."""
    arrival = scenario.arrival
    plan = plan_of(file, arrival.catalog)
    levels = tuple(remembering(level) for level in scenario.levels)
    course = replace(
        scenario.course,
        switches={
            step: [switch._replace(level=remembering(switch.level)) for switch in switches]
            for step, switches in scenario.course.switches.items()
        },
    )
    compare(plan, levels, arrival.catalog, arrival.batches, course)


def remembering(level: ConsistencyLevel) -> ConsistencyLevel:
    """The level with M = FOREVER."""
    return ConsistencyLevel(level.blocking, Bound(FOREVER))


@given(file=some.relations(PLAIN, sliced=True), scenario=scenarios())
def test_relations(file: File, scenario: Scenario) -> None:
    """Readings: R29 to R33: every operator of the algebra, over events that come late and are revised."""
    agree(file, scenario)


@pytest.mark.slow
@HALF
@given(file=some.compositions(PLAIN), scenario=scenarios())
def test_both_worlds(file: File, scenario: Scenario) -> None:
    """Reading: R32: patterns over aggregates and aggregates over patterns."""
    agree(file, scenario)


def alive(rows: Iterable[Event], instant: Time) -> Counter[Payload]:
    """The payloads alive at an instant, by the latest belief."""
    return Counter(
        row.payload for row in rows if row.valid_start <= instant < row.valid_end and row.occurrence_end == FOREVER
    )


@BOTH
@given(some.relations(PLAIN), st.integers(0, 4), stories(st.one_of(HISTORIES, SPREAD)))
def test_payloads_at_sync_points(engine: MakesEngine, file: File, memory: int, story: Story) -> None:
    """Readings: R34, R35, R37: with a finite M the payloads alive at g are right at sync points.

    There g has reached every Sync received, the end named by a retraction whose row is not known included: it raises h
    (R37), and the instants before m stay as they were said.
    """
    level, plan = ConsistencyLevel(Bound(0), Bound(memory)), plan_of(file, PLAIN)
    intake = Intake(PLAIN)
    for step, batch in zip(run(plan, level, PLAIN, story[1], engine=engine), story[1], strict=True):
        for message in batch:
            intake.receive(message)
        guarantee = intake.guarantee
        if guarantee > BEGINNING and guarantee >= intake.high:
            assert alive(step.engine.said, guarantee) == alive(evaluate(plan, intake.rows()), guarantee)
