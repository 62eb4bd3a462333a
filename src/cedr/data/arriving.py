"""Rows of sources as messages: all at once, share by share, or batch by batch in the order of arrival.

Readings: R3 (messages), R33 (guarantees and providers), R40 (a batch has one CEDR time).  Rows arrive in their
order.  Of several sources that row comes first before which less time has passed in its own source; with a column of
arrival times they come by these.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc

from cedr.consistency.batch import EventBatch
from cedr.data.batches import batch_of, by_provider, retractions_of
from cedr.data.instants import mask
from cedr.data.loading import Loaded, Part, Rows
from cedr.data.promises import GUARANTEE, INSERT, RETRACT, Promises
from cedr.data.shares import dealt_out, shares_of
from cedr.expression.tree import Way
from cedr.model.event import Event, primitive_contributors
from cedr.model.stream import Guarantee, Message, Retract
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.values.arrow_arrays import arrow_texts
from cedr.runtime.values.memory import give_back

_FEW = 2_000
"""Up to so many rows all of them are drawn."""
Given = list[Message | EventBatch]


class Order(NamedTuple):
    """In which order rows arrive."""

    ranks: list[Rows]
    """Of every source: the place of each row."""
    arrivals: Rows | None
    """The arrival time at each place; None where it is not recorded."""


@dataclass(slots=True)
class _Stream:
    """A part with the places of its rows in the order of arrival, which rise."""

    part: Part
    loaded: Loaded
    ranks: Rows
    rows: Rows
    """The rows of the source."""


@dataclass(slots=True)
class _Handed:
    """Rows that were handed over: from which position on, and which; None: all of the source."""

    position: int
    loaded: Loaded
    rows: Rows | None


@dataclass
class Arriving:
    """All rows of some sources."""

    sources: Sequence[Loaded]
    spent: bool = False
    """Whether the rows are gone: they were handed over for good."""
    _handed: list[_Handed] = field(default_factory=list)
    _position: int = 1

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(len(loaded.times) for loaded in self.sources)

    @property
    def recorded(self) -> bool:
        """Whether a column tells when rows arrived."""
        return any(loaded.arrivals is not None for loaded in self.sources)

    @cached_property
    def _order(self) -> Order:
        if len(self.sources) == 1 and not self.recorded:
            return Order([np.arange(self.count, dtype=np.int64)], None)
        proxies = [_arrival_of(loaded) for loaded in self.sources]
        joined = np.concatenate(proxies) if proxies else np.empty(0, np.int64)
        order = np.argsort(joined, kind="stable")
        ranks = np.empty(self.count, np.int64)
        ranks[order] = np.arange(self.count, dtype=np.int64)
        ends = np.cumsum([len(loaded.times) for loaded in self.sources])[:-1]
        return Order(np.split(ranks, ends), joined[order] if self.recorded else None)

    @cached_property
    def _streams(self) -> list[_Stream]:
        return [
            _stream(part, loaded, ranks)
            for loaded, ranks in zip(self.sources, self._order.ranks, strict=True)
            for part in loaded.parts
        ]

    @cached_property
    def _by_rank(self) -> list[tuple[Rows, Rows]]:
        """Of every source: the places of its rows in order, and the rows at these places."""
        found = []
        for ranks in self._order.ranks:
            rising = len(ranks) < 2 or bool((ranks[1:] > ranks[:-1]).all())
            rows = np.arange(len(ranks), dtype=np.int64) if rising else np.argsort(ranks)
            found.append((ranks if rising else ranks[rows], rows))
        return found

    # -- what is handed over ------------------------------------------------------------------------------------------

    def whole(self, ways: Mapping[str, Way] | None = None) -> Iterator[Given]:
        """Everything, after which nothing comes; in it no order counts, and no guarantee is broken.

        ``ways``: the key of each type, where events meet only if their keys are equal.  Many rows then come in shares,
        each of which is to be evaluated by itself; and they are ``spent`` thereby, as nobody needs room for them twice.
        """
        plain = not self.recorded and all(loaded.kinds is None for loaded in self.sources)
        parts = [(part, loaded) for loaded in self.sources for part in loaded.parts]
        dealt = shares_of([part for part, _ in parts], ways) if plain and ways is not None else None
        self._begin()
        if dealt is not None:
            self.spent = True
            for loaded in self.sources:
                loaded.let_go()
            shares = dealt_out([part for part, _ in parts], *dealt)
            del dealt
            give_back(0)
            while shares:
                self._begin()
                share = zip(shares.pop(), parts, strict=True)
                found = [batch for own, (_, loaded) in share for batch in self._inserts(own, loaded, None)]
                yield [*found, Guarantee(FOREVER - 1)]
        elif plain:
            whole = [batch for part, loaded in parts for batch in self._inserts(part, loaded, None)]
            yield [*whole, Guarantee(FOREVER - 1)]
        else:
            yield [*self._messages(0, self.count), Guarantee(FOREVER - 1)]

    def cuts(self, batch: int) -> list[tuple[int, int]]:
        """The places between which rows arrive together: so many, or those of one recorded arrival time."""
        arrivals = self._order.arrivals
        if arrivals is None:
            return [(low, min(low + batch, self.count)) for low in range(0, self.count, batch)]
        firsts = np.unique(arrivals, return_index=True)[1]
        return [*pairwise([*firsts.tolist(), self.count])]

    def steps(self, cuts: Iterable[tuple[int, int]]) -> Iterator[tuple[Time, Given]]:
        """Batch after batch with its CEDR time, the guarantees that follow from it, and at last that nothing comes."""
        self._begin()
        promises, arrivals, time = Promises(), self._order.arrivals, 0
        for low, high in cuts:
            time = int(arrivals[low]) if arrivals is not None else time + 1
            given, guarantees = self.between(low, high, promises)
            yield time, [*given, *guarantees]
        if arrivals is None:
            yield time + 1, [Guarantee(FOREVER - 1)]

    def between(self, low: int, high: int, promises: Promises) -> tuple[Given, list[Guarantee]]:
        """The rows between two places in the order of arrival, and the guarantees that follow from them."""
        given = self._messages(low, high)
        further = []
        for ranks, rows in self._by_rank:
            first, last = np.searchsorted(ranks, [low, high]).tolist()
            further.append(rows[first:last])
        guarantees = [*promises.after(self.sources, further)]
        self._position += len(guarantees)
        return given, guarantees

    def messages(self) -> list[Message]:
        """All rows as objects; no order counts, and no guarantee is among them."""
        self._begin()
        found: list[Message] = []
        for given in self._messages(0, self.count):
            found += given.inserts() if isinstance(given, EventBatch) else [given]
        return found

    def one_by_one(self) -> Iterator[tuple[str, int, Message]]:
        """Every row as an object in the order of arrival, with its file and row, and the guarantees that follow."""
        for _, step in self.steps(self.cuts(1)):
            first = self._position - len(step)
            for offset, given in enumerate(step):
                name, row = ("", 0) if isinstance(given, Guarantee) else self.place(first + offset)
                for message in given.inserts() if isinstance(given, EventBatch) else [given]:
                    yield name, row, message

    def made_of(self, rows: Sequence[Event], batch: int) -> list[tuple[Time, Message]]:
        """The input that some rows are made of, or all of it where it is little, with the step in which each came."""
        named = {(leaf.stream, leaf.id) for row in rows for leaf in primitive_contributors(row)}
        found: list[tuple[int, Message]] = []
        for stream in self._streams:
            ids = stream.part.ids.cast("string")
            wanted = arrow_texts([id_ for name, id_ in named if name == stream.part.type.name])
            chosen = np.arange(len(ids)) if self.count <= _FEW else np.flatnonzero(mask(pc.is_in(ids, wanted)))
            if stream.loaded.kinds is not None:
                chosen = chosen[stream.loaded.kinds[stream.rows[chosen]] == INSERT]
            if len(chosen):
                ranks = stream.ranks[chosen].tolist()
                found += zip(ranks, batch_of(stream.part, chosen, None).inserts(), strict=True)
        found.sort(key=lambda each: each[0])
        return [(rank // batch + 1, message) for rank, message in found]

    def place(self, position: int) -> tuple[str, int]:
        """Where the row stands that was handed over at a position: file and row."""
        number = bisect_right(self._handed, position, key=lambda each: each.position) - 1
        if number < 0:
            return "", 0
        handed = self._handed[number]
        row = position - handed.position
        return handed.loaded.raw.places.of(row if handed.rows is None else int(handed.rows[row]))

    def late(self) -> int:
        """How many rows come later than the declared disorder allows, row by row.  Reading: R39."""
        found = 0
        for loaded in self.sources:
            bound = loaded.source.words.disorder
            if bound is not None and len(loaded.times):
                newest = np.maximum.accumulate(loaded.times)
                found += int(np.count_nonzero((loaded.times > BEGINNING) & (loaded.times < newest - bound)))
        return found

    def guaranteed(self) -> bool:
        """Whether anything promises that nothing earlier comes."""
        return any(
            loaded.source.words.disorder is not None
            or loaded.guarantees is not None
            or (loaded.kinds is not None and bool((loaded.kinds == GUARANTEE).any()))
            for loaded in self.sources
        )

    def _begin(self) -> None:
        self._handed, self._position = [], 1

    def _messages(self, low: int, high: int) -> Given:
        """Inserts by columns, then retractions: within a batch there is no order."""
        found: Given = []
        later: list[tuple[Loaded, Rows, list[Retract]]] = []
        for stream in self._streams:
            first, last = np.searchsorted(stream.ranks, [low, high]).tolist()
            chosen = np.arange(first, last)
            kinds = stream.loaded.kinds
            if kinds is not None:
                own = kinds[stream.rows[chosen]]
                for provider, rows in by_provider(stream.part.providers, chosen[own == RETRACT]):
                    retractions = [*retractions_of(stream.part, rows, provider)]
                    later.append((stream.loaded, stream.rows[rows], retractions))
                chosen = chosen[own == INSERT]
            if len(chosen):
                found += self._inserts(stream.part, stream.loaded, chosen, stream.rows)
        for loaded, rows, retractions in later:
            self._hand(loaded, rows, len(retractions))
            found += retractions
        return found

    def _inserts(
        self, part: Part, loaded: Loaded, chosen: Rows | None, rows: Rows | None = None
    ) -> Iterator[EventBatch]:
        """Rows of a part; None: all.  ``rows``: which rows of the source they are, if not as the part says."""
        rows = part.rows if rows is None else rows
        if chosen is None and (part.providers is None or isinstance(part.providers, str)):
            self._hand(loaded, rows, len(part))
            yield batch_of(part, None, part.providers)
            return
        for provider, own in by_provider(part.providers, np.arange(len(part)) if chosen is None else chosen):
            if len(own):
                self._hand(loaded, own if rows is None else rows[own], len(own))
                yield batch_of(part, own, provider)

    def _hand(self, loaded: Loaded, rows: Rows | None, count: int) -> None:
        """Remember which rows come next."""
        if count:
            self._handed.append(_Handed(self._position, loaded, rows))
            self._position += count


def _arrival_of(loaded: Loaded) -> Rows:
    """When each row arrives: by its column, or when its source had come so far."""
    if loaded.arrivals is not None:
        return loaded.arrivals
    return np.maximum.accumulate(loaded.times) if len(loaded.times) else loaded.times


def _stream(part: Part, loaded: Loaded, ranks: Rows) -> _Stream:
    rows = np.arange(len(loaded.times), dtype=np.int64) if part.rows is None else part.rows
    own = ranks[rows]
    if len(own) > 1 and (np.diff(own) < 0).any():
        order = np.argsort(own, kind="stable")
        part, rows, own = part.taken(order), rows[order], own[order]
    return _Stream(part, loaded, own, rows)
