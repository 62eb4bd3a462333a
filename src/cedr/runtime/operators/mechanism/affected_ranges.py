"""The one mechanism of all pattern operators: affected ranges.

Paper: Section 3.3.2 and Section 5.  An event that arrives, is late or is taken back affects the outputs anchored within
the operator's scope of it, and no others.  That range is evaluated anew for those groups and compared with what was
there before; the difference is the change.  In-order input touches only the new end.  Readings: R9, R10, R28.

An output's *anchor* is a time that is known from its contributors: for SEQUENCE the last one's Vs, for UNLESS that of
its first operand.  Subclasses say how far a change reaches (``affects``), how far back one must look (``windows``), how
instances are found, and what header they get.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan.logical import Node
from cedr.runtime.kernels import segments as kernels
from cedr.runtime.operators.contract import Frontier, Line, Size, Snapshot
from cedr.runtime.operators.mechanism.beliefs import Intervals, Window
from cedr.runtime.operators.mechanism.evaluation import Evaluation
from cedr.runtime.operators.mechanism.inputs import Changed, Digest, Input
from cedr.runtime.operators.mechanism.instances import Chosen, Evaluated, chosen_from
from cedr.runtime.operators.mechanism.matching import unmatched
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.segments import in_order
from cedr.runtime.store.table import Delta, Header, Rows, Table
from cedr.runtime.store.times import earlier, later, until_before
from cedr.runtime.values.run_length import together


class PatternOperator(Evaluation):
    """Base of the pattern operators."""

    runs: ClassVar[type[Node] | None] = None
    """The class of logical nodes that it runs, if it is made for one by itself."""
    relation: Relation
    affects: list[Window]
    """For each input: how far before and after a changed row anchors may be affected."""
    lead = 0
    """How far after its anchor an output's Vs can lie."""
    waits: int | None = None
    """How long after its anchor an output may be undecided; None: it never is.  Reading: R36."""

    def __init__(self, inputs: Sequence[Input], table: Table) -> None:
        super().__init__(inputs, table)
        self._line = BEGINNING
        """Outputs anchored up to here are forgotten."""
        self._again = BEGINNING
        """Of these, outputs anchored after this instant are still needed above: a restart makes them again."""
        self._chosen: list[Chosen] = []
        self._newest = BEGINNING
        """No row with a larger Vs has come."""
        self.final = BEGINNING
        """Outputs anchored up to here are final once the changes at hand are taken in."""
        self._frozen = BEGINNING
        """Outputs with Vs up to here bear on nothing that may still be emitted.  Reading: R34."""

    # -- changes ------------------------------------------------------------------------------------------------------

    def ask(self, until: Time) -> list[Time]:  # noqa: ARG002 - later rows may decide about earlier ones
        """All that there is: what comes later may be looked for from an event."""
        return [FOREVER] * len(self.inputs)

    @property
    def withholds(self) -> bool:
        """What is found is told at once."""
        return False

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:
        """Take in the changes of all inputs; the change of the output."""
        self.final = min(self._final_up_to(frontiers), self._decided_up_to(frontiers, self._frozen))
        return self.change(deltas)

    def change(self, deltas: Sequence[Delta]) -> Delta:
        """The change of the output."""
        return self.anew(deltas)

    def anew(self, deltas: Sequence[Delta]) -> Delta:
        """The same, whatever changes: what is affected is evaluated anew."""
        changed: list[tuple[Changed, Window]] = []
        concerned: set[Digest] = set()
        for source, delta, window in zip(self.inputs, deltas, self.affects, strict=True):
            where, events = source.apply(delta)
            changed.extend((part, window) for part in where)
            concerned |= events
        if concerned:
            changed.extend((s.where(concerned), w) for s, w in zip(self.inputs, self.affects, strict=True))
        for part, _ in changed:
            if len(part.times):
                self._newest = max(self._newest, int(part.times.max()))
        if self._chosen:
            self._choose_again()
        return self.respond(changed)

    def respond(self, changed: Sequence[tuple[Changed, Window]]) -> Delta:
        """The change of the output, of changes that were taken in."""
        if not changed:
            return Delta()
        at = self._affected(changed)
        if not len(at.groups):
            return Delta()
        return self._difference(at, self._evaluate(at))

    def smooth(self, deltas: Sequence[Delta]) -> bool:
        """Whether all rows are plain, those known and those that change."""
        if self._chosen or any(source.rough for source in self.inputs):
            return False
        return all(
            source.relation.table.plain.implicit or source.relation.table.plain.view[rows].all()
            for source, delta in zip(self.inputs, deltas, strict=True)
            for rows in delta
        )

    def follows(self, deltas: Sequence[Delta]) -> bool:
        """Whether all that changes is plain rows after all that is known: they are known from now on."""
        return self.smooth(deltas) and self.appends(deltas)

    def appends(self, deltas: Sequence[Delta]) -> bool:
        """The same, where all rows are known to be plain."""
        if any(len(delta.removed) for delta in deltas):
            return False
        least, most = FOREVER, self._newest
        for source, delta in zip(self.inputs, deltas, strict=True):
            if len(delta.added):
                times = source.relation.table.vs.view[together(delta.added)]
                least, most = min(least, int(times.min())), max(most, int(times.max()))
        if least <= max(self._newest, self._line):
            return False
        self._newest = most
        return True

    def _affected(self, changed: Sequence[tuple[Changed, Window]]) -> Intervals:
        """The intervals of anchors that changes bear on, united where they overlap."""
        at = Intervals(NONE, NONE, NONE)
        for part, window in changed:
            some = self.reaches(part, window)
            at = Intervals(*kernels.merged(*at, *some)) if len(at.groups) else some
        if self._line > BEGINNING:
            low = np.maximum(at.low, self._line + 1)
            wanted = np.flatnonzero(low <= at.high)
            at = Intervals(at.groups[wanted], low[wanted], at.high[wanted])
        return at.united()

    def reaches(self, changed: Changed, window: Window) -> Intervals:
        """The anchors that each of some changes may bear on."""
        return Intervals(changed.groups, earlier(changed.times, window.before), later(changed.times, window.after))

    # -- choices made before -----------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot | None:
        """The outputs anchored up to the line that bear on later ones, by the names of their events.  Reading: R37."""
        if not self.endless:
            return None
        rows = self.outputs.held()
        anchors = self.shape(self._references(rows)).anchor
        old = rows[anchors <= self._again]
        header = list(zip(*(column.tolist() for column in self.table.header(old)), strict=True))
        columns = zip(self._kept(), self.table.references, strict=True)
        named = [self.inputs[index].names(column.view[old]) for index, column in columns]
        return [list(values) for values in zip(header, zip(*named, strict=True), strict=True)] if len(old) else []

    def restore(self, snapshot: Snapshot) -> None:
        """Choices made before, to be known again once the inputs are."""
        self._chosen = [chosen_from(values) for values in snapshot]

    def _kept(self) -> Sequence[int]:
        """The inputs that a row of the table refers to."""
        return range(len(self.inputs))

    def _references(self, rows: Rows) -> list[Rows]:
        """The row of each input for some rows of the table."""
        found = [np.full(len(rows), -1) for _ in self.inputs]
        for index, column in zip(self._kept(), self.table.references, strict=True):
            found[index] = column.view[rows]
        return found

    def _choose_again(self) -> None:
        known = []
        for index in self._kept():
            rows = self.inputs[index].store.held()
            known.append(dict(zip(self.inputs[index].names(rows), rows.tolist(), strict=True)))
        found = [
            (c.header, [-1 if n is None else k.get(n, -1) for n, k in zip(c.events, known, strict=True)])
            for c in self._chosen
        ]
        self._chosen = []
        found = [(header, rows) for header, rows in found if max(rows) >= 0]
        if not found:
            return
        header = Header(*(np.array(column) for column in zip(*(h for h, _ in found), strict=True)))
        references = [np.array(column, dtype=np.int64) for column in zip(*(r for _, r in found), strict=True)]
        groups = np.zeros(len(found), dtype=np.int64)
        for index, column in zip(self._kept(), references, strict=True):
            some = column >= 0
            groups[some] = self.inputs[index].groups(column[some])
        rows = self.table.extend(header, references)
        self.outputs.add(*in_order(groups, self.shape(self._references(rows)).anchor, rows))

    # -- differences --------------------------------------------------------------------------------------------------

    def _difference(self, at: Intervals, new: Evaluated) -> Delta:
        """What the rows of some intervals were, and what they are now."""
        store = self.outputs.sorted
        places = store.locate(at.groups, at.low, at.high)
        if not places.total:
            return Delta(NONE, self.say(new))
        _, place = places.expand()
        old = store.rows[place]
        gone, come = unmatched(self.table, old, new)
        removed = old[gone]
        groups = np.repeat(at.groups, places.counts)[gone]
        self.outputs.remove(groups, store.times[place][gone], removed)
        return Delta(removed, self.say(new.take(come)))

    def say(self, new: Evaluated) -> Rows:
        """Rows that are there from now on."""
        if not len(new.anchors):
            return NONE
        rows = self.table.extend(new.header, new.references, given=True)
        final = until_before(min(self.final, self._again), self.reach) if self.endless else self.final
        if final > BEGINNING:  # what can no longer change need not be found again
            if int(new.anchors.max()) <= final:
                return rows
            open_ = np.flatnonzero(new.anchors > final)
            self.outputs.add(*in_order(new.groups[open_], new.anchors[open_], rows[open_]))
        else:
            self.outputs.add(*in_order(new.groups, new.anchors, rows))
        return rows

    # -- what is known and what is forgotten --------------------------------------------------------------------------

    def decide(self, inputs: Sequence[Frontier], frozen: Time) -> None:  # noqa: ARG002 - for those who wait
        """Note what bears on nothing that may still be emitted."""
        self._frozen = frozen

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:
        """What is final by what reaches back how far; nothing of the inputs' guarantees that is undecided here."""
        known = min(part.guarantee for part in inputs)
        sync = self.undecided(known, frozen) if known > BEGINNING and self.waits is not None else None
        return Frontier(self._final_up_to(inputs), known if sync is None else min(known, plus(sync, -1)))

    def undecided(self, known: Time, frozen: Time) -> Time | None:  # noqa: ARG002 - most operators decide at once
        """The smallest Sync of a row with Vs after ``frozen`` that events after ``known`` may take back; None: none.

        Reading: R36.
        """
        return None

    def _final_up_to(self, inputs: Sequence[Frontier]) -> Time:
        """Rows anchored up to here are final: nothing that changes reaches back so far."""
        return min([until_before(part.final, w.before) for part, w in zip(inputs, self.affects, strict=True)])

    def _decided_up_to(self, inputs: Sequence[Frontier], frozen: Time) -> Time:
        """Outputs anchored up to here are not undecided; others are, maybe, though they are final.  Reading: R36."""
        if self.waits is None:
            return FOREVER
        known = min(part.guarantee for part in inputs)
        return max(until_before(known, self.waits), until_before(frozen, self.lead))

    def demand(self, line: Line, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:
        """Forget what bears on no change to come; up to where each input's rows bear on no output after the line.

        What is final here need not be found again; but others may still ask for it, and after a restart it is made anew
        from what is known: so what is forgotten here and what is needed below are not the same.
        """
        decided = self._decided_up_to(inputs, frozen)
        self._again = max(self._again, min(until_before(line.vs, self.lead), decided))
        self._line = max(self._line, min(self._final_up_to(inputs), decided), self._again)
        self.outputs.forget(until_before(self._again, self.reach) if self.endless else self._line)
        unheard = [BEGINNING] * len(self.inputs) if line.ve == BEGINNING else self.unheard(line.ve)
        for source, until in zip(self.inputs, self._needed(self._line, unheard), strict=True):
            source.forget(until)
        needed = self._needed(self._again, unheard)
        if self.endless:  # what was chosen is known by its events, so these must be known for as long
            needed = [min(until, until_before(self._again, self.reach)) for until in needed]
        return [Line(until) for until in needed]

    def _needed(self, line: Time, unheard: Sequence[Time]) -> list[Time]:
        """Up to where the rows of each input do not matter to outputs after a line."""
        return [max(until_before(line, w.before), least) for w, least in zip(self.windows, unheard, strict=True)]

    def unheard(self, ended: Time) -> Sequence[Time]:  # noqa: ARG002 - for those who can tell
        """Up to which Vs no row of each input bears on an output whose Ve is not before some time.  Reading: R34."""
        return [BEGINNING] * len(self.inputs)

    @property
    def ties(self) -> int:
        """None where no order is asked for."""
        return 0

    @property
    def size(self) -> Size:
        """Rows and bytes of the sorted stores."""
        rows = sum(len(source.store) for source in self.inputs)
        return Size(rows, sum(source.nbytes for source in self.inputs) + self.outputs.nbytes + self.table.nbytes)
