"""h over CEDR time, and what a bound of a level reaches back to.  Readings: R33, R34."""

from __future__ import annotations

from bisect import bisect_right

from cedr.model.level import Bound
from cedr.model.time import BEGINNING, FOREVER, Time, plus


class Clock:
    """The largest Sync or guarantee after each step, and the server's clock then."""

    def __init__(self) -> None:
        self.times: list[Time] = []
        self.highs: list[Time] = []

    def note(self, cedr_time: Time, high: Time, longest: int) -> None:
        """After a step; ``longest`` is how far back on the server's clock anybody asks."""
        self.times.append(cedr_time)
        self.highs.append(high)
        old = bisect_right(self.times, cedr_time - longest) - 1  # one from before is still asked for
        if old > 64:
            del self.times[:old], self.highs[:old]

    def ago(self, bound: Bound, cedr_time: Time) -> Time:
        """``h - d``; on the server's clock, the h of d ago."""
        if bound.duration == FOREVER or not self.highs:
            return BEGINNING
        if not bound.cedr_time:
            return BEGINNING if self.highs[-1] == BEGINNING else plus(self.highs[-1], -bound.duration)
        index = bisect_right(self.times, cedr_time - bound.duration)
        return self.highs[index - 1] if index else BEGINNING
