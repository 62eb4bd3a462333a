"""Exact sums against fractions.  Reading: R30."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cedr.expression.aggregate import aggregate
from cedr.runtime.kernels.exact_sums import (
    WIDTH,
    exponents,
    float_digits,
    integer_digits,
    to_floats,
    to_integers,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NEAR = st.floats(-1e6, 1e6).map(lambda x: round(x, 2))


def summed(values: list[float], divisor: int = 1) -> tuple[float, bool]:
    bits = np.array(values, np.float64).view(np.int64)
    there = np.ones(len(values), np.bool_)
    lowest, highest = exponents(bits, there)
    count = max(0, highest - lowest) // WIDTH + 4
    digits = np.zeros((len(values), count), np.int64)
    float_digits(bits, there, lowest, digits, 0)
    total = digits.sum(axis=0).reshape(1, -1)
    out, fits = np.zeros(1), np.zeros(1, np.bool_)
    to_floats(total, 0, count, lowest, np.array([divisor]), out, fits)
    return float(out[0]), bool(fits[0])


@given(st.lists(st.one_of(FINITE, NEAR), min_size=1, max_size=6), st.integers(1, 2**31 - 1))
def test_floats_are_rounded_once(values: list[float], divisor: int) -> None:
    """As a fraction is, the smallest floats and what is beyond the largest one included."""
    for by in (1, len(values), divisor):
        exact = sum(map(Fraction, values), Fraction()) / by
        found, fits = summed(values, by)
        try:
            expected = float(exact)
        except OverflowError:
            assert not fits
        else:
            assert fits
            assert found == expected


def test_halves_go_to_the_even_one() -> None:
    """2**53 + 1 lies between two floats, and a bit far behind decides."""
    assert summed([2.0**53, 1.0]) == (2.0**53, True)
    assert summed([2.0**53, 3.0]) == (2.0**53 + 4, True)
    assert summed([2.0**53, 1.0, 2.0**-1000]) == (2.0**53 + 2, True)
    assert summed([5e-324], 2) == (0.0, True)
    assert summed([5e-324, 1e-323], 2) == (1e-323, True)


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=5))
def test_integers_fit_or_do_not(values: list[int]) -> None:
    """A sum beyond 64 bits is NULL."""
    digits = np.zeros((len(values), 2), np.int64)
    integer_digits(np.array(values, np.int64), np.ones(len(values), np.bool_), digits, 0)
    total = digits.sum(axis=0).reshape(1, -1)
    out, fits = np.zeros(1, np.int64), np.zeros(1, np.bool_)
    to_integers(total, 0, 2, out, fits)
    assert (int(out[0]) if fits[0] else None) == aggregate("SUM", values)
