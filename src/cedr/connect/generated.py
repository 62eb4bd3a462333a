"""Generated messages as Arrow columns and as lines of JSON, whole columns at a time.

Reading: R3.  The lines are those that ``cedr.connect.messages`` reads.  The columns say the same: ``change`` is insert,
retract or guarantee; a modification is an insert with a later ``os``; a row that retracts names its event by ``type``,
``id`` and ``os`` and repeats what it was, so that whoever splits a stream by an attribute finds it in each row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.connect.chance import Integers
from cedr.connect.delivery import END, GUARANTEE, INSERT, RETRACTION, REVISION, Delivery
from cedr.connect.machines import KINDS
from cedr.model.time import format_duration

CHANGES = pa.array(["insert", "retract", "guarantee"])
TIME = pa.timestamp("us", "UTC")
SCHEMA = pa.schema(
    {
        "change": pa.string(),
        "type": pa.string(),
        "id": pa.string(),
        "vs": TIME,
        "os": TIME,
        "guarantee": TIME,
        "Machine_Id": pa.string(),
        "Load": pa.float64(),
    }
)
Array = Any
"""An Arrow array."""


def types_of(delivery: Delivery) -> str:
    """The TYPE statements that suit the messages.  Reading: R37."""
    revisable = delivery.disorder.revisable
    ending = f" REVISABLE FOR {format_duration(revisable)}" if revisable else ""
    width = max(map(len, KINDS))
    return "".join(f"TYPE {kind:<{width}} (Machine_Id STRING, Load FLOAT){ending};\n" for kind in KINDS)


@dataclass(frozen=True, slots=True)
class Rows:
    """The events of some messages: numbers for those of one kind, and their columns."""

    type: Array
    id: Array
    vs: Integers
    os: Integers
    machine: Array
    load: Integers


class Rendering:
    """Says what messages say, given their numbers in the order of arrival."""

    def __init__(self, delivery: Delivery) -> None:
        self._delivery = delivery
        story = delivery.fleet.story
        self._id_width = len(str(story.events - 1))
        self._machine_width = len(str(story.machines - 1))
        self._types = pa.array(KINDS)
        self._letters = pa.array([kind[0] for kind in KINDS])

    def table(self, codes: Integers) -> pa.Table:
        """Messages as columns."""
        return self._arranged(codes, self._columns, SCHEMA)

    def texts(self, codes: Integers) -> pa.Table:
        """The same with times as ISO text in UTC, for files that have no types."""
        table = self.table(codes)
        for place, name in enumerate(table.schema.names):
            if table.schema.field(name).type == TIME:
                table = table.set_column(place, name, _timestamps(pc.cast(table.column(name), pa.int64())))
        return table

    def lines(self, codes: Integers) -> memoryview:
        """Messages as lines of JSON, each with its line end."""
        column = self._arranged(codes, self._lines, pa.schema({"line": pa.large_string()})).column(0)
        whole = column.combine_chunks()
        _, offsets, data = whole.buffers()
        places = np.frombuffer(offsets, np.int64)[whole.offset : whole.offset + len(whole) + 1]
        return memoryview(data)[int(places[0]) : int(places[-1])]

    def _arranged(
        self, codes: Integers, say: Callable[[int, Integers], dict[str, Array]], schema: pa.Schema
    ) -> pa.Table:
        """What is said of each kind of message, put back into the order of arrival."""
        kinds = codes & 3
        parts, places = [], []
        for kind in (INSERT, REVISION, RETRACTION, GUARANTEE):
            rows = np.flatnonzero(kinds == kind)
            if len(rows):
                parts.append(_fitted(say(kind, codes[rows] >> 2), len(rows), schema))
                places.append(rows)
        if not parts:
            return schema.empty_table()
        whole = pa.concat_tables(parts)
        if len(parts) == 1:
            return whole
        order = np.empty(len(codes), np.int64)
        order[np.concatenate(places)] = np.arange(len(codes))
        return whole.combine_chunks().take(pa.array(order))

    def _columns(self, kind: int, numbers: Integers) -> dict[str, Array]:
        if kind == GUARANTEE:
            times = pa.array(self._delivery.guaranteed(numbers), mask=numbers == END)
            return {"change": pa.repeat(CHANGES[2], len(numbers)), "guarantee": times.cast(TIME)}
        rows = self._rows(kind, numbers)
        return {
            "change": pa.repeat(CHANGES[int(kind == RETRACTION)], len(numbers)),
            "type": rows.type,
            "id": rows.id,
            "vs": pa.array(rows.vs).cast(TIME),
            "os": pa.array(rows.os).cast(TIME),
            "Machine_Id": rows.machine,
            "Load": pa.array(rows.load / 1_000),
        }

    def _lines(self, kind: int, numbers: Integers) -> dict[str, Array]:
        if kind == GUARANTEE:
            promised = _timestamps(pa.array(self._delivery.guaranteed(numbers), mask=numbers == END))
            quoted = pc.fill_null(pc.binary_join_element_wise('"', promised, '"', ""), "null")
            return {"line": _said('{"guarantee": ', quoted, "}\n")}
        rows = self._rows(kind, numbers)
        named = ('"type": "', rows.type, '", "id": "', rows.id)
        os = ('", "os": "', _timestamps(pa.array(rows.os)))
        if kind == RETRACTION:
            return {"line": _said('{"retract": {', *named, *os, '"}}\n')}
        vs = ('", "vs": "', _timestamps(pa.array(rows.vs)))
        thousandths = pc.utf8_lpad(pc.cast(pa.array(rows.load), pa.string()), 3, "0")
        payload = ('", "payload": {"Machine_Id": "', rows.machine, '", "Load": 0.', thousandths)
        return {"line": _said('{"insert": {', *named, *vs, *(os if kind == REVISION else ()), *payload, "}}}\n")}

    def _rows(self, kind: int, numbers: Integers) -> Rows:
        fleet = self._delivery.fleet
        version = fleet.corrected(numbers) if kind == REVISION else fleet.first(numbers)
        kinds = pa.array(version.kind)
        return Rows(
            self._types.take(kinds),
            pc.binary_join_element_wise(self._letters.take(kinds), numbered(numbers, self._id_width), ""),
            version.vs,
            self._delivery.corrected_at(numbers) if kind == REVISION else version.vs,
            pc.binary_join_element_wise("M", numbered(version.machine, self._machine_width), ""),
            version.load,
        )


def numbered(numbers: Integers, width: int) -> Array:
    """Numbers as texts of one width, so that their order is kept."""
    return pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), width=width, padding="0")


def _timestamps(times: Array) -> Array:
    """Times as ISO text in UTC; Arrow itself writes those with a zone ten times slower."""
    plain = pc.cast(pc.cast(times, pa.timestamp("us")), pa.string())
    return pc.binary_join_element_wise(plain, "Z", "")


def _said(*parts: Array) -> Array:
    return pc.cast(pc.binary_join_element_wise(*parts, ""), pa.large_string())


def _fitted(columns: dict[str, Array], count: int, schema: pa.Schema) -> pa.Table:
    """Columns by the schema, those that are missing empty."""
    return pa.table([columns.get(field.name, pa.nulls(count, field.type)) for field in schema], schema=schema)
