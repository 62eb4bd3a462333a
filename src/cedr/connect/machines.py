"""Events of machines, as many as are wanted: INSTALL, SHUTDOWN and RESTART, the input of the paper's example.

Paper: Section 3.1.  An event is a function of its number and of the seed: nothing is kept, and any range of numbers can
be drawn by itself.  Numbers follow valid time, each event has a place of its own on an even grid.  A RESTART follows a
SHUTDOWN of the same machine within ten minutes where there is one near enough, so that half of them come in time for
``UNLESS(…, RESTART, 5 minutes)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cedr.connect.chance import Chance, Integers
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.time import DAY, FOREVER, MINUTE, SECOND, Time

KINDS = ("INSTALL", "SHUTDOWN", "RESTART")
SHARES = (0.4, 0.4, 0.2)
INSTALL, SHUTDOWN, RESTART = range(3)
START: Time = 1_767_225_600 * SECOND  # 2026-01-01 00:00:00Z

CORRECTABLE = ("Load", "Vs", "Machine_Id")
MOVED = MINUTE
"""So far, at most, does a correction move the time of an event."""

LOADS = 1_000
"""Load is a number of thousandths."""

_UP_AGAIN = 10 * MINUTE
_LOOKED_AT = 16
MOST_EVENTS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Story:
    """What happens: how many events, of how many machines, from when on, over which time."""

    events: int = 1_000
    machines: int = 100
    seed: int = 0
    start: Time = START
    span: int = DAY
    corrects: tuple[str, ...] = CORRECTABLE
    """What corrections correct: some of ``CORRECTABLE``."""

    def __post_init__(self) -> None:
        for name, count, most in (("events", self.events, MOST_EVENTS), ("machines", self.machines, MOST_EVENTS)):
            if not 1 <= count <= most:
                raise StreamError(Diagnostic("bad-count", f"{name} must be from 1 to {most:,}, not {count:,}"))
        if not 1 <= self.span <= FOREVER // 4 or not abs(self.start) <= FOREVER // 4:
            raise StreamError(Diagnostic("bad-duration", "start and span must lie well within the times of 64 bits"))
        unknown = [name for name in self.corrects if name not in CORRECTABLE]
        if unknown or not self.corrects:
            wrong = f'"{unknown[0]}" cannot be corrected' if unknown else "corrections must correct something"
            detail = f"what can be: {', '.join(CORRECTABLE)}"
            raise StreamError(Diagnostic("unknown-correction", wrong, detail=detail))

    @property
    def end(self) -> Time:
        """No event has a Vs from here on, but for corrections."""
        return self.start + self.span


@dataclass(frozen=True, slots=True)
class Version:
    """Columns of events as they were first stated, or as they were corrected."""

    kind: NDArray[np.int8]
    machine: Integers
    vs: Integers
    load: Integers


class Fleet:
    """Draws the events of a story by their numbers, 0 … events - 1."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.chance = Chance(story.seed)
        self._steps = divmod(story.span, story.events)

    def first(self, numbers: Integers) -> Version:
        """The events as they are first stated."""
        kind = self.kinds(numbers)
        machine, vs = self._machines(numbers), self._grid(numbers)
        restarts = np.flatnonzero(kind == RESTART)
        if len(restarts):
            cause, gap = self._shutdown_before(numbers[restarts])
            caused, cause, gap = restarts[cause >= 0], cause[cause >= 0], gap[cause >= 0]
            machine[caused] = self._machines(cause)
            vs[caused] = np.minimum(vs[caused], self._grid(cause) + 1 + gap)
        return Version(kind, machine, vs, self.chance.below("load", numbers, LOADS))

    def corrected(self, numbers: Integers) -> Version:
        """The same events as corrections state them: of another load, at another time or of another machine."""
        was = self.first(numbers)
        what = self.chance.below("what is corrected", numbers, len(self.story.corrects))
        moved = self.chance.below("moved", numbers, 2 * MOVED) - MOVED
        moved += moved >= 0  # by nothing would be no correction
        machines = self.story.machines
        other = 1 + self.chance.below("another machine", numbers, max(1, machines - 1))
        load = (was.load + 1 + self.chance.below("another load", numbers, LOADS - 1)) % LOADS
        names = np.array(self.story.corrects)[what]
        machine = np.where(names == "Machine_Id", (was.machine + other) % machines, was.machine)
        vs = np.where(names == "Vs", was.vs + moved, was.vs)
        same = (machine == was.machine) & (vs == was.vs)  # also where there is but one machine
        return Version(was.kind, machine, vs, np.where(same, load, was.load))

    def kinds(self, numbers: Integers) -> NDArray[np.int8]:
        """INSTALL, SHUTDOWN or RESTART."""
        return self.chance.choice("kind", numbers, SHARES)

    def not_before(self, number: int) -> Time:
        """No event of this number or a larger one has a smaller Vs, as first stated.

        A restart lies at most ``_LOOKED_AT`` places before its own on the grid, and a rounding or two.
        """
        place = np.array([max(0, number - _LOOKED_AT - 2)], np.int64)
        return int(self._edge(place)[0]) - 2

    def _machines(self, numbers: Integers) -> Integers:
        return self.chance.below("machine", numbers, self.story.machines)

    def _edge(self, numbers: Integers) -> Integers:
        """Where the place of an event on the grid begins."""
        whole, rest = self._steps
        return np.asarray(self.story.start + numbers * whole + numbers * rest // self.story.events)

    def _grid(self, numbers: Integers) -> Integers:
        low = self._edge(numbers)
        width = np.maximum(1, self._edge(numbers + 1) - low)
        return np.asarray(low + self.chance.below("time", numbers, self._steps[0] + 1) % width)

    def _shutdown_before(self, numbers: Integers) -> tuple[Integers, Integers]:
        """The SHUTDOWN that each RESTART follows, -1 where none is near, and how long after it."""
        gap = self.chance.below("up again", numbers, _UP_AGAIN)
        step = self.story.span / self.story.events
        latest = numbers - 1 - (gap / step).astype(np.int64)
        found = np.full(len(numbers), -1, np.int64)
        for back in range(_LOOKED_AT):
            candidate = latest - back
            fits = (found < 0) & (candidate >= 0)
            fits[fits] = self.kinds(candidate[fits]) == SHUTDOWN
            found[fits] = candidate[fits]
        return found, gap
