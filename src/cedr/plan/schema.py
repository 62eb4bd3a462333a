"""What the rows of a plan carry: payload attributes, and the events that variables stand for.

Paper: Section 3.3.1 (a payload is described with a relational schema).  Reading: R20.  The payloads of a composite's
contributors are reached through its variables, so a composite has no payload of its own; what keeps one operand's
event (UNLESS, NOT, CANCEL-WHEN) keeps its payload.
"""

from __future__ import annotations

from dataclasses import dataclass

from cedr.model.schema import DataType, EventType
from cedr.plan.logical import (
    COUNT_NAME,
    All,
    Any,
    AtLeast,
    AtMost,
    GroupBy,
    Join,
    Node,
    Project,
    Query,
    Rename,
    Sequence,
    SlidingCount,
    Source,
)
from cedr.plan.shape import positive_inputs, signed_inputs


def attributes_of(node: Node) -> dict[str, DataType]:
    """The payload attributes of a node's rows, in order."""
    match node:
        case Source() | Query():
            return dict(node.type.attributes)
        case Project():
            return {column.name: column.type for column in node.columns}
        case GroupBy():
            keys = {column.name: column.type for column in node.keys}
            return keys | {column.name: column.type for column in node.aggregates}
        case SlidingCount():
            return {COUNT_NAME: DataType.INTEGER}
        case Sequence() | AtLeast() | All() | Any() | AtMost() | Join():
            return {}
        case _:
            return attributes_of(positive_inputs(node)[0])


@dataclass(frozen=True, slots=True)
class Leaf:
    """An event type where a plan takes it in, under the variable bound there ("" where none is)."""

    variable: str
    type: EventType
    negated: bool = False

    def __str__(self) -> str:
        return f"{self.type.name} {self.variable}".rstrip()


def leaves(node: Node) -> tuple[Leaf, ...]:
    """The event types that a node takes in, named queries included, from left to right.

    A leaf is negated if a row of the node wants that it is *not* there, at whatever depth.  Reading: R21.
    """
    return tuple(_leaves(node, "", negated=False))


def _leaves(node: Node, variable: str, *, negated: bool) -> list[Leaf]:
    if isinstance(node, Source | Query):
        return [Leaf(variable, node.type, negated)]
    below = signed_inputs(node)
    name = (node.variable if isinstance(node, Rename) else variable) if len(below) == 1 else ""
    return [leaf for part, refused in below for leaf in _leaves(part, name, negated=negated or refused)]
