"""The rows of an event type, as they are admitted.  Readings: R33, R37."""

from __future__ import annotations

from collections.abc import Sequence

from cedr.model.schema import EventType
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.runtime.operators.contract import Frontier
from cedr.runtime.operators.pass_through import PassThrough
from cedr.runtime.store.relation import Relation


class Source(PassThrough):
    """Where the admitted rows of an event type enter the dataflow.

    Its input is admission: rows that leave and enter the table of the type, and the guarantee of the providers.
    """

    def __init__(self, type_: EventType, relation: Relation, *, shows_ends: bool) -> None:
        """``shows_ends``: an open Ve of a row shows in the output, so that the row is final only once it has ended."""
        super().__init__(relation)
        self._revisable, self._shows_ends = type_.revisable, shows_ends

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:  # noqa: ARG002 - decided at once
        """No event with Vs up to ``final`` can come, go or change any more.  Reading: R37."""
        admitted, guarantee = inputs[0]
        if admitted == BEGINNING or self._revisable == FOREVER:
            return Frontier(BEGINNING, guarantee)
        final = plus(admitted, -self._revisable)
        if self._shows_ends:
            table = self.relation.table
            open_ = table.vs.view[table.ve.view > admitted]
            final = min([final, *([int(open_.min()) - 1] if len(open_) else [])])
        return Frontier(final, guarantee)
