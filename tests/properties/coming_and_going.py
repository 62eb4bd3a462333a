"""Queries that come and go, as the naive engine has them: what R44 says, by evaluating everything anew."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence

from cedr.consistency.emitter import Output
from cedr.model.event import Event
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract
from cedr.model.time import FOREVER, Time
from cedr.semantics.levels import Reference, Said
from tests.consistency.comparing import Course


class Expected:
    """The naive engine for each output, from when it began."""

    def __init__(self, outputs: Sequence[Output], catalog: object, course: Course) -> None:
        self.catalog, self.course = catalog, course
        self.witness = self._fresh(outputs[0])
        """Takes all messages: what it accepts is what has come."""
        self.running = {output.name: self._fresh(output) for output in outputs}
        self.starts: dict[str, Time] = {}
        self.only_after: dict[str, int] = {}
        """For each output that began with what came then: how many messages had been accepted."""
        self.guaranteed: dict[str, Time] = {}
        """For each output that replaces another one: what this one has guaranteed."""
        self.leaving: dict[str, bool] = {}
        self.first: dict[str, list[Said]] = {}
        """For each output that replaces another one: the rows that this one had emitted."""

    def _fresh(self, output: Output) -> Reference:
        return Reference(output.plan, output.level, self.catalog, self.course.providers)  # type: ignore[arg-type]

    def add(self, output: Output, *, retained: bool) -> None:
        """A query begins: with what came before, or with what comes."""
        reference = self._fresh(output)
        accepted = self.witness._intake.accepted
        if retained:
            for each in accepted:
                reference._intake.receive(each.message, each.position)
        else:
            self.only_after[output.name] = len(accepted)
        reference._intake.__dict__["_providers"] = copy.deepcopy(self.witness._intake.__dict__["_providers"])
        reference._intake.high = self.witness._intake.high
        reference._clock, reference._high = list(self.witness._clock), list(self.witness._high)
        self.running[output.name] = reference
        self.starts[output.name] = output.start

    def replace(self, output: Output) -> None:
        """A query begins in the place of another one."""
        old = self.running[output.name]
        self.add(output, retained=True)
        self.only_after.pop(output.name, None)
        self.first[output.name] = [said for said in old._said.values() if said.event.valid_start >= output.start]
        self.running[output.name]._spoken = old._spoken
        self.guaranteed[output.name] = max(old.guarantee, self.guaranteed.get(output.name, old.guarantee))

    def step(self, batch: Sequence[Message], number: int) -> dict[str, list[Change]]:
        """What each output emits."""
        time = self.course.time(number)
        before = len(self.witness._intake.accepted)
        self.witness.step(batch, time)
        accepted = [each.message for each in self.witness._intake.accepted[before:]]
        promises = [message for message in batch if isinstance(message, Guarantee)]
        found = {}
        for name, reference in list(self.running.items()):
            if name in self.leaving:
                found[name] = self._last(reference, time, retracting=self.leaving.pop(name))
                del self.running[name]
                continue
            given: Sequence[Message] = batch
            if name in self.starts:
                given = [*self._known(reference, accepted), *promises]
                reference._intake.high = self.witness._intake.high  # also of what waits, or is known to the others
            changes = (
                self._replaced(name, reference, given, time) if name in self.first else reference.step(given, time)
            )
            found[name] = [change for change in changes if self._shown(name, change)]
        return found

    def _known(self, reference: Reference, accepted: Sequence[Insert | Retract]) -> list[Message]:
        """Without what is said of events that came before the query did."""
        keys = {each.message.lineage_key for each in reference._intake.accepted if isinstance(each.message, Insert)}
        keys |= {message.lineage_key for message in accepted if isinstance(message, Insert)}
        return [
            each
            for each in accepted
            if isinstance(each, Insert) or (isinstance(each, Retract) and each.lineage_key in keys)
        ]

    def _shown(self, name: str, change: Change) -> bool:
        if isinstance(change.message, Guarantee):
            return name not in self.guaranteed or change.message.time > self.guaranteed[name]
        assert change.event is not None
        return name not in self.starts or change.event.valid_start >= self.starts[name]

    @staticmethod
    def _stepped(_: str, reference: Reference, given: Sequence[Message], time: Time) -> list[Change]:
        return reference.step(given, time)

    def _replaced(self, name: str, reference: Reference, given: Sequence[Message], time: Time) -> list[Change]:
        probe = copy.deepcopy(reference)
        meant = [c.event for c in probe.step(given, time) if isinstance(c.message, Insert) and c.event is not None]
        old = self.first.pop(name)
        changes = []
        for said in old:
            same = next((event for event in meant if look(event) == look(said.event)), None)
            if same is None:
                changes.append(Change(Retract(said.lineage_key), time, said.event))
            else:
                meant.remove(same)
                reference._said[same.id, same.occurrence_start] = said
        return [*changes, *reference.step(given, time)]

    @staticmethod
    def _last(reference: Reference, time: Time, *, retracting: bool) -> list[Change]:
        rows = reference._said.values() if retracting else ()
        gone = [said for said in rows if said.event.occurrence_start > reference.guarantee]
        return [
            *(Change(Retract(said.lineage_key), time, said.event) for said in gone),
            Change(Guarantee(FOREVER - 1), time),
        ]


def look(event: Event) -> Hashable:
    """What R44 compares."""
    return event.valid, event.occurrence, event.payload, tuple(part.reference for part in event.contributors)
