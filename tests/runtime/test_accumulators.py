"""What is accumulated, and taken out again, amounts to what the aggregate gives.  Reading: R30."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.aggregate import aggregate
from cedr.expression.tree import Aggregate, Attribute, Literal
from cedr.model.event import Value
from cedr.model.schema import DataType
from cedr.runtime.operators.mechanism.accumulators import accumulator

VALUES = st.sampled_from(
    [1, 2, 3, -1, 1.0, 2.5, 0.0, -0.0, Decimal("1.0"), Decimal("1.00"), "a", "b", True, b"x", (1,), None]
)
NUMBERS = st.sampled_from([1, 2, 3, 1.0, 2.5, 0.0, -0.0, Decimal("1.0"), Decimal("1.00")])
WHOLE = st.integers(-3, 3)
FLOATS = st.sampled_from([0.0, -0.0, 0.1, 0.5, -2.5, 1e300, -1e300])
FUNCTIONS = st.sampled_from(["MIN", "MAX", "SUM", "AVG", "COUNT", "STDDEV", "VARIANCE", "MEDIAN", "LIST"])


@given(
    FUNCTIONS,
    st.booleans(),
    st.one_of(*(st.lists(st.tuples(st.booleans(), v)) for v in (VALUES, NUMBERS, WHOLE, FLOATS))),
)
def test_accumulated_is_aggregated(function: str, distinct: bool, steps: list[tuple[bool, Value]]) -> None:
    """After every value that comes, and every one that leaves, in any order; a copy goes its own way."""
    part = accumulator(Aggregate(function, (Attribute("", "v"),), distinct))
    held: list[Value] = []
    for comes, value in steps:
        if value is None:
            continue
        if comes:
            held.append(value)
            part.add(value)
        elif held:
            part.remove(held.pop(len(held) // 2))
        found, meant = part.value(), aggregate(function, held, distinct)
        assert (found, type(found), repr(found)) == (meant, type(meant), repr(meant))
        other = part.copy()
        other.add(-7)


@given(
    st.sampled_from(["FIRST", "LAST"]),
    st.one_of(*(st.lists(st.tuples(st.booleans(), st.integers(0, 3), v)) for v in (VALUES, WHOLE, FLOATS))),
)
def test_values_by_time(function: str, steps: list[tuple[bool, int, Value]]) -> None:
    """Reading: R45: FIRST and LAST, of equal Vs the smallest value."""
    part = accumulator(Aggregate(function, (Attribute("", "v"),)))
    held: list[tuple[int, Value]] = []
    for comes, start, value in steps:
        if value is None:
            continue
        if comes:
            held.append((start, value))
            part.add((start, value))
        elif held:
            part.remove(held.pop(len(held) // 2))
        found = part.value()
        meant = aggregate(function, [value for _, value in held], starts=[start for start, _ in held])
        assert (found, type(found), repr(found)) == (meant, type(meant), repr(meant))


@given(st.sampled_from([0, 0.1, 0.25, 0.9, 1, 2, "x"]), st.lists(st.tuples(st.booleans(), st.one_of(WHOLE, FLOATS))))
def test_quantiles(share: Value, steps: list[tuple[bool, Value]]) -> None:
    """Reading: R45: the share is the number as it is written; values of several types at times."""
    call = Aggregate("QUANTILE", (Attribute("", "v"),), parameter=Literal(share, DataType.FLOAT))
    part, held = accumulator(call), list[Value]()
    for comes, value in steps:
        if comes:
            held.append(value)
            part.add(value)
        elif held:
            part.remove(held.pop(len(held) // 2))
        found, meant = part.value(), aggregate("QUANTILE", held, parameter=share)
        assert (found, type(found), repr(found)) == (meant, type(meant), repr(meant))
