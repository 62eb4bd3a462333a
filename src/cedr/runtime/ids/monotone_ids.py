"""Whether IDs rise from batch to batch: such an ID cannot have been there before, and nobody need look for it.

Numbers that count up, and texts that hold a time or a counter, as most IDs do.  Any total order serves; in this one a
longer text is greater than a shorter one, so that decimal numbers are in the order of their values.  Within a batch
numbers may come in any order, as they do where several tasks read it.
"""

from __future__ import annotations

import numpy as np

from cedr.runtime.ids.text_ids import TextIds
from cedr.runtime.kernels.texts import greatest
from cedr.runtime.values.growable import Rows

_Sized = tuple[int, bytes]


class Rising:
    """The greatest ID so far.

    >>> rising, ids = Rising(), TextIds()
    >>> ids.extend(["8", "9", "10"])
    >>> rising.takes(ids, 0)
    True
    >>> ids.extend(["11", "9"])
    >>> rising.takes(ids, 3)
    False
    """

    __slots__ = ("_greatest",)

    def __init__(self) -> None:
        self._greatest: _Sized = (-1, b"")

    def takes(self, ids: TextIds, start: int) -> bool:
        """Further IDs, those from a row on; whether they differ and all are greater than those before them.

        Of negative numbers this is never said, nor of texts that do not rise among themselves.
        """
        if start == len(ids):
            return True
        differ, least, last = _seen(ids, start)
        rising = differ and least > self._greatest
        self._greatest = max(self._greatest, last)
        return rising


def _seen(ids: TextIds, start: int) -> tuple[bool, _Sized, _Sized]:
    """Whether they are known to differ; then the least, and in any case the greatest."""
    numbers = ids.numbers(start)
    if numbers is not None:
        least, most = int(numbers.min()), int(numbers.max())
        ends = sorted(_sized(str(number).encode()) for number in (least, most))
        return least >= 0 and _differ(numbers), ends[0], ends[1]  # of negative ones the least is longest
    texts = ids.stored
    offsets = texts.offsets[start:]
    rises, best = greatest(texts.words, offsets)
    first, last = (texts.data[offsets[row] : offsets[row + 1]].tobytes() for row in (0, best))
    return rises, _sized(first), _sized(last)


def _differ(numbers: Rows) -> bool:
    if (numbers[1:] > numbers[:-1]).all():
        return True
    ordered = np.sort(numbers, kind="stable")  # quick where a few rising pieces stand one behind the other
    return bool((ordered[1:] != ordered[:-1]).all())


def _sized(text: bytes) -> _Sized:
    return len(text), text
