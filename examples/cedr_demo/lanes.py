"""The history of one machine: what arrived about it and what each level emitted about it, batch by batch.

Paper: Section 5, Figure 8.  Reading: R33: the time of a batch is h, the newest event that has come.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cedr.model.event import Event
from cedr.model.stream import Insert, Message
from cedr.model.time import Time
from cedr_demo.arriving import ArrivingFile


class Emitted(NamedTuple):
    """How many alerts a level emitted and retracted, in one batch or in several."""

    alerts: int = 0
    retractions: int = 0

    @property
    def kind(self) -> str:
        """``+`` for alerts, ``-`` for retractions, ``~`` for both: alerts are replaced; empty for nothing."""
        if self.alerts and self.retractions:
            return "~"
        return "+" if self.alerts else "-" if self.retractions else ""

    def plus(self, other: Emitted) -> Emitted:
        """Both together."""
        return Emitted(self.alerts + other.alerts, self.retractions + other.retractions)


NOTHING = Emitted()
Lane = dict[int, Emitted]
"""By the number of a batch; where nothing was emitted there is no entry."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """One machine: when each batch came, the events that it brought, and one lane for each level."""

    machine: str
    times: tuple[Time, ...]
    arrived: dict[int, str]
    """The first letters of the events of a batch, small if they were late; x if one is withdrawn, ~ if corrected."""
    lanes: dict[str, Lane]

    def emitted(self, level: str, batches: Iterable[int]) -> Emitted:
        """What a level emitted in some batches."""
        found = NOTHING
        for batch in batches:
            found = found.plus(self.lanes[level].get(batch, NOTHING))
        return found


class Histories:
    """Collects what happens to every machine, and picks one to show."""

    def __init__(self, levels: Sequence[str]) -> None:
        self._levels = tuple(levels)
        self._times: list[Time] = []
        self._lanes: dict[str, dict[str, Lane]] = defaultdict(lambda: {level: {} for level in self._levels})
        self._arrived: dict[str, dict[int, str]] = defaultdict(dict)

    def arrive(self, file: ArrivingFile, messages: Iterable[tuple[Message, Event]]) -> None:
        """A file has come: those of its messages that can be used, each with its event."""
        self._times.append(file.high)
        for message, event in messages:
            arrived, batch = self._arrived[str(event.payload["Machine_Id"])], len(self._times)
            before = arrived.get(batch, "")
            if not isinstance(message, Insert):
                arrived[batch] = f"{before}x"
            elif message.lineage_key in file.corrected and before.endswith("x"):
                arrived[batch] = f"{before[:-1]}~"
            else:
                late = message.lineage_key in file.late
                arrived[batch] = before + (event.stream[0].lower() if late else event.stream[0])

    def emit(self, level: str, machine: str, *, alert: bool) -> None:
        """A level emitted an alert about a machine, or retracted one, in the batch that came last."""
        lane, batch = self._lanes[machine][level], len(self._times)
        lane[batch] = lane.get(batch, NOTHING).plus(Emitted(alert, not alert))

    def chosen(self) -> Lanes:
        """The machine whose lanes have the most kinds of marks, and of these differ in the most batches.

        Of several the first by name.
        """
        machine = min(self._lanes, key=lambda each: (-self._kinds(each), -self._differences(each), each), default="")
        return Lanes(machine, tuple(self._times), self._arrived[machine], self._lanes[machine])

    def _kinds(self, machine: str) -> int:
        lanes = self._lanes[machine].values()
        return sum(len({each.kind for each in lane.values()}) for lane in lanes)

    def _differences(self, machine: str) -> int:
        lanes, batches = self._lanes[machine].values(), range(1, len(self._times) + 1)
        return sum(len({lane.get(batch, NOTHING) for lane in lanes}) - 1 for batch in batches)
