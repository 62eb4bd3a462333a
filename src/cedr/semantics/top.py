"""TOP.

Paper: Section 6 (operators that follow view update semantics).  Reading: R45.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from cedr.expression.values import OPAQUE, canonical_order, kind, plain
from cedr.model.event import Event, Value
from cedr.model.time import Interval, Time
from cedr.plan.logical import Top
from cedr.semantics.predicates import value_of
from cedr.semantics.relational import pieces

Rank = tuple[str, Any]
"""Kind and value: rows of one rank are in or out together."""


def top(node: Top, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """``TOP k BY e``: at each instant the rows with fewer than k rows alive before them in the order of e.

    Reading: R45.  NULL comes last, ascending and descending.  Each row over the maximal pieces of its lifetime in which
    it is in.
    """
    groups: dict[tuple[Value, ...], list[Event]] = defaultdict(list)
    for event in inputs[0]:
        if not event.valid.empty:
            groups[tuple(value_of(key, event) for key in node.keys)].append(event)
    return [row for events in groups.values() for row in _first(node, events)]


def _first(node: Top, events: Sequence[Event]) -> Iterator[Event]:
    before: list[Interval] = []
    for together in _ranked(node, events):
        full = _crowded(before, node.count)
        for event in together:
            yield from pieces(node.place, event, full)
        before += [event.valid for event in together]


def _ranked(node: Top, events: Sequence[Event]) -> list[list[Event]]:
    """The rows of each rank, first ranks first; those without one last."""
    ranked = [(_rank(value_of(node.by, event)), event) for event in events]
    some = sorted(((rank, event) for rank, event in ranked if rank is not None), key=lambda pair: pair[0])
    classes = [[event for _, event in pairs] for _, pairs in groupby(some, key=lambda pair: pair[0])]
    last = [event for rank, event in ranked if rank is None]
    return [*(reversed(classes) if node.descending else classes), last]


def _rank(value: Value) -> Rank | None:
    """None for NULL, and for what has no order."""
    value = plain(value)
    return None if value is None or kind(value) in OPAQUE else canonical_order(value)[:2]


def _crowded(intervals: Sequence[Interval], count: int) -> list[Interval]:
    """The intervals in which at least so many of some are alive."""
    changes: dict[Time, int] = defaultdict(int)
    for interval in intervals:
        changes[interval.start] += 1
        changes[interval.end] -= 1
    found: list[Interval] = []
    alive, since = 0, None
    for time in sorted(changes):
        alive += changes[time]
        if alive >= count and since is None:
            since = time
        elif alive < count and since is not None:
            found.append(Interval(since, time))
            since = None
    return found
