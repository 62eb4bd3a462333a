"""The rows of an event type, as they are admitted.  Readings: R33, R37."""

from __future__ import annotations

from collections.abc import Sequence

from cedr.model.schema import EventType
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.runtime.operators.contract import Frontier
from cedr.runtime.operators.pass_through import PassThrough
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta
from cedr.runtime.values.run_length import together


class Source(PassThrough):
    """Where the admitted rows of an event type enter the dataflow.

    Its input is admission: rows that leave and enter the table of the type, and the guarantee of the providers.
    """

    def __init__(self, type_: EventType, relation: Relation, *, shows_ends: bool) -> None:
        """``shows_ends``: an open Ve of a row shows in the output, so that the row is final only once it has ended."""
        super().__init__(relation)
        self._revisable, self._shows_ends = type_.revisable, shows_ends
        self._final = BEGINNING

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:  # noqa: ARG002 - rows stand alone
        """The change, without rows that were final: of these only a Ve can change, and nobody reads it.

        Where an open Ve shows in the output, its row is not final.
        """
        (delta,) = deltas
        if self._shows_ends or self._final == BEGINNING or not delta:
            return delta
        vs = self.relation.table.vs.view
        if all(not len(rows) or int(vs[together(rows)].min()) > self._final for rows in delta):
            return delta
        return Delta(*(rows[vs[rows] > self._final] for rows in delta))

    def decide(self, inputs: Sequence[Frontier], frozen: Time) -> None:  # noqa: ARG002 - nothing waits
        """Note up to where rows are final."""
        self._final = max(self._final, self._known(inputs[0].final))

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:  # noqa: ARG002 - decided at once
        """No event with Vs up to ``final`` can come, go or change any more.  Reading: R37."""
        admitted, guarantee, _ = inputs[0]
        return Frontier(self._known(admitted), guarantee, admitted if self._shows_ends else FOREVER)

    def _known(self, admitted: Time) -> Time:
        return BEGINNING if admitted == BEGINNING or self._revisable == FOREVER else plus(admitted, -self._revisable)
