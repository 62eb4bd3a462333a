"""What is asked of a pattern operator, and what it finds: instances, in columns.

Paper: Section 3.3.2.  Readings: R11 to R18, R26 to R28 (choices).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cedr.model.time import Time
from cedr.runtime.operators.mechanism.beliefs import Intervals
from cedr.runtime.operators.mechanism.inputs import EventName
from cedr.runtime.store.segments import Sorted
from cedr.runtime.store.table import Header, Mask, Rows


class Found(NamedTuple):
    """Instances: the row of each input, -1 where it is left out, and the number of the interval they belong to."""

    references: list[Rows]
    owner: Rows

    def take(self, chosen: Rows | Mask) -> Found:
        """Some of them."""
        return Found([column[chosen] for column in self.references], self.owner[chosen])


class Asked(NamedTuple):
    """A question to an operator: which instances are anchored in these intervals of these sorted inputs?"""

    inputs: list[Sorted]
    at: Intervals
    known: Time | None = None
    """Only rows with Os up to then are heard; None: all."""
    prior: Found | None = None
    """Outputs made shortly before each interval, where old choices bear on new ones."""


class Shape(NamedTuple):
    """Times of instances."""

    anchor: Rows
    vs: Rows
    ve: Rows
    rt: Rows


class Evaluated(NamedTuple):
    """Rows that an operator should have: references, header, group and anchor."""

    references: list[Rows]
    header: Header
    groups: Rows
    anchors: Rows

    def take(self, rows: Rows) -> Evaluated:
        """Some of them."""
        references = [column[rows] for column in self.references]
        return Evaluated(references, self.header.take(rows), self.groups[rows], self.anchors[rows])


class Chosen(NamedTuple):
    """An output whose choice bears on later ones: its header, and the events of its inputs."""

    header: tuple[int, ...]
    events: tuple[EventName | None, ...]


def chosen_from(values: Sequence[Any]) -> Chosen:
    """A choice as a snapshot has it."""
    header, events = values
    return Chosen(tuple(header), tuple(None if name is None else (name[0], name[1], name[2]) for name in events))
