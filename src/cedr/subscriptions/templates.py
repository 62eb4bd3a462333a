"""Filters of one form: their constants in columns, segments to look them up, and the rest to verify."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cedr.diagnostics.exceptions import CedrError
from cedr.runtime.expressions.compile import Conjuncts
from cedr.runtime.values.growable import Growable
from cedr.subscriptions.constants import Column, ListColumn
from cedr.subscriptions.forms import Form
from cedr.subscriptions.frames import Events, Pairs
from cedr.subscriptions.segments import Segment
from cedr.subscriptions.texts import Given

Rows = NDArray[np.int64]

NOWHERE: Final = -1
_MOSTLY_GONE: Final = 4
"""Constants are given up once one of so many filters has been removed."""


class Failed:
    """Pairs that could not be verified, each with what was raised."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int, CedrError]] = []


class Template:
    """All filters of one form; ``slots`` are their numbers among all subscriptions."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self._slots = Growable(np.int64)
        self._gone = 0
        self._constants: list[Column | ListColumn] = [
            ListColumn(sort.strip("[]")) if sort.startswith("[") else Column(sort) for sort in form.sorts
        ]
        self._segments: list[Segment] = []
        self._rest = Conjuncts(form.rest)

    def __len__(self) -> int:
        return len(self._slots) - self._gone

    @property
    def nbytes(self) -> int:
        """Bytes that the constants take."""
        return self._slots.nbytes + sum(column.nbytes for column in self._constants)

    def extend(self, slots: Sequence[int], constants: Sequence[Given]) -> int:
        """Append filters; the place of the first."""
        first = len(self._slots)
        self._slots.extend(slots)
        for column, values in zip(self._constants, zip(*constants, strict=True), strict=True):
            column.extend(values)
        return first

    def remove(self, places: Rows) -> None:
        """Filters at some places match no longer."""
        slots = self._slots.view
        self._gone += int((slots[places] != NOWHERE).sum())
        slots[places] = NOWHERE

    def compact(self) -> Rows | None:
        """Give up the room of removed filters; the slots at the new places, None where all stays."""
        if self._gone * _MOSTLY_GONE <= len(self._slots):
            return None
        kept = np.flatnonzero(self._slots.view != NOWHERE)
        self._constants = [column.kept(kept) for column in self._constants]
        self._slots.keep(kept)
        self._gone, self._segments = 0, []
        return self._slots.view

    # -- lookup -------------------------------------------------------------------------------------------------------

    def matches(self, events: Events, failed: Failed) -> Iterator[tuple[Rows, Rows]]:
        """Events and the slots of filters that they match, in the order of events within each part."""
        for segment in self._indexed():
            for rows, places in segment.candidates(events):
                slots = self._slots.view[places]
                if self._gone:
                    there = slots != NOWHERE
                    rows, places, slots = rows[there], places[there], slots[there]
                if self.form.rest and len(rows):
                    passed = self._verified(Pairs(events, self._constants, rows, places), slots, failed)
                    rows, slots = rows[passed], slots[passed]
                if len(rows):
                    yield rows, slots

    def _indexed(self) -> list[Segment]:
        """Segments for all filters: a new one for those that came last, put together with others of its size."""
        segments = self._segments
        first, last = segments[-1].last if segments else 0, len(self._slots)
        if first < last:
            while segments and len(segments[-1]) <= 2 * (last - first):
                first = segments.pop().first
            segments.append(Segment(self.form.tests, self._constants, first, last))
        return segments

    def _verified(self, pairs: Pairs, slots: Rows, failed: Failed) -> Rows:
        """The pairs that pass the rest.  One that raises an error is put down, and the others go on without it."""
        passed: list[Rows] = []
        todo = [np.arange(len(pairs), dtype=np.int64)]
        while todo:
            chosen = todo.pop()
            try:
                passes = self._rest.passes(pairs.some(chosen) if len(chosen) < len(pairs) else pairs)
            except CedrError as error:
                if len(chosen) == 1:
                    failed.found.append((int(slots[chosen[0]]), int(pairs.rows[chosen[0]]), error))
                else:
                    middle = len(chosen) // 2
                    todo += [chosen[middle:], chosen[:middle]]
                continue
            passed.append(chosen[passes])
        return np.concatenate(passed) if passed else np.empty(0, np.int64)
