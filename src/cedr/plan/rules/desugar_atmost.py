"""ATMOST is a selection over a sliding count.  Paper: Section 3.3.2.  Reading: R14."""

from __future__ import annotations

from cedr.expression.tree import Attribute, Binary, Literal
from cedr.model.schema import DataType
from cedr.plan.logical import COUNT_NAME, ROW, AtMost, Node, Select, SlidingCount


def desugar_atmost(node: Node) -> Node | None:
    """``ATMOST(n, E1, …, Ek, w) ≡ σ_{count <= n}(sliding count of E1, …, Ek over w)``.

    Paper: Section 3.3.2: "a syntactic sugar, which can be expressed with sliding window aggregate (count aggregate)".
    Reading: R14.  The count makes its IDs at the same place from the same single contributor, so they stay (R8).  The
    attribute that carries the count is no attribute of a user's type, and every output projects it away; versions that
    differ in nothing else become one row there (R10).

    Not with DISJOINT: it acts on what ATMOST gives, after the selection, and a selection has none.
    """
    if not isinstance(node, AtMost) or node.disjoint is not None:
        return None
    counted = SlidingCount(
        node.parameters, node.scope, node.keys, predicates=node.predicates, place=node.place, span=node.span
    )
    limit = Literal(node.count, DataType.INTEGER)
    within = Binary("<=", Attribute(ROW, COUNT_NAME, DataType.INTEGER), limit)
    return Select(counted, within, place=node.place, span=node.span)
