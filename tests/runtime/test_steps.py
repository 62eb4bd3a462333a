"""Steps against a list of changes added up.  Reading: R30."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cedr.runtime.operators.algebra.steps import Steps

CHANGES = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.sampled_from((-1, 1, 2))), min_size=1, max_size=8)


def added_up(changes: list[tuple[int, int, int]], group: int) -> dict[int, int]:
    return {time: sum(c for g, t, c in changes if g == group and t <= time) for time in range(-1, 11)}


@pytest.fixture(autouse=True, params=[4096, 0], ids=["roomy", "packed"])
def spare(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool is packed seldom, and as often as it can be."""
    monkeypatch.setattr("cedr.runtime.operators.algebra.steps._SPARE", request.param)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CHANGES, max_size=6), st.data())
def test_steps_are_the_sums_of_changes(batches: list[list[tuple[int, int, int]]], data: st.DataObject) -> None:
    """After each batch each instant has the sum of the changes up to it, and what is told apart differs."""
    steps, known, line = Steps(1), list[tuple[int, int, int]](), -1
    rows = 0
    for batch in batches:
        batch = sorted((g, t, c) for g, t, c in batch if t > line)
        if not batch:
            continue
        known += batch
        columns = [np.array(column, np.int64) for column in zip(*batch, strict=True)]
        before = set(steps.held().tolist())
        touched = steps.change(columns[0], columns[1], columns[2].reshape(-1, 1))
        assert set(touched.rows.tolist()) <= before
        sums = steps.sums(touched.steps)[:, 0]
        for group, start, end, total in zip(touched.groups, touched.start, touched.end, sums, strict=True):
            expected = added_up(known, int(group))
            for time in range(max(int(start), line + 1), min(int(end), 10)):
                assert expected[time] == total
        assert {int(g) for g, _, _ in batch} >= set(touched.groups.tolist())
        new = np.where(sums != 0, rows + np.arange(len(sums)), -1)
        rows += len(sums)
        steps.belong(touched.steps, new)
        left = before - set(touched.rows.tolist())
        assert set(steps.held().tolist()) == left | set(new[new >= 0].tolist())
        if data.draw(st.booleans()):
            line = data.draw(st.integers(line, 8))
            steps.forget(line)
    for group in range(3):
        touched = steps.change(np.array([group]), np.array([line + 1]), np.array([[0]]))
        total = steps.sums(touched.steps)[:, 0]
        expected = added_up(known, group)
        for start, end, found in zip(touched.start, touched.end, total, strict=True):
            for time in range(max(int(start), line + 1), min(int(end), 10)):
                assert expected[time] == found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CHANGES, max_size=6), st.data())
def test_of_a_row_that_spans_the_line_one_step_is_kept(
    batches: list[list[tuple[int, int, int]]], data: st.DataObject
) -> None:
    """A row of several steps keeps its start, its number and all that comes behind the line."""
    steps, known, line = Steps(1), list[tuple[int, int, int]](), -1
    starts = dict[int, int]()
    for batch in batches:
        batch = sorted((g, max(t, line), c) for g, t, c in batch)
        known += batch
        columns = [np.array(column, np.int64) for column in zip(*batch, strict=True)]
        touched = steps.change(columns[0], columns[1], columns[2].reshape(-1, 1))
        belong, row, before = [], -1, (-1, -1)
        for group, start, total in zip(touched.groups, touched.start, steps.sums(touched.steps)[:, 0], strict=True):
            if (int(group), int(total % 2)) != before:  # what shows is whether a sum is odd
                before, row = (int(group), int(total % 2)), len(starts)
                starts[row] = int(start)
            belong.append(row)
        steps.belong(touched.steps, np.array(belong, np.int64))
        held = set(steps.held().tolist())
        line = data.draw(st.integers(line, 8))
        steps.forget(line)
        for group in range(3):
            seen = _seen(steps, group)
            assert sum(start <= line for start, _, _ in seen) <= 1
            expected = added_up(known, group)
            for (start, total, row), (end, _, _) in pairwise([*seen, (10, 0, -1)]):
                assert all(expected[time] == total for time in range(max(start, line, 0), end))
                assert row in held
            first = {row: start for start, _, row in reversed(seen)}
            assert first == {row: starts[row] for row in first}


def _seen(steps: Steps, group: int) -> list[tuple[int, int, int]]:
    """When the steps of a group begin, what they amount to, and the rows that they belong to."""
    if group >= len(steps._first):
        return []
    first, count = int(steps._first.view[group]), int(steps._count.view[group])
    own = np.arange(first, first + count)
    columns = (steps._times[own], steps.sums(own)[:, 0], steps.rows(own))
    return list(zip(*(column.tolist() for column in columns), strict=True))
