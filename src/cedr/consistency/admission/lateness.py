"""How many messages come late: with a Sync below the largest Sync or guarantee so far.

Paper: Definition 2 (out of order), Figure 8 (orderliness).  Reading: R33 (h).  Counted over what was accepted, and over
what is refused because it lies behind its provider's guarantee (R39).  Messages between two guarantees are taken in
another order than they came in, so they are counted when all of them are there.  A host that splits its input has no
order within a batch: there what is late is below the h before the batch, however the input is split.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cedr.model.time import Time
from cedr.runtime.kernels.segments import is_sorted

Rows = NDArray[np.int64]
_Accepted = tuple[Rows | range, Rows]


class Lateness:
    """Counts what is late among messages and rows as they are accepted."""

    def __init__(self) -> None:
        self.count = 0
        self.together: Time | None = None
        """h before the batch, where all of it comes at once.  Reading: R40."""
        self._columns: list[_Accepted] = []
        self._single: list[tuple[int, Time]] = []
        self._raised: list[tuple[int, Time]] = []

    def accepted(self, position: int, sync: Time) -> None:
        """A message was accepted when the one at some position came."""
        self._single.append((position, sync))

    def raised(self, position: int, time: Time) -> None:
        """A retraction of an unknown row has raised h; it is not accepted, and not late itself.  Reading: R37."""
        self._raised.append((position, time))

    def accepted_rows(self, positions: Rows | range, syncs: Rows) -> None:
        """Rows were accepted, in the order of their positions."""
        self._columns.append((positions, syncs))

    def close(self, high: Time) -> None:
        """All messages between two guarantees are there; ``high`` was h before them."""
        columns, single, raised = self._columns, self._single, self._raised
        self._columns, self._single, self._raised = [], [], []
        if not columns and not single:
            return
        if self.together is not None:
            before = self.together
            self.count += sum(int(np.count_nonzero(syncs < before)) for _, syncs in columns)
            self.count += sum(sync < before for _, sync in single)
            return
        if len(columns) == 1 and not single and not raised:
            self.count += _late(columns[0][1], high)
            return
        parts = [(np.asarray(positions), syncs) for positions, syncs in columns]
        for pairs in (single, raised):
            own = np.array(pairs, np.int64).reshape(-1, 2)
            parts.append((own[:, 0], own[:, 1]))
        positions, syncs = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(positions, kind="stable")
        counted = (np.arange(len(syncs)) < len(syncs) - len(raised))[order]
        self.count += _late(syncs[order], high, positions[order], counted)


def _late(syncs: Rows, high: Time, positions: Rows | None = None, counted: NDArray[np.bool_] | None = None) -> int:
    """How many Syncs are below h as it was before each; those at one position came together."""
    if positions is None and syncs[0] >= high and is_sorted(syncs):
        return 0
    before = np.maximum.accumulate(np.concatenate([[high], syncs]))[:-1]
    if positions is not None:
        before = before[np.searchsorted(positions, positions)]
    late = syncs < before
    return int(np.count_nonzero(late if counted is None else late & counted))
