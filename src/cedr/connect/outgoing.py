"""Messages as plain data, in the form of a file of messages: what ``cedr.connect.messages`` reads, the other way round.

Reading: R3.  What has its default value is left out, so that a line says no more than its provider would have said.
"""

from __future__ import annotations

import json

from cedr.connect.rows import Data, end_as_data
from cedr.connect.values import as_json
from cedr.model.event import Event
from cedr.model.stream import Guarantee, Insert, Message, default_key
from cedr.model.time import FOREVER


def message_as_data(message: Message) -> Data:
    """A message as a line of a file has it.

    >>> from cedr.model.event import primitive
    >>> from cedr.model.stream import insert
    >>> message_as_data(insert(primitive("A", "a1", 3, 7, payload={"x": 1})))
    {'insert': {'type': 'A', 'id': 'a1', 'vs': 3, 've': 7, 'payload': {'x': 1}}}
    """
    source: Data = {} if message.provider is None else {"source": message.provider}
    if isinstance(message, Guarantee):
        return {"guarantee": end_as_data(message.time), **source}
    if isinstance(message, Insert):
        key = {} if message.lineage_key == default_key(message.event) else {"k": message.lineage_key}
        payload = {"payload": as_json(message.event.payload)} if message.event.payload else {}
        return {"insert": {**_header(message.event), **key, **payload}, **source}
    ends = {"oe": message.occurrence_end, "ve": message.valid_end}
    return {"retract": {"k": message.lineage_key, **{n: end for n, end in ends.items() if end is not None}}, **source}


def message_as_line(message: Message) -> str:
    """A message as a line of JSON."""
    return json.dumps(message_as_data(message), ensure_ascii=False)


def _header(event: Event) -> Data:
    header: Data = {"type": event.stream, "id": event.id, "vs": event.valid_start}
    if event.valid_end != FOREVER:
        header["ve"] = event.valid_end
    if event.occurrence_start != event.valid_start:
        header["os"] = event.occurrence_start
    if event.occurrence_end != FOREVER:
        header["oe"] = event.occurrence_end
    return header
