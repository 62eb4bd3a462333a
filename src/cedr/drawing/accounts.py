"""What the tooltips say: the whole header and payload of a row or an event, and what happened to it at which CEDR time.

Paper: Section 3.3.1 (the header), Section 4 (CEDR time).
"""

from __future__ import annotations

from collections.abc import Iterator

from cedr.drawing.choice import leaves
from cedr.drawing.clock import Clock
from cedr.drawing.story import EARLIER, Arrival, Bar, Dot, State
from cedr.drawing.words import own_times, plain, value_text
from cedr.model.event import Event
from cedr.model.lineage import Lineage
from cedr.model.stream import Retract
from cedr.model.time import FOREVER

_MOST_NAMED = 40
_MOST_STEPS = 20


def bar_account(bar: Bar, clock: Clock) -> str:
    """All that is known of a row."""
    event = bar.event
    found = leaves(event)
    lines = [f"row {plain(event.id)} of {plain(event.stream)}", *_clocks(event, clock), *_payload(event, clock)]
    if found:
        lines.append(f"made of: {_named(found)}")
    lines += [step for lineage in bar.lineages for step in _steps(lineage, clock, "emitted")][:_MOST_STEPS]
    if bar.state is State.STRAY:
        lines.append("never retracted, but not in the result")
    return "\n".join(lines)


def dot_account(dot: Dot, clock: Clock) -> str:
    """All that is known of an event."""
    event = dot.event
    what = "row" if dot.arrival is Arrival.DERIVED else "event"
    lines = [f"{what} {plain(event.id)} of {plain(event.stream)}", *_clocks(event, clock), *_payload(event, clock)]
    lines += [step for lineage in dot.lineages for step in _steps(lineage, clock, "arrived")][:_MOST_STEPS]
    if dot.high is not None:
        behind = clock.span(dot.high - event.occurrence_start)
        lines.append(f"late by {behind}: a Sync of {clock.show(dot.high)} had arrived before")
    return "\n".join(lines)


def _clocks(event: Event, clock: Clock) -> Iterator[str]:
    show = clock.show
    yield f"valid [{show(event.valid_start)}, {show(event.valid_end)})"
    yield f"occurrence [{show(event.occurrence_start)}, {show(event.occurrence_end)})"
    if event.root_time != event.valid_start:
        yield f"root time {show(event.root_time)}"


def _payload(event: Event, clock: Clock) -> Iterator[str]:
    times = own_times(event)
    for name, value in event.payload.items():
        yield plain(f"{name} = {value_text(value, clock.show, times, brief=False)}")


def _named(found: tuple[Event, ...]) -> str:
    names = ", ".join(f"{plain(leaf.stream)} {plain(leaf.id)}" for leaf in found[:_MOST_NAMED])
    more = len(found) - _MOST_NAMED
    return f"{names} and {more:,} more" if more > 0 else names


def _steps(lineage: Lineage, clock: Clock, came: str) -> Iterator[str]:
    if lineage.position != EARLIER:
        yield f"{came} at CEDR time {lineage.position:,}"
    for position, message in lineage.retractions:
        yield f"{_effect(lineage, message, clock)} at CEDR time {position:,}"


def _effect(lineage: Lineage, message: Retract, clock: Clock) -> str:
    """What a retraction did to its row.  Readings: R3, R5."""
    event, valid_end, occurrence_end = lineage.event, message.valid_end, message.occurrence_end
    never_valid = valid_end is not None and valid_end <= event.valid_start < event.valid_end
    never_believed = occurrence_end is not None and occurrence_end <= event.occurrence_start
    if message.removes or never_valid or never_believed:
        return "retracted"
    ends = [] if valid_end is None else [f"valid until {clock.show(valid_end)}"]
    if occurrence_end is not None and occurrence_end != FOREVER:
        ends.append(f"believed until {clock.show(occurrence_end)}")
    return f"shortened ({', '.join(ends)})" if ends else "retracted"
