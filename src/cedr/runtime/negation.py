"""What UNLESS, NOT and CANCEL-WHEN have in common: rows of one operand, unless there is one of the other.

Paper: Section 3.3.2, "Negation".  Readings: R15 to R18, R21, R27 (DISJOINT).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from cedr.plan.logical import Disjoint
from cedr.runtime.existence import Condition, Sought, exists
from cedr.runtime.expressions import Conjuncts
from cedr.runtime.fence import Candidate, Fence, passed
from cedr.runtime.inputs import Input
from cedr.runtime.pattern import Asked, Found, PatternOperator, Shape
from cedr.runtime.relation import Hop, Reach, Relation
from cedr.runtime.table import Rows, Table


class Negation(PatternOperator):
    """Keeps the rows of its positive operand for which no row of the negated one lies in their scope.

    A row of the table refers to the row that was kept; ID, payload and variables are its.
    """

    positive, negated = 0, 1

    def __init__(self, place: str, inputs: Sequence[Input], conjuncts: Conjuncts, disjoint: Disjoint | None) -> None:
        super().__init__(inputs)
        kept = self.inputs[self.positive].relation
        self.table = Table(None, [kept.table])
        hop = (self.table, 0)
        self.kept = kept
        self.relation = Relation(
            self.table,
            place,
            {name: reach.after(hop) for name, reach in kept.variables.items()},
            (hop, *kept.payload),
            (hop, *kept.identity),
            self._contributors(hop),
            kept.ordered,
            kept.projection,
        )
        self._conjuncts = conjuncts
        self._fence = None if disjoint is None else Fence(disjoint, kept, self._ranked_by())
        self.endless = disjoint is not None

    def _ranked_by(self) -> Sequence[Reach]:
        """The contributors of an output, from a row of the operand."""
        return self.kept.contributors

    def _detected(self, rows: Rows) -> Rows:
        """When rows of the operand are detected: Vs of the output."""
        columns = [rows for _ in self.inputs]
        return self.shape(columns).vs

    def _contributors(self, hop: Hop) -> tuple[Reach, ...]:
        """Those of the operand; a primitive operand contributes itself once it is output of a query."""
        return tuple(reach.after(hop) for reach in self.kept.contributors)

    @abstractmethod
    def scope_of(self, rows: Rows) -> tuple[Rows, Rows]:
        """First and last instant at which a row of the negated operand counts, for rows of the positive one."""

    def condition(self, rows: Rows) -> Condition | None:  # noqa: ARG002 - for those who have one
        """What else a row of the negated operand must be."""
        return None

    def contributing(self) -> Sequence[int]:
        """Os waits for the first Os of contributors; those of the operand were waited for already."""
        return ()

    def _kept(self) -> Sequence[int]:
        return (self.positive,)

    def kept_references(self, references: list[Rows]) -> list[Rows]:
        """A row refers to what was kept alone."""
        return [references[self.positive]]

    def find(self, asked: Asked) -> Found:
        """The rows of the positive operand that nothing cancels."""
        store = asked.inputs[self.positive]
        owner, place = store.locate(*asked.at).expand()
        rows = store.rows[place]
        if asked.known is not None:
            heard = self.kept.table.os.view[rows] <= asked.known
            owner, rows = owner[heard], rows[heard]
        low, high = self.scope_of(rows)
        against = asked.inputs[self.negated]
        places = against.locate(asked.at.groups[owner], low, high)
        other = self.inputs[self.negated].relation
        sought = Sought(other, self._conjuncts, None, self.condition(rows), asked.known)
        free = ~exists(against, places, [(self.kept, rows)], sought)
        columns = [np.full(int(free.sum()), -1) for _ in self.inputs]
        columns[self.positive] = rows[free]
        found = Found(columns, owner[free])
        if self._fence is None:
            return found
        before = [] if asked.prior is None else self._candidates(asked.prior.owner, asked.prior.references[0])
        return found.take(passed(before, self._candidates(found.owner, columns[self.positive])))

    def _candidates(self, owner: Rows, rows: Rows) -> list[Candidate]:
        assert self._fence is not None
        return self._fence.candidates(owner, rows, self._detected(rows))

    def lifetimes(self, references: list[Rows]) -> tuple[Rows, Rows, Rows]:
        """Vs, Ve and Rt of the rows kept."""
        table, rows = self.kept.table, references[self.positive]
        return table.vs.view[rows], table.ve.view[rows], table.rt.view[rows]

    def shape(self, references: list[Rows]) -> Shape:
        """Anchored at the operand's Vs."""
        vs, ve, rt = self.lifetimes(references)
        return Shape(self.kept.table.vs.view[references[self.positive]], vs, ve, rt)
