"""What is written in fewer bytes is read as it was."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.consistency.admission.narrowing import narrowed, widened

NEAR = st.integers(0, 70_000)
ANY = st.integers(-(2**63), 2**63 - 1)


RISING = st.lists(NEAR, min_size=1).map(sorted)
SOME_RISING = st.lists(RISING, min_size=1, max_size=4).map(lambda parts: [number for part in parts for number in part])


@given(st.lists(NEAR, min_size=1) | RISING | SOME_RISING | st.lists(ANY, min_size=1), ANY, st.integers(0, 3))
def test_numbers_come_back(numbers: list[int], start: int, leaps: int) -> None:
    given = [max(-(2**63), min(2**63 - 1, number + start)) for number in numbers]
    found = narrowed(pa.array(given, pa.int64()), leaps)
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


@pytest.mark.parametrize("between", [0, 2**40])
def test_what_counts_up_several_times_does_so_too_where_its_leaps_are_told(between: int) -> None:
    once = range(0, 10_000_000, 200)
    thrice = pa.array([number + between * part for part in range(3) for number in once])
    kinds = []
    for leaps in range(3):
        found = narrowed(thrice, leaps)
        kinds.append(None if found is None else found[0].type)
    assert kinds[2] == pa.uint8()
    assert kinds[:2] == [None if between else pa.uint32()] * 2
