"""UNLESS over a SEQUENCE of two, in one operator.

Paper: Section 3.3.2, "Event Sequencing" and "Negation".  Readings: R11, R15, R36.  Where only keys and times relate the
three, what cancels a pair depends on its last contributor alone: that one is looked at before pairs are made of it, and
a pair is one row, not one in each of two operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan import logical
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.kernels.pairs import none_within
from cedr.runtime.operators.mechanism.beliefs import Intervals, Window
from cedr.runtime.operators.mechanism.inputs import Changed, Input
from cedr.runtime.operators.mechanism.instances import Asked, Evaluated, Found, Shape
from cedr.runtime.operators.mechanism.semi_join import Sought, exists
from cedr.runtime.operators.mechanism.undecided import Search, Waiting
from cedr.runtime.operators.pattern.sequence import Sequence as SequenceOperator
from cedr.runtime.store.holders import NONE, Following
from cedr.runtime.store.relation import Reach, Relation
from cedr.runtime.store.segments import Sorted, in_order
from cedr.runtime.store.table import Delta, Header, Mask, Rows
from cedr.runtime.store.times import later, until

_CHUNK = 16
"""So many rows are looked at first: as a rule one of them waits."""
_FIRST, _LAST, _NEGATED = range(3)


class UnlessSequence(Waiting, SequenceOperator):
    """``UNLESS(SEQUENCE(E1, E2, w1), E3, w)``.  Paper: Section 3.3.2.  Readings: R11, R15.

    Rows of the last parameter wait, whose pairs may be cancelled.
    """

    awaiting = _LAST

    def __init__(self, node: logical.Unless, inputs: Sequence[Input], conjuncts: Conjuncts) -> None:
        assert isinstance(node.first, logical.Sequence)
        super().__init__(node.first, inputs[:_NEGATED], conjuncts)
        self.inputs = list(inputs)
        self._calm = node.scope
        reach = node.scope if node.scope == FOREVER else node.scope - 1
        self.affects.append(Window(reach, -1))
        self.windows.append(Window(-1, reach))
        self.waits = reach
        pairs = replace(self.relation, headers=self._pair_headers)
        self.relation = Relation(
            self.table, node.place, self.relation.variables, (), (), (Reach((), pairs),), self.relation.ordered
        )
        self._pair_times = _PairTimes()
        self.table.hold(self._pair_times)

    # -- what there is ------------------------------------------------------------------------------------------------

    def _kept(self) -> Sequence[int]:
        return _FIRST, _LAST

    def peers(self) -> Sequence[int]:
        """The inputs of the pair."""
        return _FIRST, _LAST

    def contributing(self) -> Sequence[int]:
        """The pair contributes, and so its events do."""
        return _FIRST, _LAST

    def unheard(self, ended: Time) -> Sequence[Time]:  # noqa: ARG002 - Ve is not that of the pair
        """Nothing is known by Ve alone."""
        return [BEGINNING] * len(self.inputs)

    def shape(self, references: list[Rows]) -> Shape:
        """``[e1.Vs, e1.Vs + w)``, e1 being the pair.  Reading: R15."""
        of_pair = super().shape(references)
        return of_pair._replace(ve=later(of_pair.vs, self._calm))

    @property
    def lifetime(self) -> tuple[bool, int]:
        """Counted from the last contributor."""
        return True, self._calm

    def cancelled(self, groups: Rows, times: Rows) -> Mask:
        """Of rows of the last parameter those that one of the negated operand follows within w."""
        return ~self._free(self.inputs[_NEGATED].store.sorted, groups, times, None)

    def _free(self, against: Sorted, groups: Rows, times: Rows, known: Time | None) -> Mask:
        low, high = times + 1, until(later(times, self._calm))
        relation = self.inputs[_NEGATED].relation
        if known is not None and relation.table.os.implicit:
            high, known = np.minimum(high, known), None
        if known is None:
            free = np.empty(len(times), dtype=np.bool_)
            none_within(*against, groups, low, high, free)
            return free
        sought = Sought(relation, Conjuncts(()), known=known)
        return ~exists(against, against.locate(groups, low, high), [(relation, NONE)], sought)

    def find(self, asked: Asked) -> Found:
        """The pairs that nothing cancels."""
        found = super().find(asked)
        times = self.parameters.times(_LAST, found.references[_LAST])
        groups = asked.at.groups[found.owner]
        return found.take(self._free(asked.inputs[_NEGATED], groups, times, asked.known))

    # -- the pairs themselves -----------------------------------------------------------------------------------------

    def _pair_headers(self, rows: Rows) -> Header:
        """The header of the pairs.  Readings: R10, R11."""
        first, last = (column.view[rows] for column in self.table.references)
        header = self.table.header(rows)
        header = header._replace(ve=later(self.parameters.times(_FIRST, first), self.scope))
        rough = header.rough
        if len(rough):
            os, oe = header.os.copy(), header.oe.copy()
            os[rough], oe[rough] = self._heard(rows[rough], [first[rough], last[rough]])
            header = header._replace(os=os, oe=oe)
        return header

    def _heard(self, rows: Rows, pair: list[Rows]) -> tuple[Rows, Rows]:
        """Os and Oe of pairs with revisions: as they are, or as they were when their events were forgotten."""
        told = np.array(
            [self._pair_times.of.get(row, (BEGINNING, FOREVER)) for row in rows.tolist()], np.int64
        ).reshape(-1, 2)
        remembered = [self.inputs[i].remembers(column) for i, column in enumerate(pair)]
        at = np.flatnonzero(remembered[_FIRST] & remembered[_LAST])
        os, oe = told[:, 0].copy(), told[:, 1].copy()
        os[at], oe[at] = self._believed_pairs([column[at] for column in pair])
        return os, oe

    def _believed_pairs(self, pair: list[Rows], known: Time | None = None) -> tuple[Rows, Rows]:
        """Os and Oe of pairs: they are believed while both events are.  Readings: R9, R10."""
        one, other = (self.inputs[i].believed(column, known) for i, column in enumerate(pair))
        start = np.maximum(np.maximum(one[0], other[0]), self._first_os(pair))
        return np.maximum(start, self.parameters.times(_LAST, pair[_LAST])), np.minimum(one[1], other[1])

    def say(self, new: Evaluated) -> Rows:
        """Rows that are there from now on; of those with revisions, how the pair was heard of is kept."""
        rows = super().say(new)
        rough = new.header.rough if len(rows) else NONE
        if len(rough):
            os, oe = self._believed_pairs([column[rough] for column in new.references])
            self._pair_times.of.update(
                zip(rows[rough].tolist(), zip(os.tolist(), oe.tolist(), strict=True), strict=True)
            )
        return rows

    # -- changes ------------------------------------------------------------------------------------------------------

    def change(self, deltas: Sequence[Delta]) -> Delta:
        """What cancels comes first: what is new is then judged by all that is known."""
        smooth, until_now = self.smooth(deltas), self._newest
        self.reopen(deltas)
        self._pending.add(deltas[_LAST].added)
        if not smooth or not self.appends([*deltas[:_NEGATED], Delta()]):
            delta = self.anew(deltas)
            self.tie_count.take_in()
            return delta
        before = self._cancel(deltas[_NEGATED], until_now)
        come = self.appended(deltas[:_NEGATED])
        self.tie_count.take_in()
        return Delta(before.removed, np.concatenate([before.added, come.added])) if before else come

    def _cancel(self, delta: Delta, newest: Time) -> Delta:
        """Take in a change of the negated operand; it bears on nothing after the newest that was there before."""
        changed, _ = self.inputs[_NEGATED].apply(delta)
        near = [np.flatnonzero(part.times <= plus(newest, self._calm)) for part in changed]
        parts = [Changed(part.groups[some], part.times[some]) for part, some in zip(changed, near, strict=True)]
        return self.respond([(part, self.affects[_NEGATED]) for part in parts])

    # -- guarantees ---------------------------------------------------------------------------------------------------

    def search(self, rows: Rows, known: Time) -> Search:
        """The smallest Sync of a pair with ``Vs + w > g + 1`` that nothing known up to g has cancelled.

        Reading: R36.  Looked for in the order of Vs; what is found decided is not looked at again.
        """
        times = self._when(rows)
        waits = later(times, self._calm) > plus(known, 1)
        rows, times = rows[waits], times[waits]
        heard = np.flatnonzero(times <= known)
        heard = heard[np.argsort(times[heard], kind="stable")]
        decided = np.zeros(len(times), dtype=np.bool_)
        least, first, done, size = FOREVER, NONE, 0, _CHUNK
        while done < len(heard) and least > times[heard[done]]:
            chunk = heard[done : done + size]
            done, size = done + size, 4 * size
            open_, syncs = self._open_among(rows[chunk], times[chunk], known)
            decided[chunk] = ~np.isin(rows[chunk], open_) & self._smooth(rows[chunk])
            if len(syncs) and int(syncs.min()) < least:
                least = int(syncs.min())
                first = open_[syncs == least][:1]
        if len(first) and not self._smooth(first).all():
            first = NONE
        return Search(rows[~decided], None if least == FOREVER else least, first)

    def stands(self, first: Rows, known: Time) -> bool:
        """Whether it is still to be waited for: its pairs are final, so only what cancels it is looked for."""
        times = self._when(first)
        if int(later(times, self._calm)[0]) <= plus(known, 1):
            return False
        return bool(self._free(self.inputs[_NEGATED].store.sorted, self.inputs[_LAST].groups(first), times, known)[0])

    def _open_among(self, rows: Rows, times: Rows, known: Time) -> tuple[Rows, Rows]:
        """Of rows of the last parameter those with pairs that stand, by what is known, and the Sync of these pairs."""
        groups, times, _ = in_order(self.inputs[_LAST].groups(rows), times, rows)
        found = self._evaluate(Intervals(groups, times, times).united(), known)
        syncs, rough = found.header.vs, found.header.rough
        if len(rough):
            syncs = syncs.copy()
            syncs[rough], _ = self._believed_pairs([column[rough] for column in found.references], known)
        return found.references[_LAST], syncs


class _PairTimes(Following):
    """Os and Oe of the pairs of rows with revisions; they go with the rows."""

    def __init__(self) -> None:
        self.of: dict[int, tuple[Time, Time]] = {}

    def renumber(self, new: Rows) -> None:
        """Take over the new numbers of the rows."""
        moved = ((int(new[row]), times) for row, times in self.of.items())
        self.of = {row: times for row, times in moved if row >= 0}

    def clear(self) -> None:
        """There are no rows."""
        self.of.clear()
