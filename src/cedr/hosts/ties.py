"""The measure *ties*: events that share Vs and key with another event of the parameters of one operator.

Reading: R49.  The order of the paper is strict: such events never follow each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cedr.data.arriving import Arriving
from cedr.data.loading import Part
from cedr.plan import logical
from cedr.plan.analyses.keys import PartitionKey, partition_key
from cedr.plan.logical import Node

Rows = npt.NDArray[np.int64]
_MOST: Final = 500_000
"""So many events of each type are looked at: it is a hint, not worth the time of a query."""


def tied(plan: Node, arriving: Arriving) -> tuple[int, bool]:
    """How many events are tied, of the operator that has most of them; and whether all events were looked at."""
    parts: dict[str, list[Part]] = {}
    for loaded in arriving.sources:
        for part in loaded.parts:
            parts.setdefault(part.type.name, []).append(part)
    counts = [_tied(node, parts) for node in logical.walk(plan) if isinstance(node, _ORDERED)]
    whole = all(len(part) <= _MOST for several in parts.values() for part in several)
    return max(counts, default=0), whole


_ORDERED: Final = (logical.Sequence, logical.AtLeast, logical.All)


def _tied(node: logical.Sequence | logical.AtLeast | logical.All, parts: dict[str, list[Part]]) -> int:
    sources = [name for parameter in node.parameters if (name := _primitive(parameter.input))]
    if len(sources) < 2:
        return 0
    key = partition_key(node)
    by = {each.type: each.attribute for each in key.attributes} if isinstance(key, PartitionKey) else {}
    several = [(part, by.get(name)) for name in dict.fromkeys(sources) for part in parts.get(name, ())]
    return _repeated([part for part, _ in several], [attribute for _, attribute in several])


def _primitive(node: Node) -> str | None:
    """The type of the events that a parameter takes as they come; None where it is made of others."""
    while isinstance(node, logical.Rename | logical.Select):
        node = node.input
    return node.type.name if isinstance(node, logical.Source) else None


def _repeated(parts: Sequence[Part], attributes: Sequence[str | None]) -> int:
    """Events that share time and key with another; what was sent twice is one event."""
    if not parts:
        return 0
    times = np.concatenate([part.clocks["time"][:_MOST] for part in parts])
    order = np.argsort(times, kind="stable")
    same = times[order][1:] == times[order][:-1]
    if not same.any():
        return 0
    close = np.zeros(len(times), np.bool_)
    close[order[1:][same]] = close[order[:-1][same]] = True
    rows = np.flatnonzero(close)
    texts = {
        "key": pa.concat_arrays([_texts(_key(part, name)) for part, name in zip(parts, attributes, strict=True)]),
        "id": pa.concat_arrays([_texts(part.ids.slice(0, _MOST)) for part in parts]),
    }
    table = pa.table({"time": times[rows], **{name: column.take(pa.array(rows)) for name, column in texts.items()}})
    counted = table.group_by(["time", "key"], use_threads=False).aggregate([("id", "count_distinct")])
    counts = counted.column("id_count_distinct").to_numpy()
    return int(counts[counts > 1].sum())


def _key(part: Part, attribute: str | None) -> Any:
    count = min(len(part), _MOST)
    if attribute is None or attribute not in part.payload:
        return pa.nulls(count, pa.string())
    return part.payload[attribute].slice(0, count)


def _texts(column: Any) -> Any:
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(len(column), pa.string())
