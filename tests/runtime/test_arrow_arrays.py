"""Arrow arrays made without PyArrow's own conversions: they are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from cedr.runtime.values.arrow_arrays import arrow, arrow_texts, numpy_of, present_in

DTYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32, np.uint64, np.float32, np.float64]
ONE_ROW = array_shapes(min_dims=1, max_dims=1, min_side=0, max_side=20)


@st.composite
def values_and_missing(draw: st.DrawFn) -> tuple[Any, Any]:
    values = draw(arrays(draw(st.sampled_from(DTYPES)), ONE_ROW))
    values = values[:: draw(st.sampled_from([1, 2]))]  # also what does not lie together
    return values, draw(st.none() | arrays(np.bool_, len(values)))


@given(values_and_missing())
def test_numbers_and_truths_become_what_pyarrow_makes_of_them(given: tuple[Any, Any]) -> None:
    values, missing = given
    made, expected = arrow(values, missing), pa.array(values, mask=missing)
    made.validate(full=True)
    assert made.type == expected.type
    assert repr(made.to_pylist()) == repr(expected.to_pylist())
    assert made.null_count == expected.null_count
    assert present_in(made).tolist() == expected.is_valid().to_pylist()


@given(values_and_missing(), st.integers(0, 20), st.integers(0, 20))
def test_they_come_back(given: tuple[Any, Any], start: int, size: int) -> None:
    array = pa.array(given[0]).slice(start, size)
    back = numpy_of(array)
    expected = array.to_numpy(zero_copy_only=False)
    assert back.dtype == expected.dtype
    assert back.tobytes() == expected.tobytes()
    assert not back.flags.writeable or back.dtype == np.bool_ or not len(back)


def test_numbers_are_not_copied() -> None:
    values = np.arange(5)
    assert np.shares_memory(numpy_of(arrow(values)), values)


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]))), st.booleans())
def test_texts_become_what_pyarrow_makes_of_them(texts: list[str | None], large: bool) -> None:
    made = arrow_texts(texts, large=large)
    made.validate(full=True)
    assert made.equals(pa.array(texts, pa.large_string() if large else pa.string()))


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(UnicodeEncodeError):
        arrow_texts(["a", "\ud800"])


def test_what_is_neither_is_left_to_pyarrow() -> None:
    times = np.array(["2026-01-01"], "datetime64[us]")
    assert arrow(times).equals(pa.array(times))
    assert numpy_of(pa.array(times)).tolist() == times.tolist()
    assert numpy_of(pa.array([1.5, None])).tolist()[0] == 1.5
