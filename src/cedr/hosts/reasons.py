"""Why something was taken back: which of the messages that were let in it contradicts.

Paper: Section 4 (retractions), Section 3.3.2 (negation).  Reading: R33: what is said follows from what is admitted; so
the reason for a change lies in what its step has admitted.  A row falls because an event it is made of changed, because
an event came that must not be there, or because another choice is now the right one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cedr.connect.tables import Clock, short_id
from cedr.model.event import Event, primitive_contributors
from cedr.model.intake import Accepted
from cedr.model.stream import Change, Insert, LineageKey, Retract
from cedr.model.time import Time
from cedr.plan.logical import Node, Source, inputs, walk
from cedr.plan.traits.registry import traits_of


class Reasons:
    """Explains the retractions of a query.  ``learn`` takes what was accepted, in order."""

    def __init__(self, plan: Node) -> None:
        self._negated = _negated(plan)
        self._rows: dict[LineageKey, Event] = {}
        self._latest: dict[LineageKey, Time] = {}
        self._high: Time | None = None

    def learn(self, accepted: Iterable[Accepted]) -> None:
        """Know the rows of these messages, and which of them came late."""
        for each in accepted:
            if isinstance(each.message, Insert):
                self._rows[each.message.lineage_key] = each.message.event
                if self._high is not None and each.sync < self._high:
                    self._latest[each.message.lineage_key] = self._high
            self._high = each.sync if self._high is None else max(self._high, each.sync)

    def of(self, change: Change, admitted: Sequence[Accepted], clock: Clock) -> str:
        """Why a row that was said is taken back or shortened."""
        row = change.event
        if row is None or not isinstance(change.message, Retract):
            return ""
        made_of = {leaf.reference for leaf in primitive_contributors(row)}
        own = [each for each in admitted if self._about(each) in made_of]
        others = [each for each in admitted if self._about(each) not in made_of]
        if own:
            return "; ".join(dict.fromkeys(self._changed(each, clock) for each in own))
        against = [each for each in others if isinstance(each.message, Insert) and self._stream(each) in self._negated]
        near = [each for each in against if self._near(each, row)] or against
        if near:
            return "; ".join(dict.fromkeys(self._came(each, "canceller") for each in near[:_SHOWN]))
        chosen = [self._came(each, "event") for each in others[:_SHOWN]]
        return f"{'; '.join(dict.fromkeys(chosen))}: another choice is right" if chosen else "its end is reached"

    def _about(self, each: Accepted) -> tuple[str, str] | None:
        event = self._event(each)
        return None if event is None else event.reference

    def _event(self, each: Accepted) -> Event | None:
        return each.message.event if isinstance(each.message, Insert) else self._rows.get(each.message.lineage_key)

    def _stream(self, each: Accepted) -> str:
        event = self._event(each)
        return "" if event is None else event.stream

    def _near(self, each: Accepted, row: Event) -> bool:
        """Whether an event lies where it can bear on a row: between its root and its end."""
        event = self._event(each)
        return event is not None and row.root_time <= event.valid_start <= row.valid_end

    def _changed(self, each: Accepted, clock: Clock) -> str:
        """What became of an event that the row is made of."""
        message, event = each.message, self._event(each)
        assert event is not None
        name = _name(event)
        if isinstance(message, Insert):
            return f"{name} was modified at {clock.show(event.occurrence_start)}"
        if message.occurrence_end is not None and message.occurrence_end > event.occurrence_start:
            return f"{name} was closed at {clock.show(message.occurrence_end)}"
        if message.valid_end is not None and message.valid_end > event.valid_start:
            return f"{name} now ends at {clock.show(message.valid_end)}"
        return f"{name} was retracted"

    def _came(self, each: Accepted, what: str) -> str:
        event = self._event(each)
        if event is None:
            return f"the row {each.message.lineage_key} changed"
        if isinstance(each.message, Retract):
            return f"{_name(event)} was retracted"
        late = "late " if each.message.lineage_key in self._latest else ""
        return f"{late}{what} {_name(event)} arrived"


_SHOWN = 3
"""So many messages are named as a reason; a step that admits more has admitted a whole stretch of time."""


def _name(event: Event) -> str:
    return f"{event.stream} {short_id(event.id)}"


def _negated(plan: Node) -> frozenset[str]:
    """The event types that stand where something must not be.  Readings: R14 to R18, R29."""
    found = [inputs(node)[index] for node in walk(plan) for index in traits_of(node).shape.against(node)]
    return frozenset(leaf.type.name for part in found for leaf in walk(part) if isinstance(leaf, Source))
