"""What memory lets go of: how far behind m the rows of each part of a plan still bear on what is not frozen.

Paper: Section 5 ("one can limit blocking and memory to specific lengths").  Readings: R34 (what no unfrozen row can
depend on is forgotten), R36 (and holds no guarantee back).  Lengths of time read off the plan alone, so that all hosts
agree on them, whatever they have forgotten so far.
"""

from __future__ import annotations

from collections.abc import Iterable

from cedr.model.modes import Selection
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.bounds import consumes, revisable, scope
from cedr.plan.lifetimes import lifetime
from cedr.plan.logical import (
    All,
    Any,
    AtLeast,
    AtMost,
    CancelWhen,
    Node,
    Not,
    Parameter,
    Project,
    Query,
    Rename,
    Select,
    Sequence,
    SetValid,
    Slice,
    Unless,
    UnlessNth,
    inputs,
    walk,
)

ROW_BY_ROW = (Query, Project, Rename, Select, Slice)
"""The rows of these are rows of their input, with its Ve."""


class Memory:
    """For each part of a plan the d with: a row bears on an unfrozen output only if its Vs >= m - d."""

    def __init__(self, plan: Node) -> None:
        self._reaches: list[tuple[Node, int]] = []
        forgets = not revisable(plan) and not any(consumes(node) for node in walk(plan))
        self._note(plan, lifetime(plan) if forgets else FOREVER, shown=True)

    def reach(self, node: Node) -> int:
        """How far behind m rows of a part may lie; FOREVER where M forgets none: the furthest where it occurs twice."""
        return max(reach for known, reach in self._reaches if known == node)

    def _note(self, node: Node, reach: int, *, shown: bool) -> None:
        """``shown``: the rows of the node are those of the output, with their own Ve."""
        self._reaches.append((node, reach))
        below = [FOREVER] * len(inputs(node)) if reach == FOREVER else _below(node, reach, shown=shown)
        for part, further in zip(inputs(node), below, strict=True):
            self._note(part, further, shown=shown and isinstance(node, ROW_BY_ROW))


def behind(frozen: Time, reach: int) -> Time:
    """The last Vs that lies further behind m than a reach; BEGINNING where there is none."""
    return BEGINNING if frozen == BEGINNING or reach == FOREVER else plus(frozen, -reach - 1)


def _below(node: Node, reach: int, *, shown: bool) -> Iterable[int]:
    """How far behind m the rows of each input still bear on outputs of the node that lie no further than ``reach``."""
    match node:
        case Sequence() | All() | Any() | AtLeast():
            return [_of_contributors(node, reach, shown=shown)] * len(inputs(node))
        case AtMost():
            return [plus(reach, _less(node.scope))] * len(inputs(node))
        case Unless():
            return [reach, reach - 1]  # e2 comes after e1
        case UnlessNth():
            begins = plus(reach, node.scope)  # the row begins a scope after its events
            return [begins, plus(begins, _less(scope(node.first) or 0))]
        case Not():
            before, alive = plus(reach, _less(scope(node.sequence) or 0)), lifetime(node.sequence)
            return [min(before, alive) if shown else before, reach]  # e lies after the first contributor
        case CancelWhen():
            return [reach, plus(reach, _less(scope(node.first) or 0))]
        case SetValid():
            return [reach]
        case _ if isinstance(node, ROW_BY_ROW):
            return [reach]
        case _:
            return [FOREVER] * len(inputs(node))


def _of_contributors(node: Sequence | All | Any | AtLeast, reach: int, *, shown: bool) -> int:
    """An unfrozen row's first contributor lies at most w behind m; choices look further back."""
    own = 1 if isinstance(node, Any) else node.scope
    chooses = any(p.selection is not Selection.EACH for p in node.parameters)
    before = plus(reach, _apart(node, own, chooses=chooses))
    return min(before, own) if shown and not chooses else before


def _apart(node: Sequence | All | Any | AtLeast, own: int, *, chooses: bool) -> int:
    """How far before an output's Vs the events lie that bear on it."""
    count = node.count if isinstance(node, AtLeast) else 1 if isinstance(node, Any) else len(node.parameters)
    alone = count == 1 and not isinstance(node, Sequence)
    if alone or (isinstance(node, Sequence) and len(node.parameters) == 1 and _first(node.parameters[0])):
        return FOREVER if chooses else 0  # nothing bounds the choice: the first of all time
    return plus(own, own) if chooses and not isinstance(node, Sequence) else own


def _first(parameter: Parameter) -> bool:
    return parameter.selection is Selection.FIRST


def _less(duration: int) -> int:
    return duration if duration == FOREVER else duration - 1
