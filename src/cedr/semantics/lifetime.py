"""AlterLifetime, and what is made of lifetimes: sessions and coalescing.

Paper: Section 6, Definitions 10 and 12.  AlterLifetime is the one operator that is not view update compliant
(Definition 11).  Reading: R31.  "AdjustLifetime" in the paper's text is the same operator.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from math import floor

from cedr.model.event import Event, Value
from cedr.model.identity import idgen
from cedr.model.modes import Valid
from cedr.model.time import FOREVER, Interval, Time, plus
from cedr.plan.logical import AlterLifetime, Coalesce, Session, SetValid
from cedr.semantics.predicates import value_of
from cedr.semantics.relational import RowValue, row_value


def alter_lifetime(node: AlterLifetime, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """Paper: Definition 12.  ``Π_fVs,fΔ(S) = {(fVs(e), fVs(e) + fΔ(e), e.Payload) | e ∈ E(S)}``.

    Reading: R31: a duration of zero or less, or a start of FOREVER, drops the event; so does NULL.
    """
    outputs = []
    for event in inputs[0]:
        start, duration = _time(value_of(node.start, event)), _time(value_of(node.duration, event))
        if start is not None and duration is not None and start != FOREVER and duration > 0:
            outputs.append(replace(event, valid_start=start, valid_end=plus(start, duration)))
    return outputs


def _time(value: Value) -> Time | None:
    return floor(value) if isinstance(value, int | float | Decimal) else None


def session(node: Session, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """Each event over the lifetime of its session, ``[first.Vs, last.Vs + gap)``, by group.  Reading: R31.

    Events of one group belong to one session while each starts less than ``gap`` after the one before.
    """
    groups: dict[tuple[Value, ...], list[Event]] = defaultdict(list)
    for event in sorted(inputs[0], key=lambda e: (e.valid_start, e.id)):
        groups[tuple(value_of(key, event) for key in node.keys)].append(event)
    return [
        replace(event, valid_start=alive.start, valid_end=alive.end)
        for events in groups.values()
        for chain in _chains(events, node.gap)
        for alive in [Interval(chain[0].valid_start, plus(chain[-1].valid_start, node.gap))]
        for event in chain
    ]


def _chains(events: list[Event], gap: int) -> list[list[Event]]:
    chains: list[list[Event]] = []
    for event in events:
        if chains and event.valid_start < plus(chains[-1][-1].valid_start, gap):
            chains[-1].append(event)
        else:
            chains.append([event])
    return chains


def coalesce(node: Coalesce, inputs: Sequence[Sequence[Event]]) -> list[Event]:
    """Paper: Definition 10, ``*(S)``: events with equal payloads whose intervals meet become one, until none can.

    Where several could continue an event the one that started first does, so that the result is one and the same table.
    """
    waiting: dict[tuple[RowValue, Time], list[Event]] = defaultdict(list)
    for event in sorted(inputs[0], key=lambda e: (e.valid_start, e.valid_end, e.id)):
        chains = waiting.get((row_value(event), event.valid_start), [])
        first = chains.pop(0) if chains else replace(event, stream=node.place, id=idgen(node.place, *event.reference))
        merged = replace(first, valid_end=event.valid_end, contributors=())
        waiting[row_value(event), event.valid_end].append(merged)
    return [event for events in waiting.values() for event in events]


def set_valid(node: SetValid, event: Event) -> Event:
    """``VALID FOREVER``, ``VALID WITH LAST``.  Reading: R19: Ve is FOREVER, or the last contributor's Ve."""
    if node.valid is Valid.FOREVER:
        return replace(event, valid_end=FOREVER)
    last = max(event.contributors or (event,), key=lambda e: (e.valid_start, e.id))
    return replace(event, valid_end=max(event.valid_start, last.valid_end))
