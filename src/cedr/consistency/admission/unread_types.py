"""Messages of streams that nobody reads: judged as far as each tells by itself, and not kept.

Readings: R33 (they raise h), R37, R39, R41.  Whether such a message is a duplicate, or uses a key again, is not known.
"""

from __future__ import annotations

import numpy as np

from cedr.consistency.admission.in_bulk import candidates_in
from cedr.consistency.admission.ledger import Ledger
from cedr.consistency.batch import EventBatch
from cedr.model.dead_letter import misfit
from cedr.model.stream import Insert, default_key


class Unread:
    """Takes what is not kept."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def take_batch(self, batch: EventBatch, position: int) -> None:
        """The rows of a batch."""
        ledger = self._ledger
        good = candidates_in(batch, ledger.providers.of(batch.provider))
        if good.any():
            starts = batch.os if good.all() else batch.os[good]
            ledger.high = max(ledger.high, int(starts.max()))
            ledger.lateness.accepted_rows(position + np.flatnonzero(good), starts)
        if good.all():
            return
        rest = np.flatnonzero(~good)
        for row, message in zip(rest.tolist(), batch.inserts(rest), strict=True):
            fault = batch.fault(row) if batch.unfit is not None else None
            if fault is None:
                self.take(message, position + row)
            else:
                ledger.letters.bury(fault, message, position + row)

    def take(self, message: Insert, position: int) -> None:
        """One insert."""
        fault = misfit(message) or self._ledger.untimely(message)
        if fault is not None:
            self._ledger.letters.bury(fault, message, position)
            return
        self._ledger.high = max(self._ledger.high, message.event.occurrence_start)
        self._ledger.lateness.accepted(position, message.event.occurrence_start)
        if message.lineage_key != default_key(message.event):
            self._ledger.unread_keys = True
