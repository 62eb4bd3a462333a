"""Dead letters: messages that were not used, each with a code and a reason.

Readings: R39 (a broken guarantee never corrupts anything), R41 (delivery faults), R37 (late revisions).

What makes a dead letter, by code:

    time-out-of-range            a time beyond 64 bits, or a start at the end of time
    valid-end-before-start       Ve < Vs
    occurrence-end-before-start  Oe < Os in an insert (a retraction to Oe <= Os removes its row)
    key-reused                   a second insert under one K with other content
    second-live-row              a second live row of one ID and Os under another K
    broken-guarantee             Sync is not after the guarantee of the provider
    lengthening-retraction       a retraction to an Oe or Ve after the inserted one
    retraction-without-insert    g reached the retraction's Sync, or the input ended, and its K never came
    revision-too-late            a version or closing later than its type allows

All but the last are found as messages arrive.  ``revision-too-late`` is judged on the set of messages, not on their
order, so it can only be stated of what has arrived so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from cedr.model.event import Event
from cedr.model.stream import Guarantee, Message, Retract
from cedr.model.time import BEGINNING, FOREVER, Time, format_instant


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that was not used, and why.  Readings: R39, R41."""

    code: str
    reason: str
    message: Message
    position: int


class Fault(NamedTuple):
    """What is wrong with a message."""

    code: str
    reason: str

    def letter(self, message: Message, position: int) -> DeadLetter:
        """The dead letter that a message with this fault becomes."""
        return DeadLetter(self.code, self.reason, message, position)


def misfit(message: Message) -> Fault | None:
    """What is wrong with a message taken by itself."""
    if isinstance(message, Guarantee):
        return None if BEGINNING <= message.time <= FOREVER else _out_of_range(message.time)
    if isinstance(message, Retract):
        ends = (end for end in (message.occurrence_end, message.valid_end) if end is not None)
        return next((_out_of_range(end) for end in ends if not BEGINNING < end <= FOREVER), None)
    return _misfit_event(message.event)


def _misfit_event(event: Event) -> Fault | None:
    for start in (event.valid_start, event.occurrence_start, event.root_time):
        if not BEGINNING < start < FOREVER:
            return _out_of_range(start)
    for end in (event.valid_end, event.occurrence_end):
        if not BEGINNING < end <= FOREVER:
            return _out_of_range(end)
    if event.valid_end < event.valid_start:
        return ends_before("valid-end-before-start", "Ve", event.valid_end, event.valid_start)
    if event.occurrence_end < event.occurrence_start:
        return ends_before("occurrence-end-before-start", "Oe", event.occurrence_end, event.occurrence_start)
    return None


def _out_of_range(time: Time) -> Fault:
    return Fault("time-out-of-range", f"{time} is not a time of 64 bits that can stand here")


def ends_before(code: str, name: str, end: Time, start: Time) -> Fault:
    """An interval that ends before it starts."""
    return Fault(code, f"{name} {end} is before its start {start}")


def broken(sync: Time, guarantee: Time) -> Fault:
    """A message that its provider had promised not to send.  Reading: R39."""
    told, given = format_instant(sync), format_instant(guarantee)
    return Fault("broken-guarantee", f"Sync {told} is not after the guarantee {given} given for this provider")


def late(occurred: Time, allowed: Time) -> Fault:
    """A revision that its type does not allow any more.  Reading: R37."""
    return Fault("revision-too-late", f"a revision at {occurred}, allowed until {allowed} by the event type")


def abandoned(message: Retract) -> Fault:
    """A retraction whose insert cannot come any more, or came and is forgotten.  Readings: R37, R41."""
    return Fault(
        "retraction-without-insert",
        f'no row with the key "{message.lineage_key}" is known: none came, or it is forgotten',
    )
