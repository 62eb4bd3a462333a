"""What a pattern operator means in some intervals of anchors: plain groups at once, others run by run of beliefs.

Paper: Section 3.3.2.  Readings: R9, R10 (beliefs), R26, R27, R37 (choices made before).  Subclasses say how instances
are found, and what header they get.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.operators.mechanism.beliefs import Gathered, Intervals, Window, gather, runs_of, united
from cedr.runtime.operators.mechanism.inputs import Input
from cedr.runtime.operators.mechanism.instances import Asked, Evaluated, Found, Shape
from cedr.runtime.store.segments import Segments
from cedr.runtime.store.table import Header, Mask, Rows, Table, plain_header
from cedr.runtime.store.times import earlier


class Evaluation(ABC):
    """The inputs of a pattern operator, its rows that may still change, and how they are found."""

    windows: list[Window]
    """For each input: how far before and after an anchor its rows bear on it."""
    endless = False
    """Whether a choice bears on all later ones of its group: CONSUME and DISJOINT."""
    reach = 0
    """How far back from an anchor the roots of its contributors can lie."""

    def __init__(self, inputs: Sequence[Input], table: Table) -> None:
        self.inputs = list(inputs)
        self.table = table
        self.outputs = Segments(table)
        """The rows of the output that may still change, by group and anchor."""
        self.inputs[0].tell_of_groups(self.outputs)

    # -- what a subclass says -----------------------------------------------------------------------------------------

    @abstractmethod
    def find(self, asked: Asked) -> Found:
        """The instances anchored in some intervals, each group on its own, of one version of each event."""

    @abstractmethod
    def shape(self, references: list[Rows]) -> Shape:
        """Anchor and lifetime of instances."""

    def contributing(self) -> Sequence[int]:
        """The inputs whose events contribute."""
        return range(len(self.inputs))

    def peers(self) -> Sequence[int]:
        """The inputs in which an event may have been heard of."""
        return range(len(self.inputs))

    def kept_references(self, references: list[Rows]) -> list[Rows]:
        """The references that a row of the table keeps."""
        return references

    # -- evaluation ---------------------------------------------------------------------------------------------------

    def _evaluate(self, at: Intervals, known: Time | None = None) -> Evaluated:
        rough = self._rough(at.groups)
        if self.endless:
            rough = self._with_rough_choices(at, rough)
        if rough is None:
            return self._plain(at, known)
        parts = (self._plain(at.take(~rough), known), self._believed(at.take(rough), known))
        references = [np.concatenate(columns) for columns in zip(*(p.references for p in parts), strict=True)]
        header = Header(*(np.concatenate(columns) for columns in zip(*(p.header for p in parts), strict=True)))
        groups, anchors = (np.concatenate([getattr(p, name) for p in parts]) for name in ("groups", "anchors"))
        return Evaluated(references, header, groups, anchors)

    def _rough(self, groups: Rows) -> Mask | None:
        """Which groups hold rows that are not plain; None: no group does."""
        rough = set().union(*(source.rough for source in self.inputs))
        if not rough:
            return None
        found: Mask = np.isin(groups, np.fromiter(rough, dtype=np.int64))
        return found if found.any() else None

    def _with_rough_choices(self, at: Intervals, rough: Mask | None) -> Mask | None:
        """Which intervals hold rows that are not plain, or come after choices that are believed for a while only."""
        prior = self._prior(at)
        some = prior.owner[(prior.start > BEGINNING) | (prior.end < FOREVER)]
        if not len(some):
            return rough
        found = np.zeros(len(at.groups), dtype=np.bool_) if rough is None else rough.copy()
        found[some] = True
        return found

    def _plain(self, at: Intervals, known: Time | None) -> Evaluated:
        """Groups of plain rows: one run, the unitemporal meaning.  Reading: R9."""
        prior = self._prior(at) if self.endless else None
        before = None if prior is None else Found(self._made_of(prior.rows), prior.owner)
        found = self.find(Asked([source.store.sorted for source in self.inputs], at, known, before))
        shape = self.shape(found.references)
        header = plain_header(shape.vs, shape.ve, shape.rt)
        return Evaluated(self.kept_references(found.references), header, at.groups[found.owner], shape.anchor)

    def _believed(self, at: Intervals, known: Time | None) -> Evaluated:
        """Groups with revisions, run by run.  Readings: R9, R10."""
        parts = [gather(source, window, at, known) for source, window in zip(self.inputs, self.windows, strict=True)]
        if self.endless:
            parts.append(self._prior(at))  # a choice that is believed for a while bears on later ones for as long
        stores, runs = runs_of(parts, at)
        numbers = np.arange(len(runs.owner), dtype=np.int64)
        before = None
        if self.endless:
            made = stores.pop()
            before = Found(self._made_of(made.rows), np.repeat(numbers, made.sizes))
        within = Intervals(numbers, at.low[runs.owner], at.high[runs.owner])
        found = self.find(Asked(stores, within, prior=before))
        held = united(found.references, found.owner, runs)
        shape = self.shape(held.references)
        os = np.maximum(np.maximum(held.start, shape.vs), self._first_os(held.references))
        real = held.end > os
        plain = np.zeros(int(real.sum()), dtype=np.bool_)
        header = Header(shape.vs[real], shape.ve[real], os[real], held.end[real], shape.rt[real], plain)
        references = self.kept_references([column[real] for column in held.references])
        return Evaluated(references, header, at.groups[held.owner[real]], shape.anchor[real])

    def _prior(self, at: Intervals) -> Gathered:
        """The outputs made before some intervals that may bear on them, and from when to when they are believed.

        Readings: R26, R27, R37 ("what was consumed up to g, and when, while it could still be chosen").  One that was
        stated in time counts as believed from the beginning: what it may take away occurs no earlier than it does.
        """
        store = self.outputs.sorted
        earliest = np.where(at.low == BEGINNING, BEGINNING, earlier(at.low, self.reach))
        places = store.locate(at.groups, earliest, np.where(at.low == BEGINNING, BEGINNING, at.low - 1))
        owner, place = places.expand()
        rows = store.rows[place]
        os, oe = self.table.os.view[rows], self.table.oe.view[rows]
        start = np.where(os <= self.table.vs.view[rows], BEGINNING, os)
        return Gathered(owner, store.times[place], rows, start, oe)

    def _made_of(self, rows: Rows) -> list[Rows]:
        """What some rows of the table refer to."""
        return [column.view[rows] for column in self.table.references]

    def _first_os(self, references: list[Rows]) -> Rows:
        """The latest of the contributors' first Os.  Reading: R10."""
        latest = np.full(len(references[0]), BEGINNING)
        for index in self.contributing():
            here = np.flatnonzero(references[index] >= 0)
            rows = references[index][here]
            first = self.inputs[index].first_os(rows)
            for other in self.peers():
                if other != index and self.inputs[other].relation.table is self.inputs[index].relation.table:
                    first = np.minimum(first, self.inputs[other].first_os(rows))
            latest[here] = np.maximum(latest[here], first)
        return latest
