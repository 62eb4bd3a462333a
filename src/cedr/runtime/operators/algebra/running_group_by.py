"""GROUP BY with COUNT, SUM and AVG over plain rows: what changes is added and taken away, in compiled loops.

Paper: Section 6.  Readings: R29, R30, R33.  Each start and each end of a row is a step of its group.  Starts and ends
that nobody asks for yet wait: a moving average over k rows has k steps in the future, and none of them is made before
it is due.  When a revision comes, the groups are followed as ``GroupBy`` does it from then on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan import logical
from cedr.runtime.expressions.vector import to_arrow
from cedr.runtime.operators.algebra.group_by import GroupBy
from cedr.runtime.operators.algebra.steps import Steps, Touched
from cedr.runtime.operators.algebra.sums import Sums
from cedr.runtime.operators.algebra.waiting_rows import WaitingRows
from cedr.runtime.operators.contract import Frontier, Size
from cedr.runtime.operators.mechanism.group_codes import GroupCodes
from cedr.runtime.store.holders import NONE, Following
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.segments import in_order
from cedr.runtime.store.table import Delta, Mask, Rows, plain_header, without
from cedr.runtime.values.vector import Vector


class RunningGroupBy(GroupBy):
    """Aggregates by group, as steps as long as every row is plain."""

    def __init__(self, node: logical.GroupBy, inputs: Sequence[Relation]) -> None:
        super().__init__(node, inputs)
        self._sums = Sums(node.aggregates, self._input)
        self._running: Steps | None = Steps(self._sums.width)
        """None: there was a revision."""
        self._codes = GroupCodes(self.groups, self._input, self._key_columns, len(node.keys))
        self._rows = WaitingRows(self._input.table)
        self._asked, self._applied = FOREVER, BEGINNING
        """Up to when rows are asked for, and up to when starts and ends have become steps."""
        self._checked = 0
        self.table.hold(_RowsOfSteps(self))

    @property
    def steps(self) -> Steps | None:
        """What the groups amount to."""
        return self._running

    def _key_columns(self, relation: Relation, rows: Rows) -> Sequence[Vector]:
        return list(self._key_vectors(relation, rows).values())

    # -- changes ------------------------------------------------------------------------------------------------------

    def ask(self, until: Time) -> list[Time]:
        """What begins later cuts rows later."""
        self._asked = until
        return [until]

    @property
    def withholds(self) -> bool:
        """Whether a start or an end has become due."""
        return self._running is not None and self._asked > self._applied and self._rows.due(self._asked)

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:
        """The change of the output."""
        (delta,) = deltas
        plain = self._input.table.plain
        if self._running is not None and not plain.implicit and not plain.view[delta.added].all():
            return _together(self._give_up(), super().update([delta], frontiers))
        if self._running is None:
            return super().update(deltas, frontiers)
        until = max(self._asked, self._applied)
        found = self._changes(self._running, delta, until)
        self._applied, self._restored = until, {}
        return found

    def _changes(self, steps: Steps, delta: Delta, until: Time) -> Delta:
        rows, times, signs = self._rows.change(delta, self._applied, until, self._codes)
        if not len(rows):
            return Delta()
        sums, layout = self._sums.of(rows)
        if layout is not None:
            steps.widen(layout.of(steps.pool_sums))
        if self._line > BEGINNING:
            np.maximum(times, self._line, out=times)  # what was before the line is known by where rows begin
        groups = self._rows.groups(rows)
        sums *= signs[:, None]
        groups, times, order = in_order(groups, times, np.arange(len(rows), dtype=np.int64))
        return self._rows_of(steps, steps.change(groups, times, sums[order]))

    def _rows_of(self, steps: Steps, touched: Touched) -> Delta:
        """The rows that steps belong to: one for each run of equal values."""
        sums = steps.sums(touched.steps)
        values = self._sums.values(sums)
        alive = sums[:, 0] > 0
        goes_on = _as_before(alive, values, touched.first)
        first = np.flatnonzero(alive & ~goes_on)
        last = np.flatnonzero(alive & ~np.append(goes_on[1:], False))
        start, end, groups = touched.start[first], touched.end[last], touched.groups[first]
        if self._restored:
            self._begin_as_before(groups, start)
            steps.begin(touched.steps[first], start)
        known = steps.rows(touched.steps[first])
        stays = self._same_rows(known, start, end, [_taken(vector, first) for vector in values])
        made = known.copy()
        made[~stays] = self._new_rows(groups[~stays], start[~stays], end[~stays], values, first[~stays])
        belongs = np.full(len(alive), -1)
        belongs[alive] = made[np.cumsum((alive & ~goes_on)[alive]) - 1]
        steps.belong(touched.steps, belongs)
        return Delta(without(touched.rows, known[stays]), made[~stays])

    def _begin_as_before(self, groups: Rows, start: Rows) -> None:
        """Rows that hold at the line begin where they did before a restart."""
        at = np.flatnonzero(start == self._line)
        for place, *name in zip(at.tolist(), *(h.tolist() for h in self.groups.digests(groups[at])), strict=True):
            known = self._restored.get((name[0], name[1]))
            if known is not None and known[1] is not None:
                start[place] = known[1]

    def _same_rows(self, rows: Rows, start: Rows, end: Rows, values: Sequence[Vector]) -> Mask:
        """Which rows are just what they should be."""
        found = rows >= 0
        found[found] = (self.table.vs.view[rows[found]] == start[found]) & (
            self.table.ve.view[rows[found]] == end[found]
        )
        some = np.flatnonzero(found)
        if len(some):
            for column, vector in zip(self._node.aggregates, values, strict=True):
                before = self.table.columns[column.name].vector(rows[some])
                found[some] &= _equal(before, _taken(vector, some))
        return found

    def _new_rows(self, groups: Rows, start: Rows, end: Rows, values: Sequence[Vector], at: Rows) -> Rows:
        arrays = {
            column.name: to_arrow(_taken(vector, at), column.type)
            for column, vector in zip(self._node.aggregates, values, strict=True)
        }
        self.table.columns.extend(len(groups), arrays)
        return self.table.extend(plain_header(start, end, start), [groups])

    def _give_up(self) -> Delta:
        """From now on groups are followed through time; what they amount to is the same."""
        steps, self._running = self._running, None
        assert steps is not None
        rows = np.unique(steps.held())
        self._restored = self._restored or self._names_at_line(rows)
        found = super().update([Delta(added=self._rows.live())], [])
        self._rows.clear()
        return Delta(rows, found.added)

    def _names_at_line(self, rows: Rows) -> dict[tuple[int, int], tuple[Time, Time | None]]:
        if self._line == BEGINNING:
            return {}
        rows = rows[(self.table.vs.view[rows] <= self._line) & (self.table.ve.view[rows] > self._line)]
        high, low = self.groups.digests(self.table.references[0].view[rows])
        starts = self.table.vs.view[rows].tolist()
        return {(h, w): (self._line, s) for h, w, s in zip(high.tolist(), low.tolist(), starts, strict=True)}

    # -- what is known and what is forgotten --------------------------------------------------------------------------

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:
        """What has become steps, and is final below."""
        found = super().frontier(inputs, frozen)
        if self._running is None:
            return found
        until = max(self._asked, self._applied)
        return found._replace(final=min(found.final, until), ended=min(found.ended, until))

    def _forget(self) -> None:
        """Drop steps before the line; not each time, so that the cost follows what arrives."""
        if self._running is None:
            super()._forget()
        elif self._line > BEGINNING and len(self._rows) > 2 * self._checked:
            self._running.forget(self._line)
            self._rows.forget(self._line)
            self._checked = len(self._rows)

    def _held_rows(self) -> Rows:
        return super()._held_rows() if self._running is None else np.unique(self._running.held())

    # -- groups -------------------------------------------------------------------------------------------------------

    def known_groups(self) -> Rows:
        """The groups that have steps, and those of rows that wait."""
        if self._running is None:
            return super().known_groups()
        return np.union1d(self._running.groups(), self._rows.known_groups())

    @property
    def knows_no_group(self) -> bool:
        """Whether there is none."""
        return super().knows_no_group and (self._running is None or not (len(self._running) or len(self._rows)))

    def regroup(self, new: Rows) -> None:
        """Take over the new numbers of the groups."""
        super().regroup(new)
        if self._running is not None:
            self._running.regroup(new)
            self._rows.regroup(new)

    @property
    def size(self) -> Size:
        """Rows that are alive or wait, and steps."""
        rows, held = super().size
        own = 0 if self._running is None else self._running.nbytes
        return Size(rows + len(self._rows), held + own + self._rows.nbytes + self._codes.nbytes)


class _RowsOfSteps(Following):
    """Holds the rows that steps belong to."""

    def __init__(self, operator: RunningGroupBy) -> None:
        self._operator = operator

    def held(self) -> Rows:
        """The rows."""
        steps = self._operator.steps
        return NONE if steps is None else steps.held()

    @property
    def empty(self) -> bool:
        """Whether there are none."""
        steps = self._operator.steps
        return steps is None or not len(steps)

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers of the rows."""
        if self._operator.steps is not None:
            self._operator.steps.renumber(new)

    def clear(self) -> None:
        """No step belongs to a row."""


def _together(one: Delta, other: Delta) -> Delta:
    """Two changes as one: what the first added and the second removed is in neither."""
    removed = np.concatenate([one.removed, without(other.removed, one.added)])
    return Delta(removed, np.concatenate([without(one.added, other.removed), other.added]))


def _as_before(alive: Mask, values: Sequence[Vector], first: Rows) -> Mask:
    """Which steps have the values of the one before, in the same group."""
    found = np.zeros(len(alive), np.bool_)
    found[1:] = alive[1:] & alive[:-1]
    found[first] = False
    some = np.flatnonzero(found)
    for vector in values:
        found[some] &= _equal(_taken(vector, some), _taken(vector, some - 1))
    return found


def _taken(vector: Vector, rows: Rows) -> Vector:
    return Vector(vector.values[rows], None if vector.valid is None else vector.valid[rows])


def _equal(one: Vector, other: Vector) -> Mask:
    """Which numbers are the same, NULL and NULL included."""
    there, there_too = (np.ones(len(v.values), np.bool_) if v.valid is None else v.valid for v in (one, other))
    same: Mask = (there == there_too) & (~there | (one.values == other.values))
    return same
