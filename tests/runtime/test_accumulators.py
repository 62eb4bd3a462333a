"""What is accumulated, and taken out again, amounts to what the aggregate gives.  Reading: R30."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.aggregate import aggregate
from cedr.expression.tree import Aggregate, Attribute
from cedr.model.event import Value
from cedr.runtime.operators.mechanism.accumulators import accumulator

VALUES = st.sampled_from(
    [1, 2, 3, -1, 1.0, 2.5, 0.0, -0.0, Decimal("1.0"), Decimal("1.00"), "a", "b", True, b"x", (1,), None]
)
NUMBERS = st.sampled_from([1, 2, 3, 1.0, 2.5, 0.0, -0.0, Decimal("1.0"), Decimal("1.00")])
FUNCTIONS = st.sampled_from(["MIN", "MAX", "SUM", "AVG", "COUNT", "STDDEV"])


@given(FUNCTIONS, st.booleans(), st.one_of(*(st.lists(st.tuples(st.booleans(), v)) for v in (VALUES, NUMBERS))))
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
