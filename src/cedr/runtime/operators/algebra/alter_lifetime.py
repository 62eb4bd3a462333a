"""AlterLifetime: every row with another lifetime.

Paper: Section 6, Definition 12.  Readings: R9, R10 (runs of beliefs), R31 (which rows are dropped), R36.  Moving,
hopping and tumbling windows, inserts and deletes are made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cedr.model.event import Payload
from cedr.model.time import BEGINNING, FOREVER, Time, plus
from cedr.plan import logical
from cedr.plan.analyses import starts
from cedr.plan.analyses.lifetimes import earliest_start, lifetime
from cedr.runtime.expressions.compile import compile_vector
from cedr.runtime.operators.algebra.lifetimes import Lifetimes, lifetimes_of, times_of
from cedr.runtime.operators.algebra.unchanged import same_but_ends
from cedr.runtime.operators.contract import Frontier, Line, Size
from cedr.runtime.operators.made_rows import Digest, MadeRows, Merged
from cedr.runtime.operators.pass_through import PassThrough
from cedr.runtime.store.holders import NONE
from cedr.runtime.store.relation import Frame, Hop, Relation
from cedr.runtime.store.table import Delta, Header, Mask, Rows, Table, plain_header

Look = tuple[Time, Time, Time, Payload, tuple[int, ...]]
"""What is the same over a run of beliefs: Vs, Ve, Rt, payload, and what contributors and variables stand for."""


class AlterLifetime(PassThrough):
    """Rows of the input, each with the Vs and Ve that two expressions give it."""

    def __init__(self, node: logical.AlterLifetime, inputs: Sequence[Relation]) -> None:
        (self._input,) = inputs
        self.table = Table(None, [self._input.table])
        super().__init__(_relation(self.table, self._input))
        self._start, self._duration = compile_vector(node.start), compile_vector(node.duration)
        self._rows = MadeRows(self._input.table, self.table)
        self._reach = _Reach.of(node)
        self.node = node
        self._certain = Frontier()
        """What was certain about the output before the changes at hand."""

    def ask(self, until: Time) -> list[Time]:
        """Rows that begin before their event, or whose start or length hangs on its Ve, need all of them."""
        return [FOREVER if self._reach.ahead is None else plus(until, -self._reach.ahead)]

    # -- changes ------------------------------------------------------------------------------------------------------

    def update(self, deltas: Sequence[Delta], frontiers: Sequence[Frontier]) -> Delta:  # noqa: ARG002 - rows stand alone
        """The change of the output: plain rows one by one, the versions of an event together.

        A row that is final stays, though its event got another Ve: that does not show in it.
        """
        (delta,) = deltas
        plain = self._input.table.plain.view
        gone, come = (plain[rows] for rows in delta)
        removed, added = self._replace_each(delta.removed[gone], delta.added[come])
        if gone.all() and come.all():
            return Delta(removed, added)
        parts = [(removed, added)]
        for digest in self._rows.concerned(self._input, delta.removed[~gone], delta.added[~come]):
            parts.append(self._merge(digest))
        return Delta(*(np.concatenate(rows) for rows in zip(*parts, strict=True)))

    def _replace_each(self, removed: Rows, added: Rows) -> tuple[Rows, Rows]:
        new = self._lifetimes(added)
        rows = added[new.places]
        if not len(removed) or not len(rows) or self._certain.final == BEGINNING:
            return self._rows.of(removed), self._make_plain(rows, new)
        old = removed[self._rows.known(removed)]
        stays, by = self._unchanged(old, rows, new)
        kept = self._rows.of(old[stays])
        come = np.ones(len(rows), np.bool_)
        come[by] = False
        gone = np.ones(len(old), np.bool_)
        gone[stays] = False
        left = self._rows.of(old[gone])
        made = self._make_plain(rows[come], new.take(come))
        self._rows.note(old[stays], np.full(len(kept), -1))
        self._rows.note(rows[by], kept)
        return left, made

    def _unchanged(self, old: Rows, rows: Rows, new: Lifetimes) -> tuple[Rows, Rows]:
        """Which rows that go come again, of the same event with the same looks: places among the one and the other."""
        old_high, old_low = self._input.digests(old)
        high, low = self._input.digests(rows)
        _, before, after = np.intersect1d(old_high, high, assume_unique=True, return_indices=True)
        made = self.table.header(self._rows.of(old))
        rt = self._input.table.rt.view[rows]
        same = (old_low[before] == low[after]) & self._is_final(made.vs, made.ve)[before]
        for was, now in ((made.vs, new.vs), (made.ve, new.ve), (made.rt, rt)):
            same &= was[before] == now[after]
        before, after = before[same], after[same]
        alike = same_but_ends(self._input, old[before], rows[after])
        return before[alike], after[alike]

    def _is_final(self, vs: Rows, ve: Rows) -> Mask:
        found: Mask = (vs <= self._certain.final) & (ve <= self._certain.ended)
        return found

    def _make_plain(self, rows: Rows, new: Lifetimes) -> Rows:
        """Os = Vs: a plain event is believed always.  Reading: R10."""
        if not len(rows):
            return NONE
        return self._make(rows, plain_header(new.vs, new.ve, self._input.table.header(rows).rt))

    def _make(self, rows: Rows, header: Header) -> Rows:
        made = self.table.extend(header, [rows])
        self._rows.note(rows, made)
        return made

    def _lifetimes(self, rows: Rows) -> Lifetimes:
        frame = Frame([(self._input, rows)])
        return lifetimes_of(self._start(frame), self._duration(frame))

    def starts(self, rows: Rows) -> Rows:
        """The starts that rows of the input get; FOREVER where they get none."""
        times, given = times_of(self._start(Frame([(self._input, rows)])))
        return np.where(given, times, FOREVER)

    # -- versions -----------------------------------------------------------------------------------------------------

    def _merge(self, digest: Digest) -> tuple[Rows, Rows]:
        """The rows of an event with several versions, as they were and as they are."""
        looks: dict[Merged, Look] = {}
        if digest in self._rows.versions:
            looks = self._wanted(np.array(self._rows.versions[digest], dtype=np.int64))
        old = self._rows.merged.pop(digest, {})
        now = {key: old.pop(key) for key in looks if key in old}
        for key in [key for key in looks if key not in now]:
            same = next((known for known, row in old.items() if self._stays(known, row, key, looks[key])), None)
            if same is not None:
                now[key] = old.pop(same)
        new = [key for key in looks if key not in now]
        made = self._make_merged(new, looks)
        now.update(zip(new, made.tolist(), strict=True))
        if now:
            self._rows.merged[digest] = now
        if not self._rows.versions.get(digest):
            self._rows.versions.pop(digest, None)
        return np.array(list(old.values()), dtype=np.int64), made

    def _wanted(self, rows: Rows) -> dict[Merged, Look]:
        """The rows that some versions amount to, each believed over a maximal run.  Readings: R9, R10."""
        rows = rows[np.argsort(self._input.table.os.view[rows], kind="stable")]
        found: list[tuple[Merged, Look]] = []
        looks = self._looks(rows)
        for row, start, end in _beliefs(rows, self._input.table.header(rows)):
            look = looks.get(row)
            if look is None:
                continue
            last = next((n for n, (key, known) in enumerate(found) if key.oe == start and known == look), None)
            if last is None:
                found.append((Merged(row, start, end), look))
            else:
                found[last] = (Merged(row, found[last][0].os, end), look)
        headed = ((Merged(key.row, max(key.os, look[0]), key.oe), look) for key, look in found)
        return {key: look for key, look in headed if key.oe > key.os}

    def _looks(self, rows: Rows) -> dict[int, Look]:
        new = self._lifetimes(rows)
        rows = rows[new.places]
        rt = self._input.table.header(rows).rt.tolist()
        reaches = (*self._input.contributors, *self._input.variables.values())
        parts = [reach.rows(rows).tolist() for reach in reaches]
        made_of = zip(*parts, strict=True) if parts else ((),) * len(rows)
        columns = (new.vs.tolist(), new.ve.tolist(), rt, self._input.payloads(rows), made_of)
        return dict(zip(rows.tolist(), zip(*columns, strict=True), strict=True))

    def _stays(self, old: Merged, made: int, new: Merged, look: Look) -> bool:
        """Whether a row that was made of one version is that of another one, too."""
        if (old.os, old.oe) != (new.os, new.oe):
            return False
        header = self.table.header(np.array([made]))
        if not self._is_final(header.vs, header.ve)[0]:
            return False
        times = (int(header.vs[0]), int(header.ve[0]), int(header.rt[0]))
        return times == look[:3] and bool(same_but_ends(self._input, np.array([old.row]), np.array([new.row]))[0])

    def _make_merged(self, keys: list[Merged], looks: dict[Merged, Look]) -> Rows:
        if not keys:
            return NONE
        rows, os, oe = (np.array(column, dtype=np.int64) for column in zip(*keys, strict=True))
        times = (looks[key][:3] for key in keys)
        vs, ve, rt = (np.array(column, dtype=np.int64) for column in zip(*times, strict=True))
        return self.table.extend(Header(vs, ve, os, oe, rt, np.zeros(len(rows), np.bool_)), [rows])

    # -- what is known and what is forgotten --------------------------------------------------------------------------

    def decide(self, inputs: Sequence[Frontier], frozen: Time) -> None:
        """Note which rows are final."""
        self._certain = self.frontier(inputs, frozen)

    def frontier(self, inputs: Sequence[Frontier], frozen: Time) -> Frontier:  # noqa: ARG002 - decided at once
        """Just before the smallest start that is yet to come.  Reading: R36."""
        final, guarantee, ended = inputs[0]
        guarantee = starts.guaranteed_start(self.node, guarantee)
        if not self._reach.own_times:
            return Frontier(FOREVER if final == ended == FOREVER else BEGINNING, guarantee)
        final = starts.last_before(self.node, final)
        if self._reach.start_reads_end:
            final = min(final, starts.last_before(self.node, ended))
        return Frontier(final, guarantee, ended if self._reach.keeps_ends else FOREVER)

    def demand(self, line: Line, inputs: Sequence[Frontier], frozen: Time) -> list[Line]:  # noqa: ARG002 - as above
        """Which rows come out before the line; versions of events that can no longer change are forgotten."""
        if self._rows.versions:
            self._rows.forget(inputs[0].final, inputs[0].ended)
        return [self._reach.before(line)]

    @property
    def size(self) -> Size:
        """Rows made of others are held by those; what counts are the bytes."""
        return Size(0, self._rows.made.nbytes + self.table.nbytes)


class _Reach(NamedTuple):
    """How far from its event a row can lie, as the expressions show it."""

    ahead: int | None
    """No start lies before Vs and this, and none hangs on Ve but as ``keeps_ends`` says; None: who knows."""
    behind: int | None
    """Rows with Vs and Ve up to t start no later than t and this; None: who knows."""
    longest: int
    """The longest lifetime."""
    keeps_ends: bool
    start_reads_end: bool
    own_times: bool

    @classmethod
    def of(cls, node: logical.AlterLifetime) -> _Reach:
        """What shows of a node."""
        keeps = starts.keeps_ends(node)
        sees = keeps or not starts.reads_end(node.start, node.duration)
        ahead = earliest_start(node) if sees else None
        return cls(
            ahead if ahead is not None and ahead >= 0 else None,
            starts.latest_start(node),
            lifetime(node),
            keeps,
            starts.reads_end(node.start),
            starts.of_own_times(node),
        )

    def before(self, line: Line) -> Line:
        """Of which rows of the input nothing comes out after a line of the output."""
        if self.behind is None:
            return Line(BEGINNING)
        vs, ended = _earlier(line.vs, self.behind), FOREVER
        if line.ended < FOREVER and self.longest < FOREVER and not self.start_reads_end:
            vs = min(vs, _earlier(_earlier(line.ended, self.behind), self.longest))
        elif line.ended < FOREVER and self.keeps_ends:
            ended = line.ended
        elif line.ended < FOREVER:
            return Line(BEGINNING)
        if self.start_reads_end:
            ended = min(ended, vs)
        return Line(vs, line.ve if self.keeps_ends else BEGINNING, ended)


def _earlier(time: Time, length: int) -> Time:
    return time if time == BEGINNING else plus(time, -length)


def _beliefs(rows: Rows, header: Header) -> list[tuple[int, Time, Time]]:
    """From when to when each version of an event is believed, in the order of Os.  Reading: R9."""
    found: list[tuple[int, Time, Time]] = []
    ends = [*header.os.tolist(), FOREVER][1:] if len(rows) else []
    columns = zip(rows.tolist(), header.vs.tolist(), header.os.tolist(), header.oe.tolist(), ends, strict=True)
    for number, (row, vs, os, oe, replaced) in enumerate(columns):
        start = BEGINNING if not number and os <= vs else os
        if start < min(oe, replaced):
            found.append((row, start, min(oe, replaced)))
    return found


def _relation(table: Table, of: Relation) -> Relation:
    """What the rows of the input show, with another lifetime."""
    hops: tuple[Hop, ...] = ((table, 0),)

    def open_ended(rows: Rows) -> Mask:
        assert of.open_ended is not None
        return of.open_ended(table.references[0].view[rows])

    return Relation(
        table,
        of.stream,
        {name: reach.behind(hops) for name, reach in of.variables.items()},
        (*hops, *of.payload),
        (*hops, *of.identity),
        tuple(reach.behind(hops) for reach in of.contributors),
        of.ordered,
        of.projection,
        open_ended=None if of.open_ended is None else open_ended,
    )
