"""What is written in fewer bytes is read as it was."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.consistency.narrowing import narrowed, widened

NEAR = st.integers(0, 70_000)
ANY = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(NEAR, min_size=1) | st.lists(NEAR, min_size=1).map(sorted) | st.lists(ANY, min_size=1), ANY)
def test_numbers_come_back(numbers: list[int], start: int) -> None:
    given = [max(-(2**63), min(2**63 - 1, number + start)) for number in numbers]
    found = narrowed(pa.array(given, pa.int64()))
    if found is None:
        spread = max(given) - min(given)
        assert spread >= 2**32 or max(map(abs, given)) >= 2**62
    else:
        column, told = found
        assert column.type.bit_width < 64
        assert widened(column.to_numpy(), told).tolist() == given


@pytest.mark.parametrize("column", [pa.array([1.5]), pa.array(["a"]), pa.array([1, None]), pa.array([], pa.int64())])
def test_other_columns_stay_as_they_are(column: pa.Array) -> None:
    assert narrowed(column) is None


def test_what_counts_up_takes_a_byte_however_far_it_goes() -> None:
    found = narrowed(pa.array(range(0, 10_000_000, 200)))
    assert found is not None
    assert found[0].type == pa.uint8()
