"""What a query has emitted at a level: inserts and retractions from the rows that it means.

Paper: Section 4 and 5.  Readings: R8 (K), R33 (what is due), R34 (what is frozen), R40 (nothing that comes and goes
within a batch leaves it).  What was emitted is kept with the rows that it is; only what changed is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.emission.changes import NOTHING, Spoken, in_order_of_sync
from cedr.consistency.emission.ends import SaidEnds
from cedr.consistency.emission.frozen_rows import Ghost, Known, Name
from cedr.consistency.emission.inherited_rows import Heritage
from cedr.consistency.emission.repairs import Ends, Pairs, Thresholds, alike, in_order, inserts, once, paired, retracted
from cedr.model.stream import Change
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.operators.contract import Line
from cedr.runtime.store.holders import NONE, HeldRows
from cedr.runtime.store.materialise import events_of
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.row_queue import RowQueue
from cedr.runtime.store.table import Delta, each_once, without
from cedr.runtime.values.growable import Growable
from cedr.runtime.values.run_length import together

Rows = NDArray[np.int64]
UNSAID = BEGINNING


class EmittedRows:
    """What was emitted at one level, beside the rows of the output.  A holder of their table."""

    logged = False
    """Whether somebody asks from time to time what changed: then it is noted."""

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        self._said = Growable(np.int64)
        self.ends = SaidEnds(relation)
        self._meant = Growable(np.bool_)
        self._waiting = RowQueue()
        self._touched: list[Rows] = [NONE]
        self.frozen = 0
        """Rows not emitted, or not retracted, because they lie before m."""
        self._ghosts = HeldRows()
        """Rows that were emitted and are meant no longer, but frozen: not touched any more."""
        self.ghosts: dict[Name, Ghost] = {}
        """The same, emitted before a restart."""
        self.heritage = Heritage()
        self.recalled: list[Change] = []
        """What the last step emitted about these."""
        relation.table.hold(self)

    def close(self) -> None:
        """Hold no row any longer."""
        self._relation.table.holders.remove(self)

    def known(self) -> Known:
        """What was emitted, for another one to go on with."""
        rows = self.rows()
        _, _, _, said, oe, ve = (column.tolist() for column in self.entries(rows))
        entries = zip(self._names(rows), zip(said, oe, ve, strict=True), strict=True)
        return Known(dict(entries), dict(self.all_ghosts()), self.frozen)

    def rows(self) -> Rows:
        """The rows emitted and not retracted."""
        return np.flatnonzero(self._said.view != UNSAID)

    # -- a step -------------------------------------------------------------------------------------------------------

    def emit(self, delta: Delta, at: Thresholds, cedr_time: Time) -> Spoken:
        """What leaves about a change, and about rows and ends that have become due."""
        self._note(delta)
        repairs, settled, again = self._repaired(self._gone(delta), delta.added, at)
        self.recalled = []
        if self.heritage.rows:
            settled = np.concatenate([settled, self._inherit(delta.added, at, cedr_time)])
        if self.ghosts:
            met, anew = self._recall(delta.added, at, cedr_time)
            settled, again = np.concatenate([settled, met]), np.concatenate([again, anew])
        fresh = self._fresh(delta, settled, at, cedr_time)
        if len(again):
            self.ends.note(again, *self.ends.first(again, at.due))
            fresh = np.concatenate([again, fresh])
        told = [part for part in (*repairs, self._closings(at)) if len(part.rows)]
        self._said.view[together(fresh)] = cedr_time
        if self.logged:
            self._touched.extend([fresh, *(part.rows for part in told)])
        came = inserts(self._relation.table, fresh, self.ends, cedr_time)
        return in_order_of_sync(in_order(told), came) if told else came

    def _note(self, delta: Delta) -> None:
        before, now = len(self._said), len(self._relation.table)
        added = together(delta.added)
        all_new = isinstance(added, slice) and (added.start, added.stop) == (before, now)
        self._said.fill(now - before, UNSAID)
        self.ends.said_oe.fill(now - before, FOREVER)
        self._meant.fill(now - before, value=all_new)
        self._meant.view[delta.removed] = False
        if not all_new:
            self._meant.view[added] = True

    # -- new rows -----------------------------------------------------------------------------------------------------

    def _fresh(self, delta: Delta, settled: Rows, at: Thresholds, cedr_time: Time) -> Rows:
        """The rows to be emitted for the first time: new ones and waiting ones that are due and not frozen."""
        table = self._relation.table
        new = without(delta.added, settled)
        starts = table.os.view[together(new)]
        late = starts > at.due
        if late.any():
            self._waiting.add(starts[late], new[late], cedr_time)
            new = new[~late]
        waited = self._waiting.take(at.due)
        waited = waited[self._meant.view[waited] & (self._said.view[waited] == UNSAID)]
        if len(waited):
            # each once: a row that came, went and came again waits twice
            waited = each_once(len(table), [waited])
        due = np.concatenate([waited, new]) if len(waited) else new
        if self.ends.plain and at.frozen == BEGINNING:
            return due
        ends = Ends(*self.ends.first(due, at.due))
        alive = ends.first >= at.frozen
        self.frozen += len(due) - int(alive.sum())
        due, ends = due[alive], ends.take(alive)
        if not self.ends.plain:
            self.ends.note(due, *ends)
        return due

    # -- repairs ------------------------------------------------------------------------------------------------------

    def _gone(self, delta: Delta) -> Rows:
        """The rows that were emitted and are meant no longer."""
        gone = delta.removed[self._said.view[delta.removed] != UNSAID] if len(delta.removed) else delta.removed
        found: Rows = gone[~self._meant.view[gone]]
        return found

    def _repaired(self, gone: Rows, added: Rows, at: Thresholds) -> tuple[list[Spoken], Rows, Rows]:
        """What must be told of rows that were emitted; the new rows settled by it, and those emitted in their place."""
        candidates = np.concatenate([gone, self._ghosts.rows]) if len(self._ghosts) else gone
        if not len(candidates):
            return [], NONE, NONE
        one, other = paired(self._relation, candidates, added)
        alone = np.ones(len(gone), dtype=np.bool_)
        alone[one[one < len(gone)]] = False
        pairs = Pairs(candidates[one], added[other])
        repairs, again = self._replaced(pairs, at)
        return [*self._withdrawn(gone[alone], at), *repairs], pairs.new, again

    def _withdrawn(self, rows: Rows, at: Thresholds) -> Iterable[Spoken]:
        """Rows without a successor: retracted, but where they are frozen; what is cut at m stays to there.

        Reading: R34.
        """
        if not len(rows):
            return
        ends = self._said_ends(rows)
        if at.frozen > BEGINNING:
            frozen = ends.first < at.frozen
            cut = ~frozen & (self._relation.table.vs.view[rows] < at.frozen)
            cut &= False if self._relation.open_ended is None else self._relation.open_ended(rows)
            if cut.any():
                yield self._cut(rows[cut], ends.take(cut), at)
            self._haunt(rows[frozen | cut])
            rows, ends = rows[~(frozen | cut)], ends.take(~(frozen | cut))
        yield self._told(rows, ends)
        self._unsay(rows)

    def _cut(self, rows: Rows, ends: Ends, at: Thresholds) -> Spoken:
        """Rows with open ends are shortened to m."""
        shortened = Ends(ends.oe, np.minimum(ends.ve, at.frozen))
        later = ends.ve > at.frozen
        told = self._told(rows[later], ends.take(later), shortened.take(later))
        self.ends.note(rows, *shortened)
        return told

    def _haunt(self, rows: Rows) -> None:
        new = np.setdiff1d(rows, self._ghosts.rows) if len(self._ghosts) else rows
        self.frozen += len(new)
        self._ghosts.add(new)

    def _replaced(self, pairs: Pairs, at: Thresholds) -> tuple[list[Spoken], Rows]:
        """What is told of rows that have a successor, and the successors emitted in their place.  Readings: R3, R34."""
        if not len(pairs.old):
            return [], NONE
        table, old, same_look = self._relation.table, self._said_ends(pairs.old), alike(self._relation, pairs)
        os, vs = table.os.view[pairs.old], table.vs.view[pairs.old]
        oe = self.ends.due_oe(pairs.new, old.oe, at.due)
        ve = self.ends.due_ve(pairs.new, old.ve, at.due)
        not_due = same_look & (vs < ve) & (ve < old.ve) & (np.maximum(os, ve) > at.due)
        new = Ends(oe, np.where(not_due, old.ve, ve))
        same = same_look & (old.oe == new.oe) & (old.ve == new.ve)
        frozen = new.first < at.frozen
        ghosts = ~same & frozen & (old.first < at.frozen)
        vanishes = (new.ve <= vs) & (vs < old.ve)
        shorter = same_look & ~same & ~ghosts & (new.oe <= old.oe) & (new.ve <= old.ve) & ~vanishes
        back = ~(same | ghosts | shorter)
        repairs = [
            self._told(pairs.old[shorter], old.take(shorter), new.take(shorter)),
            self._told(pairs.old[back], old.take(back)),
        ]
        self._haunt(pairs.old[ghosts])
        if len(self._ghosts):
            self._ghosts.remove(pairs.old[~ghosts])
        self._unsay(pairs.old[back])
        stays = same | shorter
        self._pass_on(pairs.take(stays), new.take(stays))
        return repairs, pairs.new[back & ~frozen]

    def _pass_on(self, pairs: Pairs, ends: Ends) -> None:
        """The new rows stand for what was emitted with the old ones, under their K."""
        said = self._said.view[pairs.old]
        if self.logged:
            self._touched.extend(pairs)
        self._unsay(pairs.old)
        self._said.view[pairs.new] = said
        self.ends.note(pairs.new, *ends)

    def _unsay(self, rows: Rows) -> None:
        self._said.view[rows] = UNSAID
        self.ends.forget(rows)

    def _closings(self, at: Thresholds) -> Spoken:
        """Ends that have become due.  Reading: R33: ends are due like rows."""
        if not len(self.ends):
            return NOTHING
        table, rows = self._relation.table, once(self.ends.take(at.due))
        rows = rows[(self._said.view[rows] != UNSAID) & self._meant.view[rows]]
        old = self._said_ends(rows)
        oe, ve, os = (column.view[rows] for column in (table.oe, table.ve, table.os))
        shortened = (ve < old.ve) & (np.maximum(os, ve) <= at.due)
        new = Ends(np.where(oe <= at.due, oe, old.oe), np.where(shortened, ve, old.ve))
        frozen = (old.first < at.frozen) & (np.minimum(new.oe, ve) < at.frozen)
        told = ((new.oe != old.oe) | shortened) & ~frozen
        rows, old, new = rows[told], old.take(told), new.take(told)
        spoken = self._told(rows, old, new)
        self.ends.note(rows, *new)
        return spoken

    def _told(self, rows: Rows, ends: Ends, new: Ends | None = None) -> Spoken:
        table = self._relation.table
        return retracted(rows, self._said.view[rows], ends, table.ve.view[rows], table.os.view[rows], new)

    def _said_ends(self, rows: Rows) -> Ends:
        return Ends(self.ends.said_oe.view[rows], self.ends.said_ves(rows))

    # -- what was emitted before a restart ----------------------------------------------------------------------------

    def resume(self, rows: Rows, known: Known, due: Time, cedr_time: Time) -> None:
        """Begin with rows of which some were emitted before."""
        said, self.ghosts, self.frozen = known
        self._note(Delta(added=rows))
        table, names = self._relation.table, self._names(rows)
        entries = [said.get(name) if name not in self.ghosts else None for name in names]
        there = np.array([entry is not None for entry in entries], dtype=np.bool_)
        before = np.array([entry for entry in entries if entry is not None], dtype=np.int64).reshape(-1, 3)
        emitted = rows[there]
        self._said.view[emitted] = before[:, 0]
        told = self.ends.told_before(emitted, before[:, 1], before[:, 2])
        self.ends.note(emitted, *told)
        late = np.array([name not in self.ghosts for name in names], dtype=np.bool_) & ~there
        late &= table.os.view[rows] > due
        self._waiting.add(table.os.view[rows[late]], rows[late], cedr_time)
        self.logged = True

    def _recall(self, added: Rows, at: Thresholds, cedr_time: Time) -> tuple[Rows, Rows]:
        """Rows in the place of some that were emitted before a restart: those settled by it, and those emitted anew."""
        met = [(name, row) for name, row in zip(self._names(added), added.tolist(), strict=True) if name in self.ghosts]
        rows, back = np.array([row for _, row in met], dtype=np.int64), list[int]()
        for (name, row), event in zip(met, events_of(self._relation, rows), strict=True):
            ghost, one = self.ghosts[name], np.array([row])
            before = Ends(np.array([ghost.event.occurrence_end]), np.array([ghost.event.valid_end]))
            new = Ends(self.ends.due_oe(one, before.oe, at.due), self.ends.due_ve(one, before.ve, at.due))
            oe, ve = int(new.oe[0]), int(new.ve[0])
            same = ghost.alike(event) and (oe, ve) == (ghost.event.occurrence_end, ghost.event.valid_end)
            if not same and min(oe, ve) < at.frozen:
                continue
            del self.ghosts[name]
            if ghost.alike(event) and ghost.outlasts(oe, ve):
                self.recalled.extend([] if same else [ghost.shortened(oe, ve, cedr_time)])
                self._said.view[row] = ghost.said
                self.ends.note(one, *new)
                self._touched.append(one)
            else:
                self.recalled.append(ghost.taken_back(cedr_time))
                back.append(row)
        return rows, np.array(back, dtype=np.int64)

    def _inherit(self, added: Rows, at: Thresholds, cedr_time: Time) -> Rows:
        """The new rows that the query before has emitted; what else it has is retracted.  R44."""
        due = added[self._relation.table.os.view[added] <= at.due]
        ends = Ends(*self.ends.first(due, at.due))
        kept, said, gone = self.heritage.divided(events_of(self._relation, due), ends, at.frozen)
        rows = due[kept]
        self._said.view[rows] = said
        self.ends.note(rows, *ends.take(kept))
        self._touched.append(rows)
        self.recalled = [ghost.taken_back(cedr_time) for ghost in gone]
        return rows

    def all_ghosts(self) -> Iterable[tuple[Name, Ghost]]:
        """The rows that are frozen and meant no longer, as they were emitted."""
        rows = self._ghosts.rows
        ends = self._said_ends(rows)
        columns = (events_of(self._relation, rows), ends.oe.tolist(), ends.ve.tolist(), self._said.view[rows].tolist())
        for name, event, oe, ve, said in zip(self._names(rows), *columns, strict=True):
            yield name, Ghost(replace(event, occurrence_end=oe, valid_end=ve), said)
        yield from self.ghosts.items()

    # -- what is stored -----------------------------------------------------------------------------------------------

    def touched(self, line: Line) -> Rows:
        """The rows of which what was emitted changed since the last time; those that are retracted come first.

        Without what is final by now: nothing will be told of rows before the line.
        """
        rows = np.concatenate(self._touched) if self.logged else self.rows()
        self.logged, self._touched = True, [NONE]
        rows = once(self._open(rows, line))
        return rows[np.argsort(self._said.view[rows] != UNSAID, kind="stable")]

    def open_rows(self, line: Line) -> Rows:
        """The rows emitted and not retracted of which something may still be told."""
        return self._open(self.rows(), line)

    def _open(self, rows: Rows, line: Line) -> Rows:
        later = (self._relation.table.vs.view[rows] > line.vs) | (self._said.view[rows] == UNSAID)
        if line.ended < FOREVER:
            later |= self.ends.said_ves(rows) > line.ended
        if len(self.ends):
            later |= np.isin(rows, self.ends.waiting())
        found: Rows = rows[later]
        return found

    def entries(self, rows: Rows) -> tuple[NDArray[np.generic], ...]:
        """Names, when they were emitted, and the ends with which they were."""
        high, low = self._relation.digests(rows)
        starts, said, ends = self._relation.table.os.view[rows], self._said.view[rows], self.ends.said_oe.view[rows]
        return high, low, starts, said, ends, self.ends.longer(rows)

    def _names(self, rows: Rows) -> list[Name]:
        high, low = self._relation.digests(rows)
        starts = self._relation.table.os.view[rows]
        return list(zip(high.tolist(), low.tolist(), starts.tolist(), strict=True))

    # -- rows held ----------------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        """Whether no row is held for emission, and nobody has yet to be told what was emitted."""
        return not (len(self._waiting) or len(self.ends) or len(self._ghosts) or any(map(len, self._touched)))

    def clear(self) -> None:
        """The table of the rows was cleared."""
        for column in (self._said, self._meant):
            column.truncate(0)
        self.ends.clear()

    def held(self) -> Rows:
        """The rows that wait to be emitted, or of which an end does, or that are frozen."""
        return np.concatenate([self._waiting.waiting(), self.ends.waiting(), self._ghosts.rows])

    @property
    def before_waiting(self) -> Time:
        """The instant before the smallest Vs of a row that waits to be emitted; FOREVER: none does."""
        waiting = self._waiting.waiting()
        return int(self._relation.table.vs.view[waiting].min()) - 1 if len(waiting) else FOREVER

    @property
    def haunted(self) -> bool:
        """Whether rows are frozen that are meant no longer."""
        return bool(len(self._ghosts) or self.ghosts)

    def forget(self, line: Time) -> None:
        """Frozen rows with Vs up to a line can no longer be replaced."""
        if len(self._ghosts):
            rows = self._ghosts.rows
            self._ghosts.rows = rows[self._relation.table.vs.view[rows] > line]
        self.ghosts = {name: ghost for name, ghost in self.ghosts.items() if ghost.event.valid_start > line}

    def renumber(self, new: Rows) -> None:
        """The rows got other numbers."""
        kept = np.flatnonzero(new >= 0)
        for column in (self._said, self._meant):
            column.keep(kept[kept < len(column)])
        self.ends.keep(kept)
        self._touched = [moved[moved >= 0] for moved in (new[rows] for rows in self._touched)]
        self._waiting.renumber(new)
        self.ends.renumber(new)
        self._ghosts.renumber(new)
