"""The parameters of SEQUENCE, ALL and ATLEAST: inputs, SC modes, predicates.  Readings: R21, R25, R26."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.model.modes import Selection
from cedr.plan.logical import Parameter
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.store.relation import Frame
from cedr.runtime.store.table import Mask, Rows, picked


class Parameters:
    """What an operator knows of its parameters."""

    def __init__(self, inputs: Sequence[Input], parameters: Sequence[Parameter], conjuncts: Conjuncts) -> None:
        self.relations = [source.relation for source in inputs]
        self.selections = [p.selection for p in parameters]
        self.selects = [i for i, selection in enumerate(self.selections) if selection is not Selection.EACH]
        """The FIRST and LAST parameters."""
        self.consuming = [i for i, p in enumerate(parameters) if p.consume]
        self.conjuncts = conjuncts
        self.variables = [frozenset(relation.variables) for relation in self.relations]

    def __len__(self) -> int:
        return len(self.relations)

    def free(self, index: int) -> bool:
        """Whether no predicate names a variable of the parameter, so that any of its rows is as good as another."""
        return not any(names & self.variables[index] for names in self.conjuncts.names)

    def pass_(self, columns: Sequence[Rows | None], added: int) -> Mask | None:
        """Which partial instances satisfy the predicates that the parameter added last completes; None: all."""
        present = [i for i, column in enumerate(columns) if column is not None]
        known = frozenset[str]().union(*(self.variables[i] for i in present))
        new = self.variables[added]
        if not any(names <= known and (names & new or not names) for names in self.conjuncts.names):
            return None
        parts = [(self.relations[i], column) for i in present if (column := columns[i]) is not None]
        return self.conjuncts.passes(Frame(parts), new, known)

    def times(self, index: int, rows: Rows) -> Rows:
        """Vs of rows of a parameter."""
        return picked(self.relations[index].table.vs, rows)

    def smallest_ids(self, index: int, clusters: Rows, rows: Rows) -> Mask:
        """Of rows that are together in a cluster, given as falling numbers, those with the smallest ID.

        Reading: R25: equal Vs is decided by the smaller ID.
        """
        keep = np.ones(len(rows), dtype=np.bool_)
        same = np.zeros(len(rows), dtype=np.bool_)
        same[1:] = clusters[1:] == clusters[:-1]
        if not same.any():
            return keep
        tied = same.copy()
        tied[:-1] |= same[1:]
        at = np.flatnonzero(tied)
        ranks = self.relations[index].ranks(rows[at])
        best: dict[int, int] = {}
        for cluster, rank in zip(clusters[at].tolist(), ranks.tolist(), strict=True):
            best[cluster] = min(rank, best.get(cluster, rank))
        keep[at] = [rank == best[c] for c, rank in zip(clusters[at].tolist(), ranks.tolist(), strict=True)]
        return keep
