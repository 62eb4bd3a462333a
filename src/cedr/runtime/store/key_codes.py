"""Key codes: the values of a key attribute as small numbers, the same for all columns that are compared.

Paper: Section 3.1 (correlation keys).  Reading: R22.  A code is computed once for each row of a source; composite rows
reach it along their references.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np

from cedr.expression.tree import Way
from cedr.runtime.expressions.nested import field_of
from cedr.runtime.expressions.vector import spread
from cedr.runtime.kernels.gather import gather
from cedr.runtime.store.holders import Following
from cedr.runtime.store.key_coder import KeyCoder
from cedr.runtime.store.table import Rows, Table, each_once
from cedr.runtime.values.growable import Growable
from cedr.runtime.values.vector import Vector

Place = tuple[int, Way, int]
"""The number of a table, the name of a column in it, or the way down to a field inside of one, and which of several
codings of it this is."""


_SPARE = 1 << 12
"""So many codes more than twice what was kept are let grow."""


class Grouped(Protocol):
    """Keeps rows by the codes of their keys."""

    def regroup(self, new: Rows) -> None:
        """Take over the new code of each old one; -1 where no row has it any more."""


class _Coded(Following):
    """A column and the codes of its rows so far."""

    def __init__(self, table: Table, way: Way) -> None:
        self.table, self.name, self.fields = table, way[0], way[1:]
        self.codes = Growable(np.int64)
        self.readers: list[Grouped] = []
        table.hold(self)

    def renumber(self, new: Rows) -> None:
        """Keep the codes of the rows that stay."""
        kept = np.flatnonzero(new >= 0)
        self.codes.keep(kept[kept < len(self.codes)])

    def clear(self) -> None:
        """No row has a code."""
        self.codes.truncate(0)

    def values(self, rows: Rows) -> Vector | None:
        """What the rows have at the end of the way; None where there is no such column."""
        column = self.table.columns.get(self.name)
        if column is None:
            return None
        found = column.vector(rows)
        for name in self.fields:
            found = field_of(found, name)
        return spread(found, len(rows))


class Codes:
    """The coders of a dataflow: columns that some operator compares share one."""

    def __init__(self) -> None:
        self._coded: dict[Place, _Coded] = {}
        self._parent: dict[Place, Place] = {}
        self._coders: dict[Place, KeyCoder] = {}
        self._sizes: dict[Place, int] = {}
        self._numbers: WeakKeyDictionary[Table, int] = WeakKeyDictionary()
        self._count = 0
        self.registered: list[tuple[Place, Grouped]] = []
        """Who has registered since this was last emptied."""

    def compared(self, columns: Sequence[tuple[Table, Way]]) -> list[Place]:
        """Columns that are compared: equal values get equal codes.

        Two columns that were coded apart before, by operators that run already, are coded once more.
        """
        for coding in count():
            places = [(self._number(table), way, coding) for table, way in columns]
            roots = [self._root(place) for place in places if place in self._parent]
            if len({root for root in roots if root in self._coders}) <= 1:
                break
        for place, (table, way) in zip(places, columns, strict=True):
            if place not in self._coded:
                self._coded[place] = _Coded(table, way)
                self._parent.setdefault(place, place)
        self._link(places)
        return places

    def _number(self, table: Table) -> int:
        if table not in self._numbers:
            self._count += 1
            self._numbers[table] = self._count
        return self._numbers[table]

    def _link(self, places: list[Place]) -> None:
        roots = [self._root(place) for place in places]
        first = next((root for root in roots if root in self._coders), roots[0])
        for root in roots:
            self._parent[root] = first

    @staticmethod
    def holds(holder: object) -> bool:
        """Whether a holder of a table is the account of codes of one of its columns."""
        return isinstance(holder, _Coded)

    def keep(self, tables: Iterable[Table]) -> None:
        """Forget the columns of all other tables."""
        kept = {self._number(table) for table in tables}
        for place in [place for place in self._coded if place[0] not in kept]:
            coded = self._coded.pop(place)
            coded.table.holders.remove(coded)

    def of(self, place: Place, rows: Rows) -> Rows:
        """The codes of some rows; 0 is that of NULL, which agrees with nothing, and of row -1, which is unbound."""
        coded = self._coded[place]
        done, total = len(coded.codes), len(coded.table)
        if done < total:
            rows_to_code = np.arange(done, total, dtype=np.int64)
            source = coded.values(rows_to_code) if coded.fields else coded.table.columns.get(coded.name)
            if source is None:
                coded.codes.extend(np.zeros(total - done, dtype=np.int64))
            else:
                coder = self._coder(place)
                coded.codes.extend(coder.codes(source, None if coded.fields else rows_to_code) + 1)
        found = np.zeros(len(rows), dtype=np.int64)
        if len(coded.codes) and not gather(coded.codes.view, rows, found):
            found[rows < 0] = 0
        return found

    def _coder(self, place: Place) -> KeyCoder:
        root = self._root(place)
        if root not in self._coders:
            self._coders[root] = KeyCoder()
        return self._coders[root]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(c.codes.nbytes for c in self._coded.values()) + sum(c.nbytes for c in self._coders.values())

    def register(self, place: Place, reader: Grouped) -> None:
        """From now on a reader of a column is told when codes change."""
        self._coded[place].readers.append(reader)
        self.registered.append((place, reader))

    def forget(self, place: Place, reader: Grouped) -> None:
        """A reader of a column is gone."""
        coded = self._coded.get(place)
        if coded is not None:
            coded.readers.remove(reader)

    def restart(self) -> None:
        """Forget the values that no row has any more, and tell the readers the new codes; 0 stays 0.

        Only where there are many more than the last time: the values of a key come again.
        """
        for root, coder in self._coders.items():
            if coder.size <= 2 * self._sizes.get(root, 0) + _SPARE:
                continue
            members = [coded for place, coded in self._coded.items() if self._root(place) == root]
            used = each_once(coder.size + 1, [m.codes.view for m in members])
            again = coder.restart(used[used > 0] - 1)
            new = np.append(0, np.where(again < 0, -1, again + 1))
            for member in members:
                codes = new[member.codes.view]
                member.codes.truncate(0)
                member.codes.extend(codes)
                for reader in member.readers:
                    reader.regroup(new)
            self._sizes[root] = coder.size

    def _root(self, place: Place) -> Place:
        while self._parent[place] != place:
            place = self._parent[place]
        return place
