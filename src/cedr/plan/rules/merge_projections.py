"""Adjacent projections become one.  Paper: Definition 7."""

from __future__ import annotations

from dataclasses import replace

from cedr.expression.tree import Expression, aggregates
from cedr.plan.analyses.shape import reads_occurrence, through_projection
from cedr.plan.logical import ROW, Node, Project, Rename


def merge_projections(node: Node) -> Node | None:
    """``π_f(π_g(S)) = π_{f∘g}(S)``, also where the row in between was given a name.

    Paper: Definition 7.  A projection keeps header and ID, so f∘g is g's expressions put in place of the attributes
    that f reads, and header fields stay header fields.

    Reading: R10: a projection makes one row of versions that it no longer tells apart; what g does not tell apart f
    does not either, so one step merges what two steps merge.  Not where f reads Os or Oe, which that merging changes,
    nor where f aggregates over contributors (R23), which are those of the inner row.
    """
    if not isinstance(node, Project):
        return None
    inner, names = _unnamed(node.input)
    if not isinstance(inner, Project):
        return None
    merged = [_composed(column.expression, inner, names) for column in node.columns]
    if any(expression is None for expression in merged):
        return None
    columns = [
        replace(column, expression=expression)
        for column, expression in zip(node.columns, merged, strict=True)
        if expression is not None
    ]
    return replace(node, input=inner.input, columns=tuple(columns))


def _unnamed(node: Node) -> tuple[Node, frozenset[str]]:
    """What is below some renamings, and the names they give to its rows."""
    names = {ROW}
    while isinstance(node, Rename):
        names.add(node.variable)
        node = node.input
    return node, frozenset(names)


def _composed(expression: Expression, inner: Project, names: frozenset[str]) -> Expression | None:
    if aggregates(expression) or reads_occurrence(expression):
        return None
    return through_projection(expression, inner, names)
