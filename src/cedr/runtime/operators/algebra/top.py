"""TOP k BY e: at each instant the rows with fewer than k rows alive before them.

Paper: Section 6 (operators that follow view update semantics).  Readings: R8 (IDs), R10, R33 (ends), R45.  A change
concerns the range of valid time in which the row is alive; outside of it everything stays.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from cedr.expression.values import OPAQUE, canonical_order, kind
from cedr.model.event import Value
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.plan import logical
from cedr.runtime.expressions.compile import columns_of, compile_vector, to_values
from cedr.runtime.ids.text_ids import Digests, MadeIds
from cedr.runtime.operators.algebra.group_by import every_row
from cedr.runtime.operators.mechanism.group_rows import Content, GroupRows, behind, ids_of_pieces
from cedr.runtime.operators.mechanism.groups import Groups, Key
from cedr.runtime.operators.mechanism.members import Changes
from cedr.runtime.store.relation import Frame, Reach, Relation
from cedr.runtime.store.table import Rows, Table

Lifetimes = dict[int, list[tuple[Time, Time]]]
"""Of some rows the parts of their lifetimes in which they are in."""


class Top(GroupRows):
    """The parts of the lifetimes of rows in which few enough come before them."""

    lineage = True

    def __init__(self, node: logical.Top, inputs: Sequence[Relation]) -> None:
        (source,) = inputs
        self._node, self._by = node, compile_vector(node.by)
        self._keys = {str(n): key for n, key in enumerate(node.keys)}
        groups = Groups(Table(None), self._key_values)
        table = Table(MadeIds(self._ids), [source.table, groups.table])
        super().__init__(source, groups, table)
        self._ranges: dict[int, tuple[Time, Time]] = {}
        """The range of each group in which something has changed."""
        contributor = Reach(((table, 0),), source)
        self.relation = replace(
            behind(source, table), stream=node.place, identity=(), contributors=(contributor,), open_ended=every_row
        )

    def _key_values(self, relation: Relation, rows: Rows) -> Sequence[Key]:
        if not self._keys:
            return [()] * len(rows)
        vectors = columns_of(self._keys, Frame([(relation, rows)]))
        return list(zip(*map(to_values, vectors.values()), strict=True))

    def _ids(self, rows: Rows) -> Digests:
        return ids_of_pieces(self._node.place, self.members.relation, self.table, rows)

    # -- lifetimes ----------------------------------------------------------------------------------------------------

    def touched(self, group: int, changes: Changes) -> Rows:
        """The rows that are alive where something changed."""
        lively = changes.take(changes.end > changes.start)
        if not len(lively.rows):
            return lively.rows
        low, high = int(lively.start.min()), int(lively.end.max())
        self._ranges[group] = low, high
        return self.members.alive(group, low, high)

    def lifetimes(self, group: int, rows: Rows) -> Iterable[Content]:
        """What was outside the range that changed, and what is in it, as one where they meet."""
        low, high = self._ranges.pop(group, (BEGINNING, FOREVER))
        found = self._within(rows, low, high)
        if (low, high) != (BEGINNING, FOREVER):
            self._with_before(group, rows, (low, high), found)
        return [(row, start, end) for row, parts in found.items() for start, end in _joined(parts)]

    def during(self, group: int, rows: Rows, run: tuple[Time, Time]) -> Iterable[Content]:  # noqa: ARG002 - one input
        """The same, of what is believed."""
        found = self._within(rows, BEGINNING, FOREVER)
        return [(row, start, end) for row, parts in found.items() for start, end in parts]

    def _with_before(self, group: int, rows: Rows, bounds: tuple[Time, Time], found: Lifetimes) -> None:
        """Add the parts of what there was that lie outside a range."""
        low, high = bounds
        made = self.made_of(group, rows)
        columns = (self.table.references[0], self.table.vs, self.table.ve)
        for row, start, end in zip(*(column.view[made].tolist() for column in columns), strict=True):
            if start < low:
                found[row].append((start, min(end, low)))
            if end > high:
                found[row].append((max(start, high), end))

    def _within(self, rows: Rows, low: Time, high: Time) -> Lifetimes:
        """The parts of lifetimes in a range in which rows are in."""
        table = self.members.relation.table
        start, end = np.maximum(table.vs.view[rows], low), np.minimum(table.ve.view[rows], high)
        lively = start < end
        rows, start, end = rows[lively], start[lively], end[lively]
        values = to_values(self._by(Frame([(self.members.relation, rows)])))
        named = list(zip(_order(values, descending=self._node.descending), rows.tolist(), strict=True))
        steps = [(time, True, name) for time, name in zip(start.tolist(), named, strict=True)]
        steps += [(time, False, name) for time, name in zip(end.tolist(), named, strict=True)]
        steps.sort(key=lambda step: step[0])
        found: Lifetimes = defaultdict(list)
        alive: list[tuple[int, int]] = []
        since: dict[int, Time] = {}
        for time, some in groupby(steps, key=lambda step: step[0]):
            for _, comes, name in some:
                if comes:
                    insort(alive, name)
                else:
                    del alive[bisect_left(alive, name)]
            now = _first(alive, self._node.count)
            for row in [row for row in since if row not in now]:
                found[row].append((since.pop(row), time))
            for row in now:
                since.setdefault(row, time)
        return found


def _first(alive: Sequence[tuple[int, int]], count: int) -> dict[int, None]:
    """The rows with fewer than so many before them; rows of one rank are in or out together."""
    end = min(count, len(alive))
    while 0 < end < len(alive) and alive[end][0] == alive[end - 1][0]:
        end += 1
    return dict.fromkeys(row for _, row in alive[:end])


def _order(values: Sequence[Value], *, descending: bool) -> list[int]:
    """Numbers in the order of some values, equal ones equal; NULL, and what has no order, comes last either way."""
    ranks = [None if value is None or kind(value) in OPAQUE else canonical_order(value)[:2] for value in values]
    known: list[Any] = []
    for rank in sorted(rank for rank in ranks if rank is not None):
        if not known or known[-1] != rank:
            known.append(rank)
    numbers = {rank: number for number, rank in enumerate(reversed(known) if descending else known)}
    return [len(known) if rank is None else numbers[rank] for rank in ranks]


def _joined(parts: list[tuple[Time, Time]]) -> list[tuple[Time, Time]]:
    """Parts that meet as one."""
    found: list[tuple[Time, Time]] = []
    for start, end in sorted(parts):
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], end)
        elif start < end:
            found.append((start, end))
    return found
