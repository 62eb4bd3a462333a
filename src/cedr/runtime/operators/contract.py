"""What every operator of the dataflow is: changes of its inputs in, changes of its output out.

Paper: Section 6.  An operator is columnar and pure; it knows neither its host nor its consistency level.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from cedr.model.time import Time
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, Rows

OWN: Final = -1
"""Instead of the number of an input: the operator's own table."""


class Size(NamedTuple):
    """What an operator holds."""

    rows: int
    bytes: int


class Operator(Protocol):
    """A node of the dataflow."""

    relation: Relation
    """What others see of its output."""

    def update(self, deltas: Sequence[Delta]) -> Delta:
        """Take in the changes of all inputs; the change of the output."""

    def settled(self, inputs: Sequence[Time]) -> Time:
        """Up to which Vs its rows are final, where those of its inputs are final up to the given ones."""

    def needs(self, settled: Sequence[Time], line: Time, ended: Time) -> list[Time]:
        """Up to which Vs rows of each input no longer matter, and forget what does not.

        Rows with Vs up to ``line`` do not matter, nor do those with Ve before ``ended``.
        """

    def let_go(self, line: Time) -> None:
        """Rows with Vs up to a line bear on nothing that is not frozen: none is undecided.  Readings: R34, R36."""

    def undecided(self, known: Time) -> Time | None:
        """The smallest Sync of a row that later events may still take back, by what is known up to g.  Reading: R36."""

    def free_of(self, sources: Collection[int]) -> bool:
        """Whether it holds no row of any table but those of some sources, given by their identity."""

    def holds(self, part: int) -> Rows:
        """The rows that it holds of the table of an input, by its number, or of its own, by ``OWN``."""

    def renumber(self, inputs: Sequence[Rows | None], own: Rows | None, groups: Mapping[object, Rows]) -> None:
        """The rows of the inputs' tables and of the own one got other numbers, None: they did not; some groups too."""

    @property
    def size(self) -> Size:
        """What it holds."""
