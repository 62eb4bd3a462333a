"""What the rows of a plan carry: their payload attributes.

Paper: Section 3.3.1 (a payload is described with a relational schema).  Reading: R20.  The payloads of a composite's
contributors are reached through its variables, so a composite has no payload of its own; what keeps one operand's
event (UNLESS, NOT, CANCEL-WHEN) keeps its payload.
"""

from __future__ import annotations

from cedr.model.schema import DataType
from cedr.plan.analyses.facts import Facts
from cedr.plan.logical import Node


def attributes_of(node: Node) -> dict[str, DataType]:
    """The payload attributes of a node's rows, in order."""
    return dict(Facts(node).attributes)
