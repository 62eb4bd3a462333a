"""Levels that admit the same messages share one set of operators; each emits what it would emit alone.

Paper: Section 5, Figure 7.  Readings: R33, R34, R38.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.consistency.pipeline import Pipeline
from cedr.language.syntax import File
from cedr.model.level import MIDDLE, STRONG, WEAK, Bound, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.plan.compile import compile_text
from cedr.plan.logical import Node
from cedr.testing import strategies as some
from tests.consistency.comparing import Course, Switch, compare
from tests.consistency.scenarios import ARRIVALS, PLAIN, Arrival, bounds, courses
from tests.properties.standing import plan_of
from tests.semantics.stepping import message

TYPES = "TYPE A (k INTEGER); TYPE B (k INTEGER);"
SHORT = ConsistencyLevel(Bound(0), Bound(3))


def planned(pattern: str, types: str = TYPES) -> tuple[Node, EventTypes]:
    program = compile_text(f"{types} EVENT Q WHEN {pattern}")
    return program.queries["Q"].plan, program.types


def runs(pipeline: Pipeline) -> list[int]:
    return [measures.run for measures in pipeline.measures()]


def test_middle_and_weak_hold_one_set_of_operators() -> None:
    """R33: what is admitted depends on B alone."""
    pipeline = Pipeline(*_with_levels("UNLESS(A AS a, B AS b, 5)", STRONG, MIDDLE, WEAK))
    pipeline.step([message("A a1 1 k=1"), message("B b1 2 k=1"), message("A a2 9 k=1")], 1)
    strong, middle, weak = pipeline.measures()
    assert runs(pipeline) == [0, 1, 1]
    assert middle.rows == weak.rows
    assert strong.held == 3
    assert middle.held == weak.held == 0


def _with_levels(pattern: str, *levels: ConsistencyLevel) -> tuple[Node, list[ConsistencyLevel], EventTypes]:
    plan, catalog = planned(pattern)
    return plan, list(levels), catalog


def test_a_level_with_another_b_gets_operators_of_its_own() -> None:
    """R38: from the next batch on, and it goes on from where it was."""
    plan, catalog = planned("UNLESS(A AS a, B AS b, 5)")
    pipeline = Pipeline(plan, [MIDDLE, SHORT], catalog)
    pipeline.step([message("A a1 1 k=1")], 1)
    assert runs(pipeline) == [0, 0]
    pipeline.switch(STRONG, of=1)
    pipeline.step([message("B b1 2 k=1")], 2)
    assert runs(pipeline) == [0, 1]
    batches = [[message("A a1 1 k=1")], [message("B b1 2 k=1")], [message("guarantee 7")], [message("A a2 8 k=1")]]
    for saved in ((), (0, 1, 2, 3)):
        compare(plan, [MIDDLE, SHORT], catalog, batches, Course({1: [Switch(1, STRONG)]}, saved=saved, restarts=saved))


def test_what_comes_with_the_batch_that_parts_them_is_not_final_before_it() -> None:
    """R38: the operators of the one that leaves go on from before the batch, whatever the batch guarantees."""
    plan, catalog = planned("ATLEAST(2, A AS x, B AS y, A AS z, 4)")
    later = [message("A a2 1 k=1"), message("B b1 2 k=1"), message("guarantee 3")]
    batches = [[message("A a1 0 k=1")], later, [message("guarantee 9")]]
    for of in (0, 1):
        compare(plan, [MIDDLE, MIDDLE], catalog, batches, Course({1: [Switch(of, STRONG)]}))


def test_a_removal_that_is_too_late_for_one_of_them_parts_them() -> None:
    """R34: the removal of a modification with Sync < m is a dead letter at WEAK, and none at MIDDLE."""
    types = TYPES.replace("(k INTEGER); TYPE B", "(k INTEGER) REVISABLE; TYPE B")
    plan, catalog = planned("SEQUENCE(A AS a, B AS b, 20)", types)
    lines = [
        ["A a1 10..20 @1 k=1 K=one"],
        ["retract one oe=4", "A a1 10..20 @4 k=2 K=two"],
        ["B b1 12 k=1"],
        ["retract two"],
        ["B b2 14 k=1"],
    ]
    batches = [[message(line) for line in some_lines] for some_lines in lines]
    pipeline = Pipeline(plan, [MIDDLE, WEAK], catalog)
    found = []
    for time, batch in enumerate(batches, 1):
        pipeline.step(batch, time)
        found.append(runs(pipeline))
    assert found == [[0, 0], [0, 0], [0, 0], [0, 1], [0, 1]]
    assert [letter.code for letter in pipeline.dead_letters(1)] == ["removal-too-late"]
    for saved in ((), (1, 3)):
        compare(plan, [MIDDLE, WEAK], catalog, batches, Course(saved=saved, restarts=saved))


@pytest.mark.parametrize("blocking", [Bound(0), Bound(2)])
@given(data=st.data())
def test_each_emits_what_it_would_emit_alone(blocking: Bound, data: st.DataObject) -> None:
    """R33 to R38: whatever arrives and happens, three memories over one set of operators."""
    arrival: Arrival = data.draw(ARRIVALS)
    file: File = data.draw(some.patterns(PLAIN, depth=2, sliced=True, revisable=True))
    levels = [ConsistencyLevel(blocking, data.draw(bounds())) for _ in range(3)]
    course = data.draw(courses(arrival, len(levels)))
    compare(plan_of(file, arrival.catalog), levels, arrival.catalog, arrival.batches, course)
