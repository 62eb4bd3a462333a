"""The scales on which values of events and constants are compared: integers, floats, or ranks among the constants.

Reading: R20.  Two values compare only within a kind; so a value of another kind than the constants is on no scale.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.expression.values import kind
from cedr.runtime.expressions.vector import FLOATS, INTEGERS, OBJECTS, TEXTS, TRUTHS, to_values
from cedr.runtime.values.arrow_arrays import arrow_texts, numpy_of
from cedr.subscriptions.bounds import both, closed
from cedr.subscriptions.constants import NUMERIC, Column
from cedr.subscriptions.constants import TEXTS as TEXT_CONSTANTS
from cedr.subscriptions.forms import EXACT, PREFIX, Test
from cedr.subscriptions.frames import Events

Rows = NDArray[np.int64]
Array = NDArray[Any]
Mask = NDArray[np.bool_]

RANKS: Final = "r"
"""The scale of values that are compared one by one: their ranks among the constants stand for them."""


def scale_of(sort: str, values: str) -> str | None:
    """In which numbers constants and values of events are compared; None: they are never comparable.  Reading: R20."""
    if sort in NUMERIC:
        return {INTEGERS: "i", FLOATS: "f", OBJECTS: RANKS}.get(values)
    if sort == TEXT_CONSTANTS:
        return RANKS if values in (TEXTS, OBJECTS) else None
    return RANKS if values in (OBJECTS, TRUTHS) else None


class Compared(NamedTuple):
    """The intervals of a test, one for each filter, and how values of events are brought to their scale."""

    lows: Array
    highs: Array
    ends: list[Any] | None
    """The constants in order, where ranks stand for them: a value equal to number n has the rank 2n + 1."""
    sort: str


class Keyed(NamedTuple):
    """Entries of filters under the numbers of keys, and the keys in order."""

    filters: Rows
    codes: Rows
    keys: Array | list[Any]


def keys_of(column: Column, filters: Rows, places: Rows, scale: str) -> Keyed:
    """Entries under their keys: each filter once for each of its different constants."""
    keys: Array | list[Any]
    if scale == RANKS:
        used, codes = np.unique(_pooled(column)[places], return_inverse=True)
        pool = _values_in_pool(column)
        keys = [pool[place] for place in used.tolist()]
    else:
        first, last = (int(places.min()), int(places.max()) + 1) if len(places) else (0, 0)
        lows, highs = closed("=", column, first, last, scale)
        lows, highs = lows[places - first], highs[places - first]
        there = lows <= highs
        keys, codes = np.unique(lows[there], return_inverse=True)
        filters = filters[there]
    if len(filters) > 1 and not (filters[1:] > filters[:-1]).all():  # an IN may name a constant twice
        entries = np.unique(filters * (len(keys) + 1) + codes)
        filters, codes = np.divmod(entries, len(keys) + 1)
    return Keyed(filters, codes, keys)


def _pooled(column: Column) -> Rows:
    """The constants as numbers of different ones."""
    return column.numbers if column.pool else np.unique(column.numbers, return_inverse=True)[1].astype(np.int64)


def _values_in_pool(column: Column) -> Sequence[Any]:
    return column.pool or np.unique(column.numbers).tolist()


def ranked(sort: str, columns: Sequence[tuple[str, Column]], first: int, last: int) -> Compared:
    """Intervals of ranks among all ends of all filters."""
    parts = []
    for sign, column in columns:
        used, codes = np.unique(_pooled(column)[first:last], return_inverse=True)
        pool = _values_in_pool(column)
        parts.append((sign, [pool[place] for place in used.tolist()], codes))
    successors = {each: _after(each) for sign, values, _ in parts if sign == PREFIX for each in values}
    known = {each for _, values, _ in parts for each in values} | {each for each in successors.values() if each}
    ends = sorted(known)
    ranks = {each: 2 * number + 1 for number, each in enumerate(ends)}
    intervals = []
    for sign, values, codes in parts:
        own = [_interval(sign, each, ranks, successors, 2 * len(ends) + 2) for each in values]
        pairs = np.array(own, np.int64).reshape(-1, 2)[codes]
        intervals.append((pairs[:, 0], pairs[:, 1]))
    return Compared(*both(intervals), ends, sort)


def _interval(sign: str, end: Any, ranks: dict[Any, int], after: dict[Any, Any], most: int) -> tuple[int, int]:
    rank = ranks[end]
    if sign == PREFIX:
        following = after[end]
        return (rank, most) if following is None else (rank, ranks[following] - 1)
    low = {"=": rank, EXACT: rank, ">=": rank, ">": rank + 1}.get(sign, -1)
    high = {"=": rank, EXACT: rank, "<=": rank, "<": rank - 1}.get(sign, most)
    return low, high


def _after(prefix: str) -> str | None:
    """The first text behind all that begin with a prefix, in the order of code points; None where there is none.

    >>> _after("ab"), _after("")
    ('ac', None)
    """
    while prefix:
        last = ord(prefix[-1])
        if last < 0x10FFFF:
            return prefix[:-1] + chr(0xE000 if last == 0xD7FF else last + 1)
        prefix = prefix[:-1]
    return None


# -- values of events -------------------------------------------------------------------------------------------------


def codes_of(events: Events, test: Test, keys: Array | list[Any], scale: str) -> Rows:
    """The number of the key that each event has, -1 for none."""
    if not len(keys):
        return np.full(events.size, -1, np.int64)
    if scale == RANKS and events.kind(test.value) == TEXTS:
        places, texts = events.encoded(test.value)
        found = pc.fill_null(pc.index_in(texts, arrow_texts(keys).cast(texts.type)), -1)  # type: ignore[arg-type]
        return np.append(numpy_of(found), -1).astype(np.int64)[places]
    if scale == RANKS:
        numbers = {each: number for number, each in enumerate(keys)}
        given = to_values(events.value(test.value))
        codes = (numbers.get(v, -1) if _comparable(v, test.sort) else -1 for v in given)
        return np.fromiter(codes, np.int64, events.size)
    assert isinstance(keys, np.ndarray)
    values: Array = np.asarray(events.value(test.value).values)
    place = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    return np.where((keys[place] == values) & events.present(test.value), place, -1)


def ranks_of(events: Events, test: Test, ends: list[Any]) -> tuple[Array, Mask]:
    """The rank of each value among the ends of intervals."""
    if events.kind(test.value) == TEXTS:
        places, texts = events.encoded(test.value)
        ranks = np.array([*(_rank(text, ends) for text in texts.to_pylist()), -1], np.int64)[places]
        return ranks, np.asarray(places >= 0)
    values = to_values(events.value(test.value))
    usable = np.fromiter((_comparable(value, test.sort) for value in values), np.bool_, len(values))
    there = zip(values, usable.tolist(), strict=True)
    return np.fromiter((_rank(value, ends) if fits else -1 for value, fits in there), np.int64, len(values)), usable


def _rank(value: Any, ends: list[Any]) -> int:
    place = bisect_left(ends, value)
    return 2 * place + (place < len(ends) and ends[place] == value)


def _comparable(value: Any, sort: str) -> bool:
    return value is not None and kind(value) == ("number" if sort in NUMERIC else sort)
