"""Which rows are said with an open end.

Reading: R33: rows of group-by, distinct, difference, TOP and anti join, and rows that take their end from such a row
(selection, projection, union, join, AlterLifetime, VALID WITH LAST), are said with Ve = FOREVER and shortened when
their end is due; elsewhere Ve is said with the row.
"""

from __future__ import annotations

from cedr.model.event import Event
from cedr.model.identity import idgen
from cedr.model.modes import JoinKind, Valid
from cedr.plan import logical
from cedr.plan.logical import Node


def open_ended(node: Node, row: Event) -> bool:
    """Whether a row of the node is said with Ve = FOREVER first.  Reading: R33."""
    match node:
        case logical.GroupBy() | logical.Distinct() | logical.Difference() | logical.Coalesce() | logical.Top():
            return True
        case logical.Join():
            return _joined(node, row)
        case logical.Union():
            return _united(node, row)
        case logical.SetValid(valid=Valid.WITH_LAST):
            last = max(row.contributors or (row,), key=lambda e: (e.valid_start, e.id))
            return _contributed(node.input, last)
        case logical.Select() | logical.Project() | logical.Rename() | logical.Slice() | logical.AlterLifetime():
            return open_ended(node.input, row)
        case logical.Query():
            return open_ended(node.input, row)
        case _:
            return False


def _joined(node: logical.Join, row: Event) -> bool:
    if node.kind is JoinKind.ANTI or len(row.contributors) < 2:
        return True
    left, right = row.contributors
    return open_ended(node.left, left) or open_ended(node.right, right)


def _united(node: logical.Union, row: Event) -> bool:
    (part,) = row.contributors
    branch = node.left if row.id == idgen(node.place, "left", *part.reference) else node.right
    return open_ended(branch, part)


def _contributed(node: Node, contributor: Event) -> bool:
    """Whether a contributor of a pattern comes from a named query that gives open ends."""
    return any(
        part.name == contributor.stream and open_ended(part, contributor)
        for part in logical.walk(node)
        if isinstance(part, logical.Query)
    )
