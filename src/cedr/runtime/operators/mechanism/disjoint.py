"""DISJOINT after an operator with one positive operand: only what began after a detection.  Reading: R27."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from cedr.model.event import TieOrder, Value
from cedr.model.time import BEGINNING, Time
from cedr.plan.logical import Disjoint
from cedr.runtime.expressions.compile import compile_vector, to_values
from cedr.runtime.store.relation import Frame, Reach, Relation
from cedr.runtime.store.table import Rows


class Candidate(NamedTuple):
    """What DISJOINT asks of an output: its group, its key, its root, when it is detected, and its rank then."""

    owner: int
    key: tuple[Value, ...]
    root: Time
    detected: Time
    order: list[tuple[Time, TieOrder]]


def passed(before: Iterable[Candidate], candidates: Sequence[Candidate]) -> Rows:
    """The places of the candidates that are output, taken in the order of detection, after what was output before."""
    last: dict[tuple[int, tuple[Value, ...]], Time] = defaultdict(lambda: BEGINNING)
    for known in before:
        last[known.owner, known.key] = max(last[known.owner, known.key], known.detected)
    output = []
    for number, candidate in sorted(enumerate(candidates), key=lambda item: (item[1].detected, item[1].order)):
        if candidate.root > last[candidate.owner, candidate.key]:
            last[candidate.owner, candidate.key] = candidate.detected
            output.append(number)
    return np.array(sorted(output), dtype=np.int64)


class Fence:
    """Reads off rows of an operand what DISJOINT asks of them; ``parts`` are the contributors of an output."""

    def __init__(self, disjoint: Disjoint, kept: Relation, parts: Sequence[Reach]) -> None:
        self._keys = [compile_vector(key) for key in disjoint.keys]
        self._kept, self._parts = kept, parts or (Reach((), kept),)

    def candidates(self, owner: Rows, rows: Rows, detected: Rows) -> list[Candidate]:
        """One for each row."""
        roots = self._kept.table.rt.view[rows].tolist() if len(rows) else []
        columns = (owner.tolist(), self._key_values(rows), roots, detected.tolist(), self._order(rows))
        return [Candidate(*values) for values in zip(*columns, strict=True)]

    def _order(self, rows: Rows) -> list[list[tuple[Time, TieOrder]]]:
        """The contributors' Vs and order at equal Vs, by which those detected at one instant are taken."""
        columns = []
        for reach in self._parts:
            at = reach.rows(rows)
            some = np.flatnonzero(at >= 0)
            ties = dict(zip(some.tolist(), reach.target.tie_orders(at[some]), strict=True))
            times = reach.target.table.vs.view[at].tolist() if len(reach.target.table) else [0] * len(at)
            columns.append([(times[i], ties[i]) if i in ties else None for i in range(len(rows))])
        found = [[pair for pair in row if pair is not None] for row in zip(*columns, strict=True)]
        return found if self._kept.ordered else [sorted(row, key=lambda pair: pair[0]) for row in found]

    def _key_values(self, rows: Rows) -> list[tuple[Value, ...]]:
        if not self._keys:
            return [()] * len(rows)
        frame = Frame([(self._kept, rows)])
        return list(zip(*(to_values(key(frame)) for key in self._keys), strict=True))
