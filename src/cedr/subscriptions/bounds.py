"""Comparisons with constants as closed intervals, in the numbers in which the values of events come.

Reading: R20.  Numbers of different types compare exactly: ``price > 10.5`` over integers is [11, ∞), and over floats
it begins at the next float.  An interval that holds nothing is one whose low end lies above its high end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cedr.model.time import BEGINNING, FOREVER
from cedr.subscriptions.constants import FLOATS, INTEGERS, Column

Array = NDArray[Any]
Ends = tuple[Array, Array]

LOW: Final[Mapping[str, Any]] = {"i": BEGINNING, "f": -math.inf}
HIGH: Final[Mapping[str, Any]] = {"i": FOREVER, "f": math.inf}
_BEYOND: Final = 2.0**63


def closed(sign: str, column: Column, first: int, last: int, scale: str) -> Ends:
    """The intervals of ``value sign constant`` for some filters; ``scale`` is "i" for integers, "f" for floats."""
    constants = column.numbers[first:last]
    if column.sort == INTEGERS:
        at_least, at_most = (_integers if scale == "i" else _integers_as_floats)(constants, sign)
    elif column.sort == FLOATS:
        at_least, at_most = (_floats_as_integers if scale == "i" else _floats)(constants, sign)
    else:
        exact = [_exact(sign, column.pool[place], scale) for place in constants.tolist()]
        dtype = np.int64 if scale == "i" else np.float64
        at_least = np.array([low for low, _ in exact], dtype)
        at_most = np.array([high for _, high in exact], dtype)
    return at_least, at_most


def _filled(like: Array, value: Any, scale: str) -> Array:
    return np.full(len(like), value, np.int64 if scale == "i" else np.float64)


def _ends(sign: str, scale: str, low: Callable[[], Array], high: Callable[[], Array], size: Array) -> Ends:
    """The low end where the sign has one, the high end where it has one."""
    return (
        _filled(size, LOW[scale], scale) if sign in ("<", "<=") else low(),
        _filled(size, HIGH[scale], scale) if sign in (">", ">=") else high(),
    )


def _emptied(ends: Ends, empty: Array, scale: str) -> Ends:
    low, high = ends
    return np.where(empty, HIGH[scale], low), np.where(empty, LOW[scale], high)


def _integers(constants: Array, sign: str) -> Ends:
    ends = _ends(
        sign,
        "i",
        lambda: constants + (sign == ">") * (constants < FOREVER),
        lambda: constants - (sign == "<") * (constants > BEGINNING),
        constants,
    )
    nothing = constants == (FOREVER if sign == ">" else BEGINNING)
    return _emptied(ends, nothing, "i") if sign in (">", "<") and nothing.any() else ends


def _floats(constants: Array, sign: str) -> Ends:
    return _ends(
        sign,
        "f",
        lambda: np.nextafter(constants, math.inf) if sign == ">" else constants,
        lambda: np.nextafter(constants, -math.inf) if sign == "<" else constants,
        constants,
    )


def _floats_as_integers(constants: Array, sign: str) -> Ends:
    above, below = constants >= _BEYOND, constants < -_BEYOND
    inside = np.where(above | below, 0.0, constants)
    floor, ceiling = np.floor(inside).astype(np.int64), np.ceil(inside).astype(np.int64)
    lowest = inside == -_BEYOND
    low, high = _ends(
        sign,
        "i",
        lambda: floor + 1 if sign == ">" else ceiling,
        lambda: np.where(lowest, ceiling, ceiling - 1) if sign == "<" else floor,
        constants,
    )
    if sign in (">", ">="):
        return _emptied((np.where(below, BEGINNING, low), high), above, "i")
    if sign in ("<", "<="):
        nothing = below | lowest if sign == "<" else below
        return _emptied((low, np.where(above, FOREVER, high)), nothing, "i")
    return _emptied((low, high), above | below | (floor != ceiling), "i")


def _integers_as_floats(constants: Array, sign: str) -> Ends:
    nearest = constants.astype(np.float64)
    safe = np.where(nearest >= _BEYOND, 0.0, nearest).astype(np.int64)
    over = (nearest >= _BEYOND) | (safe > constants)
    under = ~over & (safe < constants)
    ends = _ends(
        sign,
        "f",
        lambda: np.where(under | (~over & (sign == ">")), np.nextafter(nearest, math.inf), nearest),
        lambda: np.where(over | (~under & (sign == "<")), np.nextafter(nearest, -math.inf), nearest),
        constants,
    )
    return _emptied(ends, over | under, "f") if sign == "=" else ends


def _exact(sign: str, constant: Any, scale: str) -> tuple[Any, Any]:
    """One constant of unusual size or type."""
    nearest = _nearest(constant) if scale == "f" else None
    low, high = LOW[scale], HIGH[scale]
    if nearest is not None:
        if sign in (">", ">=", "="):
            low = nearest if nearest > constant or (nearest == constant and sign != ">") else _next(nearest, math.inf)
        if sign in ("<", "<=", "="):
            high = nearest if nearest < constant or (nearest == constant and sign != "<") else _next(nearest, -math.inf)
        return low, high
    if sign in (">", ">=", "="):
        low = math.floor(constant) + 1 if sign == ">" else math.ceil(constant)
    if sign in ("<", "<=", "="):
        high = math.ceil(constant) - 1 if sign == "<" else math.floor(constant)
    if low > FOREVER or high < BEGINNING:
        return FOREVER, BEGINNING
    return max(low, BEGINNING), min(high, FOREVER)


def _nearest(constant: Any) -> float:
    try:
        return float(constant)
    except OverflowError:
        return math.inf if constant > 0 else -math.inf


def _next(value: float, towards: float) -> float:
    return math.nextafter(value, towards)


def both(parts: Sequence[Ends]) -> Ends:
    """What lies in all of some intervals."""
    (low, high), *others = parts
    for further_low, further_high in others:
        low, high = np.maximum(low, further_low), np.minimum(high, further_high)
    return low, high
