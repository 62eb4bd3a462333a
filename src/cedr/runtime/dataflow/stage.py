"""The stages of a dataflow, and what of its output does not matter any more.  Paper: Figure 7.  Readings: R34, R37."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan.analyses.memory import behind
from cedr.plan.logical import Node
from cedr.runtime.operators.contract import Operator
from cedr.runtime.operators.open_ends import OpenEnds
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta


@dataclass
class Stage:
    """An operator in its place: which stages feed it, and what it said last."""

    node: Node
    inputs: list[Stage]
    relation: Relation
    operator: Operator | None = None
    open_ends: list[OpenEnds | None] = field(default_factory=list)
    delta: Delta = field(default_factory=Delta)
    settled: Time = BEGINNING
    line: Time = BEGINNING
    guarantee: Time = BEGINNING
    reach: int = FOREVER
    """How far behind m a row may lie and still bear on what is not frozen.  Reading: R34."""

    @property
    def known(self) -> Time:
        """Up to where the inputs guarantee: what is undecided by that holds guarantees back, whoever needs it."""
        return min(part.guarantee for part in self.inputs)

    def line_behind(self, frozen: Time) -> Time:
        """The last Vs of which no row matters; ``frozen`` is m."""
        return behind(frozen, self.reach)

    @property
    def shares(self) -> bool:
        """Whether its rows are those of its input."""
        return len(self.inputs) == 1 and self.inputs[0].relation.table is self.relation.table


class Lines(NamedTuple):
    """What of the output does not matter any more.

    By memory rows with Vs up to ``forgotten``, and with Ve before ``ended``; others only once they have been said: rows
    with Vs after ``waiting`` may not have been.
    """

    forgotten: Time
    ended: Time
    waiting: Time
