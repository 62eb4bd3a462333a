"""A task in a Python worker: events in, pairs of a subscription and an event out.

Paper: Section 1 (publish/subscribe).  Readings: R2, R20, R41.  A task keeps no state.  The subscriptions come frozen,
as bytes with their digest, so that a process thaws them once for all its tasks.
"""

from __future__ import annotations

import logging
import pickle
from collections import Counter, OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import cloudpickle

from cedr.consistency.batch import EventBatch
from cedr.model.dead_letter import Fault, misfit
from cedr.model.time import BEGINNING, FOREVER
from cedr.runtime.values.arrow_arrays import arrow
from cedr.runtime.values.memory import settle
from cedr.spark.layout.layout import SourceLayout, TypeLayout
from cedr.spark.layout.read_faults import Letter, ReadFault
from cedr.spark.map_task.pack_files import FileRows, files_in
from cedr.spark.map_task.unpack import messages_of
from cedr.spark.output.rows import dead_letter_rows, fitted
from cedr.subscriptions.book import Book
from cedr.subscriptions.given import columns_of
from cedr.subscriptions.index import Pairing
from cedr.subscriptions.templates import Failed

Mask = NDArray[np.bool_]

_LOG = logging.getLogger("cedr")
_ROWS: Final = 65_536
"""The most rows that Spark gets at a time: one event may have very many subscriptions."""


@dataclass(frozen=True, slots=True)
class Frozen:
    """Subscriptions as they were at one moment."""

    digest: str
    book: bytes

    @classmethod
    def of(cls, book: Book) -> Frozen:
        """Freeze subscriptions, with the user's own functions that their predicates call."""
        pickler: Any = cloudpickle  # which has no types
        held: bytes = pickler.dumps(book)
        return cls(sha256(held).hexdigest(), held)


@dataclass(frozen=True, slots=True)
class MatchLayout:
    """The columns in which events come, and those of the result."""

    types: tuple[TypeLayout, ...]
    sources: tuple[SourceLayout, ...]
    schema: Any
    """The Arrow schema of the result."""
    shown: tuple[tuple[str, str], ...]
    """The attributes in the result, and their names there."""
    instants: bool
    letters: bool
    changes: bool = False
    """Pairs are no change stream: nothing is ever retracted."""


class MatchEvents:
    """Given to ``mapInArrow``: matches the events of a task with subscriptions."""

    def __init__(self, layout: MatchLayout, frozen: Frozen) -> None:
        self._layout, self._frozen = layout, frozen

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The pairs of each batch, then its dead letters."""
        return self.matched(batches, [])

    def matched(self, batches: Iterator[Any], letters: list[Letter]) -> Iterator[Any]:
        """The same; what reads the batches adds to the dead letters, each of which is given once."""
        settle()
        book = _thawed(self._frozen)
        unused: Counter[str] = Counter()
        for batch in batches:
            for events in messages_of(pa.Table.from_batches([batch]), self._layout, letters):
                assert isinstance(events, EventBatch)  # there is no column that makes a retraction of a row
                yield from self._matched(book, events, letters)
            yield from self._told(letters, unused)
        yield from self._told(letters, unused)
        _warn(unused)

    def _told(self, letters: list[Letter], unused: Counter[str]) -> Iterator[Any]:
        """Dead letters as rows, or counted where the result has none."""
        if self._layout.letters and letters:
            yield dead_letter_rows(self._layout, letters, 0)
        elif letters:
            unused.update(letter.code for letter in letters)
        letters.clear()

    def _matched(self, book: Book, events: EventBatch, letters: list[Letter]) -> Iterator[Any]:
        """The pairs of the events of one type; adds what cannot be used to the dead letters."""
        unfit = _unfit(events, letters)
        failed = Failed()
        found = book.indexes[events.stream].matches(columns_of(events, book.types.types[events.stream]), failed)
        if unfit.any():
            keep = ~unfit[found.rows]
            found = Pairing(found.rows[keep], found.slots[keep])
        for slot, row, error in failed.found:
            if not unfit[row]:
                told = book.failure(slot, error)
                reason = f"{told.primary} ({told.detail})"
                letters.append(Fault(told.code, reason).letter(events.inserts(np.array([row]))[0], 0))
        for low in range(0, len(found.rows), _ROWS):
            part = Pairing(found.rows[low : low + _ROWS], found.slots[low : low + _ROWS])
            yield self._rows(book, events, part)

    def _rows(self, book: Book, events: EventBatch, pairs: Pairing) -> pa.RecordBatch:
        rows = arrow(pairs.rows)
        columns: dict[str, Any] = {
            "subscription": book.names(pairs.slots),
            "type": pa.repeat(pa.scalar(events.stream), len(rows)),
            "id": events.ids.take(rows),
            "Vs": arrow(events.vs[pairs.rows]),
            "Ve": arrow(events.ve[pairs.rows]),
        }
        for attribute, shown in self._layout.shown:
            if attribute in events.payload:
                columns[shown] = events.payload[attribute].take(rows)
        return fitted(self._layout, columns, len(rows))


class MatchFiles:
    """Given to ``mapInArrow`` on rows that each name a part of a file: reads the files and matches their events."""

    def __init__(self, matching: MatchEvents, rows: FileRows) -> None:
        self._matching, self._rows = matching, rows

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """The pairs of the files of a task, and the dead letters."""
        letters: list[Letter] = []
        faults: list[ReadFault] = []

        def read() -> Iterator[Any]:
            for batch in self._rows.read(files_in(batches), faults):
                yield batch
                letters.extend(faults)
                faults.clear()
            letters.extend(faults)

        return self._matching.matched(read(), letters)


_THAWED: Final[OrderedDict[str, Book]] = OrderedDict()
"""The subscriptions that this process used last, by their digests."""
_MOST_THAWED: Final = 4


def _thawed(frozen: Frozen) -> Book:
    """The subscriptions, thawed once in each process."""
    book = _THAWED.pop(frozen.digest, None)
    if book is None:
        book = pickle.loads(frozen.book)
    _THAWED[frozen.digest] = book
    if len(_THAWED) > _MOST_THAWED:
        _THAWED.popitem(last=False)
    return book


def _unfit(events: EventBatch, letters: list[Letter]) -> Mask:
    """Which rows are no events: without an ID or a time, or with ends before their starts."""
    bad: Mask = np.zeros(len(events), np.bool_) if events.unfit is None else events.unfit.copy()
    misfits = (events.ve < events.vs) | (events.oe < events.os)
    for start in (events.vs, events.os):
        misfits |= (start <= BEGINNING) | (start >= FOREVER)
    misfits &= ~bad
    for mask in (bad, misfits):
        rows = np.flatnonzero(mask)
        for row, said in zip(rows.tolist(), events.inserts(rows), strict=True):
            fault = events.fault(row) or misfit(said)
            if fault is not None:
                letters.append(fault.letter(said, 0))
    return bad | misfits


def _warn(unused: Counter[str]) -> None:
    """Log how many dead letters there are, where the result does not have them as rows."""
    if unused:
        codes = ", ".join(f"{code}: {count:,}" for code, count in sorted(unused.items()))
        many = f"{unused.total():,} dead letter{'s' if unused.total() > 1 else ''}"
        _LOG.warning("cedr: subscriptions: %s (%s); dead_letters=True shows them", many, codes)
