"""Following a group through time: at each start a row comes in, at each end one leaves.

Paper: Section 6.  Reading: R30 (maximal intervals of equal values).  A group can be followed backwards as well, so that
a late row costs as much as what happens between it and where the group was followed last.
"""

from __future__ import annotations

from collections.abc import Sequence

from cedr.model.time import BEGINNING, Time
from cedr.runtime.operators.mechanism.accumulators import Alive, Values

Step = tuple[Time, bool, Values]
"""A row comes or leaves, and what the aggregates take of it."""


class State:
    """How far a group was followed: what is alive once all that happens before ``position`` has happened."""

    __slots__ = ("alive", "floor", "position", "start")

    def __init__(self, alive: Alive, floor: Time, start: Time | None) -> None:
        self.alive = alive
        self.floor = floor
        """Up to here everything is final and folded; BEGINNING: nothing is."""
        self.start = start
        """Where the row of the output begins that holds at the floor."""
        self.position = floor if floor == BEGINNING else floor + 1


def followed(
    state: State, steps: Sequence[Step], bounds: tuple[Time, Time], first: Time | None, last: Time
) -> list[tuple[Time, Time, Values]]:
    """The maximal intervals of equal values that touch a range, its ends included.

    The steps are those in the range, and between it and the state's position.  ``first``: where the interval begins
    that holds just before the range; ``last``: where the one ends that holds after it.  Afterwards the state is behind
    the newest start, where the next change is expected.
    """
    begin, high = bounds
    alive = state.alive
    moved(alive, steps, state.position, begin)
    steps = [step for step in steps if begin <= step[0] <= high]
    found: list[tuple[Time, Time, Values]] = []
    since, held = (begin, None) if first is None else (first, alive.values())
    place, newest = 0, begin
    while place < len(steps):
        time = steps[place][0]
        while place < len(steps) and steps[place][0] == time:
            _, comes, values = steps[place]
            if comes:
                alive.add(values)
                newest = time + 1
            else:
                alive.remove(values)
            place += 1
        now = alive.values()
        if now != held:
            if held is not None:
                found.append((since, time, held))
            since, held = time, now
    if held is not None:
        found.append((since, last, held))
    for time, comes, values in steps:
        if time >= newest:
            (alive.remove if comes else alive.add)(values)
    state.position = newest
    return found


def moved(alive: Alive, steps: Sequence[Step], position: Time, to: Time) -> None:
    """Follow a group from one position to another, later or earlier; the steps between them are in order."""
    if position <= to:
        for time, comes, values in steps:
            if position <= time < to:
                (alive.add if comes else alive.remove)(values)
    else:
        for time, comes, values in reversed(steps):
            if to <= time < position:
                (alive.remove if comes else alive.add)(values)
