"""Event types: names and data types of payload attributes, and how far events may be revised.

Paper: Section 3.3.1 (a payload is described with a relational schema).  Reading: R37 for ``REVISABLE``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum


class DataType(Enum):
    """The type of an attribute or expression.  ``ANY`` is unknown and fits everywhere; STRUCT and LIST are opaque."""

    INTEGER = "INTEGER"
    FLOAT = "FLOAT"
    DECIMAL = "DECIMAL"
    STRING = "STRING"
    BOOLEAN = "BOOLEAN"
    TIMESTAMP = "TIMESTAMP"
    DURATION = "DURATION"
    DATE = "DATE"
    BINARY = "BINARY"
    STRUCT = "STRUCT"
    LIST = "LIST"
    NULL = "NULL"
    ANY = "ANY"

    def __str__(self) -> str:
        return self.value


TYPE_NAMES: Mapping[str, DataType] = {
    **{name: DataType.INTEGER for name in ("INTEGER", "INT", "BIGINT", "LONG", "SMALLINT", "TINYINT")},
    **{name: DataType.FLOAT for name in ("FLOAT", "DOUBLE", "REAL")},
    **{name: DataType.DECIMAL for name in ("DECIMAL", "NUMERIC")},
    **{name: DataType.STRING for name in ("STRING", "TEXT", "VARCHAR", "CHAR")},
    **{name: DataType.BOOLEAN for name in ("BOOLEAN", "BOOL")},
    **{name: DataType.BINARY for name in ("BINARY", "BYTES")},
    **{name: DataType.DURATION for name in ("DURATION", "INTERVAL")},
    **{name: DataType.LIST for name in ("LIST", "ARRAY")},
    "TIMESTAMP": DataType.TIMESTAMP,
    "DATE": DataType.DATE,
    "STRUCT": DataType.STRUCT,
    "ANY": DataType.ANY,
}
"""The names a declaration may use for a data type, in upper case."""


@dataclass(frozen=True, slots=True)
class EventType:
    """An event type: its attributes in order, and how long after Vs its events may be revised (R37).

    ``revisable`` is ``d``: 0 means not declared revisable, ``FOREVER`` always.  An ``open`` type was never declared:
    any attribute may be asked of it, all are of type ANY.
    """

    name: str
    attributes: Mapping[str, DataType] = field(default_factory=dict)
    revisable: int = 0
    open: bool = False

    def attribute(self, name: str) -> DataType | None:
        """The type of an attribute, or None where the event type has no such attribute."""
        found = self.attributes.get(name)
        return DataType.ANY if found is None and self.open else found


@dataclass(slots=True)
class Catalog:
    """The event types known by name.  With ``open``, an unknown name is an open type instead of an error."""

    types: dict[str, EventType] = field(default_factory=dict)
    open: bool = False

    def get(self, name: str) -> EventType | None:
        """The type of that name, an open one if the catalog is open, else None."""
        found = self.types.get(name)
        return EventType(name, open=True) if found is None and self.open else found

    def add(self, event_type: EventType) -> None:
        """Declare a type, replacing an earlier one of the name."""
        self.types[event_type.name] = event_type

    def __iter__(self) -> Iterator[EventType]:
        return iter(self.types.values())
