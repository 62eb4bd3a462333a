"""Rows of sources as messages: all at once, or batch by batch in the order of arrival.

Readings: R3 (messages), R33 (guarantees and providers), R40 (a batch has one CEDR time).  Rows arrive in their
order.  Of several sources that row comes first before which less time has passed in its own source; with a column of
arrival times they come by these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cedr.consistency.batch import EventBatch
from cedr.data.instants import mask
from cedr.data.loading import KINDS, Loaded, Part
from cedr.model.event import Event, primitive_contributors
from cedr.model.stream import Guarantee, Message, Retract
from cedr.model.time import BEGINNING, FOREVER, Time, plus

Rows = npt.NDArray[np.int64]
INSERT, RETRACT, GUARANTEE = range(len(KINDS))
_FEW = 2_000
"""Up to so many rows all of them are drawn."""


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
    """Rows that were handed over: from which position on, and which."""

    position: int
    loaded: Loaded
    rows: Rows


@dataclass
class Arriving:
    """All rows of some sources."""

    sources: Sequence[Loaded]
    _handed: list[_Handed] = field(default_factory=list)
    _position: int = 1

    def __post_init__(self) -> None:
        self._order()
        self._streams = [
            _stream(part, loaded, ranks)
            for loaded, ranks in zip(self.sources, self._ranks, strict=True)
            for part in loaded.parts
        ]

    def _order(self) -> None:
        """The place of every row in the order of arrival."""
        counts = [len(loaded.times) for loaded in self.sources]
        self.count = sum(counts)
        self.recorded = any(loaded.arrivals is not None for loaded in self.sources)
        starts = np.cumsum([0, *counts])[:-1]
        if len(self.sources) == 1 and not self.recorded:
            self._ranks = [np.arange(self.count, dtype=np.int64)]
            self._arrivals = None
            return
        proxies = [_arrival_of(loaded) for loaded in self.sources]
        joined = np.concatenate(proxies) if proxies else np.empty(0, np.int64)
        order = np.argsort(joined, kind="stable")
        ranks = np.empty(self.count, np.int64)
        ranks[order] = np.arange(self.count, dtype=np.int64)
        self._ranks = [ranks[start : start + count] for start, count in zip(starts.tolist(), counts, strict=True)]
        self._arrivals = joined[order] if self.recorded else None

    # -- what is handed over ------------------------------------------------------------------------------------------

    def whole(self) -> list[Message | EventBatch]:
        """Everything as one batch, after which nothing comes; in it no order counts, and no guarantee is broken."""
        self._begin()
        found = self._messages(0, self.count)
        return [*found, Guarantee(FOREVER - 1)]

    def steps(self, batch: int) -> Iterator[tuple[Time, list[Message | EventBatch]]]:
        """Batch after batch with its CEDR time, the guarantees that follow from it, and at last that nothing comes."""
        self._begin()
        highs: dict[tuple[int, str | None], Time] = {}
        time = 0
        for low, high in self._cuts(batch):
            time = int(self._arrivals[low]) if self._arrivals is not None else time + 1
            yield time, [*self._messages(low, high), *self._promised(low, high, highs)]
        if self._arrivals is None:
            yield time + 1, [Guarantee(FOREVER - 1)]

    def _cuts(self, batch: int) -> Iterator[tuple[int, int]]:
        if self._arrivals is None:
            yield from ((low, min(low + batch, self.count)) for low in range(0, self.count, batch))
            return
        _, firsts = np.unique(self._arrivals, return_index=True)
        bounds = [*firsts.tolist(), self.count]
        yield from pairwise(bounds)

    def messages(self) -> list[Message]:
        """All rows as objects; no order counts, and no guarantee is among them."""
        self._begin()
        found: list[Message] = []
        for given in self._messages(0, self.count):
            found += given.inserts() if isinstance(given, EventBatch) else [given]
        return found

    def one_by_one(self) -> Iterator[tuple[str, int, Message]]:
        """Every row as an object in the order of arrival, with its file and row, and the guarantees that follow."""
        for _, step in self.steps(1):
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
            ids = stream.part.ids.cast(pa.string())
            wanted = pa.array([id_ for name, id_ in named if name == stream.part.type.name], pa.string())
            chosen = np.arange(len(ids)) if self.count <= _FEW else np.flatnonzero(mask(pc.is_in(ids, wanted)))
            if stream.loaded.kinds is not None:
                chosen = chosen[stream.loaded.kinds[stream.rows[chosen]] == INSERT]
            if len(chosen):
                ranks = stream.ranks[chosen].tolist()
                found += zip(ranks, _batch(stream.part, chosen, None).inserts(), strict=True)
        found.sort(key=lambda each: each[0])
        return [(rank // batch + 1, message) for rank, message in found]

    def place(self, position: int) -> tuple[str, int]:
        """Where the row stands that was handed over at a position: file and row."""
        for handed in reversed(self._handed):
            if handed.position <= position:
                return handed.loaded.raw.places.of(int(handed.rows[position - handed.position]))
        return "", 0

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

    def _messages(self, low: int, high: int) -> list[Message | EventBatch]:
        """Inserts by columns, then retractions: within a batch there is no order."""
        found: list[Message | EventBatch] = []
        later: list[Message | EventBatch] = []
        for stream in self._streams:
            first, last = np.searchsorted(stream.ranks, [low, high]).tolist()
            if first == last:
                continue
            rows = stream.rows[first:last]
            kinds = stream.loaded.kinds
            if kinds is None:
                found += self._inserts(
                    stream, np.arange(first, last), rows, whole=first == 0 and last == len(stream.rows)
                )
                continue
            chosen = np.arange(first, last)
            inserts, retracts = chosen[kinds[rows] == INSERT], chosen[kinds[rows] == RETRACT]
            if len(inserts):
                found += self._inserts(stream, inserts, stream.rows[inserts], whole=False)
            later += self._retractions(stream, retracts)
        for retraction in later:
            self._position += 1
            found.append(retraction)
        return found

    def _inserts(self, stream: _Stream, chosen: Rows, rows: Rows, *, whole: bool) -> Iterator[EventBatch]:
        part = stream.part
        for provider, own in _by_provider(part, chosen):
            all_of_it = whole and own is None
            take = None if all_of_it else (chosen if own is None else chosen[own])
            batch = _batch(part, take, provider)
            self._handed.append(_Handed(self._position, stream.loaded, rows if own is None else rows[own]))
            self._position += len(batch)
            yield batch

    def _retractions(self, stream: _Stream, chosen: Rows) -> Iterator[Retract]:
        part = stream.part
        name = part.type.name
        for provider, own in _by_provider(part, chosen):
            picked = chosen if own is None else chosen[own]
            ids = part.ids.take(pa.array(picked)).cast(pa.string()).to_pylist()
            keys = [None] * len(picked) if part.keys is None else part.keys.take(pa.array(picked)).to_pylist()
            times = part.clocks["time"][picked]
            stated = part.clocks["occurrence_start"][picked] if "occurrence_start" in part.clocks else times
            starts = np.where(stated == BEGINNING, times, stated).tolist()
            ends = [_ends(part, word, picked) for word in ("occurrence_end", "valid_end")]
            for id_, key, start, oe, ve in zip(ids, keys, starts, *ends, strict=True):
                yield Retract(key or f"{name}/{id_}@{start}", oe, ve, provider)

    def _promised(self, low: int, high: int, highs: dict[tuple[int, str | None], Time]) -> Iterator[Guarantee]:
        """Guarantees of rows, and what follows from declared bounds on disorder."""
        promises: dict[str | None, Time] = {}
        for number, (loaded, ranks) in enumerate(zip(self.sources, self._ranks, strict=True)):
            rows = (
                np.flatnonzero((ranks >= low) & (ranks < high))
                if len(self.sources) > 1 or self.recorded
                else np.arange(low, high)
            )
            for provider, own in _providers(loaded, rows):
                self._promise(loaded, number, provider, own, promises, highs)
        for provider, time in promises.items():
            self._position += 1
            yield Guarantee(time, provider)

    def _promise(
        self,
        loaded: Loaded,
        number: int,
        provider: str | None,
        rows: Rows,
        promises: dict[str | None, Time],
        highs: dict[tuple[int, str | None], Time],
    ) -> None:
        if not len(rows):
            return
        told = []
        kinds = None if loaded.kinds is None else loaded.kinds[rows]
        if kinds is not None:
            told += loaded.times[rows[kinds == GUARANTEE]].tolist()
        if loaded.guarantees is not None:
            told.append(int(loaded.guarantees[rows].max()))
        bound = loaded.source.words.disorder
        if bound is not None:
            syncs = loaded.clocks.get("occurrence_start", loaded.times)[
                rows if kinds is None else rows[kinds == INSERT]
            ]
            if len(syncs):
                newest = max(highs.get((number, provider), BEGINNING), int(syncs.max()))
                highs[number, provider] = newest
                told.append(plus(newest, -bound - 1) if newest > BEGINNING else BEGINNING)
        told = [time for time in told if time > BEGINNING]
        if told:
            promises[provider] = max(promises.get(provider, BEGINNING), max(told))


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
        part, rows, own = _reordered(part, order), rows[order], own[order]
    return _Stream(part, loaded, own, rows)


def _reordered(part: Part, order: Rows) -> Part:
    taken = pa.array(order)
    providers = (
        part.providers if part.providers is None or isinstance(part.providers, str) else part.providers.take(taken)
    )
    return Part(
        part.type,
        part.rows,
        part.ids.take(taken),
        {word: times[order] for word, times in part.clocks.items()},
        {name: column.take(taken) for name, column in part.payload.items()},
        None if part.keys is None else part.keys.take(taken),
        providers,
    )


def _batch(part: Part, rows: Rows | None, provider: str | None) -> EventBatch:
    """Rows of a part as a batch; a run of rows is cut out, not copied."""
    start, contiguous = 0, rows is None
    if rows is not None and len(rows) and int(rows[-1]) - int(rows[0]) + 1 == len(rows):
        start, contiguous = int(rows[0]), True
    count = len(part) if rows is None else len(rows)

    def cut(column: Any) -> Any:
        if isinstance(column, np.ndarray):
            return column[start : start + count] if contiguous else column[rows]
        return column.slice(start, count) if contiguous else column.take(pa.array(rows))

    clocks = {word: cut(times) for word, times in part.clocks.items()}
    os = clocks.get("occurrence_start")
    return EventBatch(
        part.type.name,
        cut(part.ids),
        clocks["time"],
        clocks.get("valid_end"),
        None if os is None else np.where(os == BEGINNING, clocks["time"], os),
        clocks.get("occurrence_end"),
        keys=None if part.keys is None else cut(part.keys),
        payload={name: cut(column) for name, column in part.payload.items()},
        provider=provider,
    )


def _by_provider(part: Part, chosen: Rows) -> Iterator[tuple[str | None, Rows | None]]:
    """The providers of some rows of a part, each with the places of its rows among them; None: all of them."""
    if part.providers is None or isinstance(part.providers, str):
        yield part.providers, None
        return
    column = part.providers.take(pa.array(chosen))
    for name in sorted(column.unique().to_pylist(), key=str):
        same = mask(column.is_null() if name is None else pc.equal(column, name))
        yield name, np.flatnonzero(same)


def _providers(loaded: Loaded, rows: Rows) -> Iterator[tuple[str | None, Rows]]:
    if loaded.providers is None or isinstance(loaded.providers, str):
        yield loaded.providers, rows
        return
    column = loaded.providers.take(pa.array(rows))
    for name in sorted(column.unique().to_pylist(), key=str):
        same = mask(column.is_null() if name is None else pc.equal(column, name))
        yield name, rows[same]


def _ends(part: Part, word: str, rows: Rows) -> list[Time | None]:
    """The end that each retraction names; none where it is FOREVER, which was left out."""
    if word not in part.clocks:
        return [None] * len(rows)
    return [None if end == FOREVER else end for end in part.clocks[word][rows].tolist()]
