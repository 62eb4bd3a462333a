"""Splits bounded input without a key by time, into slices that overlap by the reach of a row.

Readings: R11 to R18 (scopes), R25 (choices).  A row with Vs = v depends on events with Vs in [v - back, v + ahead] and
on no others.  So a slice that also has the events that far beyond its edges gives the same rows as the whole input.  A
plan whose reach is not known is not sliced.
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark.sql import functions as F

from cedr.model.modes import Selection
from cedr.model.time import FOREVER
from cedr.plan.bounds import consumes
from cedr.plan.logical import (
    All,
    Any,
    AtLeast,
    AtMost,
    CancelWhen,
    Node,
    Not,
    Project,
    Query,
    Rename,
    Select,
    Sequence,
    SetValid,
    Slice,
    SlidingCount,
    Source,
    Unless,
    UnlessNth,
    inputs,
    parameters,
)
from cedr.spark.layout.layout import Slices
from cedr.spark.sources.clocks import is_bad
from cedr.spark.sources.events import Events

_PLAIN = ("change", "arrival", "guarantee", "occurrence_start", "occurrence_end", "key")
"""If a source has one of these, an event may have several rows, and they may lie in different slices."""


class Reach(NamedTuple):
    """How far before and after its Vs a row depends on events, in ticks."""

    back: int = 0
    ahead: int = 0

    def joined(self, other: Reach) -> Reach:
        """The larger reach, to each side."""
        return Reach(max(self.back, other.back), max(self.ahead, other.ahead))


def reach(node: Node) -> Reach | None:
    """The reach of the rows of a plan; None if it is not bounded, or not known."""
    if consumes(node):
        return None
    below = [reach(part) for part in inputs(node)]
    if any(part is None for part in below):
        return None
    reaches = [part for part in below if part is not None]
    widest = Reach()
    for part in reaches:
        widest = widest.joined(part)
    own = _own(node, reaches, widest)
    return None if own is None or max(own) >= FOREVER // 4 else own


def _own(node: Node, below: list[Reach], widest: Reach) -> Reach | None:
    match node:
        case Source():
            return Reach()
        case Query() | Rename() | Select() | Project() | SetValid() | Slice():
            return widest
        case Sequence(scope=scope):
            later = scope if node.parameters[-1].selection is Selection.LAST else 0
            return Reach(scope + widest.back, later + widest.ahead)
        case All(scope=scope) | AtLeast(scope=scope):
            chooses = any(p.selection is not Selection.EACH for p in parameters(node))
            return None if chooses else Reach(scope + widest.back, widest.ahead)
        case Any():
            return None if any(p.selection is not Selection.EACH for p in parameters(node)) else widest
        case AtMost(scope=scope) | SlidingCount(scope=scope):
            return Reach(scope + widest.back, widest.ahead)
        case Unless(scope=scope):
            return Reach(widest.back, max(below[0].ahead, scope + below[1].ahead))
        case UnlessNth(scope=scope):
            return Reach(scope + below[0].back + below[1].back, widest.ahead)
        case Not() | CancelWhen():
            return Reach(below[0].back + below[1].back, widest.ahead)
        case _:
            return None


def slices_of(plan: Node, events: Events, most: int) -> Slices | None:
    """At most ``most`` slices of the events of a plan; None if slices would be wrong, or useless.

    Runs a Spark job for the first and the last time.
    """
    reached = reach(plan)
    revised = any(node.type.revisable for node in _sources(plan))
    if reached is None or revised or any(part in source.header for source in events.sources for part in _PLAIN):
        return None
    first, last = None, None
    for source in events.sources:
        time = source.micros("time")
        time = time if source.words.plain(source.clocks["time"]) else F.when(~is_bad(time), time)
        low, high = source.frame.agg(F.min(time), F.max(time)).collect()[0]
        if low is not None:
            first, last = min(low, first if first is not None else low), max(high, last if last is not None else high)
    if first is None or last is None:
        return None
    width = max(4 * (reached.back + reached.ahead) + 1, -(-(last - first + 1) // most))
    count = -(-(last - first + 1) // width)
    return Slices(first, width, count, reached.back, reached.ahead) if count > 1 else None


def _sources(plan: Node) -> list[Source]:
    if isinstance(plan, Source):
        return [plan]
    return [source for part in inputs(plan) for source in _sources(part)]
