"""K as a column, against K as it is written one by one.  Reading: R8."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cedr.runtime.ids.lineage import lineage_keys

LARGEST = 2**63 - 1
NEAR = st.integers(1_767_225_600_000_000, 1_767_225_700_000_000)
TIMES = st.one_of(st.integers(-LARGEST, LARGEST), NEAR, st.sampled_from([0, -1, 99_999_999, 100_000_000, -100_000_000]))
ROWS = st.lists(st.tuples(st.text(max_size=40), TIMES, TIMES), max_size=20)


def expected(rows: list[tuple[str, int, int]]) -> list[str]:
    return [f"{id_}@{start}/{said}" for id_, start, said in rows]


def written(rows: list[tuple[str, int, int]], of: pa.DataType, skipped: int = 0) -> list[str]:
    ids = pa.array([id_ for id_, _, _ in rows], of).slice(skipped)
    starts, said = (np.array([row[place] for row in rows[skipped:]], np.int64) for place in (1, 2))
    found = lineage_keys(ids, starts, said)
    found.validate(full=True)
    return list(found.to_pylist())


@given(ROWS, st.integers(0, 3))
@example([("a", 1_767_225_600_000_000, 7), ("b", 1_767_225_600_000_001, 7), ("c", 1_767_325_600_000_001, 7)], 0)
def test_each_row_has_its_id_its_start_and_when_it_was_said(rows: list[tuple[str, int, int]], skipped: int) -> None:
    """Also of a slice, whose bytes begin in the middle of others."""
    assert written(rows, pa.string(), skipped) == expected(rows[skipped:])


@pytest.mark.parametrize("of", [pa.string(), pa.large_string()])
def test_there_may_be_many(of: pa.DataType) -> None:
    rows = [(f"{number:032x}", 10**15 + number * 977, 10**15 + number // 1000) for number in range(5_000)]
    assert written(rows, of) == expected(rows)
