"""Texts as values: which type a column has, and what does not fit."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cedr.data.values import fitted, inferred, plain, type_of
from cedr.model.schema import DataType


@pytest.mark.parametrize(
    ("texts", "of"),
    [
        (["1", "-2", "+3"], DataType.INTEGER),
        (["1", "2.5", "1e3"], DataType.FLOAT),
        (["true", "False"], DataType.BOOLEAN),
        (["2026-01-31", "2026-02-01"], DataType.DATE),
        (["2026-01-31 12:00:00", "2026-01-31T12:00:00.5Z"], DataType.TIMESTAMP),
        (["a", "1"], DataType.STRING),
        (["007", "12"], DataType.STRING),
        (["0", "0.5"], DataType.FLOAT),
        (["0x1F", "12"], DataType.STRING),
        (["12345678901234567890", "1"], DataType.FLOAT),
        (["", "NA", None], DataType.ANY),
        (["1", "NA", "", None], DataType.INTEGER),
        (["1"] * 19 + ["abc"], DataType.INTEGER),
        (["1"] * 9 + ["abc"], DataType.INTEGER),
        (["1"] * 8 + ["abc"], DataType.STRING),
    ],
)
def test_a_column_has_the_type_of_nine_in_ten_of_its_values(texts: list[str | None], of: DataType) -> None:
    assert inferred(pa.array(texts, pa.string())) is of


@pytest.mark.parametrize(
    ("texts", "of", "values", "misfits"),
    [
        (["1", "x", None], DataType.INTEGER, [1, None, None], [False, True, False]),
        (["+1", " 2 "], DataType.INTEGER, [1, 2], None),
        (["9" * 25, "2"], DataType.INTEGER, [None, 2], [True, False]),
        (["1.5", "x"], DataType.FLOAT, [1.5, None], [False, True]),
        (["TRUE", "no"], DataType.BOOLEAN, [True, None], [False, True]),
        (["x", "1"], DataType.STRING, ["x", "1"], None),
    ],
)
def test_a_text_that_is_no_value_of_the_type_is_told(
    texts: list[str | None], of: DataType, values: list[object], misfits: list[bool] | None
) -> None:
    found = fitted(pa.array(texts, pa.string()), of)
    assert found.column.to_pylist() == values
    assert (None if found.misfits is None else found.misfits.tolist()) == misfits


@pytest.mark.parametrize(
    ("array", "of", "values", "misfits"),
    [
        (pa.array([1, 2]), DataType.FLOAT, [1.0, 2.0], None),
        (pa.array([1.0, 2.5]), DataType.INTEGER, [1, None], [False, True]),
        (pa.array([1, None]), DataType.STRING, ["1", None], None),
        (pa.array([True, None]), DataType.INTEGER, [None, None], [True, False]),
        (pa.array(["a", "b"]).dictionary_encode(), DataType.STRING, ["a", "b"], None),
        (pa.nulls(2), DataType.INTEGER, [None, None], None),
    ],
)
def test_typed_columns_are_taken_for_a_declared_type_where_they_can_be(
    array: pa.Array, of: DataType, values: list[object], misfits: list[bool] | None
) -> None:
    found = fitted(array, of)
    assert found.column.to_pylist() == values
    assert (None if found.misfits is None else found.misfits.tolist()) == misfits


def test_texts_of_any_width_are_plain_ones() -> None:
    for of in (pa.string(), pa.large_string(), pa.string_view()):
        assert plain(pa.chunked_array([pa.array(["a"], of), pa.array(["b"], of)])).equals(pa.array(["a", "b"]))
    assert plain(pa.chunked_array([], pa.int64())).equals(pa.array([], pa.int64()))


def test_every_arrow_type_has_one_of_ours() -> None:
    assert type_of(pa.dictionary(pa.int32(), pa.string())) is DataType.STRING
    assert type_of(pa.struct([("a", pa.int64())])) is DataType.STRUCT
    assert type_of(pa.list_(pa.int8())) is DataType.LIST
    assert type_of(pa.decimal128(5, 2)) is DataType.DECIMAL
    assert type_of(pa.time32("s")) is DataType.ANY
