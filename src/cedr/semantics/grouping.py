"""Group-by and aggregates.

Paper: Section 6 ("groupby, and aggregates such as max, min, and avg … follow view update semantics").  Reading: R30.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from cedr.expression.evaluate import aggregated
from cedr.model.event import Event, Payload, Value
from cedr.model.time import Interval
from cedr.plan.logical import GroupBy
from cedr.semantics.predicates import value_of
from cedr.semantics.relational import algebra_row

Key = tuple[Value, ...]


def group_by(node: GroupBy, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """For each group, at each instant, the aggregates over the events alive; maximal intervals of equal value.

    Reading: R30.  There is no row where nothing is alive.
    """
    groups: dict[Key, list[Event]] = defaultdict(list)
    for event in inputs[0]:
        if not event.valid.empty:
            groups[tuple(value_of(key.expression, event) for key in node.keys)].append(event)
    return [
        algebra_row(node.place, key, alive, payload)
        for key, events in groups.items()
        for alive, payload in _maximal(_instants(node, key, events))
    ]


def _instants(node: GroupBy, key: Key, events: list[Event]) -> Iterator[tuple[Interval, Payload]]:
    """The payload over each interval in which the set of events alive does not change."""
    changes: dict[int, tuple[list[Event], list[Event]]] = defaultdict(lambda: ([], []))
    for event in events:
        changes[event.valid_start][0].append(event)
        changes[event.valid_end][1].append(event)
    alive: dict[Event, None] = {}
    names = [column.name for column in node.keys]
    for start, end in pairwise(sorted(changes)):
        alive.update(dict.fromkeys(changes[start][0]))
        for event in changes[start][1]:
            del alive[event]
        if alive:
            values = dict(zip(names, key, strict=True)) | _aggregates(node, alive)
            yield Interval(start, end), Payload(values)


def _aggregates(node: GroupBy, alive: dict[Event, None]) -> dict[str, Value]:
    result = {}
    for column in node.aggregates:
        call = column.aggregate
        values: list[Value] = [1] * len(alive) if call.star else [value_of(call.arguments[0], e) for e in alive]
        starts = [e.valid_start for e in alive]
        result[column.name] = aggregated(call, values, starts, lambda: f"the group of the event {next(iter(alive)).id}")
    return result


def _maximal(parts: Iterator[tuple[Interval, Payload]]) -> list[tuple[Interval, Payload]]:
    merged: list[tuple[Interval, Payload]] = []
    for interval, payload in parts:
        if merged and merged[-1][0].meets(interval) and merged[-1][1] == payload:
            merged[-1] = (Interval(merged[-1][0].start, interval.end), payload)
        else:
            merged.append((interval, payload))
    return merged
