"""Each clause broken on purpose: the check of that clause must fail, or it would not find such an operator.

Paper: Section 5.  Readings: R34, R36, R37.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cedr.model.event import primitive
from cedr.model.stream import Guarantee, Insert, insert
from cedr.model.time import Time, plus
from cedr.runtime.operators.algebra.running_group_by import RunningGroupBy
from cedr.runtime.operators.contract import Frontier, Line, Snapshot
from cedr.runtime.operators.mechanism.affected_ranges import PatternOperator
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.mechanism.undecided import Waiting
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.table import Delta
from cedr.testing.histories import small_catalog
from tests.conformance.clauses import CLAUSES, Story
from tests.conformance.operators import plan_of
from tests.conformance.test_operators import stories

pytestmark = pytest.mark.slow  # in `make test`


def _event(name: str, id_: str, at: Time) -> Insert:
    return insert(primitive(name, id_, at, payload={"k": 1, "v": 1, "s": "a"}))


CONSUMED = Story(
    small_catalog("A", "B", "C"),
    [
        [_event("A", "a1", 1)],
        [_event("B", "b1", 3)],
        [Guarantee(3)],
        [_event("B", "b2", 4)],
        [_event("A", "a2", 4), _event("B", "b3", 5)],
    ],
    lines=[0],
    memories=(0, 0),
    restart=3,
    while_alive=False,
)
"""An event is consumed behind the line, and the next one that could take it comes after a restart: rarely drawn."""

SPANNING = Story(
    small_catalog("A", "B", "C"),
    [[_event("A", "a1", 1), _event("B", "b1", 5), Guarantee(4)], [Guarantee(5)]],
    lines=[1],
    memories=(0, 0),
    restart=1,
    while_alive=False,
)
"""A restart between the two events of an instance, which are as far apart as the scope allows: rarely drawn."""


def fails(clause: str, name: str) -> None:
    """The check of a clause fails for an operator, on some story of a few hundred."""

    @settings(
        max_examples=400,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        CLAUSES[clause](plan_of(name), data.draw(stories(revisable=False)))

    with pytest.raises(AssertionError):
        run()


def test_clause_1_a_removal_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    update = PatternOperator.update

    def losing(self: PatternOperator, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:
        return Delta(NONE, update(self, deltas, frontiers).added)

    monkeypatch.setattr(PatternOperator, "update", losing)
    fails("1 meaning", "SEQUENCE")


def test_clause_2_what_is_final_is_one_too_far(monkeypatch: pytest.MonkeyPatch) -> None:
    frontier = PatternOperator.frontier

    def hasty(self: PatternOperator, inputs: Sequence[Frontier], frozen: Time) -> Frontier:
        found = frontier(self, inputs, frozen)
        return found._replace(final=found.final + 1)

    monkeypatch.setattr(PatternOperator, "frontier", hasty)
    fails("2 frontier", "SEQUENCE")


def test_clause_2_a_guarantee_is_given_for_what_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Waiting, "undecided", PatternOperator.undecided)
    fails("2 frontier", "UNLESS")


def test_clause_3_one_row_too_many_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    forget = Input.forget

    def forgetful(self: Input, line: Time) -> None:
        forget(self, line + 1)

    monkeypatch.setattr(Input, "forget", forgetful)
    fails("3 demand", "ATLEAST")


def test_clause_4_one_row_too_few_is_demanded(monkeypatch: pytest.MonkeyPatch) -> None:
    demand = PatternOperator.demand

    def forgetful(self: PatternOperator, line: Line, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:
        return [Line(needed.vs + 1, needed.ve) for needed in demand(self, line, inputs, frozen)]

    plan = plan_of("ATLEAST")
    CLAUSES["4 snapshot"](plan, SPANNING)
    monkeypatch.setattr(PatternOperator, "demand", forgetful)
    with pytest.raises(AssertionError):
        CLAUSES["4 snapshot"](plan, SPANNING)


def test_clause_4_a_snapshot_has_no_choices(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = PatternOperator.snapshot

    def empty(self: PatternOperator) -> Snapshot | None:
        return None if snapshot(self) is None else []

    plan = plan_of("SEQUENCE that consumes")
    CLAUSES["4 snapshot"](plan, CONSUMED)
    monkeypatch.setattr(PatternOperator, "snapshot", empty)
    with pytest.raises(AssertionError):
        CLAUSES["4 snapshot"](plan, CONSUMED)


def test_clause_5_a_reader_decides_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    undecided = Waiting.undecided

    def deciding(self: Waiting, known: Time, frozen: Time) -> Time | None:
        self._pending.rows = self.search(self._after(frozen), known).waiting
        return undecided(self, known, frozen)

    monkeypatch.setattr(Waiting, "undecided", deciding)
    fails("5 readers", "UNLESS")


def test_clause_6_everything_is_evaluated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reaches = PatternOperator.reaches

    def everywhere(self: PatternOperator, *given: Any) -> Any:
        found = reaches(self, *given)
        return found._replace(low=found.low - 10**9, high=found.high + 10**9)

    monkeypatch.setattr(PatternOperator, "reaches", everywhere)
    fails("6 cost", "UNLESS")


def test_clause_7_what_is_asked_for_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = RunningGroupBy.ask

    def stingy(self: RunningGroupBy, until: Time) -> list[Time]:
        return ask(self, plus(until, -1))

    monkeypatch.setattr(RunningGroupBy, "ask", stingy)
    fails("7 horizon", "GROUP BY")


def test_clause_7_what_has_become_due_is_not_brought_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunningGroupBy, "withholds", False)
    fails("7 horizon", "GROUP BY")


def test_each_clause_is_broken_once() -> None:
    """A clause without a broken operator might have a check that cannot fail."""
    numbers = {
        name.removeprefix("test_clause_").partition("_")[0] for name in globals() if name.startswith("test_clause_")
    }
    assert numbers == {clause.partition(" ")[0] for clause in CLAUSES}
