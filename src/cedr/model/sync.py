"""Sync: the occurrence instant from which on a message changes the state of its stream.

Paper: Section 4, "For insertions Sync = Os; for retractions Sync = Oe".  Reading: R7, which adds the removal of a row
(it changes the state from the row's Os on) and the shortening of Ve (Section 6 makes the two clocks one).
"""

from __future__ import annotations

from cedr.model.event import Event
from cedr.model.stream import Retract
from cedr.model.time import Interval, Time


def sync_of(event: Event, retraction: Retract | None = None) -> Time:
    """Sync of the insert of a row, or of a retraction of it.

    Paper: Section 4, Figure 6.  Reading: R7.

    >>> from cedr.model.event import primitive
    >>> row = primitive("A", "a", 1, 10)
    >>> sync_of(row), sync_of(row, Retract("K", occurrence_end=5)), sync_of(row, Retract("K"))
    (1, 5, 1)
    """
    if retraction is None or retraction.removes:
        return event.occurrence_start
    return sync_of_ends(event.occurrence, event.valid, retraction.occurrence_end, retraction.valid_end)


def sync_of_ends(occurrence: Interval, valid: Interval, occurrence_end: Time | None, valid_end: Time | None) -> Time:
    """Sync of a retraction that names new ends: its Os if it removes the row, else Oe, or max(Os, Ve).

    With both ends it is the smaller: the first instant that changes.  Reading: R7.
    """
    start = occurrence.start
    removes_valid = valid_end is not None and valid_end <= valid.start < valid.end
    removes_occurrence = occurrence_end is not None and occurrence_end <= start
    if removes_valid or removes_occurrence:
        return start
    named = [] if occurrence_end is None else [occurrence_end]
    if valid_end is not None:
        named.append(max(start, valid_end))
    return min(named)
