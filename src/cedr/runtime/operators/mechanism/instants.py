"""Operators that cut rows at instants within a group: what is alive decides, from one start or end to the next.

Paper: Section 6.  Readings: R9, R10 (runs of beliefs), R29, R30, R36.  A group of plain rows is followed through the
range of valid time that a change affects, and no further; one with revisions is evaluated run by run of beliefs.  What
is final is folded: of a group that lives on, its alive rows are known by what their aggregates take of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cedr.expression.tree import Aggregate
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.operators.contract import Frontier, Line, Size, Snapshot
from cedr.runtime.operators.mechanism.accumulators import Alive, Values
from cedr.runtime.operators.mechanism.following import State, Step, followed, moved
from cedr.runtime.operators.mechanism.group_beliefs import held_over_runs
from cedr.runtime.operators.mechanism.groups import Groups
from cedr.runtime.operators.mechanism.members import Changes, Members, Ranges, added_up, ranges_of
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.segments import Segments, in_order
from cedr.runtime.store.table import Delta, Header, Rows, Table, plain_header


class Piece(NamedTuple):
    """A row that a group should have."""

    group: int
    start: Time
    end: Time
    os: Time
    oe: Time
    values: Values


class Instants:
    """Base of GROUP BY and DISTINCT."""

    relation: Relation

    def __init__(self, source: Relation, groups: Groups, table: Table, calls: Sequence[Aggregate]) -> None:
        self.groups, self.table, self._calls = groups, table, calls
        self.members = Members(source, groups)
        self.outputs = Segments(table)
        """The rows of the output that may still change, by group and Vs."""
        self._states: dict[int, State] = {}
        self._line = BEGINNING
        """What ends up to here is final, and nobody asks for it."""
        self._restored: dict[tuple[int, int], tuple[Time, Time | None]] = {}
        """Floor and start of groups, by their digests, until the rows still known have come."""
        self._kept = 0
        groups.register(self)
        groups.watched_by(self)

    def taken_of(self, rows: Rows) -> list[Values]:
        """What the aggregates take of some rows of the input."""
        raise NotImplementedError

    def shown(self, rows: Rows) -> list[Values]:
        """What the aggregates amount to in some rows of the output."""
        raise NotImplementedError

    def show(self, values: list[Values]) -> None:
        """Keep what the aggregates amount to in the rows that are made next."""
        raise NotImplementedError

    # -- changes ------------------------------------------------------------------------------------------------------

    def ask(self, until: Time) -> list[Time]:
        """What begins later cuts rows later."""
        return [until]

    @property
    def withholds(self) -> bool:
        """What changes is told at once."""
        return False

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:  # noqa: ARG002 - as all do
        """The change of the output: of each group the affected range, followed anew."""
        (delta,) = deltas
        rough = set(self.members.input.rough)
        self._prepare_rough(delta, rough)
        changes, concerned = self.members.apply(delta)
        changes = changes.take(changes.end > changes.start)
        self._adjust(changes)
        now = self.members.input.rough
        whole = (rough | now.keys()) & set(changes.groups.tolist())
        whole |= set(self.members.input.where(concerned).groups.tolist())
        still = sorted(group for group in whole if group in now)
        smooth = np.array(sorted(group for group in whole if group not in now), np.int64)
        apart = ~np.isin(changes.groups, np.array(sorted(whole), np.int64))
        ranges = ranges_of(changes.take(apart), smooth)
        old, pieces = self._follow(ranges)
        for group in still:
            of_group, some = self._believed(group)
            old, pieces = np.concatenate([old, of_group]), [*pieces, *some]
        self._restored = {}
        return self._difference(old, pieces)

    def _prepare_rough(self, delta: Delta, rough: set[int]) -> None:
        """Groups that get revisions are evaluated from the line on: what is final stays folded."""
        plain = self.members.relation.table.plain
        if plain.implicit:
            return
        rows = delta.added[~plain.view[delta.added]]
        new = sorted(set(self.members.groups(rows).tolist()) - rough)
        if new:
            self._settle(np.array(new, np.int64), exactly=True)

    def _adjust(self, changes: Changes) -> None:
        """Take rows into account that came or went among those that are alive where a group is followed."""
        states = [self.state(group) for group in changes.groups.tolist()]
        at = np.array([state.position for state in states], np.int64)
        here = np.flatnonzero((changes.start < at) & (changes.end >= at))
        values = self.taken_of(changes.rows[here])
        for place, came, taken in zip(here.tolist(), changes.came[here].tolist(), values, strict=True):
            if came:
                states[place].alive.add(taken)
            else:
                states[place].alive.remove(taken)

    def state(self, group: int) -> State:
        """How far a group was followed."""
        found = self._states.get(group)
        if found is None:
            floor, start = self._line, None
            if self._restored:
                high, low = self.groups.digests(np.array([group]))
                floor, start = self._restored.get((int(high[0]), int(low[0])), (floor, start))
            found = self._states[group] = State(Alive(self._calls), floor, start)
        return found

    # -- plain groups -------------------------------------------------------------------------------------------------

    def _follow(self, ranges: Ranges) -> tuple[Rows, list[Piece]]:
        """The rows that some ranges touch, and what they should be."""
        if not len(ranges.groups):
            return NONE, []
        states = [self.state(group) for group in ranges.groups.tolist()]
        floors = np.array([state.floor for state in states], np.int64)
        owner, old = self.touching(ranges, floors)
        begin = np.where(floors > BEGINNING, np.maximum(ranges.low, floors + 1), ranges.low)
        position = np.array([state.position for state in states], np.int64)
        steps = self._steps(ranges.groups, np.minimum(position, begin), np.maximum(position - 1, ranges.high))
        before, after = self._covering(owner, old, begin, ranges.high)
        pieces: list[Piece] = []
        for number, (group, state) in enumerate(zip(ranges.groups.tolist(), states, strict=True)):
            first = state.start if begin[number] == state.floor + 1 else before.get(number)
            bounds = int(begin[number]), int(ranges.high[number])
            found = followed(state, steps[number], bounds, first, after.get(number, FOREVER))
            pieces.extend(Piece(group, start, end, start, FOREVER, values) for start, end, values in found)
        return old, pieces

    def _covering(self, owner: Rows, old: Rows, begin: Rows, high: Rows) -> tuple[dict[int, Time], dict[int, Time]]:
        """Where rows begin that hold just before each range, and where those end that hold right after it."""
        vs, ve = self.table.vs.view[old], self.table.ve.view[old]
        before = np.flatnonzero((vs < begin[owner]) & (ve >= begin[owner]))
        after = np.flatnonzero((vs <= high[owner]) & (ve > high[owner]))
        return (
            dict(zip(owner[before].tolist(), vs[before].tolist(), strict=True)),
            dict(zip(owner[after].tolist(), ve[after].tolist(), strict=True)),
        )

    def _steps(self, groups: Rows, low: Rows, high: Rows) -> list[list[Step]]:
        """What happens in each group with low <= time <= high, in order."""
        points = self.members.points(groups, low, high)
        columns = (points.times.tolist(), points.comes.tolist(), self.taken_of(points.rows))
        steps: list[Step] = list(zip(*columns, strict=True))
        bounds = np.searchsorted(points.owner, np.arange(len(groups) + 1)).tolist()
        return [steps[first:end] for first, end in pairwise(bounds)]

    def touching(self, ranges: Ranges, floors: Rows) -> tuple[Rows, Rows]:
        """The rows of the output that meet or overlap some ranges and are not final, each with the range's number."""
        store, ve = self.outputs.sorted, self.table.ve.view
        places = store.locate(ranges.groups, ranges.low, ranges.high)
        known = np.flatnonzero(ranges.groups < len(store.pieces))
        before = places.begin[known] - 1
        there = before >= store.start[ranges.groups[known]]
        known, before = known[there], before[there]
        reaches = ve[store.rows[before]] >= ranges.low[known]
        owner, place = places.expand()
        owner = np.concatenate([owner, known[reaches]])
        rows = store.rows[np.concatenate([place, before[reaches]])]
        open_ = ve[rows] > floors[owner]
        return owner[open_], rows[open_]

    # -- groups with revisions ----------------------------------------------------------------------------------------

    def _believed(self, group: int) -> tuple[Rows, list[Piece]]:
        """The rows of a group with revisions, and what they should be: run by run of beliefs.  Readings: R9, R10."""
        state, members = self.state(group), self.members
        every = self.outputs.sorted.locate(*(np.array([value], np.int64) for value in (group, BEGINNING, FOREVER)))
        old = self.outputs.sorted.rows[every.expand()[1]]
        old = old[self.table.ve.view[old] > state.floor]
        pieces = [
            Piece(group, start, end, max(since, start), until, taken)
            for (start, end, taken), since, until in held_over_runs(members, group, state, self.taken_of)
            if until > max(since, start)
        ]
        return old, pieces

    # -- differences --------------------------------------------------------------------------------------------------

    def _difference(self, old: Rows, pieces: list[Piece]) -> Delta:
        """What some rows of the output were, and what they should be."""
        header = self.table.header(old)
        groups = self.table.references[0].view[old]
        columns = (column.tolist() for column in (old, groups, header.vs, header.ve, header.os, header.oe))
        known: dict[tuple[int, Time, Time, Time, Time], tuple[int, Values]] = {}
        for (row, *name), values in zip(zip(*columns, strict=True), self.shown(old), strict=True):
            known[name[0], name[1], name[2], name[3], name[4]] = row, values
        new = []
        for piece in pieces:
            found = known.get(piece[:5])
            if found is not None and _same(found[1], piece.values):
                del known[piece[:5]]
            else:
                new.append(piece)
        removed = np.array(sorted(row for row, _ in known.values()), np.int64)
        if len(removed):
            gone = self.table.references[0].view[removed], self.table.vs.view[removed]
            self.outputs.remove(*in_order(*gone, removed))
        return Delta(removed, self._make(new))

    def _make(self, pieces: list[Piece]) -> Rows:
        if not pieces:
            return NONE
        columns = [np.array(column, np.int64) for column in zip(*(piece[:5] for piece in pieces), strict=True)]
        groups, vs, ve, os, oe = columns
        plain = (os == vs) & (oe == FOREVER)
        header = plain_header(vs, ve, vs) if plain.all() else Header(vs, ve, os, oe, vs, plain)
        self.show([piece.values for piece in pieces])
        rows = self.table.extend(header, [groups])
        self.outputs.add(*in_order(groups, vs, rows))
        return rows

    # -- what is known and what is forgotten --------------------------------------------------------------------------

    def decide(self, inputs: Sequence[Frontier], frozen: Time) -> None:
        """Nothing waits."""

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:  # noqa: ARG002 - decided at once
        """What happens up to an instant is final once no row can come or end up to it."""
        final = min(min(part.final, part.ended) for part in inputs)
        return Frontier(final, min(part.guarantee for part in inputs), final)

    def demand(self, line: Line, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:  # noqa: ARG002 - by guarantees
        """Fold what is final and not asked for; rows that end up to there are not needed."""
        final = min(min(part.final, part.ended) for part in inputs)
        unasked = min(line.vs, line.ended)
        if line.ve > BEGINNING:
            unasked = max(unasked, line.ve - 1)
        self._line = max(self._line, min(final, unasked, FOREVER - 1))  # what never ends is never over
        self._forget()
        floors = [state.floor for group, state in self._states.items() if group in self.members.input.rough]
        floors += [floor for floor, _ in self._restored.values()]
        return [Line(self._line, BEGINNING, min([self._line, *floors]))]

    def _forget(self) -> None:
        """Fold what ends up to the line; not each time, so that the cost follows what arrives."""
        held = len(self.members) + len(self.outputs)
        if self._line == BEGINNING or held <= 2 * self._kept:
            return
        rough = np.fromiter(self.members.input.rough, np.int64)
        groups = np.setdiff1d(np.flatnonzero(self._sizes()), rough)
        self._settle(groups, exactly=False)
        self.members.fold(self._line, rough)
        rows = self.outputs.held()
        gone = rows[self.table.ve.view[rows] <= self._line]
        if len(gone):
            self.outputs.remove(*in_order(self.table.references[0].view[gone], self.table.vs.view[gone], gone))
        sizes = self._sizes()
        for group in groups.tolist():
            if not sizes[group] and not self._states[group].alive.count:
                del self._states[group]
        self._kept = len(self.members) + len(self.outputs)

    def _settle(self, groups: Rows, *, exactly: bool) -> None:
        """Follow groups up to the line, at least, or back to it; what holds there is known from now on."""
        line = self._line
        states = [self.state(group) for group in groups.tolist()]
        if line == BEGINNING:
            for group in groups.tolist():
                del self._states[group]
            return
        position = np.array([state.position for state in states], np.int64)
        end = np.where(exactly, line + 1, np.maximum(position, line + 1))
        steps = self._steps(groups, np.minimum(position, end), np.maximum(position, end) - 1)
        for state, own, where in zip(states, steps, end.tolist(), strict=True):
            moved(state.alive, own, state.position, where)
        starts = self._starts(groups)
        for state, where, start in zip(states, end.tolist(), starts, strict=True):
            state.position, state.floor, state.start = where, line, start

    def _starts(self, groups: Rows) -> list[Time | None]:
        """Where the row of each group begins that holds at the line."""
        store = self.outputs.sorted
        places = store.locate(groups, np.full(len(groups), BEGINNING), np.full(len(groups), self._line))
        last = np.maximum(places.end - 1, 0)
        there = places.counts > 0
        rows = store.rows[last[there]]
        found: list[Time | None] = [None] * len(groups)
        held = self.table.ve.view[rows] > self._line
        for place, start in zip(np.flatnonzero(there)[held].tolist(), self.table.vs.view[rows[held]], strict=True):
            found[place] = int(start)
        return found

    # -- snapshots ----------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot | None:
        """The line, and of the groups that live on where the row begins that holds there."""
        if self._line == BEGINNING:
            return []
        rough = sorted(self.members.input.rough)
        found: list[list[object]] = [[self._line]]
        rows = self._held_rows()
        rows = rows[(self.table.vs.view[rows] <= self._line) & (self.table.ve.view[rows] > self._line)]
        groups = self.table.references[0].view[rows]
        smooth = ~np.isin(groups, np.array(rough, np.int64))
        high, low = self.groups.digests(groups[smooth])
        starts = self.table.vs.view[rows[smooth]]
        for name in zip(high.tolist(), low.tolist(), starts.tolist(), strict=True):
            found.append([name[0], name[1], self._line, name[2]])
        high, low = self.groups.digests(np.array(rough, np.int64))
        for group, *names in zip(rough, high.tolist(), low.tolist(), strict=True):
            state = self.state(group)
            found.append([*names, state.floor, state.start])
        return found

    def _held_rows(self) -> Rows:
        """The rows of the output that may still change, and those that hold at the line."""
        return self.outputs.held()

    def restore(self, snapshot: Snapshot) -> None:
        """The line, and where rows begin that hold there; the rows still known follow."""
        if not snapshot:
            return
        (self._line,) = snapshot[0]  # type: ignore[assignment]  # as it was taken
        for high, low, floor, start in snapshot[1:]:
            self._restored[high, low] = floor, start  # type: ignore[index, assignment]  # as above

    # -- groups -------------------------------------------------------------------------------------------------------

    def _sizes(self) -> Rows:
        return added_up(self.members.sizes(), self.outputs.sorted.sizes)

    def known_groups(self) -> Rows:
        """The groups of which rows are known, or what is alive in them."""
        alive = [group for group, state in self._states.items() if state.alive.count]
        return np.union1d(np.flatnonzero(self._sizes()), np.array(alive, np.int64))

    @property
    def knows_no_group(self) -> bool:
        """Whether there is none."""
        return self.members.empty and self.outputs.empty and not self._states

    def regroup(self, new: Rows) -> None:
        """Take over the new numbers of the groups."""
        self.outputs.regroup(new)
        numbers = new.tolist()
        self._states = {numbers[group]: state for group, state in self._states.items() if numbers[group] >= 0}

    @property
    def ties(self) -> int:
        """No order is asked for."""
        return 0

    @property
    def size(self) -> Size:
        """Rows and bytes of the sorted stores, and the groups."""
        rows = len(self.members) + len(self.outputs)
        return Size(rows, self.members.nbytes + self.outputs.nbytes + self.table.nbytes + self.groups.nbytes)


def _same(one: Values, other: Values) -> bool:
    return one == other and [*map(type, one)] == [*map(type, other)]
