"""Which messages a level holds back: as many as the naive engine, at every step.  Reading: R33."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cedr.hosts.holding import Holding
from cedr.hosts.naive import Naive
from cedr.model.level import MIDDLE, STRONG, Bound, ConsistencyLevel
from cedr.plan.compile import compile_text
from cedr.testing import strategies as some
from cedr.testing.arrivals import Batches

CATALOG = some.small_catalog("A", "B")
PLAN = compile_text("EVENT Q WHEN ANY(A AS a)", CATALOG).queries["Q"].plan
LEVELS = st.one_of(
    some.levels(), st.builds(lambda b: ConsistencyLevel(Bound(b, cedr_time=True), Bound(100)), st.integers(0, 4))
)


@given(st.lists(LEVELS, min_size=1, max_size=3), some.histories(CATALOG).flatmap(some.arrivals))
def test_as_many_as_the_naive_engine(levels: list[ConsistencyLevel], batches: Batches) -> None:
    """R33: admitted is what has Sync <= max(g, h - B)."""
    door, engine = Holding(CATALOG), Naive(PLAN, levels, CATALOG)
    admitted = [0 for _ in levels]
    for number, batch in enumerate(batches, 1):
        door.receive(batch, number, levels)
        engine.step(batch, number)
        for of, measures in enumerate(engine.measures()):
            admitted[of] += len(door.fresh[of])
            assert len(door.held(of)) == measures.held
            assert admitted[of] == measures.admitted


@given(some.histories(CATALOG).flatmap(some.arrivals))
def test_middle_holds_nothing_and_strong_what_is_not_guaranteed(batches: Batches) -> None:
    """R33, R35."""
    door = Holding(CATALOG)
    for number, batch in enumerate(batches, 1):
        door.receive(batch, number, [MIDDLE, STRONG])
        assert door.held(0) == []
        assert all(each.sync > door.intake.guarantee for each in door.held(1))
    assert door.longest[:1] == [0] or not batches
