"""A standing query with its clock and its batches: what ``cedr.run`` does with each message.

Readings: R33 (B and M on the server's clock), R40 (all messages of a batch have one CEDR time).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from cedr.connect.dead_letters import drawn
from cedr.connect.outgoing import message_as_line
from cedr.connect.places import Position
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.event_types import declared_types, merged
from cedr.hosts.feed import NAME, Feed
from cedr.hosts.host import StandingQuery
from cedr.hosts.queries import Parsed, catalog_of
from cedr.model.intake import DeadLetter
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Message
from cedr.model.time import Time
from cedr.plan.compile import Program, compile_file

if TYPE_CHECKING:
    from cedr.consistency.batch import EventBatch

_SEGMENT = "cedr.run"
"""The segment of the state that is ours: the clock and the count."""


class Said(NamedTuple):
    """What a query said at one of several levels."""

    level: ConsistencyLevel
    change: Change


class Standing:
    """A standing query that is fed message by message; ``take`` and ``flush`` give what is said."""

    def __init__(
        self, running: StandingQuery, types: EventTypes, *, batch: int, clock: Callable[[], Time] | None, labelled: bool
    ) -> None:
        self.running = running
        self.feed = Feed(types)
        self.cedr_time: Time = 0
        self._clock = clock
        self._batch = batch
        self._labelled = labelled
        self._collected: list[Message | EventBatch] = []
        self.unreadable: tuple[Diagnostic, ...] = ()
        """Rows of data that could not be read, before anything was run."""

    def take(self, given: object) -> Sequence[Any]:
        """A message, or a list of them; what is said about it, if its batch is full."""
        if isinstance(given, list | tuple):
            before = self.flush()
            batch = [message for item in given if (message := self.feed.take(item)) is not None]
            return [*before, *self._step(batch)]
        message = self.feed.take(given)
        if message is None:
            return ()
        if self._batch == 1:
            return self._step([message])
        self._collected.append(message)
        return self.flush() if len(self._collected) >= self._batch else ()

    def flush(self) -> Sequence[Any]:
        """What is said about the messages collected so far."""
        if not self._collected:
            return ()
        batch, self._collected = self._collected, []
        return self._step(batch)

    def dead_letters(self) -> tuple[Diagnostic, ...]:
        """What could not be read, then what the host refused, of all levels together."""
        refused: dict[tuple[str, int], DeadLetter] = {}
        for of in range(len(self.running.levels)):
            refused.update(((letter.code, letter.position), letter) for letter in self.running.dead_letters(of))
        return (*self.unreadable, *self.feed.faults, *(self._drawn(letter) for letter in refused.values()))

    def state(self) -> dict[str, bytes | None]:
        """The segments of the query, and our own."""
        own = json.dumps({"cedr_time": self.cedr_time, "received": self.feed.count}).encode()
        return {**self.running.state(), _SEGMENT: own}

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Take over the state of another run.  Raises ``HostError`` once messages were taken."""
        if self.feed.count:
            primary = f"{self.feed.count} messages were taken already: there is nothing to go on from"
            raise HostError(Diagnostic("restore-too-late", primary, hint="restore before the first message"))
        self._restore({name: kept for name, kept in segments.items() if name != _SEGMENT})
        own = json.loads(segments.get(_SEGMENT, b"{}"))
        self.cedr_time, self.feed.count = own.get("cedr_time", 0), own.get("received", 0)

    def _restore(self, segments: Mapping[str, bytes]) -> None:
        self.running.restore(segments)

    def _drawn(self, letter: DeadLetter) -> Diagnostic:
        """A dead letter drawn into its message."""
        position = Position(NAME, self.feed.number(letter.position), message_as_line(letter.message))
        (found,) = drawn([replace(letter, position=1)], [position])
        return found

    def _step(self, batch: Sequence[Message | EventBatch]) -> Sequence[Any]:
        """One batch at the next CEDR time, which rises even where the clock does not: K is made of it (R8)."""
        self.cedr_time += 1
        if self._clock is not None:
            self.cedr_time = max(self.cedr_time, self._clock())
        return self._told(batch)

    def _told(self, batch: Sequence[Message | EventBatch]) -> Sequence[Any]:
        """What the query emits about a batch."""
        spoken = self.running.step(batch, self.cedr_time)
        if not self._labelled:
            (one,) = spoken
            return one.to_changes() if len(one) else ()
        return [Said(each.level, change) for each in spoken if len(each) for change in each.to_changes()]


def compiled(
    query: Parsed,
    catalog: EventTypes | str | PathLike[str] | None,
    inferred: EventTypes | None = None,
) -> tuple[Program, EventTypes]:
    """A program and the event types of its messages, before any message has come.

    Types are those of the text, of the catalog and, where a whole file was read, of its messages; where there are none
    at all, every name is a type that takes anything.
    """
    given = merged(catalog_of(catalog), *([] if inferred is None else [inferred]))
    if isinstance(query, Program):
        own = EventTypes({event_type.name: event_type for event_type in query.types if not event_type.open})
        known = merged(given, own)
        return query, EventTypes(dict(known.types), open=not known.types)
    known = merged(given, declared_types(query))
    types = EventTypes(dict(known.types), open=not known.types)
    return compile_file(query, types), types
