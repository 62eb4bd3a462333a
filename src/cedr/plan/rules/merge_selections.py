"""Adjacent selections become one.  Paper: Definition 8."""

from __future__ import annotations

from cedr.expression.tree import TRUE, conjunction, conjuncts, variables
from cedr.plan.analyses.shape import certain
from cedr.plan.logical import ROW, Node, Select


def merge_selections(node: Node) -> Node | None:
    """``σ_p(σ_q(S)) = σ_{q ∧ p}(S)``, and ``σ_true(S) = S``.

    Paper: Definition 8.  Only *true* passes, and ``q AND p`` is true exactly where both are, NULLs included.

    Reading: R21: a predicate that names an unbound variable does not constrain, as a whole.  So both must either be
    certain to apply, or name the same variables and apply together.
    """
    if not isinstance(node, Select):
        return None
    if node.predicate == TRUE:
        return node.input
    if not isinstance(node.input, Select):
        return None
    outer, inner = node.predicate, node.input.predicate
    bound = certain(node.input.input) | {ROW}
    apply_together = variables(outer) | {ROW} == variables(inner) | {ROW}
    if not apply_together and not variables(outer) | variables(inner) <= bound:
        return None
    parts = dict.fromkeys((*conjuncts(inner), *conjuncts(outer)))
    return Select(node.input.input, conjunction(tuple(parts)), place=node.place, span=node.span)
