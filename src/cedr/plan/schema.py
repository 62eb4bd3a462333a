"""What the rows of a plan carry: their payload attributes.

Paper: Section 3.3.1 (a payload is described with a relational schema).  Reading: R20.  The payloads of a composite's
contributors are reached through its variables, so a composite has no payload of its own; what keeps one operand's
event (UNLESS, NOT, CANCEL-WHEN) keeps its payload.
"""

from __future__ import annotations

from cedr.model.schema import DataType
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
    Sequence,
    SlidingCount,
    Source,
)
from cedr.plan.shape import positive_inputs


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
