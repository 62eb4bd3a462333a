"""ALL is ATLEAST of as many as there are.  Paper: Section 3.3.2.  Reading: R13."""

from __future__ import annotations

from cedr.plan.logical import All, AtLeast, Node


def desugar_all(node: Node) -> Node | None:
    """``ALL(E1, …, Ek, w [WITH TIES]) ≡ ATLEAST(k, E1, …, Ek, w [WITH TIES])``.

    Paper: Section 3.3.2, by definition.  Reading: R13.  The place stays, so the IDs stay (R8); SC modes, predicates and
    DISJOINT mean the same on both.
    """
    if not isinstance(node, All):
        return None
    return AtLeast(
        len(node.parameters),
        node.parameters,
        node.scope,
        node.ties,
        predicates=node.predicates,
        disjoint=node.disjoint,
        place=node.place,
        span=node.span,
    )
