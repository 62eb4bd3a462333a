"""What a running job has done and costs, from batch to batch: the figures that view, log and metrics show.

Paper: Figure 8 (blocking, state size, output size).  Reading: R33: whoever has promised least holds back everybody who
waits for it, so the source with the smallest guarantee is named.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cedr.consistency.measures import Measures
from cedr.jobs.loop import Report
from cedr.model.time import BEGINNING, FOREVER, Time

_WINDOW: Final = 20
"""Rates are those of so many batches."""


@dataclass(frozen=True, slots=True)
class QueryFigures:
    """One query at one level."""

    query: str
    measures: Measures
    guarantee: Time
    held_back_by: str | None
    """The source that has promised least; None where all of them have ended."""
    why: str
    """Why that one holds back, and what to do."""


class Figures:
    """Follows the batches of a job."""

    def __init__(self, name: str, reads: Mapping[str, tuple[str, ...]], bounds: Mapping[str, bool]) -> None:
        """``reads``: the sources of each query; ``bounds``: whether each source can promise anything."""
        self.name = name
        self.batch = self.rows = self.rejected = 0
        self.seconds = 0.0
        """Of the last batch, from its plan to its commit: how long a row waits once it was read."""
        self.queries: list[QueryFigures] = []
        self.guarantees: Mapping[str, Time] = {}
        self._reads, self._bounds = reads, bounds
        self._recent: deque[tuple[int, float]] = deque(maxlen=_WINDOW)

    @property
    def rate(self) -> float:
        """Rows a second, while there are any."""
        seconds = sum(each for _, each in self._recent)
        return sum(rows for rows, _ in self._recent) / seconds if seconds else 0.0

    def take(self, report: Report) -> None:
        """A further batch."""
        self.batch, self.seconds, self.rejected = report.batch, report.seconds, report.rejected
        self.rows += report.rows
        self._recent.append((report.rows, report.seconds))
        self.guarantees = report.guarantees
        self.queries = [
            QueryFigures(each.query, each.measures, each.guarantee, *self._held_back(each.query))
            for each in report.measures
        ]

    def _held_back(self, query: str) -> tuple[str | None, str]:
        own = {name: self.guarantees[name] for name in self._reads.get(query, ()) if name in self.guarantees}
        open_ones = {name: time for name, time in own.items() if time < FOREVER - 1}
        if not open_ones:
            return None, ""
        least = min(open_ones, key=lambda name: open_ones[name])
        if open_ones[least] > BEGINNING:
            return least, ""
        if self._bounds.get(least):
            return least, "nothing has come from it yet; idle = says when not to wait for it"
        return least, "it promises nothing; disorder = says how late its rows may be"
