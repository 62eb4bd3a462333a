"""EXCEPT: a payload of the left is there while no equal payload is alive on the right.

Paper: Section 6.  Readings: R8 (IDs), R10, R29, R33 (ends).  What the right covers is kept as DISTINCT keeps it; a
change concerns the left rows that changed, and those that are alive where the cover changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan import logical
from cedr.runtime.ids.text_ids import Digests, MadeIds
from cedr.runtime.operators.algebra.group_by import every_row
from cedr.runtime.operators.contract import Frontier, Line, Size, before
from cedr.runtime.operators.mechanism.accumulators import Values
from cedr.runtime.operators.mechanism.group_beliefs import held_over_runs
from cedr.runtime.operators.mechanism.group_rows import Content, GroupRows, behind, ids_of_pieces
from cedr.runtime.operators.mechanism.groups import Groups
from cedr.runtime.operators.mechanism.instants import Instants
from cedr.runtime.operators.mechanism.members import Changes, Ranges, added_up
from cedr.runtime.operators.mechanism.row_values import row_values
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Reach, Relation
from cedr.runtime.store.table import Delta, Rows, Table


class Cover(Instants):
    """Where the rows of some groups are alive."""

    def taken_of(self, rows: Rows) -> list[Values]:
        """Nothing but that they are there."""
        return [()] * len(rows)

    def shown(self, rows: Rows) -> list[Values]:
        """Nothing but that they are there."""
        return [()] * len(rows)

    def show(self, values: list[Values]) -> None:
        """Nothing."""

    def over_runs(self, group: int) -> list[Covered]:
        """What is covered, and over which runs of beliefs."""
        if group not in self.members.input.rough:
            (intervals,) = self.meeting(group, np.array([BEGINNING]), np.array([FOREVER]))
            return [Covered(start, end, BEGINNING, FOREVER) for start, end in intervals]
        found = held_over_runs(self.members, group, self.state(group), self.taken_of)
        return [Covered(start, end, since, until) for (start, end, _), since, until in found]

    def meeting(self, group: int, start: Rows, end: Rows) -> list[list[tuple[Time, Time]]]:
        """The intervals of a plain group that meet each of some others, in order."""
        whole = Ranges(np.full(len(start), group), start, end)
        owner, rows = self.touching(whole, np.full(len(start), BEGINNING))
        vs, ve = self.table.vs.view[rows], self.table.ve.view[rows]
        found: list[list[tuple[Time, Time]]] = [[] for _ in start]
        order = np.lexsort((vs, owner))
        for place, *interval in zip(*(column[order].tolist() for column in (owner, vs, ve)), strict=True):
            found[place].append((interval[0], interval[1]))
        return found


class Covered(NamedTuple):
    """An interval that is covered over a run of occurrence instants."""

    start: Time
    end: Time
    since: Time
    until: Time


class Difference(GroupRows):
    """The parts of the lifetimes of left rows that the right does not cover."""

    lineage = True

    def __init__(self, node: logical.Difference, inputs: Sequence[Relation]) -> None:
        left, right = inputs
        self._place = node.place
        groups = Groups(Table(None), row_values)
        table = Table(MadeIds(self._ids), [left.table, groups.table])
        self._cover = Cover(right, groups, Table(None, [groups.table]), ())
        super().__init__(left, groups, table)
        table.beside.append(self._cover.table)
        self._changed: dict[int, list[tuple[Time, Time]]] = {}
        """Where the cover of plain groups has changed in this update."""
        self._runs: dict[int, list[Covered]] = {}
        contributor = Reach(((table, 0),), left)
        self.relation = replace(
            behind(left, table), stream=node.place, identity=(), contributors=(contributor,), open_ended=every_row
        )

    def _ids(self, rows: Rows) -> Digests:
        return ids_of_pieces(self._place, self.members.relation, self.table, rows)

    # -- changes ------------------------------------------------------------------------------------------------------

    def ask(self, until: Time) -> list[Time]:
        """What begins later, on any side, bears on what begins later."""
        return [until, until]

    def apply(self, deltas: Sequence[Delta]) -> tuple[Changes, set[int]]:
        """Take in both changes."""
        changes, concerned = super().apply(deltas[:1])
        covered = self._cover.update(deltas[1:], ())
        self._changed, self._runs = self._changed_cover(covered), {}
        right = self._cover.members
        for rows in deltas[1]:
            revised = rows[~right.relation.table.plain.view[rows]]
            digests = zip(*(words.tolist() for words in right.relation.digests(revised)), strict=True)
            concerned |= set(right.groups(revised).tolist())
            concerned |= set(right.input.where(set(digests)).groups.tolist())
        return changes, concerned

    def also_changed(self) -> set[int]:
        """The groups whose cover has changed."""
        return set(self._changed)

    def rough(self) -> set[int]:
        """The groups with revisions on any side."""
        return super().rough() | self._cover.members.input.rough.keys()

    def _changed_cover(self, delta: Delta) -> dict[int, list[tuple[Time, Time]]]:
        """Where the cover of each group has changed: an interval that begins as before, from its smaller end on."""
        table = self._cover.table
        ends: dict[tuple[int, Time], list[Time]] = defaultdict(list)
        for rows in delta:
            columns = (table.references[0].view[rows], table.vs.view[rows], table.ve.view[rows])
            for group, start, end in zip(*(column.tolist() for column in columns), strict=True):
                ends[group, start].append(end)
        found: dict[int, list[tuple[Time, Time]]] = defaultdict(list)
        for (group, start), some in ends.items():
            found[group].append((min(some) if len(some) > 1 else start, max(some)))
        return found

    def touched(self, group: int, changes: Changes) -> Rows:
        """The left rows that changed, and those that are alive where the cover changed."""
        found = [changes.rows[changes.came]]
        found.extend(self.members.alive(group, low, high) for low, high in self._changed.get(group, ()))
        return np.unique(np.concatenate(found))

    # -- lifetimes ----------------------------------------------------------------------------------------------------

    def lifetimes(self, group: int, rows: Rows) -> Iterable[Content]:
        """The maximal parts of each lifetime outside the cover."""
        source = self.members.relation.table
        start, end = source.vs.view[rows], source.ve.view[rows]
        holes = self._cover.meeting(group, start, end)
        for row, vs, ve, some in zip(rows.tolist(), start.tolist(), end.tolist(), holes, strict=True):
            yield from _outside(row, vs, ve, some)

    def cuts(self, group: int) -> Iterable[Time]:
        """When beliefs about what is covered change."""
        return [time for each in self._covered(group) for time in (each.since, each.until)]

    def _covered(self, group: int) -> list[Covered]:
        if group not in self._runs:
            self._runs[group] = sorted(self._cover.over_runs(group))
        return self._runs[group]

    def during(self, group: int, rows: Rows, run: tuple[Time, Time]) -> Iterable[Content]:
        """The same, of what is believed."""
        source, since = self.members.relation.table, run[0]
        holes = [(each.start, each.end) for each in self._covered(group) if each.since <= since < each.until]
        columns = (column.tolist() for column in (rows, source.vs.view[rows], source.ve.view[rows]))
        for row, start, end in zip(*columns, strict=True):
            yield from _outside(row, start, end, holes)

    # -- what is known and what is forgotten --------------------------------------------------------------------------

    def needed(self, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:
        """Left rows are needed while they are alive, the cover from where a part begins that goes on."""
        left, right = self.members.relation.table, self._cover.members.relation.table
        together = self.in_rough()
        ends = [left.ve.view[together], left.vs.view[together]]
        for group in sorted(self.rough()):
            rows = self._cover.members.from_start(group, BEGINNING)
            ends.extend((right.ve.view[rows], right.vs.view[rows]))
        pinned = min(self._line, before(FOREVER, np.concatenate([NONE, *ends])))
        rows = self.members.input.store.held()
        self.forget(np.setdiff1d(rows[left.ve.view[rows] <= self._line], together))
        started = min(pinned, before(FOREVER, self.table.vs.view[self.open_rows()]))
        (below,) = self._cover.demand(Line(started, BEGINNING, started), inputs[1:], frozen)
        return [Line(self._line, BEGINNING, pinned), below]

    # -- groups -------------------------------------------------------------------------------------------------------

    def sizes(self) -> Rows:
        """How many rows are known of each group."""
        known = np.zeros(len(self.groups), np.int64)
        known[self._cover.known_groups()] = 1
        return added_up(super().sizes(), known)

    @property
    def knows_no_group(self) -> bool:
        """Whether there is none."""
        return super().knows_no_group and self._cover.knows_no_group

    @property
    def size(self) -> Size:
        """Rows and bytes of the left and of the cover."""
        own, cover = super().size, self._cover.size
        return Size(own.rows + cover.rows, own.bytes + cover.bytes)


def _outside(row: int, start: Time, end: Time, holes: Iterable[tuple[Time, Time]]) -> Iterable[Content]:
    """The parts of an interval outside of others, which come in order."""
    for hole, until in holes:
        if start < min(hole, end):
            yield row, start, min(hole, end)
        start = max(start, until)
    if start < end:
        yield row, start, end
