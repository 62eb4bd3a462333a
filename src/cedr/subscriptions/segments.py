"""A run of filters of one form, laid out to be looked up: by key, then by the low end of an interval.

The filters of a key are a range of places (a CSR layout); within it those whose interval begins at or below a value
are again a range.  Which test gives the key, and which the interval, is chosen by what events ask for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.expression.values import kind
from cedr.runtime.expressions.vector import FLOATS, INTEGERS, OBJECTS, TEXTS, TRUTHS, to_values
from cedr.runtime.values.arrow_arrays import arrow, arrow_texts, numpy_of
from cedr.subscriptions.bounds import LOW, both, closed
from cedr.subscriptions.constants import NUMERIC, Column, ListColumn
from cedr.subscriptions.constants import TEXTS as TEXT_CONSTANTS
from cedr.subscriptions.forms import EXACT, IN, PREFIX, RANGE, Test
from cedr.subscriptions.frames import Events
from cedr.subscriptions.kernels import BLOCK, candidates, expected

Rows = NDArray[np.int64]
Array = NDArray[Any]
Mask = NDArray[np.bool_]
Constants = Sequence[Column | ListColumn]

RANKS: Final = "r"
"""The scale of values that are compared one by one: their ranks among the constants stand for them."""
_CHUNK: Final = 1 << 18
"""Pairs that are verified together."""
_SAMPLE: Final = 256
"""Events that the choice of the test is made with."""
_EMPTY: Final = np.empty(0, np.int64)


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


class Layout(NamedTuple):
    """Filters in the order of lookup."""

    offsets: Rows
    lows: Array
    highs: Array
    tops: Array
    peaks: Array
    filters: Rows
    sorted_highs: Array


class Segment:
    """The filters of a form from one number on up to another."""

    def __init__(self, tests: Sequence[Test], constants: Constants, first: int, last: int) -> None:
        self.first, self.last = first, last
        self._tests, self._constants = tests, constants
        self._compared: dict[tuple[int, str], Compared] = {}
        self._keyed: dict[tuple[int, str], Keyed] = {}
        self._layouts: dict[tuple[int, int, str, str], Layout] = {}
        self._members: dict[tuple[int, str], Array] = {}
        self._chosen: dict[tuple[str, ...], tuple[int, tuple[int, int]]] = {}
        """Which tests give key and interval on some scales, and how many events have said so."""

    def __len__(self) -> int:
        return self.last - self.first

    # -- lookup -------------------------------------------------------------------------------------------------------

    def candidates(self, events: Events) -> Iterator[tuple[Rows, Rows]]:
        """Events and filters that pass the tests, a chunk at a time, in the order of events."""
        asked: list[_Asked] = []
        for number, test in enumerate(self._tests):
            scale = scale_of(test.sort, events.kind(test.value))
            if scale is None:
                return
            asked.append(_Asked(self, number, test, events, scale))
        key, interval = self._choice(asked, events.size)
        for rows, filters in self._looked_up(asked, key, interval, events.size):
            for each in asked:
                if each.number not in (key, interval) and len(rows):
                    passed = each.passes(rows, filters - self.first)
                    rows, filters = rows[passed], filters[passed]
            if len(rows):
                yield rows, filters

    def _looked_up(self, asked: Sequence[_Asked], key: int, interval: int, size: int) -> Iterator[tuple[Rows, Rows]]:
        layout = self._layout(asked, key, interval)
        codes = asked[key].codes() if key >= 0 else _EMPTY
        values, usable = asked[interval].values() if interval >= 0 else (_EMPTY, np.ones(size, np.bool_))
        start, room = 0, max(1024, min(_CHUNK, 2 * size))
        while start < size:
            rows, places = np.empty(room, np.int64), np.empty(room, np.int64)
            done, count = candidates(
                codes,
                values,
                usable,
                layout.offsets,
                layout.lows,
                layout.highs,
                layout.tops,
                layout.peaks,
                key >= 0,
                interval >= 0,
                start,
                rows,
                places,
            )
            if count:
                yield rows[:count], layout.filters[places[:count]]
            elif done == start:  # one event has more filters than there is room
                room *= 4
            start = done

    def _choice(self, asked: Sequence[_Asked], size: int) -> tuple[int, int]:
        """The tests that give key and interval, -1 for none: those by which fewest filters are looked at.

        What a few events say is asked again when many come.
        """
        scales = tuple(each.scale for each in asked)
        known, choice = self._chosen.get(scales, (0, (-1, -1)))
        if asked and (not known or (known < _SAMPLE and size >= 2 * known)):
            keys = [each.number for each in asked if each.test.form != RANGE] or [-1]
            intervals = [each.number for each in asked if each.test.form == RANGE] or [-1]
            options = [(key, interval) for key in keys for interval in intervals]
            costs = [self._cost(asked, *option) for option in options] if len(options) > 1 else [0]
            choice = options[int(np.argmin(costs))]
            self._chosen[scales] = size, choice
        return choice

    def _cost(self, asked: Sequence[_Asked], key: int, interval: int) -> int:
        layout = self._layout(asked, key, interval)
        codes = asked[key].codes() if key >= 0 else _EMPTY
        size = asked[0].events.size
        values, usable = asked[interval].values() if interval >= 0 else (_EMPTY, np.ones(size, np.bool_))
        step = max(1, size // _SAMPLE)
        found: int = expected(
            codes[::step],
            values[::step],
            usable[::step],
            layout.offsets,
            layout.lows,
            layout.sorted_highs,
            key >= 0,
            interval >= 0,
        )
        return found

    # -- layouts, made when they are first needed ---------------------------------------------------------------------

    def _layout(self, asked: Sequence[_Asked], key: int, interval: int) -> Layout:
        scales = tuple(asked[number].scale if number >= 0 else "" for number in (key, interval))
        name = (key, interval, *scales)
        if name not in self._layouts:
            self._layouts[name] = self._laid_out(key, interval, *scales)
        return self._layouts[name]

    def _laid_out(self, key: int, interval: int, key_scale: str, scale: str) -> Layout:
        count = len(self)
        if key >= 0:
            keyed = self.keyed(key, key_scale)
            filters, codes, size = keyed.filters, keyed.codes, len(keyed.keys)
        else:
            filters, codes, size = np.arange(count, dtype=np.int64), np.zeros(count, np.int64), 1
        if interval < 0:
            order = np.argsort(codes, kind="stable")
            lows = highs = _EMPTY
        else:
            compared = self.compared(interval, scale)
            possible = compared.lows[filters] <= compared.highs[filters]
            filters, codes = filters[possible], codes[possible]
            order = np.lexsort((compared.lows[filters], codes))
            lows, highs = compared.lows[filters[order]], compared.highs[filters[order]]
        offsets = np.append(0, np.cumsum(np.bincount(codes, minlength=size))).astype(np.int64)
        tops = _largest(highs, scale)
        alone = np.sort(highs) if key < 0 else highs[:0]
        return Layout(offsets, lows, highs, tops, _largest(tops, scale), filters[order] + self.first, alone)

    def compared(self, number: int, scale: str) -> Compared:
        """The intervals of a test."""
        if (number, scale) not in self._compared:
            test = self._tests[number]
            columns = [(sign, self._column(place)) for sign, place in test.parts]
            if scale == RANKS:
                self._compared[number, scale] = _ranked(test.sort, columns, self.first, self.last)
            else:
                parts = [closed(sign, column, self.first, self.last, scale) for sign, column in columns]
                self._compared[number, scale] = Compared(*both(parts), None, test.sort)
        return self._compared[number, scale]

    def _column(self, place: int) -> Column:
        column = self._constants[place]
        assert isinstance(column, Column)
        return column

    def keyed(self, number: int, scale: str) -> Keyed:
        """The entries of an equality or of an IN."""
        if (number, scale) not in self._keyed:
            ((_, place),) = self._tests[number].parts
            column = self._constants[place]
            if isinstance(column, ListColumn):
                filters, places = column.places(self.first, self.last)
                self._keyed[number, scale] = _keys(column.items, filters - self.first, places, scale)
            else:
                filters = np.arange(len(self))
                self._keyed[number, scale] = _keys(column, filters, filters + self.first, scale)
        return self._keyed[number, scale]

    def members(self, number: int, scale: str) -> Array:
        """The entries of an equality or an IN as single numbers, in order."""
        if (number, scale) not in self._members:
            keyed = self.keyed(number, scale)
            self._members[number, scale] = np.sort(keyed.filters * (len(keyed.keys) + 1) + keyed.codes)
        return self._members[number, scale]


class _Asked:
    """One test, asked of the events of a batch."""

    def __init__(self, segment: Segment, number: int, test: Test, events: Events, scale: str) -> None:
        self.number, self.test, self.events, self.scale = number, test, events, scale
        self._segment = segment
        self._codes: Rows | None = None
        self._values: tuple[Array, Mask] | None = None

    def codes(self) -> Rows:
        """The number of the key that each event has, -1 for none."""
        if self._codes is None:
            self._codes = _codes_of(self.events, self.test, self._segment.keyed(self.number, self.scale).keys, self.scale)
        return self._codes

    def values(self) -> tuple[Array, Mask]:
        """The value of each event on the scale of the constants, and which have one."""
        if self._values is None:
            compared = self._segment.compared(self.number, self.scale)
            if compared.ends is None:
                values = self.events.value(self.test.value).values
                self._values = values, self.events.present(self.test.value)
            else:
                self._values = _ranks_of(self.events, self.test, compared.ends)
        return self._values

    def passes(self, rows: Rows, filters: Rows) -> Mask:
        """Which pairs pass this test."""
        if self.test.form == RANGE:
            values, usable = self.values()
            compared = self._segment.compared(self.number, self.scale)
            found = values[rows]
            inside: Mask = (compared.lows[filters] <= found) & (found <= compared.highs[filters])
            return inside & usable[rows]
        codes = self.codes()[rows]
        members = self._segment.members(self.number, self.scale)
        size = len(self._segment.keyed(self.number, self.scale).keys)
        if not len(members):
            return np.zeros(len(rows), np.bool_)
        wanted = filters * (size + 1) + codes
        place = np.minimum(np.searchsorted(members, wanted), len(members) - 1)
        return (members[place] == wanted) & (codes >= 0)


# -- constants --------------------------------------------------------------------------------------------------------


def _largest(values: Array, scale: str) -> Array:
    """The largest of each block."""
    if not len(values):
        return values
    blocks = -(-len(values) // BLOCK)
    padded = np.full(blocks * BLOCK, LOW["f" if scale == "f" else "i"], values.dtype)
    padded[: len(values)] = values
    largest: Array = padded.reshape(blocks, BLOCK).max(axis=1)
    return largest


def _keys(column: Column, filters: Rows, places: Rows, scale: str) -> Keyed:
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


def _ranked(sort: str, columns: Sequence[tuple[str, Column]], first: int, last: int) -> Compared:
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


def _codes_of(events: Events, test: Test, keys: Array | list[Any], scale: str) -> Rows:
    """The number of the key that each event has, -1 for none."""
    if not len(keys):
        return np.full(events.size, -1, np.int64)
    if scale == RANKS and events.kind(test.value) == TEXTS:
        places, texts = events.encoded(test.value)
        found = pc.fill_null(pc.index_in(texts, arrow_texts(keys).cast(texts.type)), -1)  # type: ignore[arg-type]
        return np.append(numpy_of(found), -1).astype(np.int64)[places]
    if scale == RANKS:
        numbers = {each: number for number, each in enumerate(keys)}
        values = to_values(events.value(test.value))
        codes = (numbers.get(v, -1) if _comparable(v, test.sort) else -1 for v in values)
        return np.fromiter(codes, np.int64, events.size)
    assert isinstance(keys, np.ndarray)
    values = events.value(test.value).values
    place = np.minimum(np.searchsorted(keys, values), len(keys) - 1)
    return np.where((keys[place] == values) & events.present(test.value), place, -1)


def _ranks_of(events: Events, test: Test, ends: list[Any]) -> tuple[Array, Mask]:
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
