"""The shape of plans: which inputs are negated, which variables rows bind, what expressions read.

Paper: Section 3.3.2 (operators compose, each parameter is itself an event expression).  Reading: R21: a conjunct
constrains only instances in which every variable that it names is bound, so every law about predicates needs to know
which variables are *certainly* bound and which only *possibly*.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any as Anything

from cedr.expression.tree import Attribute, Expression, Header, HeaderField, conjuncts, transform, variables, walk
from cedr.plan.analyses.facts import Facts
from cedr.plan.logical import ROW, Node, Project, parameters


def with_parameter(node: Node, index: int, new: Node) -> Node:
    """The node with another input at one of its parameters."""
    changed = tuple(replace(p, input=new) if i == index else p for i, p in enumerate(parameters(node)))
    updates: dict[str, Anything] = {"parameters": changed}
    return replace(node, **updates)


def signed_inputs(node: Node) -> tuple[tuple[Node, bool], ...]:
    """The inputs in order, each with whether a row of the node wants that it is *not* there.

    Paper: Section 3.3.2, "Negation".  The right side of a difference and of an anti join is such an input too.
    """
    facts = Facts(node)
    return tuple((part.node, negated) for part, negated in zip(facts.inputs, facts.signs, strict=True))


def positive_inputs(node: Node) -> tuple[Node, ...]:
    """The inputs whose events contribute to the rows of the node."""
    return tuple(part.node for part in Facts(node).positive)


def certain(node: Node) -> frozenset[str]:
    """The variables that are bound in every row of the node.  Reading: R21."""
    return Facts(node).certain


def possible(node: Node) -> frozenset[str]:
    """The variables that are bound in some row of the node."""
    return Facts(node).possible


def bare(node: Node) -> Node:
    """What is below names and selections: the node whose rows these are."""
    return Facts(node).bare.node


def split(predicate: Expression, bound: frozenset[str]) -> tuple[Expression, ...]:
    """The parts that must all be true, each on its own.

    A conjunction may be taken apart only where all its variables are bound: with one of them unbound the whole of it
    does not constrain (R21), its other part alone would.
    """
    return conjuncts(predicate) if variables(predicate) <= bound | {ROW} else (predicate,)


def reads(expression: Expression, *header: HeaderField, of: str | None = None) -> bool:
    """Whether an expression reads one of the header fields, of one variable or of any."""
    return any(
        isinstance(part, Header) and part.field in header and (of is None or part.variable == of)
        for part in walk(expression)
    )


def reads_occurrence(expression: Expression) -> bool:
    """Whether an expression reads Os or Oe, which laws about the order of operators do not keep."""
    return reads(expression, HeaderField.OS, HeaderField.OE)


def own_variables(node: Node) -> frozenset[str]:
    """The variables that stand for the very event of the row: named on the way up, by nothing but selections since."""
    return Facts(node).own_variables


def renamed(expression: Expression, names: frozenset[str], to: str = ROW) -> Expression:
    """The expression with some variables replaced by another."""

    def change(part: Expression) -> Expression | None:
        if isinstance(part, Attribute | Header) and part.variable in names:
            return replace(part, variable=to)
        return None

    return transform(expression, change)


def through_projection(expression: Expression, project: Project, names: frozenset[str]) -> Expression | None:
    """An expression over the rows of a projection as one over its input; None where it asks for what is not there.

    ``names`` are the variables that stand for the projection's row.
    """
    if not variables(expression) <= names:
        return None
    columns = {column.name: column.expression for column in project.columns}
    if not all(part.name in columns for part in walk(expression) if isinstance(part, Attribute)):
        return None

    def change(part: Expression) -> Expression | None:
        if isinstance(part, Attribute):
            return columns[part.name]
        return replace(part, variable=ROW) if isinstance(part, Header) else None

    return transform(expression, change)
