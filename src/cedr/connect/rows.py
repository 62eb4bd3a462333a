"""Rows and changes of a query as plain data: what ``cedr eval --json`` prints, a line each.

The keys and their order are a contract that every host keeps.  FOREVER is null; ``contributors`` are the IDs of the
primitive contributors, flattened, in pattern order, and none for an aggregate.
"""

from __future__ import annotations

from collections.abc import Collection

from cedr.connect.values import as_json
from cedr.model.event import Event, primitive_contributors
from cedr.model.stream import Change, Guarantee, Insert
from cedr.model.time import FOREVER, Time

Data = dict[str, object]


def contributor_ids(event: Event, primitive: Collection[str]) -> list[str]:
    """The IDs of the primitive events that a row is made of; ``primitive`` are the names of their streams."""
    return [leaf.id for leaf in primitive_contributors(event) if leaf.stream in primitive]


def row_as_data(event: Event, primitive: Collection[str]) -> Data:
    """A row of a result.  Paper: Section 3.3.1, the header and the payload."""
    return {
        "id": event.id,
        "vs": end_as_data(event.valid_start),
        "ve": end_as_data(event.valid_end),
        "os": end_as_data(event.occurrence_start),
        "oe": end_as_data(event.occurrence_end),
        "rt": end_as_data(event.root_time),
        "contributors": contributor_ids(event, primitive),
        "payload": as_json(event.payload),
    }


def change_as_data(change: Change, primitive: Collection[str]) -> Data:
    """An entry of a change stream: an insert with its row, a retraction with the end it sets, a guarantee.

    A retraction with neither ``oe`` nor ``ve`` removes its row.
    """
    message = change.message
    if isinstance(message, Guarantee):
        return {"change": "guarantee", "cs": change.cedr_time, "guarantee": end_as_data(message.time)}
    said: Data = {"change": change.kind, "k": message.lineage_key, "cs": change.cedr_time}
    if isinstance(message, Insert):
        return {**said, **row_as_data(message.event, primitive)}
    ends = {"oe": message.occurrence_end, "ve": message.valid_end}
    row = {} if change.event is None else {"id": change.event.id}
    return {**said, **row, **{name: end_as_data(end) for name, end in ends.items() if end is not None}}


def end_as_data(time: Time) -> Time | None:
    """A time, FOREVER as None."""
    return None if time == FOREVER else time
