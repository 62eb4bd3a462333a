"""Whether some row of an input lies in a range of time and satisfies the predicates: negation, FIRST and LAST.

Paper: Section 3.3.2, "there does not exist".  Readings: R15 to R18, R21, R25.  Ranges are looked at a few rows at a
time, so that a range whose first rows decide is not read to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cedr.model.time import Time
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.store.relation import Frame, Relation
from cedr.runtime.store.segments import Places, Sorted
from cedr.runtime.store.table import Mask, Rows

Part = tuple[Relation, Rows]
Condition = Callable[[Rows, Rows], Mask]
"""Of some instances and a candidate for each: whether it counts."""

CHUNK = 1 << 20
"""At most about so many candidates are gathered at a time."""


class Sought(NamedTuple):
    """What is looked for: rows of a relation that satisfy predicates together with instances."""

    relation: Relation
    conjuncts: Conjuncts
    added: frozenset[str] | None = None
    """Only predicates that name one of these are asked."""
    condition: Condition | None = None
    known: Time | None = None

    @property
    def free(self) -> bool:
        """Whether any row will do."""
        asked = self.conjuncts.names if self.added is None else [n for n in self.conjuncts.names if n & self.added]
        return not asked and self.condition is None and self.known is None


def exists(store: Sorted, places: Places, parts: Sequence[Part], sought: Sought) -> Mask:
    """For each instance whether its range of places holds such a row."""
    if sought.free:
        nonempty: Mask = places.counts > 0
        return nonempty
    found = np.zeros(len(places.begin), dtype=np.bool_)
    open_, begin, width = np.flatnonzero(places.counts > 0), places.begin, 8
    begin = begin[open_]
    while len(open_):
        end = np.minimum(begin + width, places.end[open_])
        for chunk in _chunks(end - begin):
            _look(
                store,
                Places(begin[chunk], end[chunk], int((end - begin)[chunk].sum())),
                open_[chunk],
                parts,
                sought,
                found,
            )
        left = ~found[open_] & (end < places.end[open_])
        open_, begin, width = open_[left], end[left], width * 4
    return found


def _look(store: Sorted, places: Places, instances: Rows, parts: Sequence[Part], sought: Sought, found: Mask) -> None:
    owner, place = places.expand()
    rows = store.rows[place]
    owner = instances[owner]
    if sought.known is not None:
        heard = sought.relation.table.os.view[rows] <= sought.known
        owner, rows = owner[heard], rows[heard]
    if sought.condition is not None and len(rows):
        counts = sought.condition(owner, rows)
        owner, rows = owner[counts], rows[counts]
    if sought.conjuncts.predicates and len(rows):
        frame = Frame([*((relation, column[owner]) for relation, column in parts), (sought.relation, rows)])
        owner = owner[sought.conjuncts.passes(frame, sought.added)]
    found[owner] = True


def _chunks(counts: Rows) -> list[slice]:
    """Slices of instances whose counts add up to a chunk or less; a single large one stands alone."""
    if int(counts.sum()) <= CHUNK:
        return [slice(0, len(counts))]
    ends = np.cumsum(counts)
    slices, first = [], 0
    while first < len(counts):
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, before + CHUNK, side="right")))
        slices.append(slice(first, last))
        first = last
    return slices


chunks = _chunks
