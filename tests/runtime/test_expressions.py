"""Reading: R20, R21, R23.  Columns give what single rows give: ``compile_expression`` is the oracle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.evaluate import HEADER_NAMES, compile_expression
from cedr.expression.signature import literal
from cedr.expression.tree import (
    Attribute,
    Between,
    Binary,
    Call,
    Case,
    Expression,
    Header,
    HeaderField,
    In,
    IsNull,
    Like,
    Unary,
    conjunction,
    variables,
)
from cedr.model.event import Event, Payload, Value
from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, FOREVER
from cedr.runtime.expressions.compile import Conjuncts, columns_of, compile_vector, to_arrow, to_values, truth
from cedr.runtime.expressions.vector import of_values
from cedr.runtime.values.vector import Vector
from tests.expression.building import attribute, binary, call, header, lit, negated
from tests.expression.strategies import expressions, literals, payloads, scalars, texts

VARIABLES, NAMES = "xyz", "abc"
Instance = Mapping[str, Event]


@dataclass
class Rows:
    """A frame over instances that are there as mappings; what is not bound is garbage in its vectors."""

    instances: Sequence[Instance]
    objects: bool = False
    large: bool = False

    def __len__(self) -> int:
        return len(self.instances)

    def attribute(self, variable: str, name: str) -> Vector:
        found = [each[variable].payload.get(name) if variable in each else None for each in self.instances]
        return self._vector(found)

    def header(self, variable: str, field: HeaderField) -> Vector:
        unbound: Any = "?" if field is HeaderField.ID else FOREVER
        name = HEADER_NAMES[field]
        return self._vector([getattr(each[variable], name) if variable in each else unbound for each in self.instances])

    def bound(self, variable: str) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
        found = np.array([variable in each for each in self.instances], np.bool_)
        return None if found.all() else found

    def nullable(self, _variable: str) -> bool:
        return False

    def _vector(self, values: list[Value]) -> Vector:
        if self.objects:
            return Vector(np.fromiter(values, np.object_, len(values)))
        found = of_values(values)
        if not isinstance(found.values, np.ndarray):
            return Vector(found.values.cast(pa.large_string())) if self.large else found
        if found.valid is not None and found.values.dtype.kind == "i":
            return Vector(np.where(found.valid, found.values, FOREVER), found.valid)
        return found


def event(payload: Mapping[str, object] | None = None, *times: int, id: str = "e") -> Event:  # noqa: A002
    five = (*times, 1, 2, 3, 4, 5)[:5]
    return Event("A", id, *five, payload=Payload(payload or {}))


def shown(values: Sequence[Value]) -> list[tuple[type, str]]:
    """Values with their types, so that 1, 1.0 and True are told apart."""
    return [(type(value), repr(value)) for value in values]


def agree(expression: Expression, frame: Rows) -> list[Value]:
    compiled = compile_expression(expression)
    found = compile_vector(expression)(frame)
    values = to_values(found)
    assert shown(values) == shown([compiled(each) for each in frame.instances])
    assert found.valid is None or len(found.valid) == len(frame)
    assert truth(found).tolist() == [value is True for value in values]
    return values


# ---------------------------------------------------------------- random expressions

whole = st.sampled_from([0, 1, -1, 2, 7, FOREVER, FOREVER - 1, -FOREVER, BEGINNING, 2**53, 2**53 + 1, 2**62]) | (
    st.integers(-20, 20) | st.integers(BEGINNING, FOREVER)
)
fractions = st.sampled_from([0.0, -0.0, 0.5, 1.0, 2.0**53, 2.0**63, 1e308, 5e-324, float("nan"), float("inf")]) | (
    st.floats()
)
words = st.sampled_from(["", "a", "b", "ab", "ä", "\U0001f600", "\uffff", "\ud800"]) | texts
anything = scalars | st.sampled_from([10**30, Decimal("NaN"), Decimal("2"), 2, 2.0, True, (1,), Payload({"a": 1})])
COLUMNS: Sequence[st.SearchStrategy[Any]] = (st.integers(-5, 5), whole, fractions, words, st.booleans(), anything)


@st.composite
def frames(draw: st.DrawFn) -> Rows:
    """Instances whose attributes are mostly of one kind each, with NULLs, gaps and variables that are not bound."""
    size = draw(st.integers(0, 6))
    columns = {
        (variable, name): draw(st.lists(strategy | st.none(), min_size=size, max_size=size))
        for variable in VARIABLES
        for name in NAMES
        if (strategy := draw(st.sampled_from([*COLUMNS, None]))) is not None
    }
    times = st.lists(whole, min_size=5, max_size=5)
    free = draw(st.booleans())
    instances = []
    for row in range(size):
        bound = [variable for variable in VARIABLES if not free or draw(st.booleans())]
        instances.append(
            {
                variable: event(
                    {name: columns[variable, name][row] for name in NAMES if (variable, name) in columns},
                    *draw(times),
                    id=draw(texts),
                )
                for variable in bound
            }
        )
    return Rows(instances, draw(st.booleans()), draw(st.booleans()))


_TYPES = (DataType.INTEGER, DataType.FLOAT, DataType.STRING, DataType.BOOLEAN, DataType.TIMESTAMP, DataType.DURATION)
_leaves: st.SearchStrategy[Expression] = (
    st.builds(Attribute, st.sampled_from(VARIABLES), st.sampled_from(NAMES), st.sampled_from([*_TYPES, DataType.ANY]))
    | st.builds(Header, st.sampled_from(VARIABLES), st.sampled_from(list(HeaderField)))
    | st.one_of([literals(of) for of in _TYPES])
    | st.builds(literal, whole | fractions | words | st.none() | st.sampled_from([Decimal("1.5"), Decimal("2.0")]))
)
_SIGNS = ("+", "-", "*", "/", "%", "DIV", "||", "=", "<>", "<", "<=", ">", ">=", "AND", "OR")
_FUNCTIONS = ("ABS", "CEIL", "FLOOR", "SQRT", "LENGTH")


def _inner(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(parts, max_size=3).map(tuple)
    constants = st.lists(st.builds(literal, whole | fractions | words | anything), max_size=5).map(tuple)
    return st.one_of(
        st.builds(Binary, st.sampled_from(_SIGNS), parts, parts),
        st.builds(Unary, st.sampled_from(["-", "NOT"]), parts),
        st.builds(Between, parts, parts, parts, st.booleans()),
        st.builds(In, parts, several | constants, st.booleans()),
        st.builds(IsNull, parts, st.booleans()),
        st.builds(Case, st.lists(st.tuples(parts, parts), min_size=1, max_size=2).map(tuple), st.none() | parts),
        st.builds(Call, st.just("COALESCE"), several),
        st.builds(lambda name, part: Call(name, (part,)), st.sampled_from(_FUNCTIONS), parts),
    )


columnar: st.SearchStrategy[Expression] = st.recursive(_leaves, _inner, max_leaves=6)
"""Expressions of those forms that have a way in columns."""


@given(columnar, frames())
def test_columns_give_what_rows_give(expression: Expression, frame: Rows) -> None:
    agree(expression, frame)


@given(expressions, frames())
def test_every_expression_has_a_value(expression: Expression, frame: Rows) -> None:
    agree(expression, frame)


@given(expressions, st.lists(st.dictionaries(st.sampled_from(VARIABLES), payloads.map(event)), max_size=4))
def test_values_of_all_kinds_in_one_column(expression: Expression, instances: list[Instance]) -> None:
    agree(expression, Rows(instances))


# ---------------------------------------------------------------- corners, all of them

_TICKS = (0, 1, -1, 2, -3, FOREVER, FOREVER - 1, -FOREVER, BEGINNING, 2**53, 2**53 + 1, 2**62, -(2**62))
_FLOATS = (0.0, -0.0, 1.5, -0.5, 2.0**53, 2.0**63, -(2.0**63), 1e308, 5e-324, float("nan"), float("inf"))
_TEXTS = ("", "a", "ab", "\uffff", "\U0001f600", None)
_TRUTHS = (True, False, None)
_KINDS: tuple[tuple[Any, ...], ...] = (_TICKS, _FLOATS, _TEXTS, _TRUTHS)


@pytest.mark.parametrize("sign", _SIGNS)
@pytest.mark.parametrize("types", [(left, right) for left in _TYPES[4:] + _TYPES[:1] for right in _TYPES[3:]])
def test_corners_of_every_operator(sign: str, types: tuple[DataType, DataType]) -> None:
    expression = Binary(sign, attribute("a", types[0]), attribute("b", types[1], "y"))
    for left in _KINDS:
        for right in _KINDS:
            pairs = [{"x": event({"a": one}), "y": event({"b": other})} for one in left for other in right]
            agree(expression, Rows(pairs))


@pytest.mark.parametrize("sign", [sign for sign in _SIGNS if sign not in ("AND", "OR")])
@pytest.mark.parametrize("of", _TYPES)
def test_corners_with_a_constant(sign: str, of: DataType) -> None:
    for values in _KINDS:
        frame = Rows([{"x": event({"a": value})} for value in values])
        for constant in (0, 3, -1, FOREVER, 0.5, 2.0**53, "ab", True, None, Decimal(1)):
            agree(Binary(sign, attribute("a", of), lit(constant)), frame)
            agree(Binary(sign, lit(constant), attribute("a", of)), frame)
        for expression in (Unary("-", attribute("a", of)), *(call(name, attribute("a", of)) for name in _FUNCTIONS)):
            agree(expression, frame)


def test_integers_that_are_no_floats_compare_exactly() -> None:
    frame = Rows([{"x": event({"a": 2**53 + 1, "b": 2.0**53})}])
    assert agree(binary(attribute("a"), "=", attribute("b")), frame) == [False]
    assert agree(In(attribute("a"), (lit(2.0**53), lit(Decimal(2**53 + 1)))), frame) == [True]
    assert agree(In(attribute("b"), (lit(2**53 + 1),)), frame) == [False]


@pytest.mark.slow
def test_chains_have_no_limit() -> None:
    frame = Rows([{"x": event({"a": n})} for n in (1, 2, None)])
    total: Expression = lit(0)
    for _ in range(3000):
        total = binary(total, "+", attribute("a"))
    assert agree(total, frame) == [3000, 6000, None]
    tested = conjunction((binary(attribute("a"), "<", 2),) * 40)
    for _ in range(3000):
        tested = binary(tested, "OR", negated(IsNull(attribute("a"))))
    assert agree(tested, frame) == [True, True, None]


def test_an_empty_frame_has_no_values() -> None:
    assert agree(binary(attribute("a"), "<", 2), Rows([])) == []
    assert agree(lit("a"), Rows([])) == []
    assert Conjuncts((lit(False),)).passes(Rows([])).tolist() == []


# ---------------------------------------------------------------- in columns or row by row

_X, _Y, _K = attribute("a", DataType.INTEGER), attribute("b", DataType.FLOAT), attribute("c", DataType.STRING)
_COLUMNAR = (
    binary(binary(_X, "<", _Y), "AND", binary(_K, "=", "k1")),
    binary(header(HeaderField.VE), "-", header(HeaderField.VS)),
    binary(binary(_X, "*", 3), "/", binary(_Y, "+", 1)),
    Between(_X, lit(3), _Y, negated=True),
    In(_K, (lit("k1"), lit("k2"))),
    Case(((binary(_X, ">", 3), _X), (IsNull(_Y), lit(0.5))), _Y),
    Case(((binary(_X, ">", 3), _K),), lit("small")),
    call("COALESCE", attribute("none"), _X, 0),
    binary(binary(_K, "||", "-"), "<", "k1-"),
    negated(binary(_X, "%", 2)),
)


@pytest.mark.parametrize("expression", _COLUMNAR, ids=lambda each: type(each).__name__)
def test_usual_forms_stay_in_columns(expression: Expression, monkeypatch: pytest.MonkeyPatch) -> None:
    values = [{"a": n if n % 5 else None, "b": n / 2 if n % 3 else None, "c": f"k{n % 4}"} for n in range(20)]
    frame = Rows([{"x": event(each, 5, FOREVER if n % 2 else 9)} for n, each in enumerate(values)])
    compiled = compile_expression(expression)
    expected = [compiled(each) for each in frame.instances]
    monkeypatch.setattr("cedr.runtime.expressions.frame._rows", None)
    assert shown(to_values(compile_vector(expression)(frame))) == shown(expected)


def test_a_function_of_a_text_is_asked_once_for_each_text(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = Rows([{"x": event({"c": ("ab", "b", None)[n % 3]}), "y": event({"a": n})} for n in range(30)])
    expression = binary(Like(attribute("c"), lit("a%")), "OR", binary(attribute("a", variable="y"), "<", 3))
    assert agree(expression, frame).count(True) == 12
    assert set(agree(call("UPPER", attribute("c")), frame)) == {"AB", "B", None}
    assert set(agree(call("LENGTH", attribute("c")), frame)) == {2, 1, None}
    monkeypatch.setattr("cedr.runtime.expressions.frame._FEW", 1000)
    assert agree(expression, frame).count(True) == 12


def test_each_leaf_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, read = Rows([{"x": event({"a": 1})}]), []
    original = Rows.attribute
    monkeypatch.setattr(Rows, "attribute", lambda self, *key: read.append(key) or original(self, *key))
    columns = columns_of({"p": binary(_X, "+", _X), "q": call("SQRT", _X), "r": _X}, frame)
    assert {name: to_values(vector) for name, vector in columns.items()} == {"p": [2], "q": [1.0], "r": [1]}
    assert read == [("x", "a")]


# ---------------------------------------------------------------- predicates


def _less(left: str, right: str) -> Expression:
    return binary(attribute("a", variable=left), "<", attribute("a", variable=right))


def _instances(*rows: tuple[int | None, ...]) -> Rows:
    """x.a, y.a and z.a; where there is no number the variable is not bound."""
    return Rows([{name: event({"a": n}) for name, n in zip("xyz", row, strict=True) if n is not None} for row in rows])


def test_a_predicate_constrains_only_where_its_variables_are_bound() -> None:
    """Reading: R21."""
    frame = _instances((1, 2, 3), (2, 1, 3), (None, 1, 3), (2, None, 3), (1, 3, 2), (1, 3, None), (None,) * 3)
    tested = Conjuncts((_less("x", "y"), _less("y", "z")))
    assert tested.names == ({"x", "y"}, {"y", "z"})
    assert tested.passes(frame).tolist() == [True, False, True, True, False, True, True]
    null = Conjuncts((binary(attribute("b"), "=", 1),))
    assert null.passes(frame).tolist() == [False, False, True, False, False, False, True]


def test_predicates_are_asked_when_their_last_variable_comes() -> None:
    frame = _instances((2, 1, 0), (1, 2, 0))
    tested = Conjuncts((_less("x", "y"), _less("y", "z")))
    known = frozenset("xy")
    assert tested.passes(frame, frozenset("y"), known).tolist() == [False, True]
    assert tested.passes(frame, frozenset("x"), frozenset("x")).tolist() == [True, True]
    assert tested.passes(frame, frozenset("z")).tolist() == [False, False]
    assert tested.passes(frame, None, known).tolist() == [False, True]
    assert tested.without([_less("y", "z")]).passes(frame).tolist() == [False, True]
    assert Conjuncts((lit(None),)).passes(frame, frozenset("z"), known).tolist() == [False, False]
    assert Conjuncts(()).passes(frame).tolist() == [True, True]


@given(st.lists(columnar, max_size=3).map(tuple), frames())
def test_predicates_pass_as_row_by_row(predicates: tuple[Expression, ...], frame: Rows) -> None:
    compiled = [(compile_expression(each), variables(each)) for each in predicates]
    expected = [all(run(row) is True for run, names in compiled if names <= row.keys()) for row in frame.instances]
    assert Conjuncts(predicates).passes(frame).tolist() == expected


# ---------------------------------------------------------------- to Arrow and back


@pytest.mark.parametrize(
    ("values", "of", "arrow"),
    [
        ([1, None, FOREVER], DataType.TIMESTAMP, pa.int64()),
        ([1.5, None], DataType.FLOAT, pa.float64()),
        ([True, None], DataType.BOOLEAN, pa.bool_()),
        (["a", None], DataType.STRING, pa.string()),
        ([date(2026, 1, 31), None], DataType.DATE, pa.date32()),
        ([b"a", None], DataType.BINARY, pa.binary()),
        ([Decimal("1.10"), Decimal("2.50")], DataType.DECIMAL, pa.decimal128(3, 2)),
        ([None, None], DataType.STRING, pa.string()),
        ([None], DataType.ANY, pa.null()),
    ],
)
def test_arrow_gives_back_the_values(values: list[Value], of: DataType, arrow: pa.DataType) -> None:
    found = to_arrow(of_values(values), of)
    assert found.type == arrow
    assert shown(found.to_pylist()) == shown(values)
    assert to_arrow(Vector(np.fromiter(values, np.object_)), of).to_pylist() == values


@pytest.mark.parametrize(
    "values",
    [
        [1, 1.0],
        [Decimal("1.1"), Decimal("1.10")],
        [(1, 2), (3, 4)],
        [Payload({"a": 1})],
        [10**30],
        ["\ud800"],
        [True, 1],
    ],
)
def test_what_arrow_cannot_say_stays_as_it_is(values: list[Value]) -> None:
    assert to_arrow(of_values(values), DataType.ANY) is not values
    assert shown(to_arrow(of_values(values), DataType.ANY)) == shown(values)
