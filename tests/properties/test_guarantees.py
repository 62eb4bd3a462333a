"""Guarantees in and out: ours are never broken by us, those of others may be broken and corrupt nothing.

Paper: Section 5.  Readings: R33 (several providers), R36, R39, R41.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.language.parse import parse
from cedr.language.syntax import File
from cedr.model.history import HistoryTable
from cedr.model.intake import Intake
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.stream import Guarantee, Message
from cedr.model.time import FOREVER
from cedr.semantics.evaluate import evaluate
from cedr.testing import strategies as some
from cedr.testing.arrivals import Batches
from cedr.testing.histories import History
from tests.consistency.engines import BOTH, MakesEngine
from tests.properties.standing import (
    FILES,
    HISTORIES,
    REVISABLE,
    REVISED,
    arriving,
    plan_of,
    run,
    said,
    shown,
    to,
    truth,
)
from tests.semantics.stepping import message as one_message
from tests.semantics.stepping import transcript

CATALOG = REVISABLE
EITHER = st.one_of(HISTORIES, REVISED)
ARRIVALS = arriving(EITHER).map(lambda story: story[1])


@BOTH
@given(FILES, some.levels(), ARRIVALS)
def test_our_guarantees_are_final(engine: MakesEngine, file: File, level: ConsistencyLevel, batches: Batches) -> None:
    """Reading: R36: g' = t promises that the canonical table to t is final, at every level."""
    changes, promised = [], list[tuple[int, Counter[object]]]()
    for step in run(plan_of(file, CATALOG), level, CATALOG, batches, engine=engine):
        changes += step.changes
        table = said(changes)
        for time, before in promised:
            assert to(table, time) == before
        promised.append((step.guarantee, to(table, step.guarantee)))


HIDDEN_AT_FIRST = """
B b1 4..9 @0 k=1 v=2 s=a K=one
B b1 0..4 @1 k=null v=1 s=a K=two
retract two oe=2
guarantee 3
B b1 4..4 @4 k=2 v=1 s=a K=four
"""
"""The versions of an event; a predicate on the first parameter lets only the last one through."""


@BOTH
@pytest.mark.parametrize(
    "pattern", ["ATLEAST(1, B AS x, B AS y, A AS z, 5)", "ANY(B AS x, B AS y)", "ATMOST(3, B AS x, B AS y, 5)"]
)
def test_a_version_in_one_parameter_leaves_those_before_it_in_another_one(engine: MakesEngine, pattern: str) -> None:
    """Readings: R9, R12, R36: as a first version it is believed there from the beginning, but takes nothing back."""
    file = parse(f"EVENT Q WHEN {pattern} WHERE NOT x.k IN (1, 0)")
    batches = [[one_message(line)] for line in HIDDEN_AT_FIRST.strip().splitlines()]
    steps = list(run(plan_of(file, CATALOG), MIDDLE, CATALOG, batches, engine=engine))
    table = said([change for step in steps for change in step.changes])
    assert steps[3].guarantee == 3
    assert to(table, 3) == to(said([change for step in steps[:4] for change in step.changes]), 3)


@st.composite
def promising_too_much(draw: st.DrawFn) -> Batches:
    """Messages with guarantees anywhere, true or not."""
    history = draw(EITHER)
    found = draw(some.arrival_orders(some.messages_of(history)))
    times = st.one_of(st.none(), st.integers(0, 6))
    return [[m for x in batch for m in _with(x, draw(times))] for batch in found]


def _with(message: Message, time: int | None) -> list[Message]:
    return [message] if time is None else [message, Guarantee(time)]


