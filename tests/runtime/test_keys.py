"""Equal values have equal codes, and no others.  Reading: R20."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.values import equal, plain
from cedr.model.event import Payload, Value
from cedr.runtime.store.columns import Column
from cedr.runtime.store.key_coder import KeyCoder
from cedr.runtime.values.vector import Vector

NUMBERS: list[st.SearchStrategy[Any]] = [
    st.sampled_from([0, 1, 2, -1, 2**63 - 1, -(2**63)]),
    st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0**63, -(2.0**63), 2.0**70, float("nan"), float("inf")]),
    st.sampled_from([Decimal(0), Decimal("1.0"), Decimal("1.5"), Decimal(2**63), Decimal("NaN"), Decimal("1e7000")]),
    st.sampled_from([2**63, 2**70]),
]
OTHERS: list[st.SearchStrategy[Any]] = [
    st.booleans(),
    st.sampled_from(["", "0", "1", "1.0", "a" * 20, "a" * 21, "ö"]),
    st.sampled_from(["\ud800", "\ud801", "1"]),
    st.sampled_from([b"1", b"", date(1970, 1, 1), date(1970, 1, 2), datetime(1970, 1, 1)]),  # noqa: DTZ001 - as it comes
    st.sampled_from([(1,), (1.0,), ("1",), (), Payload({"a": 1}), Payload({"a": 1.0}), Payload()]),
]
BATCHES = st.lists(
    st.one_of(st.lists(st.none() | kind, max_size=6) for kind in [*NUMBERS, *OTHERS, st.one_of(*NUMBERS, *OTHERS)]),
    max_size=5,
)


def columns_of(batches: list[list[Value]]) -> list[Column]:
    columns = []
    for batch in batches:
        column = Column()
        column.extend_values(batch)
        columns.append(column)
    return columns


def check(codes: list[int], values: list[Value]) -> None:
    for code, value in zip(codes, values, strict=True):
        assert (code >= 0) == (equal(value, value) is True)
        for other_code, other in zip(codes, values, strict=True):
            assert (code == other_code >= 0) == (equal(value, other) is True)


@given(BATCHES)
def test_codes_are_equality(batches: list[list[Value]]) -> None:
    coder = KeyCoder()
    codes: list[int] = []
    for column in columns_of(batches):
        codes += coder.codes(column, np.arange(len(column))).tolist()
    check(codes, [plain(value) for batch in batches for value in batch])
    assert set(codes) - {-1} == set(range(coder.size))


@given(BATCHES, st.data())
def test_forgotten_codes_are_given_anew(batches: list[list[Value]], data: st.DataObject) -> None:
    coder = KeyCoder()
    columns = columns_of(batches)
    before = np.concatenate(
        [coder.codes(column, np.arange(len(column))) for column in columns] or [np.empty(0, np.int64)]
    )
    live = data.draw(st.lists(st.sampled_from(range(coder.size)))) if coder.size else []
    renamed = coder.restart(np.array(live, np.int64))
    assert sorted(renamed[renamed >= 0].tolist()) == list(range(len(set(live))))
    assert coder.size == len(set(live))
    after = np.concatenate([coder.codes(column) for column in columns] or [np.empty(0, np.int64)])
    for old, new in zip(before.tolist(), after.tolist(), strict=True):
        assert (new < 0) == (old < 0)
        if old in live:
            assert new == renamed[old]
    check(after.tolist(), [plain(value) for batch in batches for value in batch])


@given(BATCHES)
def test_vectors_have_the_codes_of_their_columns(batches: list[list[Value]]) -> None:
    coder = KeyCoder()
    for column in columns_of(batches):
        rows = np.array([*range(len(column)), -1, *range(len(column))], np.int64)
        codes = coder.codes(column, rows).tolist()
        assert coder.codes(column.vector(rows)).tolist() == codes
        if len(column):
            assert coder.codes(column.vector(np.arange(len(column))), rows).tolist() == codes


def test_tables_grow() -> None:
    coder = KeyCoder()
    numbers, texts = Column(), Column()
    numbers.extend(pa.array(np.arange(3_000)))
    texts.extend_values([f"{n}" * (n % 7) + "x" for n in range(3_000)])
    everything = np.arange(3_000)
    assert coder.codes(numbers, everything).tolist() == list(range(3_000))
    of_texts = coder.codes(texts, everything)
    values = texts.values(everything)
    assert coder.size == 3_000 + len(set(values))
    assert dict(zip(of_texts.tolist(), values, strict=True)) == {
        c: v for v, c in zip(values, of_texts.tolist(), strict=True)
    }
    assert (coder.codes(texts, everything) == of_texts).all()
    large = coder.nbytes
    renamed = coder.restart(np.array([5, 3_000]))
    assert (renamed[5], renamed[3_000], coder.size) == (0, 1, 2)
    assert coder.nbytes < large
    assert coder.codes(numbers, np.array([5, 6])).tolist() == [0, 2]


def test_slices_of_arrow_texts() -> None:
    coder = KeyCoder()
    whole = pa.array(["a", None, "b", "a"])
    assert coder.codes(Vector(whole)).tolist() == [0, -1, 1, 0]
    assert coder.codes(Vector(whole[2:])).tolist() == [1, 0]


def test_what_cannot_be_looked_up_has_no_code() -> None:
    column = Column()
    column.extend_values([(Decimal("sNaN"),), (1,)])
    assert KeyCoder().codes(column).tolist() == [-1, 0]
