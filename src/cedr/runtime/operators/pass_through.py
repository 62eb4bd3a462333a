"""What operators share that hold nothing and pass rows on, and the plainest of them.

Paper: Section 3.3.2 (variables name the events of a pattern).  Readings: R20, R36.
"""

from __future__ import annotations

from collections.abc import Sequence

from cedr.model.time import Time
from cedr.runtime.operators.contract import Frontier, Line, Size, Snapshot
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta


class PassThrough:
    """An operator with one input: each row of its output is a row of its input, with the same Vs."""

    def __init__(self, relation: Relation) -> None:
        self.relation = relation

    def ask(self, until: Time) -> list[Time]:
        """A row has the Vs of the row that it is made of."""
        return [until]

    @property
    def withholds(self) -> bool:
        """It passes on what it gets."""
        return False

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:  # noqa: ARG002 - nothing is held
        """The change of the input."""
        return deltas[0]

    def decide(self, inputs: Sequence[Frontier], frozen: Time) -> None:
        """Nothing waits."""

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:  # noqa: ARG002 - decided at once
        """What is certain below is certain here."""
        return inputs[0]

    def demand(self, line: Line, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:  # noqa: ARG002 - as above
        """What is needed here is needed below."""
        return [line]

    def snapshot(self) -> Snapshot | None:
        """Nothing."""
        return None

    def restore(self, snapshot: Snapshot) -> None:
        """Nothing was saved."""
        raise NotImplementedError

    @property
    def size(self) -> Size:
        """Nothing."""
        return Size(0, 0)

    @property
    def ties(self) -> int:
        """It takes events one by one."""
        return 0


class Rename(PassThrough):
    """Binds a variable to each row.  Reading: R20."""

    def __init__(self, variable: str, relation: Relation) -> None:
        super().__init__(relation.renamed(variable))
