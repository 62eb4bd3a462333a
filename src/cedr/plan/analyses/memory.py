"""What memory lets go of: how far behind m the rows of each part of a plan still bear on what is not frozen.

Paper: Section 5 ("one can limit blocking and memory to specific lengths").  Readings: R34 (what no unfrozen row can
depend on is forgotten), R36 (and holds no guarantee back).  Lengths of time read off the plan alone, so that all hosts
agree on them, whatever they have forgotten so far.
"""

from __future__ import annotations

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.analyses.bounds import consumes, revisable
from cedr.plan.analyses.facts import Facts
from cedr.plan.logical import Node, walk


class Memory:
    """For each part of a plan the d with: a row bears on an unfrozen output only if its Vs >= m - d."""

    def __init__(self, plan: Node) -> None:
        self._reaches: list[tuple[Node, int]] = []
        forgets = not revisable(plan) and not any(consumes(node) for node in walk(plan))
        facts = Facts(plan)
        self._note(facts, facts.lifetime if forgets else FOREVER, shown=True)

    def reach(self, node: Node) -> int:
        """How far behind m rows of a part may lie; FOREVER where M forgets none: the furthest where it occurs twice."""
        return max(reach for known, reach in self._reaches if known == node)

    def _note(self, part: Facts, reach: int, *, shown: bool) -> None:
        """``shown``: the rows of the part are those of the output, with their own Ve."""
        self._reaches.append((part.node, reach))
        endless = [FOREVER] * len(part.inputs)
        traits = part.traits
        below = endless if reach == FOREVER else traits.times.reach_below(part.node, part.inputs, reach, shown)
        for each, further in zip(part.inputs, below, strict=True):
            self._note(each, further, shown=shown and traits.shape.row_by_row)


def behind(frozen: Time, reach: int) -> Time:
    """The last Vs that lies further behind m than a reach; BEGINNING where there is none."""
    return BEGINNING if frozen == BEGINNING or reach == FOREVER else plus(frozen, -reach - 1)
