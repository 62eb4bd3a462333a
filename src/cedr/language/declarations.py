"""The tree of ``TYPE …``: what a statement declares of an event type.

Paper: Section 2 (events and their types).  Reading: R37 (how long a type is revisable).
"""

from __future__ import annotations

from dataclasses import dataclass

from cedr.language.node import Syntax
from cedr.model.schema import DataType, Shape


@dataclass(frozen=True, slots=True)
class AttributeDeclaration(Syntax):
    """``attribute datatype`` in TYPE; ``shape`` is what the declaration says of the inside of a STRUCT or LIST."""

    name: str
    type: DataType
    shape: Shape | None = None


@dataclass(frozen=True, slots=True)
class Option(Syntax):
    """``name = value`` in WITH: a duration as its text, a constant of ``type`` or ``provider`` in its single quotes."""

    name: str
    value: str | int | bool


@dataclass(frozen=True, slots=True)
class Origin(Syntax):
    """``[FROM 'path'] [WITH (option, …)]``: where the events of a type are, and how columns map to them."""

    path: str | None
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeDeclaration(Syntax):
    """``TYPE name (attribute datatype, …) [REVISABLE [FOR d]] [FROM 'path'] [WITH (option, …)]``.

    ``revisable`` is d of R37, FOREVER without FOR.
    """

    name: str
    attributes: tuple[AttributeDeclaration, ...]
    revisable: int = 0
    origin: Origin | None = None

    @property
    def inferred(self) -> bool:
        """Whether the attributes are those of the file: a path, and no attributes."""
        return not self.attributes and self.origin is not None and self.origin.path is not None
