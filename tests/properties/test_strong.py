"""Strong, and every level that remembers everything: what is promised up to g' is kept at every step.

Paper: Definitions 3 and 4, Section 4.  Readings: R33, R35, R36, R40.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cedr.language.parse import parse
from cedr.language.syntax import File
from cedr.model.intake import Intake
from cedr.model.level import MIDDLE, STRONG, Bound, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Insert, Retract
from cedr.model.time import BEGINNING, FOREVER
from cedr.semantics.levels import Reference
from cedr.testing import strategies as some
from tests.consistency.engines import BOTH, MakesEngine
from tests.properties.standing import (
    FILES,
    HISTORIES,
    PLAIN,
    REVISABLE,
    REVISED,
    Story,
    arriving,
    plan_of,
    run,
    said,
    syncs,
    to,
    truth,
)

BLOCKING = st.one_of(st.sampled_from((STRONG, MIDDLE)), some.levels(memory=FOREVER))


ORDERS = arriving(HISTORIES, revised=False)
PATHS = arriving(HISTORIES)
REVISIONS = arriving(REVISED)


def keeps_its_promise(
    file: File,
    level: ConsistencyLevel,
    catalog: EventTypes,
    story: Story,
    every: int = 1,
    engine: MakesEngine = Reference,
) -> None:
    """R35: for every t <= g' the output is logically equivalent to t to the oracle's on the whole history."""
    history, batches = story
    plan = plan_of(file, catalog)
    expected, changes = truth(plan, history), []
    for step in run(plan, level, catalog, batches, every, engine):
        changes += step.changes
        assert to(said(changes), step.guarantee) == to(expected, step.guarantee)


@BOTH
@given(FILES, BLOCKING, ORDERS)
def test_any_order(engine: MakesEngine, file: File, level: ConsistencyLevel, story: Story) -> None:
    """Paper: Definitions 3 and 4.  Readings: R35, R36."""
    keeps_its_promise(file, level, PLAIN, story, engine=engine)


@BOTH
@given(FILES, BLOCKING, PATHS)
def test_any_retraction_path(engine: MakesEngine, file: File, level: ConsistencyLevel, story: Story) -> None:
    """Paper: Definitions 3 and 4.  Readings: R35, R36, R41."""
    keeps_its_promise(file, level, PLAIN, story, engine=engine)


@BOTH
@given(FILES, BLOCKING, REVISIONS)
def test_revisions(engine: MakesEngine, file: File, level: ConsistencyLevel, story: Story) -> None:
    """Paper: Definitions 3 and 4.  Readings: R10, R35, R36."""
    keeps_its_promise(file, level, REVISABLE, story, engine=engine)


SLICED = some.patterns(PLAIN, depth=1, sliced=True)


@BOTH
@given(SLICED, BLOCKING, st.one_of(PATHS, REVISIONS))
def test_slices(engine: MakesEngine, file: File, level: ConsistencyLevel, story: Story) -> None:
    """Readings: R24, R35, R36: what a slice keeps may depend on an end that is not known yet."""
    keeps_its_promise(file, level, REVISABLE, story, engine=engine)


@given(some.relations(PLAIN, sliced=True), BLOCKING, st.one_of(PATHS, REVISIONS))
def test_slices_of_the_algebra(file: File, level: ConsistencyLevel, story: Story) -> None:
    """Readings: R24, R35, R36."""
    keeps_its_promise(file, level, REVISABLE, story)


@given(some.relations(PLAIN), BLOCKING, st.one_of(ORDERS, PATHS, REVISIONS))
def test_algebra(file: File, level: ConsistencyLevel, story: Story) -> None:
    """Paper: Definitions 3 and 4.  Readings: R33 (ends are due like rows), R35, R36."""
    keeps_its_promise(file, level, REVISABLE, story)


@given(some.compositions(PLAIN), BLOCKING, ORDERS)
def test_composition(file: File, level: ConsistencyLevel, story: Story) -> None:
    """Paper: Definitions 3 and 4.  Readings: R32, R35, R36."""
    keeps_its_promise(file, level, PLAIN, story)


@BOTH
@given(FILES, st.integers(0, 4), st.sampled_from((1, 2)), ORDERS)
def test_blocking_by_the_server_clock(engine: MakesEngine, file: File, blocking: int, every: int, story: Story) -> None:
    """Reading: R33 (B in CEDR time)."""
    level = ConsistencyLevel(Bound(blocking, cedr_time=True), Bound(FOREVER))
    keeps_its_promise(file, level, PLAIN, story, every, engine)


@BOTH
@given(FILES, ORDERS)
def test_strong_speaks_in_order_and_takes_nothing_back(engine: MakesEngine, file: File, story: Story) -> None:
    """Paper: Definition 3, condition 2.  Readings: R35, R40."""
    _, batches = story
    plan = plan_of(file, PLAIN)
    changes = [change for step in run(plan, STRONG, PLAIN, batches, engine=engine) for change in step.changes]
    assert syncs(changes) == sorted(syncs(changes))
    assert all(isinstance(change.message, Insert) for change in changes if change.kind != "guarantee")


@BOTH
@given(FILES, st.one_of(PATHS, REVISIONS))
def test_strong_shortens_and_closes_in_order(engine: MakesEngine, file: File, story: Story) -> None:
    """Readings: R10, R35: what a provider shortens or closes in order is shortened and closed at that instant."""
    _, batches = story
    plan = plan_of(file, REVISABLE)
    changes = [change for step in run(plan, STRONG, REVISABLE, batches, engine=engine) for change in step.changes]
    assert syncs(changes) == sorted(syncs(changes))
    for change in changes:
        if isinstance(change.message, Retract):
            assert change.event is not None
            assert not change.message.removes
            assert syncs([change])[0] > change.event.occurrence_start


@BOTH
@given(FILES, BLOCKING, ORDERS)
def test_guarantees_rise(engine: MakesEngine, file: File, level: ConsistencyLevel, story: Story) -> None:
    """Reading: R36: g' never goes back, and never promises more than the input does."""
    _, batches = story
    plan = plan_of(file, PLAIN)
    intake, before = Intake(PLAIN), BEGINNING
    for step, batch in zip(run(plan, level, PLAIN, batches, engine=engine), batches, strict=True):
        for message in batch:
            intake.receive(message)
        assert before <= step.guarantee <= intake.guarantee
        before = step.guarantee


