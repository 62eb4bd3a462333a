"""Bounded input without a key, split by time: slices that overlap by as far as a row can see.

Readings: R11 to R18 (scopes), R25 (choices).  A row with Vs = v depends on events with Vs in [v - back, v + ahead] and
on no others; so a slice of time that has these at its edges gives its own rows as the whole would.  What is not certain
to see so far only is not sliced.
"""

from __future__ import annotations

from pyspark.sql import functions as F

from cedr.plan.analyses.sight import sight_of
from cedr.plan.logical import Node, Source, walk
from cedr.spark.layout.layout import Slices
from cedr.spark.sources.clocks import is_bad
from cedr.spark.sources.events import Events

_PLAIN = ("change", "arrival", "guarantee", "occurrence_start", "occurrence_end", "key")
"""Where a source has one of these, an event may have several rows, and these may lie in different slices."""


def slices_of(plan: Node, events: Events, most: int) -> Slices | None:
    """Slices of the events of a plan, as many as ``most``; None where slicing would be wrong, or of no use.

    Asks Spark for the first and the last time.
    """
    seen = sight_of(plan)
    revised = any(node.type.revisable for node in _sources(plan))
    if seen is None or revised or any(part in source.header for source in events.sources for part in _PLAIN):
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
    width = max(4 * (seen.back + seen.ahead) + 1, -(-(last - first + 1) // most))
    count = -(-(last - first + 1) // width)
    return Slices(first, width, count, seen.back, seen.ahead) if count > 1 else None


def _sources(plan: Node) -> list[Source]:
    return [node for node in walk(plan) if isinstance(node, Source)]
