"""How far before and after its Vs a row of a plan depends on events.  Readings: R11 to R18 (scopes), R25 (choices)."""

from __future__ import annotations

from cedr.model.time import FOREVER
from cedr.plan.analyses.bounds import consumes
from cedr.plan.logical import Node, inputs
from cedr.plan.traits.record import Sight
from cedr.plan.traits.registry import traits_of


def sight_of(node: Node) -> Sight | None:
    """How far the rows of a plan see; None where that is not bounded, or not known."""
    if consumes(node):
        return None
    below = [sight_of(part) for part in inputs(node)]
    known = [part for part in below if part is not None]
    if len(known) < len(below):
        return None
    found = traits_of(node).times.sees(node, known)
    return None if found is None or max(found) >= FOREVER // 4 else found
