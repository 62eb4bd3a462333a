"""ATLEAST, and with it ALL and ANY.

Paper: Section 3.3.2, "Event Sequencing".  Readings: R12, R13, R25, R49.  Instances grow from their last contributor
back, by one event of any parameter that is not yet filled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cedr.model.modes import Selection
from cedr.model.time import FOREVER, Time, plus
from cedr.plan import logical
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.operators.mechanism.beliefs import Window
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.mechanism.instances import Asked, Found, Shape
from cedr.runtime.operators.pattern.composite import Composite, relation_of
from cedr.runtime.store.composite_table import order_of_time
from cedr.runtime.store.table import Delta, Mask, Rows, picked
from cedr.runtime.store.times import earlier, later


class AtLeast(Composite):
    """``ATLEAST(n, E1, …, Ek, w)``.  Paper: Section 3.3.2.  Reading: R12."""

    runs = logical.AtLeast

    def __init__(self, node: logical.AtLeast, inputs: Sequence[Input], conjuncts: Conjuncts) -> None:
        super().__init__(node, inputs, conjuncts, node.scope)
        self._count = node.count
        self.relation = relation_of(self.table, node.place, [i.relation for i in inputs], ordered=False)
        both_ways = bool(self.parameters.selects)
        unbounded = both_ways and node.count == 1  # nothing else bounds the choice
        scope = FOREVER if unbounded else node.scope if node.count > 1 else 0
        self._choice = scope
        """How far apart the anchors of instances lie between which is chosen."""
        after = FOREVER if self.endless else plus(scope, scope) if both_ways else scope
        self.affects = [Window(scope if both_ways else 0, after)] * len(inputs)
        before = plus(scope, scope) if both_ways else scope
        self.windows = [Window(before, scope if both_ways else 0)] * len(inputs)
        if Selection.LAST in self.parameters.selections:
            self.waits = scope
        tables = [id(source.relation.table) for source in inputs]
        self._shared = len(set(tables)) < len(tables)
        """Whether one event may fill several parameters."""

    def change(self, deltas: Sequence[Delta]) -> Delta:
        """The change of the output."""
        delta = self.anew(deltas)
        self.tie_count.take_in()
        return delta

    # -- instances ----------------------------------------------------------------------------------------------------

    def instances(self, asked: Asked) -> Found:
        """n events of n different parameters, strictly increasing Vs, within w.  Readings: R12, R49.

        WITH TIES (Vs, parameter) increases, so that each instance is found once.
        """
        parts = []
        for index, store in enumerate(asked.inputs):
            owner, place = store.locate(*asked.at).expand()
            columns = [np.full(len(owner), -1) for _ in asked.inputs]
            columns[index] = store.rows[place]
            times = store.times[place]
            parts.append(self._heard(asked, _Grown(columns, owner, times, times, np.full(len(owner), index)), index))
        grown = _together(parts)
        for _ in range(self._count - 1):
            grown = _together([self._with_one_more(asked, grown, index) for index in range(len(asked.inputs))])
        found = Found(grown.columns, grown.owner)
        return found.take(self._first_assignments(found)) if self._shared and len(found.owner) else found

    def _with_one_more(self, asked: Asked, grown: _Grown, index: int) -> _Grown:
        grown = grown.take(grown.columns[index] < 0)
        store = asked.inputs[index]
        before = grown.first - 1
        if self.simultaneous.ties:
            before = np.where(index < grown.front, grown.first, before)
        places = store.locate(asked.at.groups[grown.owner], earlier(grown.last, self.scope), before)
        owner, place = places.expand()
        taken = grown.take(owner)
        taken.columns[index] = store.rows[place]
        front = np.full(len(owner), index)
        return self._heard(asked, _Grown(taken.columns, taken.owner, taken.last, store.times[place], front), index)

    def _heard(self, asked: Asked, grown: _Grown, added: int) -> _Grown:
        """What was heard, is in order, and satisfies the predicates of which the last variable was added."""
        keep = np.ones(len(grown.owner), dtype=np.bool_)
        if asked.known is not None:
            keep = self.parameters.relations[added].table.os.view[grown.columns[added]] <= asked.known
        for passing in (self.parameters.pass_(grown.columns, added), self.simultaneous.in_order(grown.columns, added)):
            if passing is not None:
                keep = keep & passing
        return grown if keep.all() else grown.take(keep)

    def _first_assignments(self, found: Found) -> Rows:
        """One instance per list of contributors: the first assignment in parameter order.  Reading: R12."""
        order = order_of_time(self.parameters.relations, found.references)
        tables = np.array([id(r.table) for r in self.parameters.relations])
        events = [_nth([np.full(len(order), t) for t in tables], order, j) for j in range(self._count)]
        rows = [_nth(found.references, order, j) for j in range(self._count)]
        lists = [found.owner, *events, *rows]
        sorted_ = np.lexsort((*reversed([order[:, j] for j in range(self._count)]), *reversed(lists)))
        same = np.ones(len(sorted_) - 1, dtype=np.bool_)
        for column in lists:
            same &= column[sorted_][1:] == column[sorted_][:-1]
        return np.sort(sorted_[np.append(True, ~same)])

    # -- choice -------------------------------------------------------------------------------------------------------

    def find(self, asked: Asked) -> Found:
        """The instances that are output: choices look both ways, so their neighbours take part."""
        if self._consumption is not None or not self.parameters.selects:
            return super().find(asked)
        at = asked.at
        low, high = earlier(at.low, self._choice), later(at.high, self._choice)
        found = self.instances(asked._replace(at=at._replace(low=low, high=high)))
        anchors = self.shape(found.references).anchor
        inside = (anchors >= at.low[found.owner]) & (anchors <= at.high[found.owner])
        return found.take(self.selected(asked, found) & inside)

    def selected(self, asked: Asked, found: Found) -> Mask:  # noqa: ARG002 - all that is compared was found
        """Reading: R25, by comparing instances that agree in all other parameters."""
        keep = np.ones(len(found.owner), dtype=np.bool_)
        for index in self.parameters.selects:
            relation, rows = self.parameters.relations[index], found.references[index]
            here = np.flatnonzero(rows >= 0)
            if not len(here):
                continue
            times = relation.table.vs.view[rows[here]]
            times = times if self.parameters.selections[index] is Selection.FIRST else -times
            others = [c[here] for i, c in enumerate(found.references) if i != index]
            order = np.lexsort((relation.ranks(rows[here]), times, *others, found.owner[here]))
            first = np.ones(len(order), dtype=np.bool_)
            if len(order) > 1:
                same = found.owner[here][order][1:] == found.owner[here][order][:-1]
                for column in others:
                    same &= column[order][1:] == column[order][:-1]
                first[1:] = ~same
            keep[here[order[~first]]] = False
        return keep

    # -- rows ---------------------------------------------------------------------------------------------------------

    def shape(self, references: list[Rows]) -> Shape:
        """``[last.Vs, first.Vs + w)``.  Reading: R12."""
        n = len(references[0])
        first, last = np.full(n, FOREVER), np.full(n, -FOREVER)
        for relation, rows in zip(self.parameters.relations, references, strict=True):
            times = picked(relation.table.vs, rows)
            first = np.where(rows >= 0, np.minimum(first, times), first)
            last = np.where(rows >= 0, np.maximum(last, times), last)
        return Shape(last, last, later(first, self.scope), self.root_times(references))

    def undecided(self, known: Time, frozen: Time) -> Time | None:
        """LAST looks both ways.  Reading: R36."""
        choosing = [i for i in self.parameters.selects if self.parameters.selections[i] is Selection.LAST]
        return self.undecided_choice(known, frozen, choosing) if choosing else None


class _Grown:
    """Instances that are being found, with the times of their last and their so far first contributor.

    ``front`` is the parameter of the so far first one.
    """

    def __init__(self, columns: list[Rows], owner: Rows, last: Rows, first: Rows, front: Rows) -> None:
        self.columns, self.owner, self.last, self.first, self.front = columns, owner, last, first, front

    def take(self, chosen: Rows | Mask) -> _Grown:
        """Some of them."""
        columns = [column[chosen] for column in self.columns]
        return _Grown(columns, *(each[chosen] for each in (self.owner, self.last, self.first, self.front)))


def _together(parts: list[_Grown]) -> _Grown:
    columns = [np.concatenate(some) for some in zip(*(p.columns for p in parts), strict=True)]
    return _Grown(
        columns, *(np.concatenate([getattr(p, n) for p in parts]) for n in ("owner", "last", "first", "front"))
    )


def _nth(columns: Sequence[Rows], order: Rows, position: int) -> Rows:
    stacked = np.stack(list(columns), axis=1)
    picked: Rows = np.take_along_axis(stacked, np.maximum(order[:, position : position + 1], 0), axis=1)[:, 0]
    return picked
