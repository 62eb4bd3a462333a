"""Random values and random expressions, well typed or not: whatever they are, nothing may fail on them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from hypothesis import strategies as st

from cedr.expression.aggregate import AGGREGATES, aggregate_call
from cedr.expression.calendar import EXTRACT_UNITS
from cedr.expression.functions import FUNCTIONS
from cedr.expression.signature import literal
from cedr.expression.tree import (
    Attribute,
    Between,
    Binary,
    Call,
    Case,
    Cast,
    Expression,
    Field,
    Header,
    HeaderField,
    In,
    IsNull,
    Item,
    Like,
    Literal,
    Unary,
)
from cedr.model.event import Payload, Value
from cedr.model.schema import DataType
from cedr.model.time import BEGINNING, FOREVER

OPERATORS = ("+", "-", "*", "/", "%", "DIV", "||", "=", "<>", "<", "<=", ">", ">=", "AND", "OR")

integers = st.sampled_from([0, 1, -1, 2, FOREVER, FOREVER - 1, BEGINNING]) | st.integers(BEGINNING, FOREVER)
floats = st.sampled_from([0.0, -0.0, 1e308, 5e-324, 0.1]) | st.floats(allow_nan=False, allow_infinity=False)
decimals = st.sampled_from(
    [Decimal("1.10"), Decimal("-0"), Decimal("9E+6144"), Decimal("1E-6144"), Decimal("1" * 60)]
) | st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20)
texts = st.sampled_from(
    ["", "FOREVER", "12 hours", "2026-01-31", "2026-01-31 12:00:00Z", "1.5", "7", "(", "%_\\", "YEAR"]
) | st.text(max_size=8)
dates = st.sampled_from([date.min, date.max]) | st.dates()
scalars = st.none() | st.booleans() | integers | floats | decimals | texts | st.binary(max_size=4) | dates
values: st.SearchStrategy[Value] = st.recursive(
    scalars,
    lambda parts: st.lists(parts, max_size=3).map(tuple) | st.dictionaries(st.sampled_from("ab"), parts).map(Payload),
    max_leaves=4,
)

BY_TYPE: dict[DataType, st.SearchStrategy[Value]] = {
    DataType.INTEGER: integers,
    DataType.FLOAT: floats,
    DataType.DECIMAL: decimals,
    DataType.STRING: texts,
    DataType.BOOLEAN: st.booleans(),
    DataType.TIMESTAMP: integers,
    DataType.DURATION: integers,
    DataType.DATE: dates,
    DataType.BINARY: st.binary(max_size=4),
    DataType.STRUCT: st.builds(lambda a: Payload({"a": a}), scalars),
    DataType.LIST: st.lists(scalars, max_size=2).map(tuple),
    DataType.NULL: st.none(),
    DataType.ANY: values,
}


def literals(of: DataType) -> st.SearchStrategy[Literal]:
    return st.builds(Literal, BY_TYPE[of], st.just(of))


def typed(types: tuple[DataType, ...]) -> st.SearchStrategy[Literal]:
    """A literal of one of the types, or NULL; of every type where none is given."""
    allowed = types or tuple(BY_TYPE)
    return st.one_of([*(literals(of) for of in allowed), st.just(literal(None))])


leaves: st.SearchStrategy[Expression] = (
    st.one_of([literals(of) for of in BY_TYPE])
    | st.builds(Attribute, st.sampled_from("xyz"), st.sampled_from("abc"), st.sampled_from(list(DataType)))
    | st.builds(Header, st.sampled_from("xyz"), st.sampled_from(list(HeaderField)))
)


def _inner(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    targets = st.sampled_from([of for of in DataType if of is not DataType.NULL])
    return st.one_of(
        st.builds(Unary, st.sampled_from(["-", "NOT"]), parts),
        st.builds(Binary, st.sampled_from(OPERATORS), parts, parts),
        st.builds(Between, parts, parts, parts, st.booleans()),
        st.builds(In, parts, several, st.booleans()),
        st.builds(Like, parts, parts, st.booleans()),
        st.builds(IsNull, parts, st.booleans()),
        st.builds(Case, st.lists(st.tuples(parts, parts), min_size=1, max_size=2).map(tuple), st.none() | parts),
        st.builds(Cast, parts, targets),
        st.builds(Field, parts, st.sampled_from(["a", "b", "a b"])),
        st.builds(Item, parts, st.sampled_from([literal(n) for n in (1, -1, 2, -2, 0, 9, None, "a")]) | parts),
        st.builds(Call, st.sampled_from([name for name in FUNCTIONS if name != "EXTRACT"]), several),
        st.builds(lambda unit, part: Call("EXTRACT", (literal(unit), part)), st.sampled_from(EXTRACT_UNITS), parts),
        st.builds(
            lambda name, arguments, distinct: aggregate_call(name, arguments, distinct=distinct),
            st.sampled_from(sorted(AGGREGATES)),
            several,
            st.booleans(),
        ),
    )


expressions: st.SearchStrategy[Expression] = st.recursive(leaves, _inner, max_leaves=8)
payloads = st.dictionaries(st.sampled_from("abc"), values)
