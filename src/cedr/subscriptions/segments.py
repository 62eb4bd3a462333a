"""A run of filters of one form, laid out to be looked up: by key, then by the low end of an interval.

The filters of a key are a range of places (a CSR layout); within it those whose interval begins at or below a value
are again a range.  Which test gives the key, and which the interval, is chosen by what events ask for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cedr.subscriptions.bounds import LOW, both, closed
from cedr.subscriptions.constants import Column, ListColumn
from cedr.subscriptions.forms import RANGE, Test
from cedr.subscriptions.frames import Events
from cedr.subscriptions.kernels import BLOCK, candidates, expected
from cedr.subscriptions.scales import RANKS, Compared, Keyed, codes_of, keys_of, ranked, ranks_of, scale_of

Rows = NDArray[np.int64]
Array = NDArray[Any]
Mask = NDArray[np.bool_]
Constants = Sequence[Column | ListColumn]

_CHUNK: Final = 1 << 18
"""Pairs that are verified together."""
_SAMPLE: Final = 256
"""Events that the choice of the test is made with."""
_EMPTY: Final = np.empty(0, np.int64)


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
        )
        return found

    # -- layouts, made when they are first needed ---------------------------------------------------------------------

    def _layout(self, asked: Sequence[_Asked], key: int, interval: int) -> Layout:
        key_scale, scale = (asked[number].scale if number >= 0 else "" for number in (key, interval))
        name = (key, interval, key_scale, scale)
        if name not in self._layouts:
            self._layouts[name] = self._laid_out(key, interval, key_scale, scale)
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
                self._compared[number, scale] = ranked(test.sort, columns, self.first, self.last)
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
                self._keyed[number, scale] = keys_of(column.items, filters - self.first, places, scale)
            else:
                filters = np.arange(len(self))
                self._keyed[number, scale] = keys_of(column, filters, filters + self.first, scale)
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
            self._codes = codes_of(
                self.events, self.test, self._segment.keyed(self.number, self.scale).keys, self.scale
            )
        return self._codes

    def values(self) -> tuple[Array, Mask]:
        """The value of each event on the scale of the constants, and which have one."""
        if self._values is None:
            compared = self._segment.compared(self.number, self.scale)
            if compared.ends is None:
                values = self.events.value(self.test.value).values
                self._values = values, self.events.present(self.test.value)
            else:
                self._values = ranks_of(self.events, self.test, compared.ends)
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
        known: Mask = (members[place] == wanted) & (codes >= 0)
        return known


def _largest(values: Array, scale: str) -> Array:
    """The largest of each block."""
    if not len(values):
        return values
    blocks = -(-len(values) // BLOCK)
    padded = np.full(blocks * BLOCK, LOW["f" if scale == "f" else "i"], values.dtype)
    padded[: len(values)] = values
    largest: Array = padded.reshape(blocks, BLOCK).max(axis=1)
    return largest
