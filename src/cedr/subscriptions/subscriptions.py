"""``cedr.Subscriptions``: events go to those who have subscribed to them, thousands at a time.

    subscriptions = cedr.Subscriptions("TYPE TRADE (symbol STRING, price FLOAT)")
    subscriptions.add("alice", "symbol = 'ACME' AND price > 10")
    for routed in subscriptions.route("trades.parquet", type="TRADE", time="ts", id="trade_id"):
        print(routed.to_arrow())

Paper: Section 1 (publish/subscribe) and Section 5 (levels).  Readings: R3, R4, R20, R33, R44.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import pyarrow as pa

from cedr.builder.columns import Column
from cedr.connect.dead_letters import drawn
from cedr.connect.outgoing import message_as_line
from cedr.connect.places import Position
from cedr.consistency.batch import EventBatch
from cedr.data.rejected import SHARE
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError, LanguageError
from cedr.expression.render import render
from cedr.hosts.event_types import declared_types, read_types
from cedr.hosts.feed import NAME, Feed
from cedr.hosts.queries import is_path, parse_level
from cedr.language.parse import parse
from cedr.model.level import MIDDLE, ConsistencyLevel
from cedr.model.schema import EventType, EventTypes
from cedr.model.stream import Message
from cedr.model.time import Time
from cedr.subscriptions import arriving
from cedr.subscriptions.beliefs import Beliefs
from cedr.subscriptions.book import Book, Subscription, types_of
from cedr.subscriptions.given import columns_of, listed
from cedr.subscriptions.routed import Matches, Routed
from cedr.subscriptions.router import route
from cedr.subscriptions.state import book_as_bytes, own_as_bytes, restored
from cedr.subscriptions.templates import Failed

Types = EventTypes | EventType | str | PathLike[str]

_MOST_FAILURES = 1_000
"""Failures that are kept; all are counted."""


class Subscriptions:
    """Filters on single events, each with an ID, and who gets which event.

    ``types`` declares the event types: a text or ``.cedr`` file of TYPE statements, ``EventTypes``, an ``EventType``.
    ``consistency`` is the level at which events are routed: at MIDDLE at once, with retractions where that proves
    wrong; at STRONG once they are final.
    """

    def __init__(
        self, types: Types, *, consistency: ConsistencyLevel | str = MIDDLE, providers: Iterable[str] = ()
    ) -> None:
        known = types_of(_declared(types) if isinstance(types, str | PathLike) else types)
        self.types = known
        self.level = parse_level(consistency) if isinstance(consistency, str) else consistency
        self.cedr_time: Time = 0
        """The CEDR time of the last step."""
        self.failures: list[Diagnostic] = []
        """Subscriptions whose predicate raised an error, with the event; the first thousand of them."""
        self.failed = 0
        """How often a predicate has raised an error."""
        self.book = Book(known)
        """The subscriptions by their numbers, with the indexes that look them up."""
        self._beliefs = Beliefs(known, self.level, providers)
        self._feed = Feed(known)
        self._unreadable: tuple[Diagnostic, ...] = ()
        self._guarantee: Time | None = None
        self._saved = -1
        """The version of the subscriptions that was saved last."""

    # -- who has subscribed to what -----------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.book)

    def __contains__(self, id_: object) -> bool:
        return id_ in self.book

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self.book)

    def __getitem__(self, id_: str) -> Subscription:
        return self.book.get(id_)

    def __repr__(self) -> str:
        return f"<{len(self):,} subscriptions to {', '.join(self.types.types)}>"

    def add(self, id_: str, where: str | Column, *, type: str | None = None) -> None:  # noqa: A002 - the language's word
        """Subscribe to the events of a type for which a predicate is true, from the next step on.

        ``where`` is what stands in the WHERE of a pattern with one parameter.  ``type`` may be left out where there is
        only one.  Raises ``LanguageError``, or ``StreamError`` for a second subscription of one ID.
        """
        self.book.add([Subscription(id_, self._type(type), _text(where))], self.cedr_time + 1)

    def add_all(self, given: Any, *, type: str | None = None) -> None:  # noqa: A002 - the language's word
        """Add many: a mapping of predicates by ID, pairs of both, or a table with the columns id, where and type.

        All of them are added or, where one is wrong, none; the error tells what is wrong with each.
        """
        many = [Subscription(id_, self._type(of or type), _text(where)) for id_, where, of in listed(given)]
        self.book.add(many, self.cedr_time + 1)

    def remove(self, *ids: str) -> None:
        """Remove subscriptions: they get nothing more.  Raises ``StreamError`` where there is no such one."""
        self.book.remove(ids)

    def to_arrow(self) -> pa.Table:
        """The subscriptions as a table: id, type, where, and the CEDR time since which each gets what is emitted."""
        return self.book.to_arrow()

    @property
    def nbytes(self) -> int:
        """Bytes that the constants of the filters take."""
        return self.book.nbytes

    # -- routing ------------------------------------------------------------------------------------------------------

    def match(self, events: Any, *, type: str | None = None) -> Matches:  # noqa: A002 - the language's word
        """Which of some events match which subscriptions: the bare filter, which remembers nothing.

        ``events`` are an ``EventBatch``, an Arrow table, a data frame or rows as dictionaries.  Retractions need
        ``step`` or ``route``, which know what was routed before.
        """
        of = self.types.types[self._type(events.stream if isinstance(events, EventBatch) else type)]
        failed = Failed()
        found = self.book.indexes[of.name].matches(columns_of(events, of), failed)
        self._note(failed)
        return Matches(found.rows, found.slots, self.book.names)

    def step(self, messages: Any, cedr_time: Time | None = None) -> Routed:
        """Take messages, all of one CEDR time, and route what changes by them in what is believed.

        ``messages`` is an ``EventBatch``, a message as an object or as a dictionary, or a list of these.  What cannot
        be read is a dead letter.
        """
        given = messages if isinstance(messages, list | tuple) else [messages]
        taken = [message for each in given if (message := self._feed.take(each)) is not None]
        return self._step(taken, self.cedr_time + 1 if cedr_time is None else cedr_time)

    def route(self, data: Any, *, batch: int | None = None, bad_rows: float = SHARE, **words: Any) -> Iterator[Routed]:
        """Route data, step by step: whatever ``cedr.evaluate`` takes, with the words that describe it.

        Of messages, any iterable of them too, as they come; then each list in it is a step, and so is each
        ``EventBatch``.  ``batch`` rows or messages make a step, by default a thousandth of the rows.
        """
        steps = arriving.steps(data, self.types, words, batch, bad_rows)
        self._unreadable = (*self._unreadable, *steps.unreadable)
        for given in steps:
            yield self.step(given)

    def _step(self, messages: Sequence[Message | EventBatch], cedr_time: Time) -> Routed:
        if cedr_time <= self.cedr_time:
            primary = f"CEDR time only rises: the last step was at {self.cedr_time}, this one is at {cedr_time}"
            raise HostError(Diagnostic("clock-back", primary))
        self.cedr_time = cedr_time
        changes = self._beliefs.step(messages, cedr_time)
        failed = Failed()
        parts = [route(self.book, self.types.types[name], said, failed) for name, said in changes.items()]
        self._note(failed)
        guarantee, before = self._beliefs.guarantee, self._guarantee
        self._guarantee = guarantee
        moved = guarantee if before is None or guarantee > before else None
        return Routed(cedr_time, moved, [part for part in parts if part is not None], self.book.names)

    def _note(self, failed: Failed) -> None:
        """Put down what was raised: the pair is not routed, everything else is."""
        self.failed += len(failed.found)
        for slot, _, error in failed.found[: max(0, _MOST_FAILURES - len(self.failures))]:
            self.failures.append(self.book.failure(slot, error))

    @property
    def guarantee(self) -> Time:
        """Up to this occurrence time what was routed is final.  Reading: R36."""
        return self._beliefs.guarantee

    @property
    def dead_letters(self) -> tuple[Diagnostic, ...]:
        """What could not be used so far, each with its reason.  Readings: R37, R39, R41."""
        letters = self._beliefs.dead_letters()
        places = [
            Position(NAME, self._feed.number(letter.position), message_as_line(letter.message)) for letter in letters
        ]
        numbered = [replace(letter, position=number) for number, letter in enumerate(letters, start=1)]
        return (*self._unreadable, *self._feed.faults, *drawn(numbered, places))

    # -- state --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, bytes | None]:
        """What has changed of the state since the last call, in named segments; None is a segment that is gone.

        Keep them by name: all that are kept at one moment, given to ``restore``, go on from that moment.
        """
        own = own_as_bytes(self.cedr_time, self._feed.count, self._guarantee)
        book = book_as_bytes(self.book) if self._saved < self.book.version else {}
        self._saved = self.book.version
        return {**self._beliefs.state(), **own, **book}

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Go on where others of the same types and level were: before the first step and the first subscription."""
        if self.cedr_time or len(self.book):
            primary = f"{len(self.book)} subscriptions and {self.cedr_time} steps are here already"
            raise HostError(Diagnostic("restore-too-late", primary, hint="restore before anything else"))
        saved = restored(segments)
        self._beliefs.restore(saved.beliefs)
        self.book.add(saved.subscriptions, saved.since)
        self.cedr_time, self._feed.count, self._guarantee = saved.cedr_time, saved.received, saved.guarantee

    def _type(self, name: str | None) -> str:
        if name is not None:
            return name
        if len(self.types.types) > 1:
            primary, detail = "nothing says to events of which type", f"types are: {', '.join(self.types.types)}"
            raise LanguageError(Diagnostic("no-event-type", primary, detail=detail, hint='type="…" names it'))
        (only,) = self.types.types
        return only


def _declared(given: str | PathLike[str]) -> EventTypes:
    if isinstance(given, str) and not is_path(given):
        return declared_types(parse(given, "<types>"))
    return read_types([given])


def _text(where: str | Column) -> str:
    return render(where.expression) if isinstance(where, Column) else where
