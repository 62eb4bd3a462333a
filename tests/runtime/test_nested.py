"""Structs, lists and maps of Arrow: kept as they are, and read by kernels as expressions read payloads.  R20."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.evaluate import compile_expression
from cedr.expression.signature import literal
from cedr.expression.tree import Attribute, Binary, Expression, Field, IsNull, Item
from cedr.model.event import Event, Payload, Value
from cedr.runtime.expressions import vector as expressions_vector
from cedr.runtime.expressions.compile import compile_vector, to_values
from cedr.runtime.store.column import Column
from cedr.runtime.store.key_coder import KeyCoder
from cedr.runtime.values.arrow_values import objects
from cedr.runtime.values.nested import Nested, nested_values
from cedr.runtime.values.vector import Vector

LEAVES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3),
    pa.int16(): st.integers(-5, 5),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float64(): st.floats(),
    pa.float32(): st.floats(width=32),
    pa.string(): st.text(st.characters(codec="utf-8"), max_size=4),
    pa.large_string(): st.text(st.characters(codec="utf-8"), max_size=4),
    pa.bool_(): st.booleans(),
    pa.timestamp("us", "UTC"): st.integers(-(10**15), 10**15),
    pa.timestamp("ns"): st.integers(-(10**15), 10**15),
    pa.duration("ms"): st.integers(-(10**9), 10**9),
    pa.date32(): st.dates(),
    pa.decimal128(10, 2): st.decimals(-1000, 1000, places=2),
    pa.binary(): st.binary(max_size=3),
    pa.null(): st.none(),
}


def types(depth: int = 3) -> st.SearchStrategy[pa.DataType]:
    leaves: st.SearchStrategy[pa.DataType] = st.sampled_from(list(LEAVES))
    if not depth:
        return leaves
    inner = types(depth - 1)
    return leaves | nested_types(inner)


def nested_types(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    return st.one_of(
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1).map(lambda fields: pa.struct(list(fields.items()))),
        inner.map(pa.list_),
        inner.map(pa.large_list),
        inner.map(lambda of: pa.list_(of, 2)),
        inner.map(lambda of: pa.map_(pa.string(), of)),
        inner.map(lambda of: pa.map_(pa.int64(), of)),
    )


def values_of(of: pa.DataType) -> st.SearchStrategy[Any]:
    if of in LEAVES:
        return st.none() | LEAVES[of]
    if pa.types.is_struct(of):
        return st.none() | st.fixed_dictionaries({field.name: values_of(field.type) for field in of})
    if pa.types.is_map(of):
        keys = st.sampled_from("abc") if pa.types.is_string(of.key_type) else st.integers(0, 2)
        return st.none() | st.dictionaries(keys, values_of(of.item_type), max_size=2).map(lambda d: list(d.items()))
    sizes = {"min_size": 2, "max_size": 2} if pa.types.is_fixed_size_list(of) else {"max_size": 3}
    return st.none() | st.lists(values_of(of.value_type), **sizes)


@st.composite
def arrays(draw: st.DrawFn, of: pa.DataType | None = None) -> pa.Array:
    """Nested arrays, some of them slices of larger ones."""
    of = draw(nested_types(types(2))) if of is None else of
    array = pa.array(draw(st.lists(values_of(of), max_size=6)), of)
    start = draw(st.integers(0, len(array)))
    return array.slice(start, draw(st.integers(0, len(array) - start)))


def exact(values: Sequence[Value]) -> list[tuple[type, str]]:
    return [(type(value), repr(value)) for value in values]


class Rows:
    """A frame of one variable with one attribute, and its negative number of elements."""

    def __init__(self, vector: Vector, numbers: list[int | None]) -> None:
        self.vector, self.numbers = vector, numbers

    def __len__(self) -> int:
        return len(self.vector.values)

    def attribute(self, variable: str, name: str) -> Vector:
        assert variable == "x"
        if name == "v":
            return self.vector
        known = np.array([number is not None for number in self.numbers], np.bool_)
        return Vector(np.array([number or 0 for number in self.numbers], np.int64), known)

    def header(self, _variable: str, _field: object) -> Vector:
        raise AssertionError

    def bound(self, _variable: str) -> None:
        return None

    def nullable(self, _variable: str) -> bool:
        return False


VALUE, NUMBER = Attribute("x", "v"), Attribute("x", "n")
indices = st.sampled_from([literal(n) for n in (1, 2, -1, -2, 5, 0, None)]) | st.just(NUMBER)


def steps(path: Expression) -> st.SearchStrategy[Expression]:
    """One step further inside."""
    return st.builds(Field, st.just(path), st.sampled_from("abcd")) | st.builds(Item, st.just(path), indices)


@given(arrays(), st.data())
def test_kernels_reach_what_payloads_have(array: pa.Array, data: st.DataObject) -> None:
    path: Expression = VALUE
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(steps(path))
    numbers = data.draw(st.lists(st.integers(-4, 4) | st.none(), min_size=len(array), max_size=len(array)))
    events = [
        Event("A", "e", 1, 2, 3, 4, 5, payload=Payload({"v": value, "n": number}))
        for value, number in zip(nested_values(array), numbers, strict=True)
    ]
    frame = Rows(Vector(array), numbers)
    for expression in (path, IsNull(path), Binary("=", path, literal(1)), Binary("=", path, path)):
        compiled = compile_expression(expression)
        found = to_values(compile_vector(expression)(frame))
        assert exact(found) == exact([compiled({"x": event}) for event in events])


def test_a_field_is_a_column_of_its_type_without_python_values(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(_: object) -> list[Value]:
        raise AssertionError

    monkeypatch.setattr(expressions_vector, "nested_values", never)
    cards = pa.array([{"no": "a", "limits": [1, 2]}, None, {"no": None, "limits": []}])
    frame = Rows(Vector(cards), [1, 1, 1])
    number = compile_vector(Field(VALUE, "no"))(frame)
    assert isinstance(number.values, pa.StringArray)
    assert number.values.to_pylist() == ["a", None, None]
    last = compile_vector(Item(Field(VALUE, "limits"), literal(-1)))(frame)
    assert (last.values.dtype, to_values(last)) == (np.int64, [2, None, None])


@given(st.data())
def test_a_column_gives_back_what_came(data: st.DataObject) -> None:
    of = data.draw(nested_types(types(1)))
    column, expected = Column(), list[Value]()
    for _ in range(data.draw(st.integers(1, 4))):
        if data.draw(st.booleans()):
            array = data.draw(arrays(of))
            column.extend(array)
            expected += nested_values(array)
        else:
            column.extend_nulls(2)
            expected += [None, None]
        chosen = data.draw(st.lists(st.integers(-1, len(expected) - 1), max_size=4))
        column.extend_rows(np.array(chosen, np.int64))
        expected += [None if row < 0 else expected[row] for row in chosen]
    rows = np.array(data.draw(st.lists(st.integers(-1, len(expected) - 1), max_size=8)), np.int64)
    wanted = [None if row < 0 else expected[row] for row in rows]
    assert exact(column.values(rows)) == exact(wanted)
    assert exact(to_values(column.vector(rows))) == exact(wanted)
    if column.kind == "nested":
        assert column.type == column.take(rows).type == of
        assert exact(nested_values(column.take(rows))) == exact(wanted)
    kept = rows[rows >= 0]
    column.keep(kept)
    assert exact(column.values(np.arange(len(column)))) == exact([expected[row] for row in kept])


def test_another_type_makes_objects_of_all() -> None:
    column = Column()
    column.extend(pa.array([{"a": 1}]))
    column.extend(pa.array([{"a": 1, "b": 2}]))
    column.extend(pa.array([[1]]))
    column.extend_values([7])
    assert column.kind == "object"
    assert column.values(np.arange(4)) == [Payload({"a": 1}), Payload({"a": 1, "b": 2}), (1,), 7]


def test_times_inside_are_microseconds_and_maps_are_structs() -> None:
    moment = datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    times = pa.array([[moment]], pa.list_(pa.timestamp("ms", "UTC")))
    assert nested_values(times) == [(-1000,)]
    assert nested_values(pa.array([[-1]], pa.list_(pa.timestamp("ns")))) == [(-1,)]
    assert nested_values(pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64()))) == [Payload({"k": 1})]
    assert nested_values(pa.array([[(5, 1)]], pa.map_(pa.int64(), pa.int64()))) == [((5, 1),)]


def test_whole_structs_are_keys() -> None:
    coder = KeyCoder()
    first = coder.codes(Vector(pa.array([{"a": 1}, None, {"a": 2}])))
    second = coder.codes(Vector(objects([Payload({"a": 2}), Payload({"a": 1})])))
    assert (first.tolist(), second.tolist()) == ([0, -1, 1], [1, 0])


def test_many_small_batches_become_few_chunks_and_a_part_does_not_hold_the_whole() -> None:
    store = Nested(pa.list_(pa.int64()))
    large = pa.array([[n] * 100 for n in range(1000)])
    for n in range(1000):
        store.extend(large.slice(n, 1))
    assert len(store) == 1000
    assert len(store._chunks) < 12
    assert store.nbytes < 2 * large.nbytes
    assert store.take(np.array([999, 0])).to_pylist() == [[999] * 100, [0] * 100]
