"""ANY is ATLEAST of one, within one tick.  Paper: Section 3.3.2.  Reading: R13."""

from __future__ import annotations

from cedr.plan.logical import Any, AtLeast, Node


def desugar_any(node: Node) -> Node | None:
    """``ANY(E1, …, Ek) ≡ ATLEAST(1, E1, …, Ek, 1)``.

    Paper: Section 3.3.2, by definition.  Reading: R13: the output of e is [e.Vs, e.Vs + 1), because w is 1.  The place
    stays, so the IDs stay (R8).
    """
    if not isinstance(node, Any):
        return None
    return AtLeast(
        1,
        node.parameters,
        1,
        predicates=node.predicates,
        disjoint=node.disjoint,
        place=node.place,
        span=node.span,
    )
