"""What each operator leaves undecided, given a guarantee on its inputs.  Paper: Section 5.  Reading: R36.

An operator that later events may take rows from says so beside its denotation; all others decide at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import singledispatch

from cedr.model.event import Event
from cedr.model.modes import Selection
from cedr.model.time import Time, plus
from cedr.plan.analyses.scope import bound_variables
from cedr.plan.logical import Node, Parameter

Rows = Callable[[], Iterable[Event]]
"""The rows of a node on what its inputs say up to their guarantee, those left out that bear on nothing unfrozen."""


@singledispatch
def undecided(node: Node, guarantee: Time, rows: Rows) -> Iterable[Time]:  # noqa: ARG001 - for those who wait
    """The Syncs of rows that later events may still take back."""
    return ()


def undecided_last(choosing: Sequence[Parameter], scope: int, guarantee: Time, rows: Rows) -> Iterable[Time]:
    """LAST where it chooses by the future: undecided until g reaches the Vs of the first other contributor + w.

    Readings: R25, R36.
    """
    names = [bound_variables(p.input) for p in choosing if p.selection is Selection.LAST]
    return [
        row.occurrence_start
        for row in (rows() if names else ())
        for event in row.contributors
        if any(name in bound for name, _ in event.bindings for bound in names)
        if plus(_first_other(row, event), scope) > guarantee
    ]


def _first_other(row: Event, event: Event) -> Time:
    return min(other.valid_start for other in row.contributors if other is not event)
