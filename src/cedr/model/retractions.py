"""What a retraction may say of its row, and whether it says anything new.

Readings: R3 (it never lengthens), R37 (how late a closing may be), R41 (the same again is ignored).
"""

from __future__ import annotations

from cedr.model.dead_letter import Fault, ends_before, late
from cedr.model.event import Event
from cedr.model.lineage import Lineage, revisable
from cedr.model.schema import EventTypes
from cedr.model.stream import Retract
from cedr.model.time import plus


def same_ends(one: Retract, other: Retract) -> bool:
    """Whether two retractions of one row say the same."""
    return (one.occurrence_end, one.valid_end) == (other.occurrence_end, other.valid_end)


def repeats(lineage: Lineage, message: Retract) -> bool:
    """Whether a retraction says nothing new: sent before, or to the very ends of the insert.  Reading: R41."""
    event = lineage.event
    idle = message.occurrence_end in (None, event.occurrence_end) and message.valid_end in (None, event.valid_end)
    if idle and not message.removes:
        return True
    return any(same_ends(known.message, message) for known in lineage.retractions)


def retract_fault(event: Event, message: Retract, catalog: EventTypes) -> Fault | None:
    """What a retraction may not say about a row.  Readings: R3, R37."""
    oe, ve = message.occurrence_end, message.valid_end
    if ve is not None and ve < event.valid_start:
        return ends_before("valid-end-before-start", "Ve", ve, event.valid_start)
    for name, new, old in (("Oe", oe, event.occurrence_end), ("Ve", ve, event.valid_end)):
        if new is not None and new > old:
            return Fault("lengthening-retraction", f"a retraction never lengthens: {name} {new} is after {old}")
    bound = plus(event.valid_start, revisable(catalog, event.stream))
    if oe is not None and oe > max(event.occurrence_start, bound):
        return late(oe, bound)
    return None
