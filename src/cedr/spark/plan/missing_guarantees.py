"""Warns of a stream without guarantees, when its query is made: its state only grows, and STRONG never emits.

Readings: R33 (guarantees), R34 (what guarantees let expire), R35 (STRONG waits for them).
"""

from __future__ import annotations

import warnings

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.model.time import FOREVER
from cedr.spark.layout.layout import Layout
from cedr.spark.sources.events import Events


class CedrWarning(UserWarning):
    """A query runs, but probably not as you mean it."""


def warn_without_guarantees(layout: Layout, events: Events) -> None:
    """Warn of a stream none of whose sources has or implies guarantees."""
    if not events.streaming or any(_has_guarantees(events, number) for number in range(len(events.sources))):
        return
    strong = [level.name for level in layout.levels if level.blocking.duration >= FOREVER]
    endless = [level for level in layout.levels if level.memory.duration >= FOREVER]
    hint = 'say how late events may be: cedr.events(…, disorder="10 minutes"); or give guarantees: guarantee=, change='
    if strong:
        primary = f"nothing guarantees that events have come: at {' and '.join(strong)} the query never emits a row"
        _warn(Diagnostic("no-guarantee", primary, hint=hint, severity="warning"))
    elif endless:
        primary = "nothing guarantees that events have come: the state of the query grows for ever"
        _warn(Diagnostic("no-guarantee", primary, hint=hint, severity="warning"))


def _has_guarantees(events: Events, number: int) -> bool:
    source = events.sources[number]
    implied = source.disorder is not None or source.idle is not None
    return implied or "guarantee" in source.header or "change" in source.header


def _warn(diagnostic: Diagnostic) -> None:
    warnings.warn(diagnostic.render(), CedrWarning, stacklevel=4)
