"""Rows that a query emitted before it was replaced: which of them the new one means, too.

Reading: R44: rows with equal Vs, Ve, payload and contributors stay under their ID and K, the others are retracted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from cedr.consistency.emission.frozen_rows import EmittedName, Ghost
from cedr.consistency.emission.repairs import Ends
from cedr.model.event import Event
from cedr.model.time import Time
from cedr.runtime.store.table import Mask, Rows


@dataclass
class Heritage:
    """What a query takes over from the one that it replaces."""

    rows: list[Ghost] = field(default_factory=list)
    """What that one had emitted, until the first step."""
    renamed: dict[EmittedName, str] = field(default_factory=dict)
    """The IDs of its rows, where the new ones have others."""

    def divided(self, events: Iterable[Event], ends: Ends, frozen: Time) -> tuple[Mask, Rows, list[Ghost]]:
        """Which of the rows that are meant now were emitted before, and when; and those that are meant no longer.

        ``ends`` are those that are due.  Rows that are frozen stay as they are.
        """
        known: dict[Hashable, list[Ghost]] = {}
        for ghost in self.rows:
            if min(ghost.event.valid_end, ghost.event.occurrence_end) >= frozen:
                known.setdefault(_look(ghost.event), []).append(ghost)
        kept: list[bool] = []
        said: list[Time] = []
        due = zip(events, ends.oe.tolist(), ends.ve.tolist(), strict=True)
        for event, oe, ve in due:
            alike = known.get(_look(replace(event, occurrence_end=oe, valid_end=ve)))
            kept.append(bool(alike))
            if alike:
                ghost = next((each for each in alike if each.event.id == event.id), alike[0])
                alike.remove(ghost)
                said.append(ghost.said)
                if ghost.event.id != event.id:
                    self.renamed[event.id, event.occurrence_start, ghost.said] = ghost.event.id
        self.rows = []
        gone = [ghost for alike in known.values() for ghost in alike]
        return np.array(kept, np.bool_), np.array(said, np.int64), gone


def _look(event: Event) -> Hashable:
    contributors = tuple((part.stream, part.id, part.occurrence_start) for part in event.contributors)
    return event.valid, event.occurrence, event.payload, contributors
