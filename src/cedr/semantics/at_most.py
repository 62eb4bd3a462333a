"""ATMOST and the sliding count that it is sugar for.

Paper: Section 3.3.2: "a syntactic sugar, which can be expressed with sliding window aggregate (count aggregate) …
possible to assign individual weights to contributors".  Reading: R14.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from cedr.model.event import Event, Payload, Value
from cedr.model.identity import idgen_of
from cedr.model.time import FOREVER, Time, plus
from cedr.plan.logical import COUNT_NAME, AtMost, SlidingCount
from cedr.semantics.instances import Version, version
from cedr.semantics.predicates import value_of
from cedr.semantics.selection import disjoint_outputs

Key = tuple[Value, ...]


def at_most(node: AtMost, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """``ATMOST(n, E1, …, Ek, w)``.

    Reading: R14: e of any parameter as [e.Vs, e.Vs + w) if the number of events of all parameters with Vs in
    (e.Vs - w, e.Vs] is at most n; WEIGHT c makes an event count c; one that fits two parameters counts for both.
    """
    within = [(output, e) for output, e, count in _counted(node, inputs) if count <= node.count]
    return disjoint_outputs(within, node.disjoint)


def sliding_count(node: SlidingCount, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """Each event with the sliding count of R14 as its payload: what ATMOST selects from."""
    counted = _counted(node, inputs)
    return [replace(output, payload=Payload({COUNT_NAME: count})) for output, _, count in counted]


def _counted(node: AtMost | SlidingCount, inputs: Sequence[Sequence[Event]]) -> Iterator[tuple[Event, Event, int]]:
    """Outputs, their events and counts; an event that fits several parameters is output once, bound to the first."""
    counts = _Counts(node, inputs)
    seen: set[Version] = set()
    for index, events in enumerate(inputs):
        for event in events:
            if version(event) not in seen:
                seen.add(version(event))
                yield _output(node, event), event, counts.at(event, index)


def _output(node: AtMost | SlidingCount, event: Event) -> Event:
    return Event(
        stream=node.place,
        id=idgen_of(node.place, (event,)),
        valid_start=event.valid_start,
        valid_end=plus(event.valid_start, node.scope),
        occurrence_start=0,
        occurrence_end=FOREVER,
        root_time=event.root_time,
        contributors=(event,),
        bindings=event.bindings,
    )


class _Counts:
    """The weights of all parameters' events by key, in the order of Vs."""

    def __init__(self, node: AtMost | SlidingCount, inputs: Sequence[Sequence[Event]]) -> None:
        self._node = node
        weighted: dict[Key, list[tuple[Time, int]]] = defaultdict(list)
        for index, events in enumerate(inputs):
            for event in events:
                weighted[self._key(event, index)].append((event.valid_start, node.parameters[index].weight))
        self._sums = {key: self._cumulated(sorted(entries)) for key, entries in weighted.items()}

    @staticmethod
    def _cumulated(entries: list[tuple[Time, int]]) -> tuple[list[Time], list[int]]:
        return [time for time, _ in entries], [0, *accumulate(weight for _, weight in entries)]

    def _key(self, event: Event, index: int) -> Key:
        """Reading: R22: events count together if they agree on the correlation keys; a NULL agrees with nothing."""
        if not self._node.keys:
            return ()
        key = tuple(value_of(expression, event) for expression in self._node.keys[index])
        return (*key, event.reference) if None in key else key

    def at(self, event: Event, index: int) -> int:
        times, sums = self._sums[self._key(event, index)]
        before = bisect_right(times, event.valid_start - self._node.scope)
        return sums[bisect_right(times, event.valid_start)] - sums[before]
