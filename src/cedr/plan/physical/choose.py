"""From a logical plan to the operators that run.

Paper: Section 5, Figure 7.  Readings: R13, R32 (a part of a plan that occurs twice is one operator).
"""

from __future__ import annotations

from cedr.plan import logical
from cedr.plan.analyses.pattern_key import key_of, nulls_matter
from cedr.plan.logical import Node
from cedr.plan.physical.fusion import keys_of
from cedr.plan.physical.nodes import Algebra, Chain, Count, Filter, Match, Named, Physical, Scan, TimeSlice, UnlessPair
from cedr.plan.rules.desugar_all import desugar_all
from cedr.plan.rules.desugar_any import desugar_any
from cedr.plan.walk import map_inputs


def desugared(plan: Node) -> Node:
    """ALL and ANY by their definitions.  Reading: R13."""
    plan = map_inputs(plan, desugared)
    return desugar_all(plan) or desugar_any(plan) or plan


def choose(plan: Node) -> Physical:
    """The operators of a plan without sugar; those of equal parts are the same object."""
    return _Choice().of(plan)


class _Choice:
    """Every part of a plan once: found by what tells most parts apart, then compared."""

    def __init__(self) -> None:
        self._known: dict[tuple[type[Node], str], list[Physical]] = {}

    def of(self, node: Node) -> Physical:
        """The operator of a part and those below it."""
        alike = self._known.setdefault((type(node), node.place), [])
        known = next((each for each in alike if each.node == node), None)
        if known is None:
            known = self._chosen(node)
            alike.append(known)
        return known

    def _chosen(self, node: Node) -> Physical:
        match node:
            case logical.Source():
                return Scan(node)
            case logical.Rename():
                return Named(node, (self.of(node.input),))
            case logical.Query() | logical.Project() | logical.SetValid():
                return self._chain(node)
            case logical.Select():
                return Filter(node, (self.of(node.input),))
            case logical.Slice():
                return TimeSlice(node, (self.of(node.input),))
            case logical.Pattern():
                return self._pattern(node)
            case _:
                return Algebra(node, self._all(logical.inputs(node)))

    def _all(self, nodes: tuple[Node, ...]) -> tuple[Physical, ...]:
        return tuple(map(self.of, nodes))

    def _chain(self, node: logical.Query | logical.Project | logical.SetValid) -> Chain:
        """At most a name, then a projection, then VALID."""
        steps = [node]
        while not isinstance(steps[-1], logical.SetValid):
            below, projected = steps[-1].input, any(isinstance(step, logical.Project) for step in steps)
            if not isinstance(below, logical.SetValid if projected else logical.Project):
                break
            steps.append(below)
        return Chain(node, (self.of(steps[-1].input),), tuple(steps))

    def _pattern(self, node: logical.Pattern) -> Physical:
        sides = keys_of(node)
        if isinstance(node, logical.Unless) and sides is not None:
            return UnlessPair(node, self._all((*logical.inputs(node.first), node.second)), sides)
        inputs = self._all(logical.inputs(node))
        if isinstance(node, logical.AtMost):
            return Count(node, inputs)
        return Match(node, inputs, key_of(node), nulls_matter(node))
