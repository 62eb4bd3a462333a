"""One input of a pattern operator: its rows sorted by (group, Vs), and what is believed of them.

Readings: R4 (versions), R9 (beliefs), R22 (a NULL agrees with nothing).  Plain rows, the only version of their event,
stated in time and open, are believed always; of all others the versions are kept by event.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.store.key_codes import Grouped
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.segments import Segments, in_order
from cedr.runtime.store.table import Delta, Mask, Rows, picked
from cedr.runtime.values.run_length import together

Digest = tuple[int, int]
EventName = tuple[int, int, Time]
"""The digest of an ID, and Os: what an event is known by again."""


class Grouping(Protocol):
    """Puts rows into groups: 0 is that of NULL, which agrees with nothing."""

    def __call__(self, rows: Rows) -> Rows:
        """The groups of some rows."""

    def register(self, reader: Grouped) -> None:
        """From now on a reader is told when groups get other numbers."""


class Changed(NamedTuple):
    """Where something changed: groups and times, in this order."""

    groups: Rows
    times: Rows


class Applied(NamedTuple):
    """Rows that came or went, in the order of groups and times."""

    groups: Rows
    times: Rows
    rows: Rows
    added: bool


class Version(NamedTuple):
    """A version of an event that has or had others: its row, and where it stands."""

    row: int
    group: int
    time: Time


class Input:
    """The rows of one input."""

    def __init__(
        self,
        relation: Relation,
        grouping: Grouping | None = None,
        *,
        nulls: bool = True,
        store: Segments | None = None,
    ) -> None:
        self.relation = relation
        self._grouping = grouping
        self._nulls = nulls
        """Whether rows whose key is NULL matter: in an instance of several they never do."""
        self.store = Segments(relation.table) if store is None else store
        relation.table.hold(self)
        self.tell_of_groups(self)
        self.versions: dict[Digest, list[Version]] = {}
        self.rough: dict[int, int] = {}
        """How many rows of a group are not plain."""
        self._applied: list[Applied] | None = None
        """What was applied last, where somebody asks for it."""

    def tell_of_groups(self, reader: Grouped) -> None:
        """Have a reader told when groups get other numbers."""
        if self._grouping is not None:
            self._grouping.register(reader)

    def groups(self, rows: Rows) -> Rows:
        """The groups of some rows; without a key all are in one."""
        return np.zeros(len(rows), dtype=np.int64) if self._grouping is None else self._grouping(rows)

    def apply(self, delta: Delta) -> tuple[list[Changed], set[Digest]]:
        """Take in a change: where it is, and which events with several versions it concerns."""
        concerned: set[Digest] = set()
        parts = []
        for rows, change, note, added in (
            (delta.removed, self.store.remove, self._drop_versions, False),
            (delta.added, self.store.add, self._note_versions, True),
        ):
            if len(rows):
                groups = self.groups(rows)
                if not self._nulls and len(groups) and groups.min() == 0:
                    rows, groups = rows[groups > 0], groups[groups > 0]
                groups, times, rows = in_order(groups, self.relation.table.vs.view[rows], rows)
                change(groups, times, rows)
                plain = self.relation.table.plain.view[rows]
                if not plain.all():
                    concerned |= note(rows[~plain], groups[~plain], times[~plain])
                parts.append(Applied(groups, times, rows, added))
        if self._applied is not None:
            self._applied = parts
        return [Changed(part.groups, part.times) for part in parts], concerned

    def taken(self) -> list[Applied]:
        """What was applied since this was asked the last time, once it has been asked at all; asked at each step."""
        applied, self._applied = self._applied, []
        return applied or []

    def take_in(self, rows: Rows, line: Time) -> tuple[Rows, Rows]:
        """Plain rows come; only those with Vs after the line must be found again.  All of them, with their groups."""
        groups = self.groups(rows)
        if not self._nulls and len(groups) and groups.min() == 0:
            rows, groups = rows[groups > 0], groups[groups > 0]
        times = self.relation.table.vs.view[together(rows)]
        later = np.flatnonzero(times > line)
        self.store.add(*in_order(groups[later], times[later], rows[later]))
        return groups, rows

    def where(self, digests: set[Digest]) -> Changed:
        """Where the versions of some events stand."""
        found = sorted((v.group, v.time) for digest in digests for v in self.versions.get(digest, ()))
        groups, times = np.array(found, dtype=np.int64).reshape(-1, 2).T
        return Changed(groups.copy(), times.copy())

    def _note_versions(self, rows: Rows, groups: Rows, times: Rows) -> set[Digest]:
        digests = self._digests(rows)
        for digest, *version in zip(digests, rows.tolist(), groups.tolist(), times.tolist(), strict=True):
            self.versions.setdefault(digest, []).append(Version(*version))
            self.rough[version[1]] = self.rough.get(version[1], 0) + 1
        return set(digests)

    def _drop_versions(self, rows: Rows, groups: Rows, times: Rows) -> set[Digest]:
        digests = self._digests(rows)
        for digest, *version in zip(digests, rows.tolist(), groups.tolist(), times.tolist(), strict=True):
            known = self.versions.get(digest, [])
            if Version(*version) in known:
                known.remove(Version(*version))
                self._smooth(version[1])
            if not known:
                self.versions.pop(digest, None)
        return set(digests)

    def _smooth(self, group: int) -> None:
        self.rough[group] -= 1
        if not self.rough[group]:
            del self.rough[group]

    def _digests(self, rows: Rows) -> list[Digest]:
        high, low = self.relation.digests(rows)
        return list(zip(high.tolist(), low.tolist(), strict=True))

    def names(self, rows: Rows) -> list[EventName | None]:
        """What the events of rows are known by again; of row -1 None."""
        table = self.relation.table
        high, low = self.relation.digests(np.maximum(rows, 0)) if len(table) else (rows, rows)
        names = zip(high.tolist(), low.tolist(), picked(table.os, rows).tolist(), strict=True)
        return [name if row >= 0 else None for row, name in zip(rows.tolist(), names, strict=True)]

    # -- beliefs ------------------------------------------------------------------------------------------------------

    def believed(self, rows: Rows, known: Time | None = None) -> tuple[Rows, Rows]:
        """From when to when each row is believed.  Reading: R9.

        With ``known``: on the rows that occurred up to then, their ends after it not yet known.
        """
        table = self.relation.table
        start, end = np.full(len(rows), BEGINNING), np.full(len(rows), FOREVER)
        rough = np.flatnonzero(~table.plain.view[rows])
        for at, digest in zip(rough.tolist(), self._digests(rows[rough]), strict=True):
            start[at], end[at] = self._belief(int(rows[at]), digest, known)
        return start, end

    def _belief(self, row: int, digest: Digest, known: Time | None) -> tuple[Time, Time]:
        table = self.relation.table
        versions = [(int(table.os.view[v.row]), v.row) for v in self.versions[digest]]
        if known is not None:
            versions = [(os, other) for os, other in versions if os <= known]
        versions.sort()
        os, end = int(table.os.view[row]), int(table.oe.view[row])
        after = [other for other, _ in versions if other > os]
        end = min(end, after[0]) if after else end
        if known is not None and end > known:
            end = FOREVER
        first = versions[0][1] == row
        return (BEGINNING if first and os <= int(table.vs.view[row]) else os), end

    def remembers(self, rows: Rows) -> Mask:
        """Of which rows it is known from when to when they are believed: those of events that are not forgotten."""
        found = self.relation.table.plain.view[rows].copy()
        rough = np.flatnonzero(~found)
        found[rough] = [digest in self.versions for digest in self._digests(rows[rough])]
        return found

    def first_os(self, rows: Rows) -> Rows:
        """The first Os of each row's event in this input.  Reading: R10."""
        table = self.relation.table
        first: Rows = table.os.view[rows].copy()
        rough = np.flatnonzero(~table.plain.view[rows])
        for at, digest in zip(rough.tolist(), self._digests(rows[rough]), strict=True):
            if digest in self.versions:
                first[at] = min(int(table.os.view[v.row]) for v in self.versions[digest])
        return first

    # -- forgetting ---------------------------------------------------------------------------------------------------

    def forget(self, line: Time) -> None:
        """Drop rows with Vs <= line; an event with several versions as a whole, by the largest.  Reading: R37."""
        self.store.forget(line)
        gone = [d for d, versions in self.versions.items() if max(v.time for v in versions) <= line]
        for digest in gone:
            for version in self.versions.pop(digest):
                self._smooth(version.group)

    # -- versions as rows held ----------------------------------------------------------------------------------------

    def held(self) -> Rows:
        """The versions of events that have or had several; the store holds its rows by itself."""
        rows = [version.row for versions in self.versions.values() for version in versions]
        return np.array(rows, dtype=np.int64)

    @property
    def empty(self) -> bool:
        """Whether no event has several versions."""
        return not self.versions

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers of the rows."""
        for digest, versions in self.versions.items():
            self.versions[digest] = [version._replace(row=int(new[version.row])) for version in versions]

    def clear(self) -> None:
        """No event has versions."""
        assert not self.versions, "a table was cleared whose versions are known"

    def regroup(self, new: Rows) -> None:
        """Take over the new numbers of the groups."""
        self.store.regroup(new)
        self.rough = {int(new[group]): count for group, count in self.rough.items()}
        for digest, versions in self.versions.items():
            self.versions[digest] = [version._replace(group=int(new[version.group])) for version in versions]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.store.nbytes + 160 * sum(map(len, self.versions.values()))
