"""SEQUENCE.

Paper: Section 3.3.2, "Event Sequencing".  Readings: R11, R25, R49.  Instances are found from their last contributor
back: for each anchor the rows of the parameter before it are a range of a sorted store, and so on.  Where LAST on the
last parameter chooses by the future, they are anchored at their first contributor and found forward.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Several
from itertools import pairwise

import numpy as np

from cedr.model.modes import Selection
from cedr.model.time import FOREVER, Time
from cedr.plan import logical
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.kernels import pairs as kernels
from cedr.runtime.kernels.segments import is_sorted
from cedr.runtime.operators.mechanism.beliefs import Intervals, Window
from cedr.runtime.operators.mechanism.inputs import Changed, Input
from cedr.runtime.operators.mechanism.instances import Asked, Evaluated, Found, Shape
from cedr.runtime.operators.mechanism.semi_join import Condition, Sought, chunks, exists
from cedr.runtime.operators.pattern.composite import Composite
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Relation
from cedr.runtime.store.segments import Places, Sorted, by_time
from cedr.runtime.store.table import Delta, Mask, Rows, plain_header
from cedr.runtime.store.times import earlier, later
from cedr.runtime.values.run_length import together


class Sequence(Composite):
    """``SEQUENCE(E1, …, Ek, w)``.  Paper: Section 3.3.2.  Reading: R11."""

    runs = logical.Sequence

    def __init__(self, node: logical.Sequence, inputs: Several[Input], conjuncts: Conjuncts) -> None:
        super().__init__(node, inputs, conjuncts, node.scope)
        scope, count = node.scope, len(node.parameters)
        self._forward = count > 1 and node.parameters[-1].selection is Selection.LAST
        if count == 1 and node.parameters[0].selection is Selection.FIRST:
            scope = FOREVER  # nothing bounds it: the first of all time
        self._timely = self._timely_parameters()
        after = FOREVER if self.endless else scope
        if self._forward:
            self.lead = self.waits = scope
            self.affects = [Window(scope, 0)] * count
            self.windows = [Window(0, scope)] * count
            if node.parameters[0].selection is Selection.FIRST:  # it may beat one that comes later, an anchor itself
                self.affects[0] = self.windows[0] = Window(scope, scope)
        else:
            self.affects = [Window(0, after)] * count
            self.windows = [Window(scope, 0)] * count
            if node.parameters[-1].selection is Selection.EACH and not self.endless:
                self.affects[-1] = Window(0, 0)  # it takes nothing from others
        self._pairs = self._only_pairs()

    def _only_pairs(self) -> bool:
        """Whether there are two parameters that only keys and times relate, each EACH or its neighbour."""
        modes = self.parameters
        if len(modes) != 2 or self._forward or self.endless or modes.conjuncts.predicates:
            return False
        if self.simultaneous.shares(0):
            return False
        first, last = modes.selections
        return first in (Selection.EACH, Selection.LAST) and last in (Selection.EACH, Selection.FIRST)

    def reaches(self, changed: Changed, window: Window) -> Intervals:
        """Where each row goes with its neighbours alone, a change reaches no further than the next one."""
        at = super().reaches(changed, window)
        if self._pairs and self.parameters.selections[-1] is Selection.FIRST:
            high = at.high.copy()
            kernels.until_next(*self.inputs[1].store.sorted, changed.groups, changed.times, high)
            at = at._replace(high=high)
        return at

    def change(self, deltas: Several[Delta]) -> Delta:
        """Rows that come after all that is known bear on nothing before them."""
        delta = self.appended(deltas) if self._pairs and self.follows(deltas) else self.anew(deltas)
        self.tie_count.take_in()
        return delta

    def appended(self, deltas: Several[Delta]) -> Delta:
        """Take in rows of both parameters of a pair that come after all that is known of them."""
        _, last = (self.inputs[i].apply(delta)[0] for i, delta in enumerate(deltas))
        if not last:
            return Delta()
        groups, times = last[0]
        places = np.empty(len(groups), dtype=np.int64)
        kernels.appended(self.inputs[1].store.sorted.pieces, groups, places)
        found = self._found_pairs(groups, places, lambda: self._in_time(deltas[1].added, places, times))
        if found is None:
            found = super()._plain(Intervals(groups, times, times).united(), None)
        return Delta(NONE, self.say(found))

    def _in_time(self, added: Rows, places: Rows, times: Rows) -> Rows:
        """The order of time: so that what is said need not be sorted again, and what is read lies together."""
        store, at = self.inputs[1].store.sorted, together(added)
        if not isinstance(at, slice) or len(places) < len(added):
            return by_time(times)
        if not is_sorted(self.parameters.relations[-1].table.vs.view[at]):
            return by_time(times)
        order = np.empty(len(places), dtype=np.int64)  # they came in the order of time
        order[store.rows[places] - at.start] = np.arange(len(places))
        return order

    def _plain(self, at: Intervals, known: Time | None) -> Evaluated:
        if self._pairs and known is None:
            owner, places = self.inputs[1].store.sorted.locate(*at).expand()
            found = self._found_pairs(at.groups[owner], places)
            if found is not None:
                return found
        return super()._plain(at, known)

    def _found_pairs(self, groups: Rows, places: Rows, order: Callable[[], Rows] | None = None) -> Evaluated | None:
        """All in one go, of anchors by their groups and places; None where IDs decide between rows at one time."""
        if not self._pairs:
            return None
        first, last = (self.inputs[i].store.sorted for i in range(2))
        ranges = np.empty((len(places), 4), dtype=np.int64)
        mode_of_first, mode_of_last = self.parameters.selections
        modes = (mode_of_last is Selection.FIRST, mode_of_first is Selection.LAST, self.simultaneous.ties)
        total, _ = kernels.ranges(first, last, (groups, places), self.scope, modes, ranges)
        if total == kernels.TIED:
            return None
        cancelled = self.cancelled(groups, last.times[places])
        if cancelled is not None:
            ranges[cancelled, kernels.HIGH] = ranges[cancelled, kernels.LOW]
            total = int((ranges[:, kernels.HIGH] - ranges[:, kernels.LOW]).sum())
        chosen = np.arange(len(places), dtype=np.int64) if order is None else order()
        own = np.empty(total, dtype=np.int64)
        columns = (*(self.table.lend(total) if order is not None else (np.empty_like(own) for _ in range(5))), own)
        kernels.pairs(first.entries, last.entries, ranges, chosen, self.lifetime, columns)
        references, (vs, ve, rt, of) = list(columns[:2]), columns[2:]
        if not all(relation.table.rt.implicit for relation in self.parameters.relations):
            rt = self.root_times(references)
        return Evaluated(references, plain_header(vs, ve, rt), of, vs)

    @property
    def lifetime(self) -> tuple[bool, int]:
        """When a pair ends: whether that is counted from its last contributor, and how much later it is."""
        return False, self.scope

    def cancelled(self, groups: Rows, times: Rows) -> Mask | None:  # noqa: ARG002 - for those who know
        """Of rows of the last parameter, by their groups and times, those that make no pairs; None: all make some."""
        return None

    def anchors(self, references: list[Rows]) -> Rows:
        """The last contributor's Vs; the first one's where the last is chosen by the future."""
        index = 0 if self._forward else -1
        return self.parameters.times(index % len(references), references[index])

    def instances(self, asked: Asked) -> Found:
        """All instances that satisfy times and predicates, and what of FIRST and LAST is cheap to see on the way."""
        step = -1 if not self._forward else 1
        order = list(range(len(self.parameters)))[::step]
        found = self._anchored(asked, order[0])
        for previous, index in pairwise(order):
            found = self._extended(asked, found, previous, index)
        return Found([column for column in found.columns if column is not None], found.owner)

    def _anchored(self, asked: Asked, index: int) -> _Partial:
        store = asked.inputs[index]
        owner, place = store.locate(*asked.at).expand()
        begun = _Partial([None] * len(self.parameters), owner, place)
        partial = self._filtered(asked, begun, index, store.rows[place])
        if not self._forward and index in self._quick(asked):
            times = self.parameters.times(index, partial.column(index))
            same = (partial.owner[1:] == partial.owner[:-1]) & (times[1:] == times[:-1])
            partial = self._untied(partial, index, np.cumsum(np.append(0, ~same))[: len(times)])
        return partial

    def _filtered(self, asked: Asked, partial: _Partial, index: int, rows: Rows) -> _Partial:
        """With a further column, of which only what was heard, is in order and satisfies the predicates stays."""
        columns = list(partial.columns)
        columns[index] = rows
        keep: Mask | None = None
        if asked.known is not None:
            keep = self.parameters.relations[index].table.os.view[rows] <= asked.known
        for passing in (self.parameters.pass_(columns, index), self.simultaneous.in_order(columns, index)):
            if passing is not None:
                keep = passing if keep is None else keep & passing
        partial = _Partial(columns, partial.owner, partial.anchors)
        return partial if keep is None or keep.all() else partial.take(keep)

    def _extended(self, asked: Asked, partial: _Partial, previous: int, index: int) -> _Partial:
        store = asked.inputs[index]
        groups = asked.at.groups[partial.owner]
        places = self._places(asked, store, groups, partial, previous, index)
        if places.total <= len(groups) * 4 or places.total < 1 << 20 or not self.parameters.conjuncts.predicates:
            return self._expanded(asked, partial, store, places, index)
        parts = []
        for chunk in chunks(places.counts):
            some = Places(places.begin[chunk], places.end[chunk], int(places.counts[chunk].sum()))
            parts.append(self._expanded(asked, partial.take(chunk), store, some, index))
        return _joined(parts)

    def _expanded(self, asked: Asked, partial: _Partial, store: Sorted, places: Places, index: int) -> _Partial:
        owner, place = places.expand()
        extended = self._filtered(asked, partial.take(owner), index, store.rows[place])
        return self._untied(extended, index, owner) if index in self._quick(asked) else extended

    def _untied(self, partial: _Partial, index: int, clusters: Rows) -> _Partial:
        keep = self.parameters.smallest_ids(index, clusters, partial.column(index))
        return partial if keep.all() else partial.take(keep)

    def _places(
        self, asked: Asked, store: Sorted, groups: Rows, partial: _Partial, previous: int, index: int
    ) -> Places:
        times = self.parameters.times
        near, quick = times(previous, partial.column(previous)), self._quick(asked)
        apart = self.simultaneous.apart
        if self._forward:
            places = store.locate(groups, near + apart, later(times(0, partial.column(0)), self.scope))
            return self._cluster(store, groups, places, places.end - 1) if index in quick else places
        last = len(self.parameters) - 1
        low = earlier(times(last, partial.column(last)), self.scope)
        if previous == last and last in quick:
            before = self._before(asked.inputs[last], groups, near, partial.anchors)
            low = np.maximum(low, before + 1 - apart)
        places = store.locate(groups, low, near - apart)
        if index in quick:
            nearest = self.parameters.selections[index] is Selection.LAST
            return self._cluster(store, groups, places, places.end - 1 if nearest else places.begin)
        return places

    def _quick(self, asked: Asked) -> frozenset[int]:
        """The parameters whose FIRST or LAST is a matter of time alone: only the nearest rows need to be looked at."""
        return self._timely if asked.known is None else frozenset()

    def _timely_parameters(self) -> frozenset[int]:
        modes, last = self.parameters, len(self.parameters) - 1
        if self.endless or last == 0:
            return frozenset()
        free = [i for i in modes.selects if modes.free(i) and not self.simultaneous.shares(i)]
        if self._forward:
            return frozenset(i for i in free if i == last)
        first, latest = ({i for i in free if modes.selections[i] is mode} for mode in (Selection.FIRST, Selection.LAST))
        if last == 1 and last in first:
            first -= {0}  # the first of all that go with the last one, not only of those that it is the first for
        return frozenset(latest | (first & {0, last}))

    def _before(self, store: Sorted, groups: Rows, times: Rows, places: Rows) -> Rows:
        """The time of the row before some rows of a store; rows at the same time do not count."""
        has = places > store.start[groups]
        before: Rows = np.where(has, store.times[places - 1], -FOREVER)
        tied = np.flatnonzero(before == times)
        if len(tied):
            earlier_ones = store.locate(groups[tied], np.full(len(tied), -FOREVER), times[tied] - 1)
            some = earlier_ones.counts > 0
            before[tied] = -FOREVER
            before[tied[some]] = store.times[earlier_ones.end[some] - 1]
        return before

    def _cluster(self, store: Sorted, groups: Rows, places: Places, at: Rows) -> Places:
        """The places of the rows at one time, that of the place given."""
        some = places.counts > 0
        if not some.any():
            return places
        when = np.zeros(len(at), dtype=np.int64)
        when[some] = store.times[at[some]]
        low, high = when.copy(), when.copy()
        high[~some] = low[~some] - 1
        return store.locate(groups, low, high)

    def selected(self, asked: Asked, found: Found) -> Mask:
        """Reading: R25: no other instance that agrees in all other parameters has an earlier (later) event."""
        keep = np.ones(len(found.owner), dtype=np.bool_)
        for index in self.parameters.selects:
            if index not in self._quick(asked) and keep.any():
                chosen = np.flatnonzero(keep)
                keep[chosen] = ~self._beaten(asked, found.take(chosen), index)
        return keep

    def _beaten(self, asked: Asked, found: Found, index: int) -> Mask:
        modes, rows = self.parameters, found.references
        last, own, apart = len(modes) - 1, modes.times(index, rows[index]), self.simultaneous.apart
        if modes.selections[index] is Selection.FIRST:
            low = modes.times(index - 1, rows[index - 1]) + apart if index else self._earliest(rows)
            high = own - 1
        else:
            low = own + 1
            high = (
                modes.times(index + 1, rows[index + 1]) - apart
                if index < last
                else later(modes.times(0, rows[0]), self.scope)
            )
        groups, store = asked.at.groups[found.owner], asked.inputs[index]
        others = [(modes.relations[i], column) for i, column in enumerate(rows) if i != index]
        allowed = self.simultaneous.replacing(rows, index)
        sought = Sought(modes.relations[index], modes.conjuncts, modes.variables[index], allowed, asked.known)
        beaten = exists(store, store.locate(groups, low, high), others or [(modes.relations[0], rows[0])], sought)
        ties = store.locate(groups, own, own)
        tied = np.flatnonzero(~beaten & (ties.counts > 1))
        if len(tied):
            allowed = self.simultaneous.replacing([column[tied] for column in rows], index)
            smaller = Smaller(modes.relations[index], rows[index][tied], allowed)
            some = Places(ties.begin[tied], ties.end[tied], int(ties.counts[tied].sum()))
            parts = [(relation, column[tied]) for relation, column in others]
            beaten[tied] = exists(
                store, some, parts or [(modes.relations[0], rows[0][tied])], sought._replace(condition=smaller)
            )
        return beaten

    def _earliest(self, rows: list[Rows]) -> Rows:
        if len(rows) == 1:
            return np.full(len(rows[0]), -FOREVER)
        return earlier(self.parameters.times(len(rows) - 1, rows[-1]), self.scope)

    def shape(self, references: list[Rows]) -> Shape:
        """``[ek.Vs, e1.Vs + w)``.  Reading: R11."""
        first, last = (self.parameters.times(i, references[i]) for i in (0, len(references) - 1))
        anchor = first if self._forward else last
        return Shape(anchor, last, later(first, self.scope), self.root_times(references))

    def undecided(self, known: Time, frozen: Time) -> Time | None:
        """LAST on the last parameter: until g reaches the Vs of the first + w.  Reading: R36."""
        return self.undecided_choice(known, frozen, [len(self.parameters) - 1]) if self._forward else None


class Smaller:
    """Of rows at one time: whether a candidate is allowed and has a smaller ID than an instance's own row.

    Readings: R25, R42.
    """

    def __init__(self, relation: Relation, rows: Rows, allowed: Condition | None) -> None:
        self._relation, self._rows, self._allowed = relation, rows, allowed

    def __call__(self, owner: Rows, candidates: Rows) -> Mask:
        """Which candidates do."""
        ranks = self._relation.ranks(np.concatenate([self._rows[owner], candidates]))
        smaller: Mask = ranks[len(owner) :] < ranks[: len(owner)]
        return smaller if self._allowed is None else smaller & self._allowed(owner, candidates)


class _Partial:
    """Instances that are being found: a column for each parameter seen so far."""

    def __init__(self, columns: list[Rows | None], owner: Rows, anchors: Rows) -> None:
        self.columns, self.owner, self.anchors = columns, owner, anchors

    def column(self, index: int) -> Rows:
        """The rows of a parameter."""
        found = self.columns[index]
        assert found is not None
        return found

    def take(self, chosen: Rows | Mask | slice) -> _Partial:
        """Some of the instances."""
        columns = [None if c is None else c[chosen] for c in self.columns]
        return _Partial(columns, self.owner[chosen], self.anchors[chosen])


def _joined(parts: list[_Partial]) -> _Partial:
    columns = [
        None if some[0] is None else np.concatenate([c for c in some if c is not None])
        for some in zip(*(p.columns for p in parts), strict=True)
    ]
    return _Partial(columns, *(np.concatenate([getattr(p, name) for p in parts]) for name in ("owner", "anchors")))