OPEN_ENDS = (
    "WHEN SEQUENCE(A AS x, B AS y, 6) WHERE x.Ve < y.Vs + 1",
    "WHEN SEQUENCE(A AS x, B AS y, 6) OUTPUT x.Ve AS e, y.v AS v",
    "WHEN UNLESS(A AS x, B AS y, 4) WHERE x.Ve > y.Vs",
    "WHEN NOT(A AS z, SEQUENCE(A AS x, B AS y, 6)) WHERE z.Ve > y.Vs",
    "WHEN A AS x WHERE x.Ve > x.Vs + 2",
    "WHEN ANY(A AS x, B AS y) OUTPUT x.Ve AS e, y.Ve AS f",
    "WHEN ATMOST(1, A AS x, B AS y, 3) VALID WITH LAST",
)
OPEN_ENDS_OF_THE_ALGEBRA = (
    "FROM A AS a WHERE a.Ve < 4 OUTPUT COUNT(*) AS n",
    "FROM A AS a JOIN B AS b ON a.Ve > b.Vs + 1 OUTPUT a.v AS v",
)


@BOTH
@pytest.mark.parametrize("text", OPEN_ENDS)
@given(level=BLOCKING, story=PATHS)
@settings(max_examples=max(12, settings.default.max_examples // 4))
def test_open_ends_are_undecided(engine: MakesEngine, text: str, level: ConsistencyLevel, story: Story) -> None:
    """Reading: R36: a predicate or expression over an open Ve is undecided until g reaches it."""
    keeps_its_promise(parse(f"EVENT Q {text}"), level, PLAIN, story, engine=engine)


@pytest.mark.parametrize("text", OPEN_ENDS_OF_THE_ALGEBRA)
@given(level=BLOCKING, story=PATHS)
@settings(max_examples=max(12, settings.default.max_examples // 4))
def test_open_ends_are_undecided_in_the_algebra(text: str, level: ConsistencyLevel, story: Story) -> None:
    """Reading: R36."""
    keeps_its_promise(parse(f"EVENT Q {text}"), level, PLAIN, story)
