"""Columns of runs are lists of numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cedr.runtime.values.run_length import Runs, Uniform, together

STARTS = st.integers(-3, 9)
VALUES = st.lists(STARTS, max_size=6) | st.builds(lambda start, n: range(start, start + n), STARTS, st.integers(0, 6))


@given(st.lists(VALUES, max_size=8), st.data())
def test_runs_are_a_list(parts: list[list[int] | range], data: st.DataObject) -> None:
    runs, expected = Runs(), list[int]()
    for part in parts:
        runs.extend(part if isinstance(part, range) else np.array(part, np.int64))
        expected.extend(part)
        if data.draw(st.booleans()):
            kept = sorted(data.draw(st.sets(st.sampled_from(range(len(expected)))))) if expected else []
            runs.keep(np.array(kept, np.int64))
            expected = [expected[row] for row in kept]
        assert len(runs) == len(expected)
        assert runs.at(np.arange(len(expected))).tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from((7, 7, 8))), max_size=6), st.booleans())
def test_a_uniform_column_is_a_list(parts: list[tuple[int, int]], changed: bool) -> None:
    column, expected = Uniform(7, np.int32), list[int]()
    for n, value in parts:
        column.fill(n, value if n % 2 else np.full(n, value))
        expected.extend([value] * n)
    if changed and expected:
        column.put(np.array([0]), 9)
        expected[0] = 9
    column.keep(np.arange(1, len(expected), 2))
    expected = expected[1::2]
    assert column.at(np.arange(len(expected))).tolist() == expected
    assert column.everywhere in (None, 7)


@given(st.lists(st.integers(-1, 5), max_size=5))
def test_rows_together_are_a_slice(rows: list[int]) -> None:
    numbers = np.array(rows, np.int64)
    found = together(numbers)
    run = bool(rows) and rows[0] >= 0 and rows == list(range(rows[0], rows[0] + len(rows)))
    assert isinstance(found, slice) == run
    assert np.arange(6)[found].tolist() == np.arange(6)[numbers].tolist()
