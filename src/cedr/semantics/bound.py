"""Which variables every row of a node has bound, and which may be NULL.

``plan.analyses.shape`` asks similar questions for the rewrite rules.  The oracle, which those rules are proven against,
answers for itself.
"""

from __future__ import annotations

from cedr.model.modes import JoinKind
from cedr.plan import logical
from cedr.plan.analyses.scope import bound_variables
from cedr.plan.logical import Node

_NOTHING: frozenset[str] = frozenset()


def always_bound(node: Node) -> frozenset[str]:
    """The variables bound in every row.  Reading: R21 (ANY and ATLEAST leave some unbound)."""
    match node:
        case logical.Rename():
            return always_bound(node.input) | {node.variable}
        case logical.Sequence() | logical.All():
            return _all(node.parameters)
        case logical.AtLeast():
            return _all(node.parameters) if node.count == len(node.parameters) else _NOTHING
        case logical.Any() | logical.AtMost() | logical.SlidingCount():
            return _all(node.parameters) if len(node.parameters) == 1 else _NOTHING
        case logical.Unless() | logical.UnlessNth() | logical.CancelWhen():
            return always_bound(node.first)
        case logical.Not():
            return always_bound(node.sequence)
        case logical.Join():
            left = always_bound(node.left)
            return left | always_bound(node.right) if node.kind is JoinKind.INNER else left
        case logical.Difference():
            return always_bound(node.left)
        case logical.Top():
            return always_bound(node.input)
        case logical.Select() | logical.SetValid() | logical.AlterLifetime() | logical.Session() | logical.Slice():
            return always_bound(node.input)
        case _:
            return _NOTHING


def _all(parameters: tuple[logical.Parameter, ...]) -> frozenset[str]:
    return _NOTHING.union(*(always_bound(p.input) for p in parameters))


def nullable(node: Node) -> frozenset[str]:
    """The variables that a LEFT join may leave without a partner: NULL there, as in SQL."""
    match node:
        case logical.Join():
            right = bound_variables(node.right) if node.kind is JoinKind.LEFT else nullable(node.right)
            return nullable(node.left) | right
        case logical.Select() | logical.Rename() | logical.AlterLifetime() | logical.Session() | logical.Coalesce():
            return nullable(node.input)
        case logical.Top():
            return nullable(node.input)
        case _:
            return _NOTHING
