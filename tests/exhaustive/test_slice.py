"""A small part of ``make exhaustive``, always the same.

Readings: R11 to R18 and R25 to R27 on all small histories; R33 to R36 for what is said about them at each level.
"""

from __future__ import annotations

import pytest

from tests.exhaustive import row_check, row_runs
from tests.exhaustive.check import check, work
from tests.exhaustive.patterns import CASES, Case
from tests.exhaustive.relations import RELATIONS
from tests.exhaustive.runs import groups, histories, runs

WIDEST = 12
"""Histories side by side."""


EVERY = [pytest.param(n, marks=[pytest.mark.slow] if n % 4 else [], id=str(CASES[n])) for n in range(len(CASES))]
"""A quarter of the patterns in `make check`, all of them in `make test`."""


@pytest.mark.parametrize("number", EVERY)
def test_slice(number: int) -> None:
    """Readings: R35, R36: the columnar engine says what the oracle's tables ask for, at every step."""
    case: Case = CASES[number]
    every = work(case)
    count, differences = check(case, [every[number * 31 % len(every)][:WIDEST]])
    assert count.cases > 0
    assert differences == []


OF_RELATIONS = [
    pytest.param(n, marks=[pytest.mark.slow] if n % 4 else [], id=str(RELATIONS[n])) for n in range(len(RELATIONS))
]


@pytest.mark.parametrize("number", OF_RELATIONS)
def test_slice_of_relations(number: int) -> None:
    """Readings: R29 to R33, R35, R45: the columnar engine emits what the naive one emits, rows with ends included."""
    case = RELATIONS[number]
    every = row_check.work(case)
    count, differences = row_check.check(case, [every[(number + part) * 31 % len(every)][:WIDEST] for part in range(3)])
    assert count.cases > 0
    assert differences == []


def test_histories_are_counted_by_hand() -> None:
    """Two events: times (1, t) for four t, and four pairs of types."""
    assert len(list(histories("AB", 2))) == 2 + 4 * 4


def test_runs_are_counted_by_hand() -> None:
    """A at 1, B at 3: in order with and without a guarantee of 2 between them; out of order there is none to give."""
    assert len(list(runs((("A", 1), ("B", 3))))) == 3


def test_groups_hold_every_run_once() -> None:
    every = [run for history in histories("AB", 3) for run in runs(history)]
    grouped = [run for group in groups("AB", 3, 5) for run in group]
    assert len(grouped) == len(set(grouped)) == len(every)
    assert set(grouped) == set(every)


def test_histories_of_rows_are_counted_by_hand() -> None:
    """One row: an end of 2, 3, 4 or none, two values; its removal, or an end of 2, of 2 and 3, of 2 to 4."""
    every = row_runs.histories("A")
    small = [one for one in every if sum(isinstance(statement, row_runs.Stated) for statement in one) == 1]
    assert len([history for history in small if len(history) == 1]) == 2 * 4
    assert len([history for history in small if len(history) == 2]) == 2 * (4 + 0 + 1 + 2 + 3)


def test_a_retraction_comes_after_its_row() -> None:
    history = (row_runs.Stated("A", 1, 4, 0), row_runs.Taken(0, 2))
    each = list(row_runs.runs(history))
    assert {tuple(step.statement for step in run.steps if step.statement is not None) for run in each} == {(0, 1)}
