"""SESSION: each event lives as long as its session.

Paper: Section 6.  Readings: R31, R36 (what is undecided).  A row that comes or goes concerns the session that it is in,
joins or splits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan import logical
from cedr.runtime.expressions.compile import columns_of, to_values
from cedr.runtime.operators.contract import Frontier, Line, before
from cedr.runtime.operators.mechanism.group_rows import Content, GroupRows, behind
from cedr.runtime.operators.mechanism.groups import Groups, Key
from cedr.runtime.operators.mechanism.members import Changes
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Frame, Relation
from cedr.runtime.store.table import Mask, Rows, Table
from cedr.runtime.store.times import later


class Session(GroupRows):
    """Events of one group belong to one session while each starts less than ``gap`` after the one before."""

    def __init__(self, node: logical.Session, inputs: Sequence[Relation]) -> None:
        (source,) = inputs
        self._gap, self._keys = node.gap, {str(n): key for n, key in enumerate(node.keys)}
        groups = Groups(Table(None), self._key_values)
        table = Table(None, [source.table, groups.table])
        super().__init__(source, groups, table)
        self.relation = behind(source, table)

    def _key_values(self, relation: Relation, rows: Rows) -> Sequence[Key]:
        if not self._keys:
            return [()] * len(rows)
        vectors = columns_of(self._keys, Frame([(relation, rows)]))
        return list(zip(*map(to_values, vectors.values()), strict=True))

    def ask(self, until: Time) -> list[Time]:  # noqa: ARG002 - a session may begin long before
        """All that there is: an event belongs to a session that has begun before it, and makes it longer."""
        return [FOREVER]

    # -- sessions -----------------------------------------------------------------------------------------------------

    def touched(self, group: int, changes: Changes) -> Rows:
        """The rows of all sessions that a change is in or may have been in."""
        store = self.members.input.store.sorted
        if group >= len(store.pieces):
            return NONE
        first = int(store.start[group])
        times = store.times[first : first + int(store.sizes[group])]
        found, until = [], 0
        for time in np.unique(changes.start).tolist():
            begin = end = int(np.searchsorted(times, time))
            if end < until:
                continue
            earliest = time
            while begin > until and plus(int(times[begin - 1]), self._gap) > earliest:
                begin -= 1
                earliest = int(times[begin])
            latest = time
            while end < len(times) and int(times[end]) < plus(latest, self._gap):
                latest = int(times[end])
                end += 1
            found.append(np.arange(begin, end))
            until = end
        places = np.concatenate(found) if found else np.empty(0, np.int64)
        rows: Rows = store.rows[first + places]
        return rows

    def lifetimes(self, group: int, rows: Rows) -> Iterable[Content]:  # noqa: ARG002 - as all do
        """Each row over the lifetime of its session, ``[first.Vs, last.Vs + gap)``."""
        times = self.members.relation.table.vs.view[rows]
        order = np.argsort(times, kind="stable")
        times = times[order]
        begins = np.flatnonzero(np.concatenate([[True], times[1:] >= later(times[:-1], self._gap)])[: len(times)])
        sizes = np.diff(np.append(begins, len(times)))
        start, end = times[begins], later(times[begins + sizes - 1], self._gap)
        columns = (rows[order], np.repeat(start, sizes), np.repeat(end, sizes))
        return zip(*(column.tolist() for column in columns), strict=True)

    def during(self, group: int, rows: Rows, run: tuple[Time, Time]) -> Iterable[Content]:  # noqa: ARG002 - one input
        """The same, of what is believed."""
        return self.lifetimes(group, rows)

    # -- what is known and what is forgotten --------------------------------------------------------------------------

    def _final(self, inputs: Sequence[Frontier]) -> Time:
        """Ends of events bear on no session."""
        return inputs[0].final

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:  # noqa: ARG002 - M bears on no session
        """Undecided is a session that an event after the guarantee could still join.  Reading: R36."""
        (below,) = inputs
        rows = self.outputs.held()
        of = self.table.references[0].view[rows]
        source = self.members.relation.table
        known = rows[self._joinable(of, below.guarantee) & (source.os.view[of] <= below.guarantee)]
        guarantee = before(below.guarantee, self.table.os.view[known])
        final = before(below.final, self.table.vs.view[rows[self._joinable(of, below.final)]])
        return Frontier(final, guarantee)

    def _joinable(self, of: Rows, known: Time) -> Mask:
        """Of which rows of the input the session may go on after some time."""
        source = self.members.relation.table
        found: Mask = later(source.vs.view[of], self._gap) > plus(known, 1)
        return found

    def needed(self, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:  # noqa: ARG002 - by guarantees
        """A session is needed from its first event on."""
        source = self.members.relation.table
        rows = self.outputs.held()
        past = self.table.references[0].view[rows[self.table.ve.view[rows] <= self._line]]
        together = self.in_rough()
        self.forget(np.setdiff1d(past, together))
        starts = np.concatenate([self.table.vs.view[self.open_rows()], source.vs.view[together]])
        return [Line(before(self._line, starts), BEGINNING, FOREVER)]
