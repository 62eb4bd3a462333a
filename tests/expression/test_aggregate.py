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

from cedr.expression.aggregate import AGGREGATES, aggregate
from cedr.expression.values import plain
from cedr.model.time import FOREVER
from tests.expression.strategies import decimals, floats, integers, values

BUILT_IN = ("COUNT", "SUM", "MIN", "MAX", "AVG", "STDDEV", "VARIANCE", "MEDIAN", "LIST", "BOOL_AND", "BOOL_OR")
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
    ("VARIANCE", [], None),
    ("VARIANCE", [5], None),
    ("VARIANCE", [1, 3, 5], 4.0),
    ("VARIANCE", [10**15, 10**15 + 1], 0.5),
    ("VARIANCE", ["a", "b"], None),
    ("MEDIAN", [], None),
    ("MEDIAN", [None], None),
    ("MEDIAN", [4, 1, 3, 2], 2),
    ("MEDIAN", [5, None, 1, 3], 3),
    ("MEDIAN", ["b", "a", "c"], "b"),
    ("MEDIAN", [1, "a"], None),
    ("MEDIAN", [(1,), (2,)], None),
    ("LIST", [], None),
    ("LIST", [None], None),
    ("LIST", [3, None, 1, 3], (1, 3, 3)),
    ("LIST", ["b", 1], (1, "b")),
    ("BOOL_AND", [], None),
    ("BOOL_AND", [True, None], True),
    ("BOOL_AND", [True, False], False),
    ("BOOL_AND", [1], None),
    ("BOOL_OR", [None], None),
    ("BOOL_OR", [False, None], False),
    ("BOOL_OR", [False, True], True),
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
    shown = AGGREGATES[function].example or ((), None)
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


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0, 1), (0.1, 1), (0.11, 2), (0.3, 3), (0.5, 5), (0.7, 7), (0.9, 9), (0.91, 10), (1, 10), (Decimal("0.2"), 2)],
)
def test_r45_quantile_takes_the_share_as_it_is_written(share: Any, expected: int) -> None:
    """The smallest value v such that at least the share p of the values is <= v: 0.1 of ten values is one of them."""
    assert aggregate("QUANTILE", [*range(10, 0, -1), None], parameter=share) == expected


@pytest.mark.parametrize("share", [None, "0.5", -0.1, 1.5])
def test_r45_nothing_that_is_no_share_has_a_quantile(share: Any) -> None:
    """The types of a text are checked before; a tree made by hand gives NULL, as everywhere."""
    assert aggregate("QUANTILE", [1, 2], parameter=share) is None
    assert aggregate("FIRST", [1, 2]) is None


@given(st.lists(integers, min_size=1, max_size=20), st.integers(0, 100))
def test_r45_quantile_by_its_definition(numbers: list[int], percent: int) -> None:
    found = aggregate("QUANTILE", numbers, parameter=Decimal(percent) / 100)
    enough = [v for v in numbers if 100 * sum(other <= v for other in numbers) >= percent * len(numbers)]
    assert found == plain(min(enough))


@pytest.mark.parametrize(
    ("function", "values", "starts", "expected"),
    [
        ("FIRST", [], [], None),
        ("FIRST", [7, 8], [2, 1], 8),
        ("LAST", [7, 8], [2, 1], 7),
        ("FIRST", [7, 5], [1, 1], 5),
        ("LAST", [7, 5], [1, 1], 5),
        ("FIRST", [None, 5], [1, 2], 5),
        ("LAST", [5, None], [1, 2], 5),
    ],
)
def test_r45_first_and_last_go_by_vs(function: str, values: list[Any], starts: list[int], expected: Any) -> None:
    """Of equal Vs the smallest; NULLs are left out, as everywhere."""
    assert aggregate(function, values, starts=starts) == expected
