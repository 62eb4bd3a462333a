"""What UNLESS, NOT and CANCEL-WHEN have in common: rows of one operand, unless there is one of the other.

Paper: Section 3.3.2, "Negation".  Readings: R15 to R18, R21, R27 (DISJOINT).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from cedr.model.time import Time
from cedr.plan.logical import Disjoint
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.kernels.pairs import none_within
from cedr.runtime.operators.mechanism.affected_ranges import PatternOperator
from cedr.runtime.operators.mechanism.disjoint import Candidate, Fence, passed
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.mechanism.instances import Asked, Evaluated, Found, Shape
from cedr.runtime.operators.mechanism.semi_join import Condition, Sought, exists
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Hop, Reach, Relation
from cedr.runtime.store.segments import Sorted
from cedr.runtime.store.table import Delta, Mask, Rows, Table, plain_header


class Negation(PatternOperator):
    """Keeps the rows of its positive operand for which no row of the negated one lies in their scope.

    A row of the table refers to the row that was kept; ID, payload and variables are its.
    """

    positive, negated = 0, 1

    def __init__(self, place: str, inputs: Sequence[Input], conjuncts: Conjuncts, disjoint: Disjoint | None) -> None:
        kept = inputs[self.positive].relation
        super().__init__(inputs, Table(None, [kept.table]))
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

    def change(self, deltas: Sequence[Delta]) -> Delta:
        """New rows of the positive operand are judged by themselves: none bears on another."""
        new = deltas[self.positive].added
        if self._fence is not None or len(deltas[self.positive].removed) or not self.smooth(deltas):
            return super().change(deltas)
        before = super().change([Delta() if i == self.positive else delta for i, delta in enumerate(deltas)])
        come = self.say(self._judged(new)) if len(new) else new
        return Delta(before.removed, np.concatenate([before.added, come]) if len(before.added) else come)

    def _judged(self, rows: Rows) -> Evaluated:
        """New rows: those that nothing cancels; what may still be cancelled is remembered."""
        groups, rows = self.inputs[self.positive].take_in(rows, self.final)
        after = self.kept.table.vs.view[rows] > self._line
        if not after.all():
            groups, rows = groups[after], rows[after]
        free = self._free(self.inputs[self.negated].store.sorted, groups, rows, None)
        if not free.all():
            groups, rows = groups[free], rows[free]
        columns = [rows if i == self.positive else NONE for i in range(len(self.inputs))]
        shape = self.shape(columns)
        return Evaluated([rows], plain_header(shape.vs, shape.ve, shape.rt), groups, shape.anchor)

    def _free(self, against: Sorted, groups: Rows, rows: Rows, known: Time | None) -> Mask:
        """Which rows of the positive operand nothing cancels."""
        low, high = self.scope_of(rows)
        sought = Sought(self.inputs[self.negated].relation, self._conjuncts, None, self.condition(rows), known)
        if sought.free:
            free = np.empty(len(rows), dtype=np.bool_)
            none_within(*against, groups, low, high, free)
            return free
        return ~exists(against, against.locate(groups, low, high), [(self.kept, rows)], sought)

    def find(self, asked: Asked) -> Found:
        """The rows of the positive operand that nothing cancels."""
        owner, rows = self.anchored(asked)
        if asked.known is not None:
            heard = self.kept.table.os.view[rows] <= asked.known
            owner, rows = owner[heard], rows[heard]
        free = self._free(asked.inputs[self.negated], asked.at.groups[owner], rows, asked.known)
        columns = [np.full(int(free.sum()), -1) for _ in self.inputs]
        columns[self.positive] = rows[free]
        found = Found(columns, owner[free])
        if self._fence is None:
            return found
        before = [] if asked.prior is None else self._candidates(asked.prior.owner, asked.prior.references[0])
        return found.take(passed(before, self._candidates(found.owner, columns[self.positive])))

    def anchored(self, asked: Asked) -> tuple[Rows, Rows]:
        """The rows of the positive operand that are anchored in the intervals, each with the number of its one."""
        store = asked.inputs[self.positive]
        owner, place = store.locate(*asked.at).expand()
        return owner, store.rows[place]

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
