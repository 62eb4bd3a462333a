"""What receives messages one by one and emits: what can be asked of it, and how it is iterated over.

Paper: Section 5, Figure 7.  Readings: R37, R39, R41.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Sequence
from typing import Any, Protocol

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.hosts.feed import Feed
from cedr.model.time import Time


class Receiver(Protocol):
    """A query, or a catalog of them, that is fed message by message."""

    feed: Feed
    cedr_time: Time

    def take(self, given: object) -> Sequence[Any]:
        """A message, or a list of them; what is emitted, if its batch is full."""
        ...

    def flush(self) -> Sequence[Any]:
        """What is emitted about the messages that wait for their batch."""
        ...

    def dead_letters(self) -> tuple[Diagnostic, ...]:
        """What could not be used so far."""
        ...


class Received:
    """What can be asked of it between two messages, whatever it runs."""

    def __init__(self, standing: Receiver, warnings: Iterable[Diagnostic]) -> None:
        self._standing = standing
        self.warnings = tuple(warnings)

    @property
    def received(self) -> int:
        """How many messages were given so far, the unreadable ones included."""
        return self._standing.feed.count

    @property
    def cedr_time(self) -> Time:
        """The CEDR time of the last batch."""
        return self._standing.cedr_time

    @property
    def dead_letters(self) -> tuple[Diagnostic, ...]:
        """What could not be used so far, each with its reason.  Readings: R37, R39, R41."""
        return self._standing.dead_letters()


def emitted(standing: Receiver, messages: Iterable[Any]) -> Generator[Any]:
    """What is emitted about messages as they come."""
    take = standing.take
    for given in messages:
        yield from take(given)
    yield from standing.flush()


async def emitted_async(standing: Receiver, messages: AsyncIterable[Any]) -> AsyncGenerator[Any]:
    """The same of an asynchronous source."""
    async for given in messages:
        for change in standing.take(given):
            yield change
    for change in standing.flush():
        yield change
