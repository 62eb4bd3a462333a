"""Columns keep what they are given, and give it back, whatever it is."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.model.event import Payload, Value
from cedr.runtime.store.columns import Column, Columns
from cedr.runtime.values.growable import Growable
from cedr.runtime.values.texts import Texts

WORDS = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(["", "x" * 15, "x" * 16, "é" * 40])
SCALARS: list[st.SearchStrategy[Any]] = [
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False),
    st.booleans(),
    WORDS,
    st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-1000, max_value=1000),
    st.dates(),
    st.binary(max_size=4),
]
NESTED = st.lists(st.integers(0, 3) | WORDS, max_size=3).map(tuple) | st.builds(
    Payload, st.dictionaries(st.sampled_from("ab"), st.integers(0, 3), max_size=2)
)
BATCHES = st.lists(
    st.one_of(st.lists(st.none() | kind, max_size=6) for kind in [*SCALARS, NESTED, st.one_of(*SCALARS, NESTED)]),
    max_size=4,
)


def exact(value: Value) -> tuple[str, object]:
    """A value with its type: 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    return type(value).__name__, repr(value) if isinstance(value, float) else value


def rows(*numbers: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(numbers, np.int64)


@given(BATCHES, st.data())
def test_python_values_come_back_as_they_were(batches: list[list[Value]], data: st.DataObject) -> None:
    column, expected = Column(), []
    for batch in batches:
        column.extend_values(batch)
        expected += batch
    assert len(column) == len(expected)
    chosen = data.draw(st.lists(st.integers(-1, len(expected) - 1), max_size=10))
    values = [None if row < 0 else expected[row] for row in chosen]
    assert [*map(exact, column.values(rows(*chosen)))] == [*map(exact, values)]
    column.extend_rows(rows(*chosen))
    assert [*map(exact, column.values(np.arange(len(column))))] == [*map(exact, expected + values)]
    own = [row for row in chosen if row >= 0]
    column.keep(rows(*own))
    column.extend_nulls(2)
    assert [*map(exact, column.values(np.arange(len(own) + 2)))] == [
        *map(exact, [expected[r] for r in own] + [None] * 2)
    ]


@given(BATCHES)
def test_vectors_show_the_same_values(batches: list[list[Value]]) -> None:
    column = Column()
    for batch in batches:
        column.extend_values(batch)
    chosen = rows(*range(len(column)), -1)
    values, valid = column.vector(chosen)
    if isinstance(values, pa.Array):
        assert values.to_pylist() == column.values(chosen)
    else:
        shown = (
            values.tolist()
            if valid is None
            else [v if ok else None for v, ok in zip(values.tolist(), valid, strict=True)]
        )
        assert [*map(exact, shown)] == [*map(exact, column.values(chosen))]
    assert len(values) == len(chosen)


ARRAYS = [
    pa.array([1, None, -3], pa.int8()),
    pa.array([1, 2, 3], pa.uint16()),
    pa.array([1, 2**63 - 1], pa.uint64()),
    pa.array([1, 2**64 - 1, None], pa.uint64()),
    pa.array([1.5, None], pa.float32()),
    pa.array([0.1, None]),
    pa.array([True, None, False]),
    pa.array(["a", None, "", "ö" * 20]),
    pa.array(["a", None, ""], pa.large_string()),
    pa.array(["a", None, "b" * 40], pa.string_view()),
    pa.array(["a", None, "a"]).dictionary_encode(),
    pa.array([1, None], pa.timestamp("s", "Europe/Berlin")),
    pa.array([-1, None], pa.timestamp("ms")),
    pa.array([-1, None], pa.timestamp("us", "UTC")),
    pa.array([-5000, None], pa.timestamp("ns", "UTC")),
    pa.array([7, None], pa.duration("ms")),
    pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
    pa.array([date(2020, 1, 2), None]),
    pa.array([b"a", None]),
    pa.array([{"a": 1, "b": [datetime(2020, 1, 1, tzinfo=UTC)]}, None]),
    pa.array([[1, 2], None, []]),
    pa.array([None, None], pa.int32()),
    pa.array([None, None]),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.type))
def test_arrow_arrays_come_back_untouched(array: pa.Array) -> None:
    column = Column()
    column.extend(array)
    column.extend(array[1:])
    column.extend(pa.chunked_array([array[:1], array[1:]]))
    assert len(column) == 3 * len(array) - 1
    taken = column.take(rows(*range(len(array)), -1))
    taken.validate(full=True)
    assert taken.type == array.type
    assert taken.to_pylist() == [*array.to_pylist(), None]
    assert column.take(np.arange(len(array), 2 * len(array) - 1)).to_pylist() == array[1:].to_pylist()
    assert len(column.take(rows())) == 0


def test_times_are_microseconds() -> None:
    """Reading: R1."""
    column = Column()
    column.extend(pa.array([1], pa.timestamp("s")))
    column.extend(pa.array([-1], pa.timestamp("ns")))
    assert column.values(rows(0, 1)) == [1_000_000, -1]
    assert column.kind == "integer"


