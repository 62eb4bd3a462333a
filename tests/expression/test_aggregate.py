"""Aggregates: NULLs, exactness, and no dependence on the order of events.  R23, R30."""

from __future__ import annotations

import statistics
from datetime import date
from decimal import Decimal
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression import aggregate as module
from cedr.expression.aggregate import AGGREGATES, AggregateFunction, aggregate, aggregate_names, register_aggregate
from cedr.expression.values import plain
from cedr.model.schema import DataType
from cedr.model.time import FOREVER
from tests.expression.strategies import decimals, floats, integers, values

BUILT_IN = ("COUNT", "SUM", "MIN", "MAX", "AVG", "STDDEV")
EVERY = pytest.mark.parametrize("function", BUILT_IN)

CASES: list[tuple[str, list[Any], Any]] = [
    ("COUNT", [], 0),
    ("COUNT", [None, None], 0),
    ("COUNT", [1, None, "a"], 2),
    ("SUM", [], None),
    ("SUM", [None], None),
    ("SUM", [1, 2, None], 3),
    ("SUM", [0.1] * 10, 1.0),
    ("SUM", [1e308, 1e308, -1e308], 1e308),
    ("SUM", [1e308, 1e308], None),
    ("SUM", [1, 0.5], 1.5),
    ("SUM", [Decimal("1.10"), 2], Decimal("3.10")),
    ("SUM", [Decimal("0.5"), 0.5], 1.0),
    ("SUM", [FOREVER, 1], None),
    ("SUM", [FOREVER, 1, -1], FOREVER),
    ("SUM", ["a"], None),
    ("SUM", [1, "a"], None),
    ("SUM", [True], None),
    ("SUM", [float("nan"), 1], 1),
    ("MIN", [], None),
    ("MIN", [3, 1.5, Decimal(2)], 1.5),
    ("MAX", ["b", "a", None], "b"),
    ("MAX", [date(2026, 1, 1), date(2026, 1, 2)], date(2026, 1, 2)),
    ("MAX", [1, "a"], None),
    ("MAX", [(1,), (2,)], None),
    ("MIN", [False, True], False),
    ("AVG", [], None),
    ("AVG", [1, 2], 1.5),
    ("AVG", [FOREVER, FOREVER], float(FOREVER)),
    ("AVG", [1e308, 1e308], 1e308),
    ("AVG", [Decimal("1.1"), 2], Decimal("1.55")),
    ("AVG", [Decimal(1), 0.5], 0.75),
    ("AVG", ["a"], None),
    ("STDDEV", [], None),
    ("STDDEV", [5], None),
    ("STDDEV", [5, 5], 0.0),
    ("STDDEV", [1, 3, 5], 2.0),
    ("STDDEV", [1e200, -1e200, 0.0], 1e200),
    ("STDDEV", [1e308, -1e308, 1e308, -1e308], 1.1547005383792515e308),
    ("STDDEV", [5e-324, 0.0], 5e-324),
    ("STDDEV", [Decimal(1), Decimal(3), Decimal(5)], 2.0),
    ("STDDEV", ["a", "b"], None),
]


@pytest.mark.parametrize(("function", "given", "expected"), CASES)
def test_by_hand(function: str, given: list[Any], expected: Any) -> None:
    result = aggregate(function, given)
    assert result == expected
    assert type(result) is type(expected)


@EVERY
def test_example(function: str) -> None:
    shown = AGGREGATES[function].example
    assert shown is not None
    assert aggregate(function.lower(), shown[0]) == shown[1]


@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        ("COUNT", [1, 1.0, Decimal(1), 2, None], 2),
        ("COUNT", [1, True, "1"], 3),
        ("COUNT", [(1,), (1,), (2,)], 2),
        ("SUM", [1, 1, 2], 3),
        ("AVG", [1, 1, 2], 1.5),
    ],
)
def test_distinct(function: str, given: list[Any], expected: Any) -> None:
    assert aggregate(function, given, distinct=True) == expected


numbers = st.lists(integers | floats | decimals | st.none(), max_size=8)


@given(numbers | st.lists(values, max_size=6), st.randoms(use_true_random=False))
def test_the_order_does_not_matter(some: list[Any], random: Random) -> None:
    """R30: an aggregate is a function of what is alive, not of how it came."""
    other = random.sample(some, len(some))
    for function, distinct in product(BUILT_IN, (False, True)):
        result = aggregate(function, some, distinct)
        assert repr(aggregate(function, other, distinct)) == repr(result)
        assert plain(result) == result


@given(st.lists(st.floats(-1e100, 1e100), min_size=2, max_size=20))
def test_deviation_agrees_with_statistics(some: list[float]) -> None:
    assert aggregate("STDDEV", some) == pytest.approx(statistics.stdev(some), rel=1e-12)


@given(st.lists(st.floats(-1e100, 1e100), min_size=1, max_size=20))
def test_mean_agrees_with_statistics(some: list[float]) -> None:
    assert aggregate("AVG", some) == statistics.mean(some)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> dict[str, AggregateFunction]:
    """A table of aggregates of the test's own."""
    copy = dict(AGGREGATES)
    monkeypatch.setattr(module, "AGGREGATES", copy)
    return copy


def test_an_aggregate_of_ones_own(own: dict[str, AggregateFunction]) -> None:
    """R30: user-defined aggregates get sorted values without NULLs."""
    seen: list[Any] = []

    def median(some: list[Any]) -> Any:
        seen.append(list(some))
        return statistics.median(some)

    register_aggregate("median", median, DataType.FLOAT)
    assert aggregate("MEDIAN", [3, None, 1, 2]) == 2
    assert seen == [[1, 2, 3]]
    assert own["MEDIAN"].result(DataType.INTEGER) is DataType.FLOAT
    assert aggregate_names() == {*BUILT_IN, "MEDIAN"}


def test_what_it_gives_is_made_plain(own: dict[str, AggregateFunction]) -> None:
    register_aggregate("BAD", lambda _: float("nan"), DataType.FLOAT)
    register_aggregate("BAD", lambda _: float("inf"), DataType.FLOAT)
    assert aggregate("BAD", [1]) is None
    assert own["BAD"].ordered


@pytest.mark.parametrize("name", ["sum", "COUNT", "two words", ""])
def test_names_that_cannot_be_given(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be named"):
        register_aggregate(name, len, DataType.INTEGER)
