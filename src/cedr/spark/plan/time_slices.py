"""Splits bounded input without a key by time, into slices that overlap by the reach of a row.

Readings: R11 to R18 (scopes), R25 (choices).  A row with Vs = v depends on events with Vs in [v - back, v + ahead] and
on no others.  So a slice that also has the events that far beyond its edges gives the same rows as the whole input.  A
plan whose reach is not known is not sliced.
"""

from __future__ import annotations

from pyspark.sql import functions as F

from cedr.plan.analyses.sight import sight_of
from cedr.plan.logical import Node, Source, walk
from cedr.spark.layout.layout import Slices
from cedr.spark.sources.clocks import is_bad
from cedr.spark.sources.events import Events

_PLAIN = ("change", "arrival", "guarantee", "occurrence_start", "occurrence_end", "key")
"""If a source has one of these, an event may have several rows, and they may lie in different slices."""


def slices_of(plan: Node, events: Events, most: int) -> Slices | None:
    """At most ``most`` slices of the events of a plan; None if slices would be wrong, or useless.

    Runs a Spark job for the first and the last time.
    """
    reached = sight_of(plan)
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
    return [node for node in walk(plan) if isinstance(node, Source)]
