"""The groups of an operator of the algebra, as rows of a table of their own.

Paper: Section 6.  Readings: R8 (the group is part of the ID of a row), R29, R30.  A row of the output refers to its
group, so that the values that a group has in common are there once, and a group that nobody knows any more is dropped
with the rows of any other table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Protocol

import numpy as np

from cedr.model.event import Payload, Value
from cedr.model.identity import digest
from cedr.runtime.ids.text_ids import Digests
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.key_codes import Grouped
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Rows, Table, plain_header
from cedr.runtime.values.growable import Growable

Key = Hashable
"""What the rows of a group have in common: equal keys, equal groups."""
Keys = Callable[[Relation, Rows], Sequence[Key]]
"""The keys of some rows of a relation."""
Note = Callable[[Relation, Rows], None]
"""Keeps what is to be shown of new groups, each by a row that belongs to it."""


class Watcher(Protocol):
    """Knows the members of groups."""

    def known_groups(self) -> Rows:
        """The groups of which something is known."""

    @property
    def knows_no_group(self) -> bool:
        """Whether there is none; costs no time that grows with the groups."""


class Groups:
    """Groups by number: the row of each in the table."""

    def __init__(self, table: Table, keys: Keys, note: Note | None = None) -> None:
        self.table = table
        self._keys_of, self._note = keys, note
        self._codes: dict[Key, int] = {}
        self._keys: list[Key] = []
        self._digests = Growable(np.uint64, width=2)
        """Of as many groups as somebody asked for."""
        self._readers: list[Grouped] = []
        self._watcher: Watcher | None = None
        table.hold(self)

    def __len__(self) -> int:
        return len(self._keys)

    def watched_by(self, watcher: Watcher) -> None:
        """Who says which groups are still known."""
        self._watcher = watcher

    def register(self, reader: Grouped) -> None:
        """From now on a reader is told when groups get other numbers."""
        self._readers.append(reader)

    def of(self, relation: Relation, rows: Rows) -> Rows:
        """The groups of some rows; a group that was not known is from now on."""
        codes, first = self._codes, len(self._keys)
        found = np.empty(len(rows), np.int64)
        new: list[int] = []
        for place, key in enumerate(self._keys_of(relation, rows)):
            code = codes.setdefault(key, len(codes))
            if code == first + len(new):
                self._keys.append(key)
                new.append(place)
            found[place] = code
        if new:
            zeros = np.zeros(len(new), np.int64)
            made = rows[np.array(new, np.int64)]
            self.table.extend(plain_header(zeros, zeros, zeros), [made] * len(self.table.targets))
            if self._note is not None:
                self._note(relation, made)
        return found

    def reader(self, relation: Relation) -> GroupReader:
        """The groups of the rows of one input."""
        return GroupReader(self, relation)

    def digests(self, groups: Rows) -> Digests:
        """The digests of the groups, as parts of IDs.  Reading: R8."""
        known = len(self._digests)
        if known < len(self._keys):
            made = [digest(_value(key)) for key in self._keys[known:]]
            self._digests.extend(np.array(made, np.uint64).reshape(-1, 2))
        chosen = self._digests.view[groups]
        return np.ascontiguousarray(chosen[:, 0]), np.ascontiguousarray(chosen[:, 1])

    @property
    def nbytes(self) -> int:
        """Bytes held; of keys an estimate."""
        return self.table.nbytes + self._digests.nbytes + 200 * len(self._keys)

    # -- groups as rows held ------------------------------------------------------------------------------------------

    def held(self) -> Rows:
        """The groups that are still known."""
        return NONE if self._watcher is None else self._watcher.known_groups()

    @property
    def empty(self) -> bool:
        """Whether no group is known."""
        return self._watcher is None or self._watcher.knows_no_group

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers of the groups."""
        kept = np.flatnonzero(new >= 0)
        self._digests.keep(kept[kept < len(self._digests)])
        self._keys = [self._keys[group] for group in kept.tolist()]
        self._codes = {key: group for group, key in enumerate(self._keys)}
        for reader in self._readers:
            reader.regroup(new)

    def clear(self) -> None:
        """No group is known."""
        new = np.full(len(self._keys), -1)
        self._keys, self._codes = [], {}
        self._digests.truncate(0)
        for reader in self._readers:
            reader.regroup(new)


class GroupReader:
    """Puts rows of one input into groups."""

    def __init__(self, groups: Groups, relation: Relation) -> None:
        self._groups, self._relation = groups, relation

    def __call__(self, rows: Rows) -> Rows:
        """The groups of some rows; one that was not known is from now on."""
        return self._groups.of(self._relation, rows)

    def register(self, reader: Grouped) -> None:
        """From now on a reader is told when groups get other numbers."""
        self._groups.register(reader)


def _value(key: Key) -> Value:
    """A key as a value of which a digest is made."""
    return Payload({"group": key})["group"]
