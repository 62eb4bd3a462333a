"""How events arrive: late, twice, not at all, corrected, taken back; and what can be promised all the same.

Paper: Section 4 (out-of-order delivery, retractions), Section 5 (providers declare sync points).  Readings: R3 (the
messages), R4 (modifications), R7 (Sync), R39 (a guarantee that is not kept), R41 (delivery faults).

A message is a number: that of its event, and which of the event's messages it is.  All that it says is drawn from that
number, so millions of messages on their way cost eight bytes each and no more.  Arrival is a time on the clock of the
events: every message arrives at its Sync or later, at most ``Disorder.longest`` later, and that makes the guarantees
sound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from cedr.connect.chance import Integers, Mask
from cedr.connect.machines import MOVED, Fleet
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.model.time import FOREVER, HOUR, MINUTE, Time, format_duration

INSERT, REVISION, RETRACTION, GUARANTEE = range(4)
NAMES = ("insert", "revision", "retraction", "guarantee")
END = -1
"""The message that ends the stream: guarantee -1, which is FOREVER."""

MOST_GUARANTEES = 10_000_000
CHUNK = 1 << 18
"""So many events are drawn at a time.  What arrives does not depend on it."""


@dataclass(frozen=True, slots=True)
class Disorder:
    """Which shares of the events or messages have which fate, and how long things take."""

    late: float = 0.0
    delay: int = HOUR
    lost: float = 0.0
    twice: float = 0.0
    corrected: float = 0.0
    retracted: float = 0.0
    within: int = 10 * MINUTE
    guarantees: int | None = None
    """How often one is given; by default after some fifty events, at most a thousand times."""

    def __post_init__(self) -> None:
        for name in ("late", "lost", "twice", "corrected", "retracted"):
            share = getattr(self, name)
            if not 0.0 <= share <= 1.0:
                raise StreamError(Diagnostic("bad-share", f'"{name}" must be a share from 0 to 1, not {share:g}'))
        if self.corrected + self.retracted > 1.0:
            both = f"{self.corrected:g} and {self.retracted:g}"
            reason = f'"corrected" and "retracted" are shares of the same events: {both} are more than all of them'
            raise StreamError(Diagnostic("bad-share", reason))
        for name in ("delay", "within", "guarantees"):
            duration = getattr(self, name)
            if duration is not None and not 1 <= duration <= FOREVER // 8:
                shown = format_duration(duration)
                raise StreamError(
                    Diagnostic(
                        "bad-duration", f'"{name}" must be longer than nothing and end within 64 bits, not {shown}'
                    )
                )

    @property
    def longest(self) -> int:
        """No message arrives longer than this after its Sync: guarantees lag so far behind."""
        first = max(self.delay if self.late else 0, self.within if self.retracted else 0)
        return first + (self.delay if self.twice else 0)

    @property
    def revisable(self) -> int:
        """For how long after its Vs an event may be corrected.  Reading: R37."""
        return self.within + MOVED if self.corrected else 0


@dataclass(slots=True)
class Counts:
    """What became of the events."""

    events: int = 0
    messages: int = 0
    """All lines or rows, the guarantees included."""
    late: int = 0
    """Events whose first statement arrives after its Sync."""
    lost: int = 0
    """Messages that were sent and never arrive."""
    twice: int = 0
    """Messages that were sent a second time."""
    corrected: int = 0
    retracted: int = 0
    orphaned: int = 0
    """Retractions that arrive although the row they retract does not: dead letters, in the end."""
    guarantees: int = 0


@dataclass(frozen=True, slots=True)
class _Arriving:
    """Messages on their way: when each arrives, and which it is."""

    time: Integers
    code: Integers

    def take(self, rows: Mask | Integers) -> _Arriving:
        return _Arriving(self.time[rows], self.code[rows])


@dataclass(slots=True)
class Delivery:
    """All messages of a fleet in the order of arrival."""

    fleet: Fleet
    disorder: Disorder
    counts: Counts = field(default_factory=Counts)

    def __post_init__(self) -> None:
        many = (self.fleet.story.span + self.disorder.longest) // self.interval
        if many > MOST_GUARANTEES:
            often = format_duration(self.interval)
            reason = f"a guarantee every {often} would be {many:,} of them; {MOST_GUARANTEES:,} is the most"
            raise StreamError(Diagnostic("bad-duration", reason))

    def codes(self, chunk: int = CHUNK) -> Iterator[Integers]:
        """The messages as numbers, some thousands at a time.

        What arrives before anything of a later event can is given out; the rest waits for the next turn.
        """
        events, start = self.fleet.story.events, self.fleet.story.start
        waiting = _Arriving(np.empty(0, np.int64), np.empty(0, np.int64))
        done: Time = start
        for low in range(0, events, chunk):
            high = min(low + chunk, events)
            waiting = _joined([waiting, *self._sent(np.arange(low, high, dtype=np.int64))])
            self.counts.events += high - low
            if high < events:
                here = self.fleet.not_before(high)
                ready = waiting.time < here
                ordered = self._with_guarantees(waiting.take(ready), done, here)
                waiting, done = waiting.take(~ready), max(done, here)
            else:
                last = max(done, int(waiting.time.max(initial=start)) + 1)
                ordered = np.append(self._with_guarantees(waiting, done, last), END)
                self.counts.guarantees += 1
            self.counts.messages += len(ordered)
            yield from (ordered[at : at + chunk] for at in range(0, len(ordered), chunk))

    @property
    def interval(self) -> int:
        """How often a guarantee is given."""
        story, longest = self.fleet.story, self.disorder.longest
        usual = max(1, story.span // 1_000, longest // 1_000, story.span * 50 // story.events)
        return self.disorder.guarantees or usual

    def guaranteed(self, numbers: Integers) -> Integers:
        """The times that guarantees of these numbers promise; the last one, which ends the stream, is FOREVER."""
        promised = self.fleet.story.start + numbers * self.interval - self.disorder.longest - 1
        return np.where(numbers == END, FOREVER, promised)

    def corrected_at(self, numbers: Integers) -> Integers:
        """Os of the corrections of these events.  Reading: R4."""
        after = 1 + self.fleet.chance.below("corrected after", numbers, self.disorder.within)
        return self.fleet.first(numbers).vs + after

    def _with_guarantees(self, arrived: _Arriving, low: Time, high: Time) -> Integers:
        """Messages in the order of arrival, with the guarantees of [low, high) among them.

        Whatever arrives from T on has a Sync of at least T - longest, so T - longest - 1 can be promised at T.
        """
        start, step = self.fleet.story.start, self.interval
        numbers = np.arange(max(1, -((start - low) // step)), -((start - high) // step), dtype=np.int64)
        self.counts.guarantees += len(numbers)
        whole = _joined([arrived, _Arriving(start + numbers * step, numbers * 4 + GUARANTEE)])
        return whole.code[np.lexsort((whole.code, whole.time))]

    def _sent(self, numbers: Integers) -> Iterator[_Arriving]:
        """All messages of some events that arrive, first and second copies."""
        chance, disorder = self.fleet.chance, self.disorder
        starts = self.fleet.first(numbers).vs
        late = chance.happens("late", numbers, disorder.late)
        fate = chance.choice("fate", numbers, (disorder.corrected, disorder.retracted, 1.0))
        corrected, retracted = numbers[fate == 0], numbers[fate == 1]
        self.counts.late += int(late.sum())
        self.counts.corrected += len(corrected)
        self.counts.retracted += len(retracted)

        delays = np.where(late, 1 + chance.below("delay", numbers, disorder.delay), 0)
        yield from self._copies(INSERT, numbers, starts + delays)
        if len(corrected):
            late = chance.happens("late revision", corrected, disorder.late)
            delays = np.where(late, 1 + chance.below("delay of a revision", corrected, disorder.delay), 0)
            yield from self._copies(REVISION, corrected, self.corrected_at(corrected) + delays)
        if len(retracted):
            after = 1 + chance.below("retracted after", retracted, disorder.within)
            yield from self._copies(RETRACTION, retracted, starts[fate == 1] + after)
            gone = ~self._arrives(INSERT, retracted)
            self.counts.orphaned += int((gone & self._arrives(RETRACTION, retracted)).sum())

    def _copies(self, kind: int, numbers: Integers, times: Integers) -> Iterator[_Arriving]:
        """A message of each of some events, what is lost left out, what comes twice put in again."""
        chance, disorder = self.fleet.chance, self.disorder
        twice, lost, lost_again = self._fates(kind, numbers)
        again = 1 + chance.below(f"{NAMES[kind]} again", numbers, disorder.delay) if disorder.twice else 0
        codes = numbers * 4 + kind
        sent = _Arriving(times, codes)
        repeated = _Arriving(times + again, codes)
        self.counts.twice += int(twice.sum())
        self.counts.lost += int(lost.sum()) + int((twice & lost_again).sum())
        yield sent.take(~lost)
        if disorder.twice:
            yield repeated.take(twice & ~lost_again)

    def _arrives(self, kind: int, numbers: Integers) -> Mask:
        """Whether any copy of a message arrives."""
        twice, lost, lost_again = self._fates(kind, numbers)
        return ~lost | (twice & ~lost_again)

    def _fates(self, kind: int, numbers: Integers) -> tuple[Mask, Mask, Mask]:
        """Whether a message is sent twice, whether the first copy is lost, and whether the second would be."""
        happens, name = self.fleet.chance.happens, NAMES[kind]
        return (
            happens(f"{name} twice", numbers, self.disorder.twice),
            happens(f"{name} lost", numbers, self.disorder.lost),
            happens(f"{name} lost again", numbers, self.disorder.lost),
        )


def _joined(parts: list[_Arriving]) -> _Arriving:
    return _Arriving(np.concatenate([part.time for part in parts]), np.concatenate([part.code for part in parts]))
