"""Changes of events with an attribute of values of several kinds, which no Arrow column holds: by way of objects."""

from __future__ import annotations

import json

import pyarrow as pa

from cedr.connect.values import as_json
from cedr.consistency.emission.changes import Changes
from cedr.consistency.emission.columns import payload_column
from cedr.model.event import Event
from cedr.model.stream import Change, Guarantee, Retract
from cedr.runtime.expressions.vector import of_values
from cedr.runtime.values.arrow_values import arrow_of_objects
from cedr.runtime.values.vector import Vector


def by_objects(changes: Changes) -> tuple[pa.RecordBatch, dict[str, Vector]]:
    """The columns of what has left, made of its messages; those of mixed values as JSON, and as filters see them."""
    said = [(change, row) for change in changes.to_changes() if (row := change.event) is not None]
    rows = [_row(change, row) for change, row in said]
    arrays = {name: pa.array([row[name] for row in rows]) for name in rows[0]}
    arrays["change"] = arrays["change"].dictionary_encode()
    mixed: dict[str, Vector] = {}
    for name in dict.fromkeys(name for _, row in said for name in row.payload):
        values = [row.payload.get(name) for _, row in said]
        try:
            arrays[payload_column(name)] = arrow_of_objects(values, None)
        except TypeError:
            arrays[payload_column(name)] = pa.array([json.dumps(as_json(value)) for value in values], pa.string())
            mixed[name] = of_values(values)
    return pa.RecordBatch.from_pydict(arrays), mixed


def _row(change: Change, row: Event) -> dict[str, object]:
    """The header of a change as ``Changes.to_arrow`` has it: its ends are those after it."""
    oe, ve, message = row.occurrence_end, row.valid_end, change.message
    if isinstance(message, Retract):
        oe = (
            row.occurrence_start
            if message.removes
            else oe
            if message.occurrence_end is None
            else message.occurrence_end
        )
        ve = ve if message.valid_end is None else message.valid_end
    return {
        "change": change.kind,
        "id": row.id,
        "said": int(message.lineage_key.rpartition("/")[2]) if not isinstance(message, Guarantee) else 0,
        "Vs": row.valid_start,
        "Ve": ve,
        "Os": row.occurrence_start,
        "Oe": oe,
        "Cs": change.cedr_time,
        "Rt": row.root_time,
    }
