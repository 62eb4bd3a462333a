"""Where ties are counted: the parameters whose events never follow each other at equal Vs, and could.  Reading: R49."""

from __future__ import annotations

from cedr.plan.analyses.facts import Facts
from cedr.plan.logical import TYING, AtLeast, Node


def counted_parameters(node: Node) -> tuple[int, ...]:
    """The parameters of an operator among whose events ties are counted: those that take primitive events.

    Composites of one last event have equal Vs by themselves, so they do not count.  WITH TIES nothing is lost, and one
    contributor follows nothing: there none are counted.
    """
    if not isinstance(node, TYING) or node.ties or (isinstance(node, AtLeast) and node.count < 2):
        return ()
    found = tuple(index for index, parameter in enumerate(node.parameters) if Facts(parameter.input).primitive)
    return found if len(found) > 1 else ()
