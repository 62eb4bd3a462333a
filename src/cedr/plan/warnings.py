"""What to beware of in a plan: things that are meant as they are, and may still surprise.

Paper: Sections 3.3.2 and 5.  Readings: the preface of R11 (order of nested sequences), R37 (what is never forgotten).
"""

from __future__ import annotations

from collections.abc import Iterator

from cedr.model.level import ConsistencyLevel
from cedr.model.time import FOREVER
from cedr.plan.analyses.bounds import own_scope, state_held
from cedr.plan.analyses.lifetimes import lifetime
from cedr.plan.analyses.shape import positive_inputs
from cedr.plan.describe import word
from cedr.plan.logical import Node, Query, Sequence, inputs
from cedr.plan.traits.registry import traits_of


def warnings_of(node: Node, level: ConsistencyLevel) -> tuple[str, ...]:
    """The warnings about one operator at a level."""
    return (*_nested_order(node), *_unbounded(node, level))


def _nested_order(node: Node) -> Iterator[str]:
    """A composite has the Vs of its last contributor, so what it begins with may come before its predecessor."""
    if not isinstance(node, Sequence):
        return
    for number, parameter in enumerate(node.parameters[1:], start=2):
        inner = _composite(parameter.input)
        if inner is not None:
            yield (
                f"parameter {number} of SEQUENCE is a composite and stands where its last event does: "
                f"events of its {word(inner)} may come before those of parameter {number - 1}"
            )


def _composite(node: Node) -> Node | None:
    """The operator of several contributors whose composites a parameter takes in, if it does."""
    if traits_of(node).composition.several(node):
        return node
    below = positive_inputs(node)
    return _composite(below[0]) if len(below) == 1 and not isinstance(node, Query) else None


def _unbounded(node: Node, level: ConsistencyLevel) -> Iterator[str]:
    if own_scope(node) is None or state_held(node, level).duration != FOREVER:
        return
    endless = [part for part in inputs(node) if lifetime(part) == FOREVER]
    if traits_of(node).times.while_alive and endless:
        yield f"{word(node)} keeps rows that may live for ever: a WINDOW bounds their lifetime"
    else:
        yield f"the state of {word(node)} has no bound: {state_held(node, level).text}"
