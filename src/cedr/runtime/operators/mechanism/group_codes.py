"""The groups of many rows at once: keys are coded column by column, and only a new combination of them is looked at.

Readings: R29, R30.  NULL is a value like any other here: a group of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cedr.runtime.operators.mechanism.groups import Groups
from cedr.runtime.store.key_coder import KeyCoder
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Rows
from cedr.runtime.values.growable import Growable
from cedr.runtime.values.vector import Vector

Vectors = Callable[[Relation, Rows], Sequence[Vector]]
"""The keys of some rows of a relation, column by column."""
_MANY = 1 << 31
"""So many values of one key, and one pair of codes no longer fits into a number."""


class GroupCodes:
    """The groups of rows by the codes of their keys."""

    def __init__(self, groups: Groups, relation: Relation, keys: Vectors, count: int) -> None:
        self._groups, self._relation, self._keys = groups, relation, keys
        self._coders = [KeyCoder() for _ in range(count)]
        self._pairs = [KeyCoder() for _ in range(count - 1)]
        self._known = Growable(np.int64)
        """The group of each combination, -1 where it is not known any more."""
        groups.register(self)

    def of(self, rows: Rows) -> Rows:
        """The groups of some rows; a group that was not known is from now on."""
        if not self._coders:
            return self._groups.of(self._relation, rows[:1]).repeat(len(rows)) if len(rows) else rows
        codes = self._combined(rows)
        self._known.fill(int(codes.max(initial=-1)) + 1 - len(self._known), -1)
        found: Rows = self._known.view[codes]
        if found.min(initial=0) < 0:
            unknown = np.flatnonzero(found < 0)
            each, first = np.unique(codes[unknown], return_index=True)
            order = np.argsort(first)  # groups are numbered as they come
            self._known.view[each[order]] = self._groups.of(self._relation, rows[unknown[first[order]]])
            found = self._known.view[codes]
        return found

    def _combined(self, rows: Rows) -> Rows:
        """One code for the keys of each row."""
        vectors = self._keys(self._relation, rows)
        found: Rows = self._coders[0].codes(vectors[0]) + 1
        for coder, pairs, vector in zip(self._coders[1:], self._pairs, vectors[1:], strict=True):
            more = coder.codes(vector) + 1
            assert max(coder.size, int(found.max(initial=0))) < _MANY, "too many values of one key"
            found = pairs.codes(Vector(found * _MANY + more))
        return found

    def regroup(self, new: Rows) -> None:
        """Take over the new numbers of the groups."""
        known = self._known.view
        known[:] = np.where(known >= 0, new[np.maximum(known, 0)], -1) if len(new) else -1

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._known.nbytes + sum(coder.nbytes for coder in (*self._coders, *self._pairs))
