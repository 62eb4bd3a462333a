"""Which Ve a plan reads, and which show in its output: those that may still be shortened hold rows back.

Readings: R36, R37.
"""

from __future__ import annotations

from cedr.expression.tree import Header, HeaderField, walk
from cedr.plan import logical
from cedr.plan.analyses.reads import expressions_of, types_read
from cedr.plan.analyses.shape import positive_inputs
from cedr.plan.traits.record import End
from cedr.plan.traits.registry import traits_of


def shown_ends(plan: logical.Node) -> frozenset[str]:
    """The event types whose Ve bears on the output: a later shortening changes rows emitted long ago.  Reading: R37.

    It shows there, an expression reads it, or an operator keeps rows for as long as they are alive.
    """
    read = [
        frozenset(types_read(node))
        for node in logical.walk(plan)
        if reading_ends(node) or traits_of(node).times.while_alive
    ]
    return frozenset[str]().union(_of_rows(plan), *read)


def kept_to_their_ends(plan: logical.Node) -> frozenset[str]:
    """The event types whose events are kept until the guarantee has reached their Ve.  Reading: R37.

    Not those that only windows read: how long a window needs an event, it tells itself.  So a moving average over
    events that never end keeps what is in the window.
    """
    return shown_ends(plan) & _beside_windows(plan)


def _beside_windows(node: logical.Node) -> frozenset[str]:
    """The event types that are read somewhere without a window right above them."""
    if traits_of(node).times.tells_need and all(map(_as_they_came, logical.inputs(node))):
        return frozenset()
    if isinstance(node, logical.Source):
        return frozenset(types_read(node))
    return frozenset[str]().union(*map(_beside_windows, logical.inputs(node)))


def _as_they_came(node: logical.Node) -> bool:
    """Whether rows are events as they came in, some left out, by nothing that reads their Ve."""
    if isinstance(node, logical.Source):
        return True
    return traits_of(node).shape.same_row and not reading_ends(node) and all(map(_as_they_came, logical.inputs(node)))


def _of_rows(node: logical.Node) -> frozenset[str]:
    """The event types from which rows of the node take their Ve."""
    match traits_of(node).times.end(node):
        case End.OWN:
            return frozenset()
        case End.INPUTS:
            return frozenset[str]().union(*map(_of_rows, positive_inputs(node)))
        case End.EVENTS:
            return frozenset(types_read(node))


def reading_ends(node: logical.Node) -> frozenset[str]:
    """The variables of which the node's expressions read Ve."""
    return frozenset(
        part.variable
        for expression in expressions_of(node)
        for part in walk(expression)
        if isinstance(part, Header) and part.field is HeaderField.VE
    )
