"""The naive engine behind the face of the pipeline: for every query, at any number of levels, and slowly.

Readings: R33 to R35, R38, R40.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Never

from cedr.consistency.measures import Measures
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.hosts.holding import Holding
from cedr.model.event import Event
from cedr.model.intake import DeadLetter
from cedr.model.level import ConsistencyLevel
from cedr.model.schema import EventTypes
from cedr.model.stream import Change, Guarantee, Insert, Message, Retract
from cedr.model.time import Time
from cedr.plan.logical import Node
from cedr.semantics.levels import Reference

if TYPE_CHECKING:
    from cedr.consistency.batch import EventBatch


@dataclass(frozen=True, slots=True)
class NaiveChanges:
    """What one step said at one level.  Reading: R40."""

    level: ConsistencyLevel
    cedr_time: Time
    changes: tuple[Change, ...]

    def __len__(self) -> int:
        return len(self.changes)

    def to_changes(self) -> list[Change]:
        """The changes."""
        return list(self.changes)


class Naive:
    """A standing query at one or more levels, each evaluated anew at each step.  Readings: R33, R34."""

    def __init__(
        self,
        plan: Node,
        levels: ConsistencyLevel | Sequence[ConsistencyLevel],
        catalog: EventTypes,
        providers: Iterable[str] = (),
    ) -> None:
        named = tuple(providers)
        asked = [levels] if isinstance(levels, ConsistencyLevel) else levels
        self._references = [Reference(plan, level, catalog, named) for level in asked]
        self._door = Holding(catalog, named)
        self._kinds: list[Counter[type]] = [Counter() for _ in self._references]

    @property
    def levels(self) -> list[ConsistencyLevel]:
        """The level, for each of them, at which the next batch is taken."""
        return [reference.level for reference in self._references]

    @property
    def guarantee(self) -> list[Time]:
        """g' for each level.  Reading: R36."""
        return [reference.guarantee for reference in self._references]

    def step(self, messages: Sequence[Message | EventBatch], cedr_time: Time) -> list[NaiveChanges]:
        """Take a batch that has one CEDR time; what is said about it, for each level.  Readings: R33, R40."""
        taken = [message for given in messages for message in _messages(given)]
        levels = self.levels
        self._door.receive(taken, cedr_time, levels)
        said = [reference.step(taken, cedr_time) for reference in self._references]
        for kinds, changes in zip(self._kinds, said, strict=True):
            kinds.update(type(change.message) for change in changes)
        return [NaiveChanges(level, cedr_time, tuple(c)) for level, c in zip(levels, said, strict=True)]

    def switch(self, level: ConsistencyLevel, *, of: int = 0, at_sync_point: bool = False) -> None:
        """Go on at another level from the next batch, or from the next sync point of the output.  Reading: R38."""
        self._references[of].switch(level, at_sync_point=at_sync_point)

    def at_sync_point(self, of: int = 0) -> bool:
        """Whether nothing is provisional.  Reading: R38."""
        return self._references[of].at_sync_point

    def said(self, of: int = 0) -> list[Event]:
        """The rows said and not taken back."""
        return self._references[of].said

    def dead_letters(self, of: int = 0) -> list[DeadLetter]:
        """What could not be used, with reasons."""
        return self._references[of].dead_letters

    def measures(self) -> list[Measures]:
        """What each level has cost so far; the state is all the messages."""
        return [self._measures(of, reference) for of, reference in enumerate(self._references)]

    def _measures(self, of: int, reference: Reference) -> Measures:
        intake, kinds = self._door.intake, self._kinds[of]
        return Measures(
            reference.level,
            received=intake.counts.received,
            admitted=len(intake.accepted) - reference.held,
            held=reference.held,
            longest_held=self._door.longest[of] if self._door.longest else 0,
            inserts=kinds[Insert],
            retractions=kinds[Retract],
            guarantees=kinds[Guarantee],
            late=self._door.late,
            frozen=0,  # it does not keep count
            unknown=intake.counts.unknown,
            dead_letters=len(reference.dead_letters),
            duplicates=intake.counts.duplicates,
            ties=reference.ties,
            rows={"messages": len(intake.accepted)},
            bytes={},
        )

    def state(self) -> dict[str, bytes | None]:
        """There is none to be had.  Raises ``HostError``."""
        _without_state()

    def restore(self, segments: Mapping[str, bytes]) -> None:  # noqa: ARG002 - there is nothing to restore
        """There is none to be had.  Raises ``HostError``."""
        _without_state()


def _messages(given: Message | EventBatch) -> Sequence[Message]:
    return [given] if isinstance(given, Insert | Retract | Guarantee) else given.inserts()


def _without_state() -> Never:
    primary = "the host oracle keeps no state that could be stored: it evaluates everything anew"
    raise HostError(Diagnostic("no-state", primary, hint="run the query on the host local"))
