"""By what the input of a query is split into buckets or shares, or why it is not.

Readings: R4 and R9 (versions of an event belong together), R22 (a NULL agrees with nothing).  Paper: Section 3.1
(correlation keys).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cedr.expression.tree import Way
from cedr.model.schema import DataType
from cedr.plan.analyses.keys import NoPartitionKey, partition_key
from cedr.plan.analyses.reads import types_read
from cedr.plan.logical import Node
from cedr.plan.rewrite import rewrite

_HASHED = frozenset(
    {
        DataType.INTEGER,
        DataType.FLOAT,
        DataType.DECIMAL,
        DataType.STRING,
        DataType.BOOLEAN,
        DataType.TIMESTAMP,
        DataType.DATE,
        DataType.BINARY,
    }
)
"""Types of which equal values have equal hashes once they are cast to one type."""


@dataclass(frozen=True, slots=True)
class Split:
    """The attribute of each event type by which its events are split, or the way down to a field inside of one.

    ``whole``: why there is one bucket only.

    Neither: each event stands for itself, and is split by its ID.
    """

    by: Mapping[str, Way]
    whole: str = ""

    def __str__(self) -> str:
        if self.whole:
            return f"one bucket: {self.whole}"
        return ", ".join(f"{name}.{'.'.join(way)}" for name, way in self.by.items()) or "ID"


def split_of(plan: Node, *, stable_key: bool) -> Split:
    """How the events of a plan may be split."""
    found = partition_key(rewrite(plan).plan)
    if isinstance(found, NoPartitionKey):
        return Split({}, found.reason)
    types = types_read(plan)
    by: dict[str, Way] = {}
    kinds: dict[DataType, str] = {}
    for each in found.attributes:
        if by.setdefault(each.type, each.way) != each.way:
            return Split({}, f"{each.type} is asked for by {'.'.join(by[each.type])} and by {each.attribute}")
        declared = types[each.type].inside(each.way).type
        if declared not in _HASHED:
            return Split({}, f"{each} is of type {declared}")
        kinds.setdefault(declared, str(each))
    if len(kinds) > 1:  # behind a projection the type of a field may be unknown, and 1 = 1.0 holds
        return Split({}, " and ".join(f"{shown} is of type {of}" for of, shown in kinds.items()))
    revisable = [name for name in by if types[name].revisable]
    if revisable and not stable_key:
        key = ".".join(by[revisable[0]])
        return Split({}, f"{revisable[0]} is REVISABLE, and a version may have another {key} (see stable_key=)")
    return Split(by)
