"""What is believed of the events of some types at a level: the engine, with each type as a query of its own.

Paper: Section 5, Figure 7.  Readings: R3, R4, R9, R33 to R41.  What leaves are the events themselves: inserts, and the
retractions of those that are withdrawn, shortened or modified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cedr.consistency.admission.door import Arrivals
from cedr.consistency.batch import EventBatch
from cedr.consistency.clock import Clock
from cedr.consistency.compaction import Compaction
from cedr.consistency.emission.changes import Changes
from cedr.consistency.emitter import Emitter
from cedr.consistency.encoding import as_bytes, from_bytes
from cedr.consistency.run import Run
from cedr.model.dead_letter import DeadLetter
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Message
from cedr.model.time import FOREVER, Time
from cedr.plan.logical import Source
from cedr.runtime.operators.contract import Line
from cedr.runtime.values.memory import keep_freed_memory


class Beliefs:
    """Follows the events of some types."""

    def __init__(self, types: EventTypes, level: ConsistencyLevel, providers: Iterable[str] = ()) -> None:
        keep_freed_memory()
        self._arrivals = Arrivals(types, providers, reads={each.name: None for each in types})
        self._clock = Clock()
        self._plans = {each.name: Source(each) for each in types}
        self._emitters = {
            name: Emitter(plan, level, self._arrivals, self._clock, name) for name, plan in self._plans.items()
        }
        self._arrivals.forgetting.open_ended.update(self._plans)
        self._runs = self._begun()
        self._compaction = Compaction(self._arrivals)
        bounds = (bound for emitter in self._emitters.values() for bound in emitter.bounds())
        self._longest = max((each.duration for each in bounds if each.cedr_time and each.duration < FOREVER), default=0)

    def _begun(self) -> dict[str, Run]:
        return {name: Run(plan, self._arrivals, [self._emitters[name]]) for name, plan in self._plans.items()}

    @property
    def guarantee(self) -> Time:
        """Up to this occurrence time what has left is final.  Reading: R36."""
        return min((emitter.guarantee for emitter in self._emitters.values()), default=FOREVER - 1)

    def step(self, messages: Sequence[Message | EventBatch], cedr_time: Time) -> dict[str, Changes]:
        """Take a batch, all of one CEDR time; what changes in the belief of each type.  To be read before the next."""
        self._compaction.run_if_due([run.dataflow for run in self._runs.values()])
        for emitter in self._emitters.values():
            emitter.begin(cedr_time)
        self._arrivals.receive(messages, cedr_time=cedr_time)
        self._arrivals.ledger.lateness.together = None
        self._clock.note(cedr_time, self._arrivals.high, self._longest)
        changes = {name: run.step(cedr_time)[0] for name, run in self._runs.items()}
        lines: dict[str, Line] = {}
        for run in self._runs.values():
            lines.update(run.needed)
        self._arrivals.forgetting.forget(lines, self._arrivals.guarantee)
        return changes

    def dead_letters(self) -> list[DeadLetter]:
        """What could not be used so far; with retractions that still wait for their row."""
        letters = self._arrivals.dead_letters(final=True)
        letters = [*letters, *(each for emitter in self._emitters.values() for each in emitter.feed.too_late)]
        return sorted(letters, key=lambda letter: letter.position)

    def state(self) -> dict[str, bytes | None]:
        """The segments that have changed since the last time; None where one is to be dropped."""
        changes = self._arrivals.state()
        for run in self._runs.values():
            changes.update(run.state())
        changes["clock"] = as_bytes([self._clock.times, self._clock.highs])
        return changes

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Go on from what was saved, on a fresh object of the same types."""
        self._arrivals.restore(segments)
        self._clock.times, self._clock.highs = from_bytes(segments["clock"])
        saved = {name: emitter.restore(segments) for name, emitter in self._emitters.items()}
        for run in self._runs.values():
            run.close()
        self._runs = self._begun()
        for name, run in self._runs.items():
            run.restore(saved[name])
