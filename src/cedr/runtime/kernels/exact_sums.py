"""Exact sums of numbers: as digits, so that they do not depend on the order in which numbers come and go.

Reading: R30; ``cedr.expression.aggregate`` rounds a sum once, at its end, and so does this.  A number is a list of
digits of 32 bits each, the lowest first, in words of 64: some two billion of them can be added digit by digit before a
carry is due.  Only when somebody asks for a value the digits are carried, divided if need be, and rounded.
"""

from __future__ import annotations

from math import ldexp
from typing import Any

import numpy as np
import numpy.typing as npt

from cedr.runtime.kernels.jit import kernel

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

WIDTH = 32
_DIGIT = (1 << WIDTH) - 1
_MANTISSA = (1 << 52) - 1
_EXPONENTS = 2047
_MORE = 3
"""Digits behind the point that a quotient gets, so that it can be rounded."""
_WANTED = 55
"""Bits of a mantissa, and two more to round by."""


@kernel
def exponents(bits: Numbers, there: Mask) -> tuple[int, int]:
    """The exponents of the lowest bit and of the one above the highest bit that is set in any of some floats.

    Where there is none, the first is the larger one.
    """
    lowest, highest = 2000, -2000
    for row in range(len(bits)):
        exponent = (bits[row] >> 52) & _EXPONENTS
        mantissa = bits[row] & _MANTISSA
        if not there[row] or (exponent == 0 and mantissa == 0):
            continue
        if exponent == 0:
            exponent = 1
        else:
            mantissa |= 1 << 52
        highest = max(highest, exponent - 1022)
        low = exponent - 1075
        if low >= lowest:
            continue
        step = 32
        while step:
            if mantissa & ((1 << step) - 1) == 0:
                mantissa >>= step
                low += step
            step >>= 1
        lowest = min(lowest, low)
    return lowest, highest


@kernel
def float_digits(bits: Numbers, there: Mask, lowest: int, out: Numbers, first: int) -> None:
    """Writes the digits of floats into the columns from ``first`` on: multiples of 2 to the power of ``lowest``."""
    for row in range(len(bits)):
        exponent = (bits[row] >> 52) & _EXPONENTS
        mantissa = bits[row] & _MANTISSA
        if not there[row] or (exponent == 0 and mantissa == 0):
            continue
        if exponent == 0:
            exponent = 1
        else:
            mantissa |= 1 << 52
        shift = exponent - 1075 - lowest
        if shift < 0:
            mantissa >>= -shift
            shift = 0
        at, by = first + shift // WIDTH, shift % WIDTH
        low, high = (mantissa & _DIGIT) << by, (mantissa >> WIDTH) << by
        sign = -1 if bits[row] < 0 else 1
        out[row, at] = sign * (low & _DIGIT)
        middle = (low >> WIDTH) + (high & _DIGIT)
        if middle:
            out[row, at + 1] = sign * middle
        if high >> WIDTH:
            out[row, at + 2] = sign * (high >> WIDTH)


@kernel
def integer_digits(values: Numbers, there: Mask, out: Numbers, first: int) -> None:
    """Writes the two digits of whole numbers; the higher one has the sign."""
    for row in range(len(values)):
        if there[row]:
            out[row, first] = values[row] & _DIGIT
            out[row, first + 1] = values[row] >> WIDTH


@kernel
def carried(digits: Numbers, row: int, first: int, count: int, into: Numbers) -> int:
    """Carries the digits of a number into digits from 0 on, highest first; its sign."""
    carry = 0
    for place in range(count):
        total = digits[row, first + place] + carry
        into[count - place] = total & _DIGIT
        carry = total >> WIDTH
    into[0] = carry
    if carry >= 0:
        return 1
    carry = 0
    for place in range(count):
        total = carry - digits[row, first + place]
        into[count - place] = total & _DIGIT
        carry = total >> WIDTH
    into[0] = carry
    return -1


@kernel
def to_integers(digits: Numbers, first: int, count: int, out: Numbers, fits: Mask) -> None:
    """Sums as whole numbers of 64 bits; ``fits``: which of them are."""
    own = np.zeros(count + 1, np.int64)
    for row in range(len(digits)):
        sign = carried(digits, row, first, count, own)
        fits[row] = own[count - 1] >> (WIDTH - 1) == 0
        for place in range(count - 1):
            fits[row] &= own[place] == 0
        out[row] = sign * ((own[count - 1] << WIDTH) | own[count]) if fits[row] else 0
        if sign < 0 and own[count - 1] == 1 << (WIDTH - 1) and own[count] == 0:
            fits[row], out[row] = True, -(1 << 62) * 2
            for place in range(count - 1):
                fits[row] &= own[place] == 0


@kernel
def to_floats(digits: Numbers, first: int, count: int, lowest: int, divisors: Numbers, out: Any, fits: Mask) -> None:
    """Sums, divided by whole numbers below 2 to the power of 31, each rounded once; ``fits``: which are finite."""
    own = np.zeros(count + 1 + _MORE, np.int64)
    for row in range(len(digits)):
        sign = carried(digits, row, first, count, own)
        for place in range(count + 1, len(own)):
            own[place] = 0
        rest = 0
        if divisors[row] != 1:
            for place in range(len(own)):
                total = (rest << WIDTH) | own[place]
                own[place] = total // divisors[row]
                rest = total - own[place] * divisors[row]
        value, fits[row] = rounded(own, rest, lowest - WIDTH * _MORE)
        out[row] = sign * value


@kernel
def rounded(digits: Numbers, rest: int, lowest: int) -> tuple[float, bool]:
    """Digits, highest first, as the nearest float, of two equally near ones the even one; whether it is finite.

    ``rest``: whether something is left behind them; ``lowest``: the exponent of the last one's lowest bit.
    """
    top = 0
    while top < len(digits) and digits[top] == 0:
        top += 1
    if top == len(digits):
        return 0.0, True
    length = 0
    while digits[top] >> length:
        length += 1
    found, bits, place, sticky = digits[top], length, top + 1, rest != 0
    while bits < _WANTED:
        take = min(WIDTH, _WANTED - bits)
        digit = digits[place] if place < len(digits) else 0
        found = (found << take) | (digit >> (WIDTH - take))
        sticky |= digit & ((1 << (WIDTH - take)) - 1) != 0
        bits += take
        place += 1
    for later in range(place, len(digits)):
        sticky |= digits[later] != 0
    exponent = lowest + WIDTH * (len(digits) - place) + (WIDTH - take if take < WIDTH else 0)
    drop = 2 + max(0, -1074 - (exponent + 2))  # fewer bits for the smallest floats
    if drop > _WANTED:
        return 0.0, True
    kept, half = found >> drop, 1 << (drop - 1)
    left = found & ((1 << drop) - 1)
    if left > half or (left == half and (sticky or kept & 1)):
        kept += 1
    exponent += drop
    size = 0
    while kept >> size:
        size += 1
    if exponent + size > 1024:
        return 0.0, False
    return ldexp(float(kept), exponent), True
