"""Instances of SEQUENCE and ATLEAST: which events of the parameters belong together.

Paper: Section 3.3.2, the table "Event Sequencing".  Readings: R11, R12, R49.  An instance is a tuple with one place for
each parameter, ``None`` where ATLEAST leaves the parameter out.  Order in time means strictly increasing Vs; WITH TIES,
Vs that do not decrease.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cedr.model.event import Event, tie_order
from cedr.model.identity import idgen_of
from cedr.model.time import FOREVER, Time, plus
from cedr.semantics.predicates import Conjuncts

Instance = tuple[Event | None, ...]
Version = tuple[str, str, Time]
_Assignments = dict[tuple[Version, ...], tuple[tuple[int, ...], Instance]]
"""For each list of contributors the parameters of its first assignment so far, and its instance."""


def version(event: Event) -> Version:
    """Which version of which event one sees: two parameters that an event fills may see different ones.

    Readings: R9, R12.  A modification that only one of two parameters lets through is the first version which that one
    knows, so it is believed there from the beginning, beside the one before it in the other.  The two never occur at
    the same instant.  If they counted as one contributor, a modification after g would take back a row that g had made
    final.
    """
    return (*event.reference, event.occurrence_start)


@dataclass(frozen=True, slots=True)
class Timeline:
    """Events in the order of (Vs, ID), with their start times beside them for searching."""

    events: tuple[Event, ...]
    starts: tuple[Time, ...]

    @classmethod
    def of(cls, events: Sequence[Event]) -> Timeline:
        """The events, sorted."""
        ordered = tuple(sorted(events, key=lambda e: (e.valid_start, e.id)))
        return cls(ordered, tuple(e.valid_start for e in ordered))

    def after(self, time: Time, until: Time) -> Iterator[Event]:
        """The events with ``time < Vs <= until``."""
        yield from self.events[bisect_right(self.starts, time) : bisect_right(self.starts, until)]

    def between(self, time: Time, before: Time) -> Iterator[Event]:
        """The events with ``time < Vs < before``."""
        return (e for e in self.after(time, before) if e.valid_start < before)


def follows(event: Event, chosen: Sequence[Event]) -> bool:
    """Whether an event may come after others, given that its Vs does.  Reading: R49.

    Events of one stream with equal Vs follow each other in R42's order only, so that a pair is found once; and so no
    event follows itself.
    """
    return all(
        tie_order(before) < tie_order(event)
        for before in chosen
        if before.valid_start == event.valid_start and before.stream == event.stream
    )


def sequence_instances(
    inputs: Sequence[Sequence[Event]], scope: int, predicates: Conjuncts, *, ties: bool = False
) -> Iterator[Instance]:
    """``{(e1, …, ek) | e1.Vs < e2.Vs < … < ek.Vs ∧ ek.Vs - e1.Vs <= w}`` that satisfy the predicates.

    Readings: R11, R49: WITH TIES ``e1.Vs <= … <= ek.Vs``.
    """
    timelines = [Timeline.of(events) for events in inputs]

    def extend(chosen: tuple[Event, ...], bound: dict[str, Event]) -> Iterator[Instance]:
        if len(chosen) == len(timelines):
            yield chosen
            return
        timeline = timelines[len(chosen)]
        candidates: Iterable[Event] = timeline.events
        if chosen:
            candidates = timeline.after(chosen[-1].valid_start - ties, _limit(chosen[0], scope))
        for event in candidates:
            if not follows(event, chosen):
                continue
            environment = bound | dict(event.bindings)
            if predicates.hold(environment, (name for name, _ in event.bindings)):
                yield from extend((*chosen, event), environment)

    return extend((), {})


def at_least_instances(
    inputs: Sequence[Sequence[Event]], count: int, scope: int, predicates: Conjuncts, *, ties: bool = False
) -> list[Instance]:
    """n events of n different parameters, in any parameter order, strictly increasing Vs, within w.

    Reading: R12.  One instance per list of contributors: where a type fills several parameters, the first assignment in
    parameter order that satisfies the predicates.  Reading: R49: WITH TIES (Vs, parameter) increases.
    """
    timelines = [Timeline.of(events) for events in inputs]
    found: _Assignments = {}

    def extend(chosen: tuple[tuple[int, Event], ...], bound: dict[str, Event]) -> None:
        if len(chosen) == count:
            _keep(found, chosen, len(timelines))
            return
        used = {index for index, _ in chosen}
        for index, timeline in enumerate(timelines):
            if index in used:
                continue
            for event in _next(timeline, chosen, scope, ties=ties and bool(chosen) and index > chosen[-1][0]):
                if not follows(event, [before for _, before in chosen]):
                    continue
                environment = bound | dict(event.bindings)
                if predicates.hold(environment, (name for name, _ in event.bindings)):
                    extend((*chosen, (index, event)), environment)

    extend((), {})
    return [instance for _, instance in found.values()]


def _next(timeline: Timeline, chosen: tuple[tuple[int, Event], ...], scope: int, *, ties: bool) -> Iterator[Event]:
    if not chosen:
        return iter(timeline.events)
    return timeline.after(chosen[-1][1].valid_start - ties, _limit(chosen[0][1], scope))


def _limit(first: Event, scope: int) -> Time:
    return plus(first.valid_start, scope)


def _keep(found: _Assignments, chosen: tuple[tuple[int, Event], ...], size: int) -> None:
    listed = tuple(version(event) for _, event in chosen)
    order = tuple(index for index, _ in chosen)
    if listed not in found or order < found[listed][0]:
        places = dict(chosen)
        found[listed] = (order, tuple(places.get(index) for index in range(size)))


def contributors(instance: Instance) -> tuple[Event, ...]:
    """The events of an instance in the order of (Vs, parameter), as cbt[] has them.  Readings: R12, R49."""
    return tuple(sorted((e for e in instance if e is not None), key=lambda e: e.valid_start))


def composite(place: str, instance: Instance, scope: int) -> Event:
    """``(id, …, ek.Vs, e1.Vs + w, rt, [e1, …, ek]; e1.p, …, ek.p)``; the payloads are reached through the bindings.

    At distance exactly w the lifetime is empty and the output still a detection, with Ve = Vs.  Readings: R8, R11, R12.
    """
    parts = contributors(instance)
    return Event(
        stream=place,
        id=idgen_of(place, parts),
        valid_start=parts[-1].valid_start,
        valid_end=plus(parts[0].valid_start, scope),
        occurrence_start=0,
        occurrence_end=FOREVER,
        root_time=min(part.root_time for part in parts),
        contributors=parts,
        bindings=tuple(binding for part in instance if part is not None for binding in part.bindings),
    )