@pytest.mark.parametrize(
    ("batches", "kind"),
    [
        ([[1], [None, 2]], "integer"),
        ([[None], [1.0]], "float"),
        ([[1], [1.0]], "object"),
        ([[1], [True]], "object"),
        ([["a"], ["\ud800"]], "object"),
        ([[None]], "object"),
        ([[2**63]], "object"),
        ([[Decimal(1)]], "object"),
    ],
)
def test_the_kind_is_that_of_the_values(batches: list[list[Value]], kind: str) -> None:
    column = Column()
    for batch in batches:
        column.extend_values(batch)
    assert column.kind == kind


def test_python_values_have_their_natural_arrow_type() -> None:
    for values, of in (([1], pa.int64()), ([1.0], pa.float64()), ([True], pa.bool_()), (["a"], pa.string())):
        column = Column()
        column.extend_values(values)  # type: ignore[arg-type]
        assert column.take(rows(0, -1)).equals(pa.array([values[0], None], of))


def test_a_mixture_has_no_arrow_type_and_says_so() -> None:
    column = Column()
    column.extend_values([1, "a"])
    with pytest.raises(TypeError, match="does not fit one Arrow type"):
        column.take(rows(0, 1))


def test_integers_of_python_join_instants_of_arrow() -> None:
    column = Column()
    column.extend(pa.array([5], pa.timestamp("us", "UTC")))
    column.extend_values([6])
    assert column.take(rows(1)).equals(pa.array([6], pa.timestamp("us", "UTC")))
    column.extend(pa.array([7], pa.int32()))
    assert column.take(rows(2)).equals(pa.array([7]))


def test_texts_hidden_under_nulls_are_not_kept() -> None:
    array = pa.Array.from_buffers(
        pa.string(), 2, [pa.py_buffer(b"\x02"), pa.py_buffer(np.array([0, 3, 5], np.int32)), pa.py_buffer(b"abcde")]
    )
    column = Column()
    column.extend(array)
    assert column.values(rows(0, 1)) == [None, "de"]
    assert column.texts.offsets.tolist() == [0, 0, 2]


PAYLOADS = st.lists(
    st.builds(Payload, st.dictionaries(st.sampled_from("abc"), st.none() | st.integers(0, 3) | WORDS | NESTED)),
    max_size=6,
)


@given(st.lists(PAYLOADS, max_size=3), st.data())
def test_payloads_come_back_with_the_attributes_they_had(batches: list[list[Payload]], data: st.DataObject) -> None:
    columns, expected = Columns(), []
    for batch in batches:
        columns.extend_payloads(batch)
        expected += batch
    assert columns.payloads(np.arange(len(expected))) == expected
    chosen = data.draw(st.lists(st.integers(0, len(expected) - 1), max_size=6)) if expected else []
    columns.extend_rows(rows(*chosen))
    expected += [expected[row] for row in chosen]
    assert columns.payloads(np.arange(len(columns))) == expected
    columns.keep(rows(*chosen))
    assert columns.payloads(np.arange(len(columns))) == [expected[row] for row in chosen]


def test_batches_of_arrow_may_lack_names() -> None:
    columns = Columns()
    columns.extend(2, {"a": pa.array([1, 2])})
    columns.extend(1, {"b": pa.array(["x"])})
    assert columns.names == ("a", "b")
    assert columns["a"].values(rows(0, 1, 2)) == [1, 2, None]
    assert columns["b"].values(rows(0, 1, 2)) == [None, None, "x"]
    assert columns.payloads(rows(1, 2)) == [Payload({"a": 2}), Payload({"b": "x"})]
    assert columns.get("c") is None
    assert "c" not in columns
    assert list(columns) == ["a", "b"]
    assert len(columns) == 3
    assert columns.nbytes > 0
    with pytest.raises(ValueError, match='column "a" has 1 rows, the batch 2'):
        columns.extend(2, {"a": pa.array([1])})


@given(st.lists(st.lists(st.integers(0, 9), max_size=40), max_size=5), st.data())
def test_a_growable_is_a_list(batches: list[list[int]], data: st.DataObject) -> None:
    array, expected = Growable(np.int64, capacity=2), []
    for batch in batches:
        array.extend(batch)
        array.fill(2, 7)
        expected += [*batch, 7, 7]
        assert array.view.tolist() == expected
    chosen = data.draw(st.lists(st.sampled_from(range(len(expected))), max_size=5)) if expected else []
    array.keep(rows(*chosen))
    array.truncate(3)
    array.fill(1, 1)
    assert array.view.tolist() == [*[expected[row] for row in chosen][:3], 1]
    assert len(array) * 8 <= array.nbytes


@given(st.lists(WORDS, min_size=1, max_size=300), st.data())
def test_texts_are_gathered_in_any_order(words: list[str], data: st.DataObject) -> None:
    texts = Texts()
    texts.extend(pa.array(words))
    chosen = data.draw(st.lists(st.sampled_from(range(len(words))), max_size=300))
    taken = texts.take(rows(*chosen))
    taken.validate(full=True)
    assert taken.to_pylist() == [words[row] for row in chosen]
