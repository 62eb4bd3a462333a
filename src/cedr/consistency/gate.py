"""The gate of one level: which messages it admits, and how far it remembers.

Paper: Section 5, Figure 7.  Readings: R33 (B), R34 (M), R38 (switching), R43 (outputs of one level share what they
admit).
"""

from __future__ import annotations

from cedr.consistency.admission.admitted import Feed
from cedr.consistency.admission.door import Arrivals
from cedr.consistency.clock import Clock
from cedr.model.level import ConsistencyLevel
from cedr.model.time import BEGINNING, Time


class Gate:
    """What a level admits, and its m.  Outputs of one level share a gate until one of them switches."""

    def __init__(self, level: ConsistencyLevel, arrivals: Arrivals, clock: Clock) -> None:
        self.level = level
        self.memory: Time = BEGINNING
        """m: what ends before it is frozen.  Reading: R34."""
        self.feed = Feed(arrivals)
        self.readers = 0
        """How many outputs it has."""
        self.constant = True
        """Whether it never had another level."""
        self._arrivals, self.clock = arrivals, clock

    @property
    def admission(self) -> object:
        """What decides which messages are admitted: gates of which this is equal admit the same.

        Reading: R33: those with one B do, but for messages that came too late for one of them (R34), and what was
        admitted at another level before (R38).
        """
        return self.level.effective_blocking, self.feed.refused, tuple(self.feed.frontiers)

    def switched(self, level: ConsistencyLevel) -> Gate:
        """The gate of one of its outputs from the next batch on, at another level."""
        if self.readers == 1:
            self.level, self.constant = level, False
            return self
        self.readers -= 1
        other = Gate(level, self._arrivals, self.clock)
        other.feed.resume(self.feed.saved())
        other.memory, other.readers, other.constant = self.memory, 1, False
        return other

    def leave(self) -> None:
        """One of its outputs is gone."""
        self.readers -= 1
        if not self.readers:
            self.feed.close()
