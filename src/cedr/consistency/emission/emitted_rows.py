"""What a query says at a level: inserts and retractions from the rows that it means.

Paper: Section 4 and 5.  Readings: R8 (K), R33 (what is due), R34 (what is frozen), R40 (nothing that comes and goes
within a batch leaves it).  What was said is kept with the rows that say it; only what changed is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cedr.consistency.emission.changes import KEPT, NOTHING, Spoken, in_order_of_sync
from cedr.consistency.emission.ends import SaidEnds
from cedr.consistency.emission.frozen_rows import Ghost, Known, Name
from cedr.consistency.emission.repairs import Repair, Thresholds, all_retractions, among, distinct, inserts, sync_after
from cedr.consistency.row_queue import RowQueue
from cedr.model.stream import Change
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.operators.mechanism.matching import twins
from cedr.runtime.store.materialise import events_of
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.table import Delta, each_once
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
        self._touched: list[Rows] = [np.empty(0, dtype=np.int64)]
        self.frozen = 0
        """Rows not said, or not taken back, because they lie before m."""
        self._ghosts: dict[Name, int] = {}
        """Rows that were said and are meant no longer, but frozen: not touched any more."""
        self.ghosts: dict[Name, Ghost] = {}
        """The same, said before a restart."""
        self.recalled: list[Change] = []
        """What the last step said about these."""
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
        """The rows said and not taken back."""
        return np.flatnonzero(self._said.view != UNSAID)

    def said_at(self, rows: Rows) -> Rows:
        """When they were said."""
        found: Rows = self._said.view[rows]
        return found

    def emit(self, delta: Delta, at: Thresholds, cedr_time: Time) -> Spoken:
        """What must be said about a change, and about rows and ends that have become due."""
        self._note(delta)
        gone = self._gone(delta)
        taken_back, gone, added = (NOTHING, gone, delta.added) if self._ghosts else self._unmatched(gone, delta, at)
        repairs, settled, again = self._repairs(gone, added, at)
        self.recalled = []
        if self.ghosts:
            met, back = self._recall(delta.added, at, cedr_time)
            settled, again = np.concatenate([settled, met]), np.concatenate([again, back])
        fresh = self._fresh(delta, settled, at, cedr_time)
        if len(again):
            self.ends.said_oe.view[again] = self.ends.due(again, at.due)
            fresh = np.concatenate([again, fresh])
        repairs.extend(self._closings(at))
        retractions = all_retractions(taken_back, repairs)
        self._said.view[together(fresh)] = cedr_time
        if self.logged:
            self._touched.extend([fresh, retractions.rows])
        return in_order_of_sync(retractions, inserts(self._relation.table, fresh, self.ends.said_oe, cedr_time))

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

    def touched(self, line: Time) -> Rows:
        """The rows of which what was said changed since the last time; those that are unsaid come first.

        Without what is final by now: nothing will be said about rows with Vs up to the line.
        """
        rows = np.concatenate(self._touched) if self.logged else self.rows()
        self.logged, self._touched = True, [np.empty(0, dtype=np.int64)]
        rows = distinct(self._open(rows, line))
        return rows[np.argsort(self._said.view[rows] != UNSAID, kind="stable")]

    def open_rows(self, line: Time) -> Rows:
        """The rows said and not taken back about which something may still be said."""
        return self._open(self.rows(), line)

    def _open(self, rows: Rows, line: Time) -> Rows:
        later = (self._relation.table.vs.view[rows] > line) | (self._said.view[rows] == UNSAID)
        if len(self.ends):
            later |= np.isin(rows, self.ends.waiting())
        found: Rows = rows[later]
        return found

    def entries(self, rows: Rows) -> tuple[NDArray[np.generic], ...]:
        """Names, when they were said, and Oe as said."""
        high, low = self._relation.digests(rows)
        starts, said, ends = self._relation.table.os.view[rows], self._said.view[rows], self.ends.said_oe.view[rows]
        return high, low, starts, said, ends, self.ends.longer(rows)

    def resume(self, rows: Rows, known: Known, due: Time, cedr_time: Time) -> None:
        """Begin with rows of which some were said before."""
        said, self.ghosts, self.frozen = known
        self._note(Delta(added=rows))
        table = self._relation.table
        waiting = []
        for row, name in zip(rows.tolist(), self._names(rows), strict=True):
            if name in self.ghosts:
                continue
            if name in said:
                self._said.view[row], self.ends.said_oe.view[row], ve = said[name]
                end = int(table.oe.view[row])
                if end != said[name][1]:
                    self.ends.close_later(row, end)
                if ve > int(table.ve.view[row]):
                    self.ends.shorten_later(row, ve)
            elif table.os.view[row] > due:
                waiting.append(row)
        late = np.array(waiting, dtype=np.int64)
        self._waiting.add(table.os.view[late], late, cedr_time)
        self.logged = True

    @property
    def empty(self) -> bool:
        """Whether no row is held for saying, and nobody has yet to be told what was said."""
        return not (len(self._waiting) or len(self.ends) or self._ghosts or any(map(len, self._touched)))

    def clear(self) -> None:
        """The table of the rows was cleared."""
        for column in (self._said, self.ends.said_oe, self._meant):
            column.truncate(0)

    def held(self) -> Rows:
        """The rows that wait to be said, or of which an end does, or that are frozen."""
        ghosts = np.array(list(self._ghosts.values()), dtype=np.int64)
        return np.concatenate([self._waiting.waiting(), self.ends.waiting(), ghosts])

    def before_waiting(self) -> Time:
        """The instant before the smallest Vs of a row that waits to be said; FOREVER: none does."""
        waiting = self._waiting.waiting()
        return int(self._relation.table.vs.view[waiting].min()) - 1 if len(waiting) else FOREVER

    def forget(self, line: Time) -> None:
        """Frozen rows with Vs up to a line can no longer be replaced."""
        if self._ghosts:
            vs = self._relation.table.vs.view
            self._ghosts = {name: row for name, row in self._ghosts.items() if vs[row] > line}
        self.ghosts = {name: ghost for name, ghost in self.ghosts.items() if ghost.event.valid_start > line}

    def renumber(self, new: Rows) -> None:
        """The rows got other numbers."""
        kept = np.flatnonzero(new >= 0)
        for column in (self._said, self.ends.said_oe, self._meant):
            column.keep(kept[kept < len(column)])
        self._touched = [moved[moved >= 0] for moved in (new[rows] for rows in self._touched)]
        self._waiting.renumber(new)
        self.ends.renumber(new)
        self._ghosts = {name: int(new[row]) for name, row in self._ghosts.items()}

    # -- new rows -----------------------------------------------------------------------------------------------------

    def _fresh(self, delta: Delta, settled: Rows, at: Thresholds, cedr_time: Time) -> Rows:
        """The rows to be said for the first time: new ones and waiting ones that are due and not frozen."""
        table = self._relation.table
        new = delta.added if not len(settled) else np.setdiff1d(delta.added, settled)
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
        ends = self.ends.due(due, at.due)
        if at.frozen > BEGINNING:
            alive = (table.ve.view[due] >= at.frozen) & (ends >= at.frozen)
            self.frozen += len(due) - int(alive.sum())
            due, ends = due[alive], ends[alive]
        if not table.oe.implicit:
            self.ends.said_oe.view[together(due)] = ends
        return due

    # -- repairs ------------------------------------------------------------------------------------------------------

    def _gone(self, delta: Delta) -> Rows:
        """The rows that were said and are meant no longer."""
        gone = delta.removed[self._said.view[delta.removed] != UNSAID] if len(delta.removed) else delta.removed
        found: Rows = gone[~self._meant.view[gone]]
        return found

    def _repairs(self, gone: Rows, added: Rows, at: Thresholds) -> tuple[list[Repair], Rows, Rows]:
        """What must be said about rows that were said before; the new rows settled by it, and those said in place."""
        if not len(gone) and not self._ghosts:
            return [], gone, gone
        repairs: list[Repair] = []
        said = dict(zip(self._names(gone), gone.tolist(), strict=True)) | self._ghosts
        successors = zip(self._names(added), added.tolist(), strict=True) if said else ()
        meant = {name: row for name, row in successors if name in said}
        settled: list[int] = []
        again: list[int] = []
        for name, old in said.items():
            new = meant.get(name)
            if new is None and name in self._ghosts:
                continue
            in_place = self._repair(name, old, new, at, repairs)
            if new is not None:
                settled.append(new)
                if in_place:
                    again.append(new)
        return repairs, np.array(settled, dtype=np.int64), np.array(again, dtype=np.int64)

    def _unmatched(self, gone: Rows, delta: Delta, at: Thresholds) -> tuple[Spoken, Rows, Rows]:
        """Rows that are gone and have no successor are taken back, all at once; those left, and their successors."""
        if not len(gone):
            return NOTHING, gone, gone
        table = self._relation.table
        matched, added = self._matched(gone, delta.added)
        alone = ~matched
        if at.frozen > BEGINNING:
            alone &= np.minimum(self.ends.said_oe.view[gone], self.ends.said_ves(gone)) >= at.frozen
        rows = gone[alone]
        starts, said, ends = (column.view[rows] for column in (table.os, self._said, self.ends.said_oe))
        kept = np.full(len(rows), KEPT)
        taken_back = Spoken(
            np.zeros(len(rows), dtype=np.bool_), rows, said, ends, self.ends.longer(rows), kept, kept, starts
        )
        self._unsay(rows)
        return taken_back, gone[~alone], added

    def _matched(self, gone: Rows, added: Rows) -> tuple[NDArray[np.bool_], Rows]:
        """Which of the rows that are gone have a successor of the same name, and these."""
        starts = self._relation.table.os.view
        added = added[among(starts[together(added)], distinct(starts[gone]))]
        if not len(added):
            return np.zeros(len(gone), dtype=np.bool_), added
        both = np.concatenate([gone, added])
        high, low = self._relation.digests(both)
        matched = twins((starts[both], low, high))
        return matched[: len(gone)], added[matched[len(gone) :]]

    def _repair(self, name: Name, old: int, new: int | None, at: Thresholds, repairs: list[Repair]) -> bool:
        """Reading: R34, R3.  Whether the new row is to be said in place of the old one."""
        table = self._relation.table
        old_oe, old_ve = int(self.ends.said_oe.view[old]), self.ends.said_ve(old)
        new_oe, new_ve = self._new_ends(old_oe, new, at)
        alike = new is not None and self._alike(old, new)
        os, vs, said = int(table.os.view[old]), int(table.vs.view[old]), int(self._said.view[old])
        longer = int(self.ends.longer(np.array([old]))[0])
        if alike and vs < new_ve < old_ve and max(os, new_ve) > at.due:
            new_ve = old_ve
        if alike and new is not None and (old_oe, old_ve) == (new_oe, new_ve):
            self._pass_on(old, new, new_oe, new_ve)
            self._ghosts.pop(name, None)
            return False
        new_frozen = new is None or min(new_oe, new_ve) < at.frozen
        if min(old_oe, old_ve) < at.frozen and new_frozen:
            self.frozen += name not in self._ghosts
            self._ghosts[name] = old
            return False
        self._ghosts.pop(name, None)
        shorter = new_oe <= old_oe and new_ve <= old_ve and not new_ve <= vs < old_ve
        if alike and new is not None and shorter:
            ends = (new_oe if new_oe != old_oe else KEPT, new_ve if new_ve != old_ve else KEPT)
            repairs.append(Repair(old, said, old_oe, longer, *ends, sync_after(os, *ends)))
            self._pass_on(old, new, new_oe, new_ve)
            return False
        repairs.append(Repair(old, said, old_oe, longer, KEPT, KEPT, os))
        self._unsay(np.array([old]))
        return not new_frozen

    def _recall(self, added: Rows, at: Thresholds, cedr_time: Time) -> tuple[Rows, Rows]:
        """Rows in the place of some that were said before a restart: those settled by it, and those said in place."""
        met = [(name, row) for name, row in zip(self._names(added), added.tolist(), strict=True) if name in self.ghosts]
        rows, back = np.array([row for _, row in met], dtype=np.int64), list[int]()
        for (name, row), event in zip(met, events_of(self._relation, rows), strict=True):
            ghost = self.ghosts[name]
            oe, ve = self._new_ends(ghost.event.occurrence_end, row, at)
            same = ghost.alike(event) and (oe, ve) == (ghost.event.occurrence_end, ghost.event.valid_end)
            if not same and min(oe, ve) < at.frozen:
                continue
            del self.ghosts[name]
            if ghost.alike(event) and ghost.outlasts(oe, ve):
                self.recalled.extend([] if same else [ghost.shortened(oe, ve, cedr_time)])
                self._said.view[row], self.ends.said_oe.view[row] = ghost.said, oe
                self._touched.append(np.array([row]))
            else:
                self.recalled.append(ghost.taken_back(cedr_time))
                back.append(row)
        return rows, np.array(back, dtype=np.int64)

    def all_ghosts(self) -> Iterable[tuple[Name, Ghost]]:
        """The rows that are frozen and meant no longer, as they were said."""
        rows = np.array(list(self._ghosts.values()), dtype=np.int64)
        columns = (
            events_of(self._relation, rows),
            self.ends.said_oe.view[rows].tolist(),
            self._said.view[rows].tolist(),
        )
        for name, event, oe, said in zip(self._ghosts, *columns, strict=True):
            yield name, Ghost(replace(event, occurrence_end=oe, valid_end=self.ends.said_ve(self._ghosts[name])), said)
        yield from self.ghosts.items()

    def _new_ends(self, old_oe: Time, new: int | None, at: Thresholds) -> tuple[Time, Time]:
        if new is None:
            return FOREVER, FOREVER
        table = self._relation.table
        oe = int(table.oe.view[new])
        if oe > at.due and oe != old_oe and oe < FOREVER:
            self.ends.close_later(new, oe)
            oe = FOREVER
        return oe, int(table.ve.view[new])

    def _pass_on(self, old: int, new: int, oe: Time, ve: Time) -> None:
        """The new row stands for what was said with the old one, under its K."""
        self._said.view[new], self.ends.said_oe.view[new] = self._said.view[old], oe
        if self.logged:
            self._touched.append(np.array([old, new]))
        if old != new:
            self._unsay(np.array([old]))
        if ve > int(self._relation.table.ve.view[new]):
            self.ends.shorten_later(new, ve)

    def _unsay(self, rows: Rows) -> None:
        self._said.view[rows] = UNSAID
        self.ends.unsaid(rows)

    def _alike(self, old: int, new: int) -> bool:
        """Whether two rows look the same but for their ends."""
        table = self._relation.table
        if any(column.view[old] != column.view[new] for column in (table.vs, table.rt)):
            return False
        one, other = self._relation.payloads(np.array([old, new]))
        return one == other

    def _names(self, rows: Rows) -> list[Name]:
        high, low = self._relation.digests(rows)
        starts = self._relation.table.os.view[rows]
        return list(zip(high.tolist(), low.tolist(), starts.tolist(), strict=True))

    def _closings(self, at: Thresholds) -> Iterable[Repair]:
        """Ends that have become due.  Reading: R33: ends are due like rows."""
        table = self._relation.table
        for row in self.ends.take(at.due):
            said, old, new = int(self._said.view[row]), int(self.ends.said_oe.view[row]), int(table.oe.view[row])
            new = new if new <= at.due else old
            os, ve, said_ve = int(table.os.view[row]), int(table.ve.view[row]), self.ends.said_ve(row)
            shortened = ve < said_ve and max(os, ve) <= at.due
            if said == UNSAID or not self._meant.view[row] or (old == new and not shortened):
                continue
            if min(old, said_ve) < at.frozen and min(new, ve) < at.frozen:
                continue
            ends = (new if new != old else KEPT, ve if shortened else KEPT)
            self.ends.said_oe.view[row] = new
            if shortened:
                self.ends.shortened(row)
            yield Repair(row, said, old, said_ve, *ends, sync_after(os, *ends))
