"""Which row was made of which, where an operator makes one row of each row of its input.

Readings: R10 (versions that look the same are one row), R37.  Both tables have a holder here: the input's for the
versions of events that have several, the output's for rows made of rows that somebody holds: these may be taken back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cedr.model.time import FOREVER, Time
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Mask, Rows, Table
from cedr.runtime.values.growable import Growable

Digest = tuple[int, int]


class Merged(NamedTuple):
    """What some versions that look the same amount to: the last of them, and from when to when it is so."""

    row: int
    os: Time
    oe: Time


class MadeRows:
    """The rows made of the rows of an input; where both have one table, a row of the input is that of the output."""

    def __init__(self, source: Table, table: Table) -> None:
        self.source, self.same = source, source is table
        self.made = Growable(np.int64)
        """For each row of the input the row made of it, -1 where there is none."""
        self.versions: dict[Digest, list[int]] = {}
        self.merged: dict[Digest, dict[Merged, int]] = {}
        """Of events with several versions: the rows of the input, and the rows made of them."""
        source.hold(_Versions(self))
        table.hold(_Made(self))

    def note(self, rows: Rows, made: Rows) -> None:
        """Rows were made of some rows of the input."""
        self.made.fill(len(self.source) - len(self.made), -1)
        self.made.view[rows] = made

    def of(self, rows: Rows) -> Rows:
        """The rows made of some rows of the input, one by one."""
        if self.same:
            return rows
        made: Rows = self.made.view[rows[rows < len(self.made)]]
        return made[made >= 0]

    def known(self, rows: Rows) -> Mask:
        """Of which rows of the input a row was made."""
        found = np.zeros(len(rows), np.bool_)
        seen = np.flatnonzero(rows < len(self.made))
        found[seen] = self.made.view[rows[seen]] >= 0
        return found

    def concerned(self, relation: Relation, removed: Rows, added: Rows) -> list[Digest]:
        """Note which versions there are; the events they belong to."""
        digests: dict[Digest, None] = {}
        for rows, present in ((removed, False), (added, True)):
            high, low = relation.digests(rows)
            for row, *words in zip(rows.tolist(), high.tolist(), low.tolist(), strict=True):
                digest = (words[0], words[1])
                digests[digest] = None
                known = self.versions.setdefault(digest, [])
                if present:
                    known.append(row)
                elif row in known:
                    known.remove(row)
        return list(digests)

    def forget(self, line: Time, ended: Time = FOREVER) -> None:
        """Events of which all versions have Vs and Ve up to some lines have no further versions."""
        vs, ve = self.source.vs.view, self.source.ve.view
        gone = [d for d, rows in self.versions.items() if all(vs[row] <= line and ve[row] <= ended for row in rows)]
        for digest in gone:
            del self.versions[digest]
            self.merged.pop(digest, None)


class _Versions:
    """Holds the rows of the input that are versions of events with several."""

    def __init__(self, rows: MadeRows) -> None:
        self._rows = rows

    def held(self) -> Rows:
        """The versions."""
        return np.array([row for rows in self._rows.versions.values() for row in rows], dtype=np.int64)

    @property
    def empty(self) -> bool:
        """Whether no event has several versions."""
        return not self._rows.versions

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers of the input's rows."""
        rows = self._rows
        if not rows.same:
            rows.made.fill(len(new) - len(rows.made), -1)
            rows.made.keep(np.flatnonzero(new >= 0))
        rows.versions = {d: new[np.array(some, dtype=np.int64)].tolist() for d, some in rows.versions.items()}
        rows.merged = {
            d: {key._replace(row=int(new[key.row])): row for key, row in made.items()}
            for d, made in rows.merged.items()
        }

    def clear(self) -> None:
        """The input has no rows."""
        self._rows.made.truncate(0)


class _Made:
    """Holds the rows made of rows that somebody holds."""

    def __init__(self, rows: MadeRows) -> None:
        self._rows = rows

    def held(self) -> Rows:
        """The rows made of rows that are held, and of versions."""
        rows = self._rows
        merged = np.array([row for made in rows.merged.values() for row in made.values()], dtype=np.int64)
        return np.concatenate([merged, NONE if rows.same else rows.of(rows.source.held())])

    @property
    def empty(self) -> bool:
        """Whether nobody holds a row of the input."""
        return not self._rows.merged and (self._rows.same or self._rows.source.unheld)

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers of the rows made."""
        rows = self._rows
        if not rows.same:
            into = rows.made.view
            into[:] = np.where(into >= 0, new[into], -1) if len(new) else -1
        rows.merged = {d: {key: int(new[row]) for key, row in made.items()} for d, made in rows.merged.items()}

    def clear(self) -> None:
        """No row was made."""
        assert not self._rows.merged, "a table was cleared whose versions are known"