@BOTH
@given(FILES, st.sampled_from((STRONG, MIDDLE)), promising_too_much())
def test_broken_guarantees_corrupt_nothing(
    engine: MakesEngine, file: File, level: ConsistencyLevel, batches: Batches
) -> None:
    """Reading: R39: what breaks a guarantee is a dead letter; all else is as if it had not been sent."""
    plan, intake = plan_of(file, CATALOG), Intake(CATALOG)
    for message in (message for batch in batches for message in batch):
        intake.receive(message)
    expected = HistoryTable.from_events(evaluate(plan, intake.rows()))
    changes = []
    for step in run(plan, level, CATALOG, batches, engine=engine):
        changes += step.changes
        assert to(said(changes), step.guarantee) == to(expected, step.guarantee)
    dead = {letter.position for letter in step.engine.dead_letters} if batches else set()
    assert dead == {letter.position for letter in intake.dead_letters(final=True)}


def by_provider(history: History) -> st.SearchStrategy[Batches]:
    """Each stream is a provider of its own that promises only for itself."""
    apart = []
    for name in ("A", "B"):
        own = tuple(row for row in history if row.stream == name)
        arriving = some.arrivals(own, final=True)
        apart.append(arriving.map(lambda found, name=name: [[replace(m, provider=name) for m in b] for b in found]))
    return st.tuples(*apart).flatmap(_interleaved)


def _interleaved(streams: tuple[Batches, ...]) -> st.SearchStrategy[Batches]:
    turns = [number for number, batches in enumerate(streams) for _ in batches]
    return st.permutations(turns).map(lambda order: _merged(streams, order))


def _merged(streams: tuple[Batches, ...], order: list[int]) -> Batches:
    rest = [iter(batches) for batches in streams]
    return [next(rest[number]) for number in order]


@BOTH
@given(FILES, some.levels(memory=FOREVER), EITHER.flatmap(lambda h: st.tuples(st.just(h), by_provider(h))))
def test_several_providers(
    engine: MakesEngine, file: File, level: ConsistencyLevel, story: tuple[History, Batches]
) -> None:
    """Reading: R33: of several providers the smallest guarantee counts; until all have spoken there is none."""
    history, batches = story
    plan = plan_of(file, CATALOG)
    running, expected, changes = engine(plan, level, CATALOG, ("A", "B")), truth(plan, history), []
    for number, batch in enumerate(batches, 1):
        changes += running.step(batch, number)
        assert to(said(changes), running.guarantee) == to(expected, running.guarantee)
    assert not running.dead_letters


@BOTH
@given(FILES, ARRIVALS)
def test_state_behind_the_guarantee_does_not_matter(engine: MakesEngine, file: File, batches: Batches) -> None:
    """Reading: R36: what is said up to g' is the same whether a query began before or was strong all along."""
    plan = plan_of(file, CATALOG)
    strong, middle = (list(run(plan, level, CATALOG, batches, engine=engine)) for level in (STRONG, MIDDLE))
    one, other = ([c for step in steps for c in step.changes] for steps in (strong, middle))
    assert strong[-1].guarantee == middle[-1].guarantee
    assert Counter(map(shown, strong[-1].engine.said)) <= Counter(map(shown, middle[-1].engine.said))
    assert to(said(one), strong[-1].guarantee) == to(said(other), strong[-1].guarantee)


def test_a_slice_waits_for_its_start() -> None:
    """Readings: R24, R36: a row may yet end before the slice begins; so it is said once g has reached that."""
    by_occurrence = "EVENT Q WHEN A AS a OUTPUT a.v AS v @ [5, 9]"
    arrived = "A a 1 v=1\nguarantee 2\nA a 1 @3 v=2\nguarantee 4\nguarantee 5"
    assert transcript(by_occurrence, STRONG, arrived) == ["", "!0", "", "!2", "+a [1,∞) !5"]
    by_validity = "EVENT Q FROM A AS a OUTPUT COUNT(*) AS n # [5, 9]"
    arrived = "A a 1\nguarantee 2\nA b 3\nguarantee 4\nguarantee 5"
    assert transcript(by_validity, STRONG, arrived) == ["", "!0", "", "!2", "+2 [3,∞) !5"]
