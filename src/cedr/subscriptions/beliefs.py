"""What is believed of the events of some types at a level: the engine, with each type as a query of its own.

Paper: Section 5, Figure 7.  Readings: R3, R4, R9, R33 to R41.  What leaves are the events themselves: inserts, and the
retractions of those that are withdrawn, shortened or modified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cedr.consistency.batch import EventBatch
from cedr.consistency.emission.changes import Changes
from cedr.consistency.emitter import Output
from cedr.consistency.pipeline import Pipeline
from cedr.model.dead_letter import DeadLetter
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Message
from cedr.model.time import FOREVER, Time
from cedr.plan.logical import Source


class Beliefs:
    """Follows the events of some types."""

    def __init__(self, types: EventTypes, level: ConsistencyLevel, providers: Iterable[str] = ()) -> None:
        self._names = [each.name for each in types]
        outputs = [Output(each.name, Source(each), level) for each in types]
        self._pipeline = Pipeline(outputs, (), types, providers, all_streams=False)

    @property
    def guarantee(self) -> Time:
        """Up to this occurrence time what has left is final.  Reading: R36."""
        return min(self._pipeline.guarantee, default=FOREVER - 1)

    def step(self, messages: Sequence[Message | EventBatch], cedr_time: Time) -> dict[str, Changes]:
        """Take a batch, all of one CEDR time; what changes in the belief of each type.  To be read before the next."""
        return dict(zip(self._names, self._pipeline.step(messages, cedr_time), strict=True))

    def dead_letters(self) -> list[DeadLetter]:
        """What could not be used so far; with retractions that still wait for their row."""
        return self._pipeline.dead_letters()

    def state(self) -> dict[str, bytes | None]:
        """The segments that have changed since the last time; None where one is to be dropped."""
        return self._pipeline.state()

    def restore(self, segments: Mapping[str, bytes]) -> None:
        """Go on from what was saved, on a fresh object of the same types."""
        self._pipeline.restore(segments)
