"""What the rows of an operator were, and what they should be: which of them are the same.

Paper: Section 5.  Reading: R28.  Rows are the same if they refer to the same rows and hold over the same run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cedr.runtime.operators.mechanism.instances import Evaluated
from cedr.runtime.store.table import Mask, Rows, Table


def unmatched(table: Table, old: Rows, new: Evaluated) -> tuple[Rows, Rows]:
    """The old rows that are not among the new ones, and the new ones that are not among the old."""
    first = table.references[0].view[old]
    known = np.zeros(len(table.targets[0]) + 1, dtype=np.bool_)  # the last one is for -1
    known[first] = True
    similar = np.flatnonzero(known[new.references[0]])
    mine = [*(column.view[old] for column in table.references), *table.header(old)[2:4]]
    theirs = [column[similar] for column in (*new.references, new.header.os, new.header.oe)]
    columns = [np.concatenate(both) for both in zip(mine, theirs, strict=True)]
    matched = twins(columns)
    come = np.ones(len(new.anchors), dtype=np.bool_)
    come[similar[matched[len(old) :]]] = False
    return np.flatnonzero(~matched[: len(old)]), np.flatnonzero(come)


def twins(columns: Sequence[NDArray[Any]]) -> Mask:
    """Which rows of some columns are there more than once."""
    order = np.lexsort(tuple(columns))
    same = np.ones(max(0, len(order) - 1), dtype=np.bool_)
    for column in columns:
        ordered = column[order]
        same &= ordered[1:] == ordered[:-1]
    found = np.zeros(len(order), dtype=np.bool_)
    found[order[1:][same]] = True
    found[order[:-1][same]] = True
    return found
