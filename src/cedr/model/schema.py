"""Event types: names and data types of payload attributes, and how far events may be revised.

Paper: Section 3.3.1 (a payload is described with a relational schema).  Reading: R37 for ``REVISABLE``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum


class DataType(Enum):
    """The type of an attribute or expression.  ``ANY`` is unknown and fits everywhere."""

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
class Shape:
    """A data type and, where it is declared, what is inside: the fields of a STRUCT, the elements of a LIST.

    A STRUCT with an ``element`` and no ``fields`` is a map: any field may be asked of it, all are of that shape.

    >>> str(Shape(DataType.STRUCT, {"no": Shape(DataType.STRING), "tags": Shape(DataType.LIST)}))
    'STRUCT(no STRING, tags LIST)'
    """

    type: DataType
    fields: Mapping[str, Shape] | None = None
    element: Shape | None = None

    @property
    def nested(self) -> bool:
        """Whether something is known of the inside."""
        return self.fields is not None or self.element is not None

    def field(self, name: str) -> Shape | None:
        """The shape of a field; None where the fields are known and there is no such field."""
        if self.fields is not None:
            return self.fields.get(name)
        return self.element or UNKNOWN_SHAPE if self.type is DataType.STRUCT else UNKNOWN_SHAPE

    def item(self) -> Shape:
        """The shape of an element of a LIST."""
        return self.element or UNKNOWN_SHAPE if self.type is DataType.LIST else UNKNOWN_SHAPE

    def __str__(self) -> str:
        if self.fields is not None:
            return f"{self.type}({', '.join(f'{name} {shape}' for name, shape in self.fields.items())})"
        return f"{self.type}" if self.element is None else f"{self.type}({self.element})"


UNKNOWN_SHAPE = Shape(DataType.ANY)
"""Nothing is known."""


@dataclass(frozen=True, slots=True)
class EventType:
    """An event type: its attributes in order, and how long after Vs its events may be revised (R37).

    ``revisable`` is ``d``: 0 means not declared revisable, ``FOREVER`` always.  An ``open`` type was never declared:
    any attribute may be asked of it, all are of type ANY.  ``shapes`` has the STRUCT and LIST attributes of which the
    inside is declared.
    """

    name: str
    attributes: Mapping[str, DataType] = field(default_factory=dict)
    revisable: int = 0
    open: bool = False
    shapes: Mapping[str, Shape] = field(default_factory=dict)

    def shape(self, name: str) -> Shape:
        """The type of an attribute with what is known of its inside."""
        return self.shapes.get(name) or Shape(self.attribute(name) or DataType.ANY)

    def inside(self, way: Sequence[str]) -> Shape:
        """The type at the end of a way from an attribute down through fields; of nothing is known: ANY."""
        name, *fields = way
        found = self.shape(name)
        for field_ in fields:
            found = found.field(field_) or UNKNOWN_SHAPE
        return found

    def attribute(self, name: str) -> DataType | None:
        """The type of an attribute, or None where the event type has no such attribute."""
        found = self.attributes.get(name)
        return DataType.ANY if found is None and self.open else found


@dataclass(slots=True)
class EventTypes:
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
