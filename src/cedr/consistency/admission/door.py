"""The door of the system, in columns: messages in arrival order become rows of tables, or dead letters.

Paper: Section 4 (retractions, out-of-order delivery), Section 5 (sync points).  Readings: R3, R33, R37, R39, R41.
Accepts, refuses and ignores what ``cedr.model.intake.Intake`` does, message by message; but the first plain insert of
an event goes to its table by whole columns, and only the others are looked at one by one (``one_by_one``).

Between two guarantees a plain insert of a new event and a message about another event and another key do not bear on
each other: so the new events of a group of messages are taken first, and then the rest in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.consistency.admission.forgetting import Forgetting
from cedr.consistency.admission.in_bulk import candidates_in, rows_of_inserts, sorted_out, taken
from cedr.consistency.admission.ledger import Ledger, Listener
from cedr.consistency.admission.letters import Policy
from cedr.consistency.admission.one_by_one import Exact, Placed
from cedr.consistency.admission.saving import Saving
from cedr.consistency.admission.stream_rows import Attributes, PlainRows, Source
from cedr.consistency.admission.unread_types import Unread
from cedr.consistency.batch import EventBatch
from cedr.model.dead_letter import DeadLetter, abandoned, misfit
from cedr.model.identity import digest
from cedr.model.intake import IntakeCounts
from cedr.model.schema import EventTypes
from cedr.model.stream import Guarantee, Insert, Message, Retract
from cedr.model.time import BEGINNING, Time
from cedr.runtime.ids.event_index import EventIndex
from cedr.runtime.ids.text_ids import TextIds
from cedr.runtime.store.table import Table
from cedr.runtime.values.constant import always

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Arrivals:
    """What has arrived, shared by all consistency levels of a query.

    ``broken``: whether a broken guarantee makes a dead letter or an error (R39).  ``reads``: the streams that are read,
    and the attributes that are needed of each, None for all; without it everything is read.

    >>> from cedr.model.event import primitive
    >>> from cedr.model.stream import insert
    >>> arrivals = Arrivals(EventTypes())
    >>> arrivals.receive([insert(primitive("A", "a", 7)), Guarantee(7), insert(primitive("A", "b", 5))])
    >>> arrivals.guarantee, len(arrivals.table("A")), [letter.code for letter in arrivals.dead_letters()]
    (7, 1, ['broken-guarantee'])
    """

    def __init__(
        self,
        catalog: EventTypes,
        providers: Iterable[str] = (),
        *,
        broken: Policy = "dead-letter",
        reads: Mapping[str, Attributes] | None = None,
    ) -> None:
        self.ledger = Ledger(catalog, providers, broken, reads, lambda stream: _Arrived(self, stream))
        self.exact = Exact(self.ledger)
        self._unread = Unread(self.ledger)
        self.forgetting = Forgetting(self.ledger, self.exact)
        self._saving = Saving(self)

    # -- what is known ------------------------------------------------------------------------------------------------

    @property
    def tables(self) -> dict[str, Table]:
        """The tables of the streams that have arrived."""
        return {stream: source.table for stream, source in self.ledger.sources.items()}

    def table(self, stream: str) -> Table:
        """The table of a stream, empty where nothing has arrived."""
        return self.ledger.source(stream).table

    @property
    def guarantee(self) -> Time:
        """g: the smallest guarantee of the providers known so far.  Reading: R33."""
        return self.ledger.providers.guarantee

    @property
    def high(self) -> Time:
        """h: the largest Sync or guarantee so far, without dead letters.  Reading: R33."""
        return self.ledger.high

    @property
    def counts(self) -> IntakeCounts:
        """What came in, and what became of it."""
        return self.ledger.counts

    @property
    def ignored(self) -> int:
        """How many retractions came too late to matter: their events are forgotten.  Readings: R34, R37."""
        return self.ledger.ignored + self.ledger.counts.unknown

    @property
    def late(self) -> int:
        """How many messages came with a Sync below h, or behind the guarantee of their provider."""
        return self.ledger.lateness.count + self.ledger.letters.behind

    @property
    def feeds(self) -> list[Listener]:
        """The feeds of the consistency levels."""
        return self.ledger.listeners

    @property
    def rows_held(self) -> int:
        """How many events are known."""
        return sum(source.events for source in self.ledger.sources.values())

    def known(self, stream: str) -> int:
        """How many events of a stream are known."""
        return self.ledger.source(stream).events

    def knows(self, stream: str, ids: pa.Array | pa.ChunkedArray) -> Mask:
        """Which events of a stream are known, by their IDs."""
        names = TextIds()
        names.extend(ids)
        return self.ledger.source(stream).find(names) >= 0

    def uses_key(self, stream: str, id_: str, key: str) -> bool:
        """Whether a row of an event stands, or stood, under a key that is not the default one."""
        story = self.ledger.source(stream).stories.get(id_)
        return story is not None and key in story.lineages

    @property
    def nbytes(self) -> int:
        """Bytes held beside the tables."""
        return sum(source.nbytes for source in self.ledger.sources.values())

    def dead_letters(self, *, final: bool = False) -> list[DeadLetter]:
        """The dead letters not drained, by position; with ``final`` also the retractions that still wait."""
        letters = self.ledger.letters.so_far()
        if final:
            letters.extend(
                abandoned(waiting.message).letter(waiting.message, waiting.position)
                for group in self.exact.waiting.values()
                for waiting in group
                if not self.exact.unread(waiting)
            )
        return sorted(letters, key=lambda letter: letter.position)

    def drain_dead_letters(self) -> list[DeadLetter]:
        """The dead letters decided since the last time: held no longer, and final.  Reading: R37."""
        return self.ledger.letters.drain(self.guarantee)

    # -- messages -----------------------------------------------------------------------------------------------------

    def receive(
        self,
        messages: Sequence[Message | EventBatch],
        position: int | None = None,
        *,
        cedr_time: Time = BEGINNING,
    ) -> None:
        """Take messages in the order of arrival; each row of a batch is one.

        Positions count on from 1, or from the one given.  ``cedr_time`` is that of all the messages (R40).
        """
        self.ledger.cedr_time = cedr_time
        place = self.counts.received + 1 if position is None else position
        group: list[Placed] = []
        for message in messages:
            if isinstance(message, Insert | Retract):
                group.append((place, message))
                place += 1
                continue
            self._take_messages(group)
            group = []
            if isinstance(message, EventBatch):
                self._take_batch(message, place)
                place += len(message)
            else:
                self._take_guarantee(message, place)
                place += 1
        self._take_messages(group)

    def _take_guarantee(self, message: Guarantee, position: int) -> None:
        ledger = self.ledger
        ledger.counts.received += 1
        if message.provider is not None:
            ledger.code(message.provider)
        fault = misfit(message)
        if fault is not None:
            ledger.letters.bury(fault, message, position)
            return
        before = ledger.providers.of(message.provider)
        if message.time <= before:
            ledger.counts.duplicates += message.time == before
            ledger.counts.regressing_guarantees += message.time < before
            return
        ledger.providers.promise(message.provider, message.time)
        ledger.high = max(ledger.high, message.time)
        if self.exact.expects:
            self.exact.expire(self.guarantee)

    def _take_messages(self, group: list[Placed]) -> None:
        if not group:
            return
        ledger, high = self.ledger, self.high
        ledger.counts.received += len(group)
        codes = {name: ledger.code(name) for name in {message.provider for _, message in group}}
        group = [placed for placed in group if not self._passed_by(*placed)]
        guarantees = {name: ledger.providers.of(name) for name in codes}
        candidates, others = sorted_out(group, guarantees)
        for stream in {message.event.stream for _, message in group if isinstance(message, Insert)}:
            ledger.source(stream)  # so that streams with overlapping names are known beforehand
        touched = self.exact.touched(message for _, message in others)
        for stream, inserts in candidates.items():
            rows = rows_of_inserts(inserts, codes)
            new = self._take_new(ledger.source(stream), rows, None, touched.get(stream, ()))
            if not new.all():
                others.extend(inserts[place] for place in np.flatnonzero(~new).tolist())
        others.sort(key=lambda placed: placed[0])
        self.exact.take(others)
        ledger.lateness.close(high)

    def _passed_by(self, position: int, message: Insert | Retract) -> bool:
        if isinstance(message, Retract) or self.ledger.reads(message.event.stream):
            return False
        self._unread.take(message, position)
        return True

    def _take_batch(self, batch: EventBatch, position: int) -> None:
        if len(batch):
            high = self.high
            self._take_rows(batch, position)
            self.ledger.lateness.close(high)

    def _take_rows(self, batch: EventBatch, position: int) -> None:
        ledger = self.ledger
        ledger.counts.received += len(batch)
        code = 0 if batch.provider is None else ledger.code(batch.provider)
        source = ledger.read.get(batch.stream)
        if source is None and ledger.reads(batch.stream):
            source = ledger.source(batch.stream)
        if source is None:
            self._unread.take_batch(batch, position)
            return
        wanted = candidates_in(batch, ledger.providers.of(batch.provider))
        touched: set[str] = set()
        if not wanted.all():
            touched = self.exact.touched(batch.inserts(np.flatnonzero(~wanted))).get(batch.stream, set())
        new = self._take_new(source, _rows(batch, position, code), wanted, touched)
        if new.all():
            return
        rest = np.flatnonzero(~new)
        messages: list[Placed] = []
        for row, message in zip(rest.tolist(), batch.inserts(rest), strict=True):
            fault = batch.fault(row) if batch.unfit is not None else None
            if fault is None:
                messages.append((position + row, message))
            else:
                ledger.letters.bury(fault, message, position + row)
        self.exact.take(messages)

    def _take_new(self, source: Source, rows: PlainRows, wanted: Mask | None, touched: Iterable[str]) -> Mask:
        """Take the candidates whose events are new and that nothing else is about; which these are."""
        chosen = always(len(rows.vs)) if wanted is None else wanted
        watched = self.exact.watched(source.stream) if self.exact.watches else None
        excluded = [halves for halves in (watched, _halves(touched)) if halves is not None]
        if source.overlaps:
            return np.zeros(len(rows.vs), dtype=np.bool_)
        if not excluded and chosen.all():
            return self._append(source, rows)
        digests = TextIds()
        digests.extend(rows.ids)
        for halves in excluded:
            chosen = chosen & ~np.isin(digests.high, halves)
        if chosen.all():
            return self._append(source, rows)
        unknown = np.flatnonzero(chosen & (source.find(digests) < 0))
        if len(unknown) > 1:  # of several inserts of one event the first
            unknown = unknown[EventIndex().insert_new(digests, np.ones(len(digests), np.int8), unknown)]
        chosen = np.zeros(len(rows.vs), dtype=np.bool_)
        chosen[unknown] = True
        self._append(source, taken(rows, chosen))
        return chosen

    def _append(self, source: Source, rows: PlainRows) -> Mask:
        """Append the rows of which the events are new; which these are."""
        if not len(rows.vs):
            return np.zeros(0, dtype=np.bool_)
        first = len(source.table)
        serials = range(self.ledger.serials, self.ledger.serials + len(rows.vs))
        self.ledger.serials = serials.stop
        new = source.append_new(rows, serials)
        numbers, starts = np.arange(first, len(source.table), dtype=np.int64), rows.os
        positions = rows.positions
        if not new.all():
            numbers, starts, positions = numbers[new], starts[new], np.asarray(positions)[new]
        if len(numbers):
            self.ledger.lateness.accepted_rows(positions, starts)
            self.ledger.high = max(self.ledger.high, int(starts.max()))
            for feed in self.feeds:
                feed.arrived(source, numbers, self.ledger.cedr_time)
        return new

    # -- state --------------------------------------------------------------------------------------------------------

    def register(self, feed: Listener) -> None:
        """A consistency level begins: where a saved one left off, in their order, or with all that is known."""
        self.feeds.append(feed)
        if self._saving.feeds:
            feed.resume(self._saving.feeds.pop(0))
        else:
            feed.catch_up()

    @property
    def saved_feeds(self) -> int:
        """How many levels were saved that have not begun again."""
        return len(self._saving.feeds)

    def held_rows(self, stream: str) -> Rows:
        """The rows of a stream's table that are still needed here, in their order."""
        source = self.ledger.source(stream)
        for story in source.stories.values():
            needed = set(story.rows.values())
            story.versions = {
                version: row
                for version, row in story.versions.items()
                if row in needed or any(feed.shows(source, row) for feed in self.feeds)
            }
        return source.held_rows()

    def renumber(self, stream: str, old_to_new: Rows) -> None:
        """The rows of a table have new numbers, in the order of the old ones; those with -1 are gone."""
        source = self.ledger.source(stream)
        for feed in self.feeds:  # the table has its new length already
            feed.renumber(source, old_to_new)
        source.renumber(old_to_new)
        self._saving.renumber(stream, old_to_new)

    def state(self) -> dict[str, bytes | None]:
        """The segments of bytes that have changed since the last time; None where one is to be dropped."""
        return self._saving.state()

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Begin with what was saved, feeds included; nothing must have arrived yet."""
        self._saving.restore(segments)


class _Arrived:
    """Holds the rows of a stream that are known."""

    def __init__(self, arrivals: Arrivals, stream: str) -> None:
        self._arrivals, self._stream = arrivals, stream

    def held(self) -> Rows:
        """The rows that are still needed, in their order."""
        return self._arrivals.held_rows(self._stream)

    @property
    def empty(self) -> bool:
        """Whether nothing has arrived."""
        return not len(self._arrivals.ledger.source(self._stream).table)

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers of the rows."""
        self._arrivals.renumber(self._stream, new)

    def clear(self) -> None:
        """The table of a stream is never cleared."""
        raise NotImplementedError


def _rows(batch: EventBatch, first: int, code: int) -> PlainRows:
    """A batch as columns."""
    positions = range(first, first + len(batch))
    return PlainRows(batch.ids, batch.vs, batch.ve, batch.os, batch.payload, positions, code, batch.rt)


def _halves(ids: Iterable[str]) -> NDArray[np.uint64] | None:
    found = [digest(id_)[0] for id_ in ids]
    return np.array(found, dtype=np.uint64) if found else None
