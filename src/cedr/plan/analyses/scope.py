"""Which variables a plan binds, where, and under which negations.

Reading: R20 (variables at any parameter, also for a composite), R21 (variables of negated expressions).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cedr.plan import logical
from cedr.plan.logical import Node
from cedr.plan.traits.registry import traits_of


@dataclass(frozen=True, slots=True)
class Leaf:
    """A variable that stands for an event of a type or of a named query.

    ``negations`` are the places of the operators under whose negated operand it stands, outermost first.
    """

    variable: str
    source: logical.Stream
    negations: tuple[str, ...] = ()
    within: tuple[str, ...] = ()


def negated_input(node: Node) -> Node | None:
    """The operand that a pattern says must not occur."""
    if not isinstance(node, logical.Pattern):
        return None
    index = traits_of(node).shape.negated(node)
    return None if index is None else logical.inputs(node)[index]


def leaves(node: Node, negations: tuple[str, ...] = (), within: tuple[str, ...] = ()) -> Iterator[Leaf]:
    """The leaf variables below a node, in pattern order; ``within`` are the places of the operators around each."""
    if isinstance(node, logical.Rename) and (source := _leaf_source(node.input)) is not None:
        yield Leaf(node.variable, source, negations, within)
        return
    if traits_of(node).shape.hides_variables:
        return
    inner = (*within, node.place) if isinstance(node, logical.Pattern) else within
    negated = negated_input(node)
    for part in logical.inputs(node):
        yield from leaves(part, (*negations, node.place) if part is negated else negations, inner)


def _leaf_source(node: Node) -> logical.Stream | None:
    while isinstance(node, logical.Select):
        node = node.input
    return node if isinstance(node, logical.Stream) else None


def positive_leaves(node: Node) -> list[Leaf]:
    """The leaf variables that a row of the node can have bound."""
    return [leaf for leaf in leaves(node) if not leaf.negations]


def bound_variables(node: Node) -> frozenset[str]:
    """All variables bound below a node, those of composites and of negated operands included."""
    if traits_of(node).shape.hides_variables:
        return frozenset()
    own = {node.variable} if isinstance(node, logical.Rename) else set()
    return frozenset(own).union(*(bound_variables(part) for part in logical.inputs(node)))
