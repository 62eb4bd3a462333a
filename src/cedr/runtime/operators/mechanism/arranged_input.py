"""An input whose rows matter while they are alive.  Readings: R9, R10 (beliefs), R37."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.model.time import Time
from cedr.runtime.operators.mechanism.arrangement import Arrangement
from cedr.runtime.operators.mechanism.inputs import Changed, Digest, Grouping, Input
from cedr.runtime.operators.mechanism.value_index import ValueIndex
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, Rows


class ArrangedInput(Input):
    """Rows by group and lifetime, with the versions of events."""

    def __init__(self, relation: Relation, grouping: Grouping | None) -> None:
        self.arrangement = Arrangement(relation.table)
        super().__init__(relation, grouping, store=self.arrangement)
        self.index: ValueIndex | None = None
        """The rows by a number, where no key but bounds of it say which ones go together."""

    def apply(self, delta: Delta) -> tuple[list[Changed], set[Digest]]:
        """Take in a change."""
        if self.index is not None:
            self.index.remove(delta.removed)
            self.index.add(delta.added)
        return super().apply(delta)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return super().nbytes + (0 if self.index is None else self.index.nbytes)

    def revised(self, delta: Delta) -> set[Digest]:
        """The events with several versions that a change concerns."""
        table = self.relation.table
        if table.plain.implicit:
            return set()
        rows = np.concatenate(delta)
        return set(self._digests(rows[~table.plain.view[rows]]))

    def versions_of(self, digests: set[Digest], without: Rows) -> Rows:
        """The known versions of some events, but for some rows."""
        rows = [version.row for digest in digests for version in self.versions.get(digest, ())]
        return np.setdiff1d(np.array(rows, dtype=np.int64), without)

    def forget_ended(self, line: Time) -> None:
        """Drop rows with Ve <= line; an event with several versions as a whole."""
        self.arrangement.forget(line)
        if self.index is not None:
            self.index.forget_ended(line)
        ve = self.relation.table.ve.view
        gone = [d for d, known in self.versions.items() if all(max(v.time, int(ve[v.row])) <= line for v in known)]
        for digest in gone:
            for version in self.versions.pop(digest):
                self._smooth(version.group)


def beside(inputs: Sequence[ArrangedInput], deltas: Sequence[Delta]) -> list[Rows]:
    """The versions of events that a change concerns without touching them: what is believed of them may be other."""
    revised = [source.revised(delta) for source, delta in zip(inputs, deltas, strict=True)]
    if not any(revised):
        return [np.empty(0, np.int64) for _ in inputs]
    if inputs[0].relation.table is inputs[1].relation.table:  # the same events
        revised = [revised[0] | revised[1]] * len(inputs)
    columns = zip(inputs, revised, deltas, strict=True)
    return [source.versions_of(digests, delta.removed) for source, digests, delta in columns]


def first_os(inputs: Sequence[ArrangedInput], which: int, rows: Rows) -> Rows:
    """The first Os of each row's event, in whatever input it was heard of first.  Reading: R10."""
    own = inputs[which]
    found = own.first_os(rows)
    for other in inputs:
        if other is not own and other.relation.table is own.relation.table:
            found = np.minimum(found, other.first_os(rows))
    return found
