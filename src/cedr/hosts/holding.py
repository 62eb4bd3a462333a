"""Which messages wait: what a level has not admitted yet, and since when.

Reading: R33: messages with Sync <= max(g, h - B) are admitted, and once admitted stay so; with B in CEDR time it is the
h of B ago.  Nothing here evaluates a query: it is the account of the door, for those who want to look at it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush

from cedr.model.intake import Accepted, DeadLetter, Intake
from cedr.model.level import Bound, ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Message
from cedr.model.time import BEGINNING, FOREVER, Time, plus

_Waiting = tuple[Time, int, Time]
"""Sync, number among the accepted messages, and the CEDR time of its arrival."""


class Holding:
    """The accepted messages that each of some levels holds back.  Reading: R33.

    >>> from cedr.model.event import primitive
    >>> from cedr.model.level import MIDDLE, STRONG
    >>> from cedr.model.stream import insert
    >>> door = Holding(EventTypes())
    >>> _ = door.receive([insert(primitive("A", "a", 7))], 1, [MIDDLE, STRONG])
    >>> len(door.held(0)), len(door.held(1)), len(door.fresh[0])
    (0, 1, 1)
    """

    def __init__(self, catalog: EventTypes, providers: Iterable[str] = ()) -> None:
        self.intake = Intake(catalog, providers)
        self._late = 0
        self.fresh: list[list[Accepted]] = []
        """What the last step admitted, for each level, in the order of Sync."""
        self.longest: list[Time] = []
        """The longest wait so far, in CEDR time, for each level."""
        self._waiting: list[list[_Waiting]] = []
        self._clock: list[Time] = []
        self._high: list[Time] = []

    def receive(
        self, messages: Sequence[Message], cedr_time: Time, levels: Sequence[ConsistencyLevel]
    ) -> list[DeadLetter]:
        """Take a batch; what of it could not be used."""
        if not self._waiting:
            self._waiting, self.longest = [[] for _ in levels], [0 for _ in levels]
        first, letters = len(self.intake.accepted), list[DeadLetter]()
        for message in messages:
            high, count = self.intake.high, len(self.intake.accepted)
            letter = self.intake.receive(message)
            letters += [] if letter is None else [letter]
            self._late += sum(accepted.sync < high for accepted in self.intake.accepted[count:])
        self._clock.append(cedr_time)
        self._high.append(self.intake.high)
        for of in range(len(levels)):
            for number, accepted in enumerate(self.intake.accepted[first:], first):
                heappush(self._waiting[of], (accepted.sync, number, cedr_time))
        self.fresh = [self._admit(of, level, cedr_time) for of, level in enumerate(levels)]
        return letters

    @property
    def late(self) -> int:
        """How many came after something with a larger Sync, or behind the guarantee of their provider."""
        return self._late + sum(letter.code == "broken-guarantee" for letter in self.intake.dead_letters())

    def held(self, of: int = 0) -> list[Accepted]:
        """What a level holds back, in the order of Sync."""
        return [self.intake.accepted[number] for _, number, _ in sorted(self._waiting[of])] if self._waiting else []

    def _admit(self, of: int, level: ConsistencyLevel, cedr_time: Time) -> list[Accepted]:
        frontier = max(self.intake.guarantee, self._ago(level.effective_blocking, cedr_time))
        waiting, admitted = self._waiting[of], list[Accepted]()
        while waiting and waiting[0][0] <= frontier:
            _, number, arrived = heappop(waiting)
            admitted.append(self.intake.accepted[number])
            self.longest[of] = max(self.longest[of], cedr_time - arrived)
        return admitted

    def _ago(self, bound: Bound, cedr_time: Time) -> Time:
        if bound.duration == FOREVER or self._high[-1] == BEGINNING:
            return BEGINNING
        if not bound.cedr_time:
            return plus(self._high[-1], -bound.duration)
        index = bisect_right(self._clock, cedr_time - bound.duration)
        return self._high[index - 1] if index else BEGINNING
