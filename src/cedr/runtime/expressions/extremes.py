"""LEAST and GREATEST of whole columns of numbers of one kind.  Reading: R20."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from cedr.runtime.expressions.vector import NUMBERS, kind_of, not_null
from cedr.runtime.values.vector import Vector

EXTREMES: Final = {"LEAST": np.less, "GREATEST": np.greater}
"""What the chosen one is, compared with the others."""


def extreme(name: str, parts: Sequence[Vector], size: int) -> Vector | None:
    """The smallest or the largest of the values that are not NULL; None where columns are of several kinds."""
    kinds = {kind_of(part) for part in parts}
    if len(kinds) != 1 or not kinds <= NUMBERS:
        return None
    best = np.broadcast_to(parts[0].values, (size,))
    there = np.broadcast_to(not_null(parts[0]), (size,))
    for part in parts[1:]:
        other = np.broadcast_to(part.values, (size,))
        known = np.broadcast_to(not_null(part), (size,))
        best = np.where(known & (~there | EXTREMES[name](other, best)), other, best)
        there = there | known
    return Vector(best, None if there.all() else there)
