"""What is said once when a query is made: a stream whose state grows for ever, and a level that never emits.

Readings: R33 (guarantees), R34 (what guarantees let a query forget), R35 (STRONG waits for them).
"""

from __future__ import annotations

import warnings

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.model.time import FOREVER
from cedr.spark.layout.layout import Layout
from cedr.spark.sources.events import Events


class CedrWarning(UserWarning):
    """A query runs, but hardly as it is meant."""


def notice(layout: Layout, events: Events) -> None:
    """Warn of a stream that nothing ever promises anything about."""
    if not events.streaming or any(_promises(events, number) for number in range(len(events.sources))):
        return
    strong = [level.name for level in layout.levels if level.blocking.duration >= FOREVER]
    endless = [level for level in layout.levels if level.memory.duration >= FOREVER]
    hint = 'say how late events may be: cedr.events(…, disorder="10 minutes"); or give guarantees: guarantee=, change='
    if strong:
        primary = f"nothing guarantees that events have come: at {' and '.join(strong)} the query never emits a row"
        _say(Diagnostic("no-guarantee", primary, hint=hint, severity="warning"))
    elif endless:
        primary = "nothing guarantees that events have come: the state of the query grows for ever"
        _say(Diagnostic("no-guarantee", primary, hint=hint, severity="warning"))


def _promises(events: Events, number: int) -> bool:
    source = events.sources[number]
    told = source.disorder is not None or source.idle is not None
    return told or "guarantee" in source.header or "change" in source.header


def _say(what: Diagnostic) -> None:
    warnings.warn(what.render(), CedrWarning, stacklevel=4)
