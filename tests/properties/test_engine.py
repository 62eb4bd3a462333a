"""The columnar engine says what the naive one says, at every step of every run.

Paper: Sections 4 and 5, Definitions 3 to 6.  Readings: R33 (blocking), R34 (memory), R36 and R37 (guarantees), R38
(switching), R39 and R41 (faults), R40 (batches).  What the levels promise is asked of both engines in the neighbouring
modules; here everything is drawn at once, operator by operator.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cedr.language.parse import parse
from cedr.language.syntax import File
from cedr.model.level import MIDDLE
from cedr.model.time import FOREVER
from cedr.semantics.levels import Reference
from cedr.testing import strategies as some
from cedr.testing.patterns import FAMILIES
from tests.consistency.comparing import compare
from tests.consistency.engines import Live
from tests.consistency.scenarios import (
    PLAIN,
    Arrival,
    Scenario,
    by_detours,
    by_providers,
    catalog,
    coming_again,
    in_any_order,
    plain,
    promising_too_much,
    revised,
    scenarios,
)
from tests.properties.standing import plan_of
from tests.semantics.stepping import message

HALF = settings(max_examples=max(5, settings.default.max_examples // 2))


def agree(file: File, scenario: Scenario) -> None:
    arrival = scenario.arrival
    plan = plan_of(file, arrival.catalog)
    compare(plan, scenario.levels, arrival.catalog, arrival.batches, scenario.course)


REVISED_KEY = """
A a1 5..8 @0 k=1 v=2 s=a K=A
B b1 4..9 @0 k=1 v=2 s=a K=one
B b1 0..4 @1 k=null v=1 s=a K=two
retract two oe=2
B b1 4..4 @4 k=2 v=1 s=a K=four
"""


def test_a_key_that_changes_between_parameters_of_one_type() -> None:
    """R12: one event may fill two parameters; its versions have other keys, and the first assignment changes."""
    known = catalog(FOREVER)
    text = "EVENT Q WHEN ATLEAST(1, B AS x1, B AS x2, A AS x3, 5) WHERE NOT x1.k IN (1, 0) AND CorrelationKey(k, EQUAL)"
    batches = [[message(line)] for line in REVISED_KEY.strip().splitlines()]
    compare(plan_of(parse(text), known), MIDDLE, known, batches)


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data(), scenario=scenarios())
def test_operators(family: str, data: st.DataObject, scenario: Scenario) -> None:
    """Readings: R11 to R18, each operator over events, with predicates, keys and modes."""
    agree(data.draw(some.patterns(PLAIN, depth=1, revisable=True, family=family)), scenario)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@HALF
@given(data=st.data(), scenario=scenarios())
def test_nested_operators(family: str, data: st.DataObject, scenario: Scenario) -> None:
    """Readings: R9, R11 to R18, R25 to R28: up to three deep."""
    depth = data.draw(st.sampled_from((2, 2, 3)))
    agree(data.draw(some.patterns(PLAIN, depth=depth, sliced=True, revisable=True, family=family)), scenario)


ARRIVALS = {
    "any order": in_any_order(plain()),
    "far apart": in_any_order(plain(max_time=20)),
    "by detours": by_detours(plain(5)),
    "revised": revised(2**63 - 1),
    "revised for a while": revised(2),
    "several providers": by_providers(),
    "broken guarantees": promising_too_much(),
    "coming again": coming_again(),
}


@pytest.mark.parametrize("arrivals", ARRIVALS.values(), ids=ARRIVALS)
@HALF
@given(file=some.patterns(PLAIN, depth=2, sliced=True, revisable=True), data=st.data())
def test_arrivals(arrivals: st.SearchStrategy[Arrival], file: File, data: st.DataObject) -> None:
    """Readings: R3, R4, R33, R37, R39, R41: each way to arrive."""
    agree(file, data.draw(scenarios(arrivals)))


@pytest.mark.slow
@HALF
@given(some.compositions(PLAIN, algebra=False), scenarios())
def test_queries_over_queries(file: File, scenario: Scenario) -> None:
    """Reading: R32."""
    agree(file, scenario)


@given(some.patterns(PLAIN, depth=2), in_any_order(plain()))
def test_ties(file: File, arrival: Arrival) -> None:
    """Reading: R49: the measure is a function of the events, whatever their order and batches."""
    plan = plan_of(file, arrival.catalog)
    naive, live = (make(plan, MIDDLE, arrival.catalog) for make in (Reference, Live))
    for number, batch in enumerate(arrival.batches, 1):
        naive.step(batch, number)
        live.step(batch, number)
        assert live.ties == naive.ties


MODES = (
    "SEQUENCE(LAST A AS x, FIRST B AS y, 4)",
    "SEQUENCE(LAST A AS x, FIRST A AS y, 4 WITH TIES)",
    "SEQUENCE(FIRST A AS x CONSUME, A AS y CONSUME, 5 WITH TIES)",
    "ATLEAST(2, FIRST A AS x, B AS y CONSUME, A AS z, 4 WITH TIES)",
    "UNLESS(SEQUENCE(A AS x, A AS y, 3 WITH TIES), A AS z, 3)",
    "SEQUENCE(A AS x, FIRST B AS y CONSUME, 4)",
    "SEQUENCE(FIRST A AS x CONSUME, B AS y CONSUME, 5)",
    "SEQUENCE(A AS x CONSUME, FIRST B AS y, 4)",
    "SEQUENCE(A AS x, LAST B AS y, 3)",
    "SEQUENCE(FIRST A AS x, LAST B AS y, 4)",
    "SEQUENCE(FIRST A AS x, LAST A AS y, LAST B AS z, 4)",
    "SEQUENCE(LAST A AS x, A AS y, B AS z CONSUME, 5)",
    "SEQUENCE(A AS x, B AS y, 4) DISJOINT",
    "SEQUENCE(A AS x, A AS y, 3) DISJOINT",
    "ALL(FIRST A AS x, LAST B AS y, 3)",
    "ALL(A AS x CONSUME, B AS y CONSUME, 4)",
    "ALL(A AS x, B AS y, 3) DISJOINT",
    "ATLEAST(2, A AS x, B AS y, A AS z, 4)",
    "ATLEAST(2, FIRST A AS x, B AS y CONSUME, A AS z, 4)",
    "ATLEAST(2, LAST A AS x, B AS y, LAST A AS z, 3)",
    "ATLEAST(1, FIRST A AS x, B AS y CONSUME, 3)",
    "ANY(A AS x, B AS y) DISJOINT",
    "ATMOST(1, A AS x, B AS y WEIGHT 2, 3)",
    "ATMOST(2, A AS x, B AS y, 4) DISJOINT",
    "UNLESS(A AS x, B AS y, 3) DISJOINT",
    "UNLESS(SEQUENCE(A AS x, B AS y, 3), A AS z, 2, 3)",
    "UNLESS(SEQUENCE(A AS x, B AS y, 3), A AS z, 3)",
    "UNLESS(SEQUENCE(A AS x, A AS y, 4), B AS z, 2)",
    "SEQUENCE(UNLESS(SEQUENCE(A AS x, B AS y, 3), B AS z, 2), A AS u, 4)",
    "UNLESS(SEQUENCE(A AS x, LAST B AS y, 3), A AS z, 3)",
    "UNLESS(UNLESS(A AS x, B AS y, 2), A AS z, 3)",
    "UNLESS(A AS x, UNLESS(B AS y, A AS z, 2), 4)",
    "ANY(UNLESS(A AS x, B AS y, 3), B AS z)",
    "NOT(B AS z, SEQUENCE(A AS x, A AS y, 4))",
    "NOT(UNLESS(B AS z, A AS u, 3), SEQUENCE(A AS x, B AS y, 1))",
    "NOT(UNLESS(B AS z, B AS u, 2), SEQUENCE(LAST A AS x, A AS y, 4)) DISJOINT",
    "CANCEL-WHEN(SEQUENCE(A AS x, A AS y, 4), B AS z)",
    "CANCEL-WHEN(SEQUENCE(A AS x, A AS y, 4), SEQUENCE(B AS z, B AS u, 3) FROM ROOT)",
    "ATLEAST(2, UNLESS(A AS x, B AS y, 2), B AS z, 4)",
    "SEQUENCE(UNLESS(A AS x, B AS y, 2), ATMOST(1, A AS z, B AS u, 2), 4)",
    "ALL(SEQUENCE(A AS x, B AS y CONSUME, 3), ANY(A AS z, B AS u), 4)",
)
"""Each mode where it matters, and nestings of what waits in what waits."""

TAILS = {
    "": "",
    "keyed": " WHERE CorrelationKey(k, EQUAL)",
    "different": " WHERE CorrelationKey(k, UNIQUE)",
    "lasting": " VALID FOREVER",
    "as the last": " VALID WITH LAST",
    "sliced": " @ [2, 9] # [3, 7]",
}


@pytest.mark.slow
@pytest.mark.parametrize("pattern", MODES)
@settings(max_examples=max(5, settings.default.max_examples // 5))
@given(tail=st.sampled_from(list(TAILS.values())), scenario=scenarios())
def test_modes(pattern: str, tail: str, scenario: Scenario) -> None:
    """Readings: R19, R22, R24 to R28, R36: modes and nestings that are seldom drawn."""
    agree(parse(f"EVENT Q WHEN {pattern}{tail}"), scenario)
