"""Events of equal Vs in one instance: WITH TIES lets them follow each other.

Reading: R49.  Events of one stream with equal Vs follow each other in R42's order only, so that a pair is found once;
and so no event fills two parameters of an instance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.runtime.operators.mechanism.semi_join import Condition
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Mask, Rows, picked


class Simultaneous:
    """Judges instances of an operator by their events of one stream; without ``ties`` there is nothing to judge."""

    def __init__(self, relations: Sequence[Relation], *, ties: bool) -> None:
        self.ties = ties
        self.apart = 0 if ties else 1
        """By how much Vs grows at least from one event to the next."""
        self._relations = relations
        self._mates = [
            [j for j, other in enumerate(relations) if ties and j != i and other.stream == relation.stream]
            for i, relation in enumerate(relations)
        ]

    def shares(self, index: int) -> bool:
        """Whether another parameter takes events of the same stream."""
        return bool(self._mates[index])

    def in_order(self, columns: Sequence[Rows | None], index: int) -> Mask | None:
        """Which instances have the event of a parameter in order with those of other parameters; None: all.

        A column is None, and a row -1, where the parameter is not filled.
        """
        rows = columns[index]
        found: Mask | None = None
        for mate in self._mates[index]:
            others = columns[mate]
            if rows is None or others is None:
                continue
            times = (picked(self._relations[i].table.vs, columns[i]) for i in (index, mate))  # type: ignore[arg-type]
            tied = np.flatnonzero((rows >= 0) & (others >= 0) & np.equal(*times))
            if len(tied):
                found = np.ones(len(rows), dtype=np.bool_) if found is None else found
                first, last = sorted((index, mate))
                found[tied] &= self._precede(first, last, rows[tied], others[tied], swapped=first == mate)
        return found

    def _precede(self, first: int, last: int, rows: Rows, others: Rows, *, swapped: bool) -> Mask:
        """Whether rows at one parameter come before rows at another one, all of equal Vs.  Reading: R42."""
        if swapped:
            rows, others = others, rows
        one, other = self._relations[first], self._relations[last]
        if one.table is other.table and one.identity == other.identity:
            ranks = one.ranks(np.concatenate([rows, others]))
            before: Mask = ranks[: len(rows)] < ranks[len(rows) :]
            return before
        pairs = zip(one.tie_orders(rows), other.tie_orders(others), strict=True)
        return np.array([left < right for left, right in pairs], dtype=np.bool_)

    def replacing(self, columns: Sequence[Rows], index: int) -> Condition | None:
        """Whether candidates may stand at a parameter in place of an instance's own row; None: all may."""
        if not self.shares(index):
            return None

        def allowed(owner: Rows, candidates: Rows) -> Mask:
            changed = [candidates if i == index else column[owner] for i, column in enumerate(columns)]
            found = self.in_order(changed, index)
            return np.ones(len(owner), dtype=np.bool_) if found is None else found

        return allowed
