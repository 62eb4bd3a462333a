"""Operators whose rows are each made of one row of their first input, with others of the group bearing on its lifetime.

Paper: Section 6.  Readings: R9, R10 (runs of beliefs), R29, R31.  A change concerns some rows of its group; these are
evaluated anew and compared with what was there.  A group with revisions is evaluated as a whole, run by run of beliefs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.ids.text_ids import Digests, Making, integer_digests
from cedr.runtime.operators.contract import Frontier, Line, Size, Snapshot, before
from cedr.runtime.operators.mechanism.groups import Groups
from cedr.runtime.operators.mechanism.members import Changes, Members, added_up
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Hop, Relation
from cedr.runtime.store.segments import Segments, in_order
from cedr.runtime.store.table import Delta, Header, Rows, Table, each_once, plain_header

Content = tuple[int, Time, Time]
"""The row of the input that a row is made of, and its lifetime."""


class Made(NamedTuple):
    """A row that the output should have."""

    of: int
    vs: Time
    ve: Time
    os: Time
    oe: Time
    plain: bool


def behind(source: Relation, table: Table) -> Relation:
    """What rows of a relation show, seen from rows of a table that refer to them."""
    hops: tuple[Hop, ...] = ((table, 0),)
    return Relation(
        table,
        source.stream,
        {name: reach.behind(hops) for name, reach in source.variables.items()},
        (*hops, *source.payload),
        (*hops, *source.identity),
        tuple(reach.behind(hops) for reach in source.contributors),
        source.ordered,
        source.projection,
    )


def ids_of_pieces(place: str, source: Relation, table: Table, rows: Rows) -> Digests:
    """The IDs of parts of lifetimes: ``idgen`` over place, stream and ID of the row, and Vs.  Reading: R8."""
    making = Making(place, len(rows))
    making.take_in(source.stream_digest, *source.ids(table.references[0].view[rows]))
    making.take_in_each(integer_digests(table.vs.view[rows]))
    return making.finish()


class GroupRows:
    """Base of SESSION, COALESCED, EXCEPT and TOP."""

    relation: Relation
    lineage = False
    """Whether a row occurs no earlier than the event that it is made of.  Reading: R10."""

    def __init__(self, source: Relation, groups: Groups, table: Table) -> None:
        self.groups, self.table = groups, table
        self.members = Members(source, groups, searched=self.lineage)
        self.outputs = Segments(table)
        """The rows of the output that may still change, by group and the Vs of what they are made of."""
        self._line = BEGINNING
        """Rows of the output that end up to here stay as they are."""
        self._needed: list[Line] = []
        """What was asked of the inputs last."""
        self._loading = False
        """Whether the rows still known are to come."""
        groups.register(self.outputs)
        groups.watched_by(self)

    # -- what a subclass says -----------------------------------------------------------------------------------------

    def touched(self, group: int, changes: Changes) -> Rows:
        """The rows of a plain group of whose output something may have changed."""
        raise NotImplementedError

    def lifetimes(self, group: int, rows: Rows) -> Iterable[Content]:
        """The rows that some rows become, in a group that is believed always."""
        raise NotImplementedError

    def during(self, group: int, rows: Rows, run: tuple[Time, Time]) -> Iterable[Content]:
        """The same of all rows of a group that are believed over a run of occurrence instants."""
        raise NotImplementedError

    def needed(self, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:  # noqa: ARG002 - by guarantees
        """Forget what bears on no row of the output that ends after the line; what of each input does not.

        A row that goes on hangs on all that is alive from where it begins.
        """
        source = self.members.relation.table
        earliest, together = self.earliest(), self.in_rough()
        rows = np.setdiff1d(self.members.input.store.held(), together)
        until = np.minimum(self._line, earliest[self.members.groups(rows)] - 1)
        self.forget(rows[source.ve.view[rows] <= until])
        starts = np.concatenate([earliest, source.vs.view[together]])
        return [Line(self._line, BEGINNING, min(self._line, before(FOREVER, starts)))]

    def cuts(self, group: int) -> Iterable[Time]:  # noqa: ARG002 - one input alone has none
        """When beliefs about other inputs change."""
        return ()

    def apply(self, deltas: Sequence[Delta]) -> tuple[Changes, set[int]]:
        """Take in the changes of all inputs: those of the first, and the groups in which beliefs have changed."""
        changes, concerned = self.members.apply(deltas[0])
        return changes, set(self.members.input.where(concerned).groups.tolist())

    def rough(self) -> set[int]:
        """The groups that hold revisions."""
        return set(self.members.input.rough)

    def also_changed(self) -> set[int]:
        """The groups that have changed by other inputs alone."""
        return set()

    # -- changes ------------------------------------------------------------------------------------------------------

    def ask(self, until: Time) -> list[Time]:
        """What begins later bears on what begins later."""
        return [until]

    @property
    def withholds(self) -> bool:
        """What changes is told at once."""
        return False

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:  # noqa: ARG002 - as all do
        """The change of the output."""
        self._loading = False
        was = self.rough()
        changes, whole = self.apply(deltas)
        now = self.rough()
        changed = set(changes.groups.tolist()) | self.also_changed()
        whole |= (was | now) & changed
        old: list[Rows] = []
        new: list[tuple[int, Made]] = []
        for group in sorted(changed | whole):
            if group in now:
                made: Iterable[Made] = self._believed(group)
                rows = self._of_group(group)
            else:
                own = changes.take(changes.groups == group)
                anew = group in whole
                some = self.members.from_start(group, BEGINNING) if anew else self.touched(group, own)
                made = (Made(of, vs, ve, vs, FOREVER, plain=True) for of, vs, ve in self.lifetimes(group, some))
                rows = (
                    self._of_group(group) if anew else self.made_of(group, np.concatenate([some, own.rows[~own.came]]))
                )
            old.append(rows[self.table.ve.view[rows] > self._line])
            new.extend((group, each) for each in made if each.ve > self._line)
        return self._difference(np.concatenate([NONE, *old]), new)

    def _of_group(self, group: int) -> Rows:
        store = self.outputs.sorted
        places = store.locate(*(np.array([value], np.int64) for value in (group, BEGINNING, FOREVER)))
        found: Rows = store.rows[places.expand()[1]]
        return found

    def made_of(self, group: int, rows: Rows) -> Rows:
        """The rows of the output that were made of some rows."""
        times = np.unique(self.members.relation.table.vs.view[rows])
        store = self.outputs.sorted
        found = store.rows[store.locate(np.full(len(times), group), times, times).expand()[1]]
        return found[np.isin(self.table.references[0].view[found], rows)]

    def _believed(self, group: int) -> list[Made]:
        """The rows of a group with revisions: run by run of beliefs.  Readings: R9, R10."""
        members = self.members
        rows = members.from_start(group, BEGINNING)
        starts, stops = members.input.believed(rows)
        cuts = sorted({BEGINNING, FOREVER, *starts.tolist(), *stops.tolist(), *self.cuts(group)})
        held: dict[Content, list[list[Time]]] = {}
        for since, until in pairwise(cuts):
            believed = rows[(starts <= since) & (since < stops)]
            for content in self.during(group, believed, (since, until)):
                spans = held.setdefault(content, [])
                if spans and spans[-1][1] == since:
                    spans[-1][1] = until
                else:
                    spans.append([since, until])
        first = dict(zip(rows.tolist(), members.input.first_os(rows).tolist(), strict=True)) if self.lineage else {}
        return [
            Made(of, vs, ve, os, until, plain=False)
            for (of, vs, ve), spans in held.items()
            for since, until in spans
            for os in [max(since, vs, first.get(of, BEGINNING))]
            if until > os
        ]

    # -- differences --------------------------------------------------------------------------------------------------

    def _difference(self, old: Rows, new: Sequence[tuple[int, Made]]) -> Delta:
        header = self.table.header(old)
        of = self.table.references[0].view[old]
        columns = (c.tolist() for c in (of, header.vs, header.ve, header.os, header.oe, header.plain))
        known = {Made(*name): row for *name, row in zip(*columns, old.tolist(), strict=True)}
        come = [(group, made) for group, made in new if known.pop(made, None) is None]
        removed = np.array(sorted(known.values()), np.int64)
        if len(removed):
            self.outputs.remove(*self._placed(removed))
        return Delta(removed, self._make(come))

    def _placed(self, rows: Rows) -> tuple[Rows, Rows, Rows]:
        """Groups and times under which rows of the output are kept, in order."""
        of, groups = (column.view[rows] for column in self.table.references)
        return in_order(groups, self.members.relation.table.vs.view[of], rows)

    def _make(self, new: Sequence[tuple[int, Made]]) -> Rows:
        if not new:
            return NONE
        of, vs, ve, os, oe = (np.array(c, np.int64) for c in list(zip(*(m for _, m in new), strict=True))[:5])
        plain = np.array([made.plain for _, made in new], np.bool_)
        rt = self.members.relation.header(of).rt
        header = plain_header(vs, ve, rt) if plain.all() else Header(vs, ve, os, oe, rt, plain)
        groups = np.array([group for group, _ in new], np.int64)
        rows = self.table.extend(header, [of, groups])
        self.outputs.add(*in_order(groups, self.members.relation.table.vs.view[of], rows))
        return rows

    # -- what is known and what is forgotten --------------------------------------------------------------------------

    def decide(self, inputs: Sequence[Frontier], frozen: Time) -> None:
        """Nothing waits."""

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:  # noqa: ARG002 - decided at once
        """What happens up to an instant is final once no row can come or end up to it."""
        final = self._final(inputs)
        return Frontier(final, min(part.guarantee for part in inputs), final)

    def _final(self, inputs: Sequence[Frontier]) -> Time:
        return min(min(part.final, part.ended) for part in inputs)

    def demand(self, line: Line, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:
        """Rows that end up to an instant that is final, and for which nobody asks, stay as they are."""
        if not self._loading:
            unasked = min(line.vs, line.ended)
            if line.ve > BEGINNING:
                unasked = max(unasked, line.ve - 1)
            self._line = max(self._line, min(self._final(inputs), unasked))
            self._needed = self.needed(inputs, frozen)
        return self._needed

    def open_rows(self) -> Rows:
        """The rows of the output that end after the line."""
        rows = self.outputs.held()
        return rows[self.table.ve.view[rows] > self._line]

    def earliest(self) -> Rows:
        """Of each group the smallest Vs of a row that is not past; FOREVER where there is none."""
        rows = self.open_rows()
        found = np.full(len(self.groups), FOREVER)
        np.minimum.at(found, self.table.references[1].view[rows], self.table.vs.view[rows])
        return found

    def in_rough(self) -> Rows:
        """The rows of the input in groups that hold revisions: they are kept together."""
        groups = self.rough()
        found = [self.members.from_start(group, BEGINNING) for group in sorted(groups)]
        return each_once(len(self.members.relation.table), found) if found else NONE

    def forget(self, gone: Rows) -> None:
        """Drop rows of the input, and rows of the output that end up to the line."""
        if len(gone):
            table = self.members.relation.table
            groups = self.members.groups(gone)
            self.members.input.store.remove(*in_order(groups, table.vs.view[gone], gone))
            self.members.ends.remove(*in_order(groups, table.ve.view[gone], gone))
        rows = self.outputs.held()
        past = rows[self.table.ve.view[rows] <= self._line]
        if len(past):
            self.outputs.remove(*self._placed(past))

    def snapshot(self) -> Snapshot | None:
        """The line, and what was asked of the inputs: what ends up to there is not made again."""
        return [[self._line], *[list[object](line) for line in self._needed]]

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from the line; the rows still known follow."""
        (self._line,), *needed = snapshot  # type: ignore[assignment]  # as it was taken
        self._needed = [Line(*line) for line in needed]  # type: ignore[arg-type]  # as above
        self._loading = bool(needed)

    # -- groups -------------------------------------------------------------------------------------------------------

    def sizes(self) -> Rows:
        """How many rows are known of each group."""
        return added_up(self.members.sizes(), self.outputs.sorted.sizes)

    def known_groups(self) -> Rows:
        """The groups of which rows are known."""
        return np.flatnonzero(self.sizes())

    @property
    def knows_no_group(self) -> bool:
        """Whether there is none."""
        return self.members.empty and self.outputs.empty

    @property
    def ties(self) -> int:
        """No order is asked for."""
        return 0

    @property
    def size(self) -> Size:
        """Rows and bytes of the sorted stores, and the groups."""
        rows = len(self.members) + len(self.outputs)
        return Size(rows, self.members.nbytes + self.outputs.nbytes + self.table.nbytes + self.groups.nbytes)
