"""Whether IDs come in rising order: such an ID cannot have been there before, and nobody need look for it.

Numbers that count up, and texts that hold a time or a counter, as most IDs do.  Any total order serves; in this one a
longer text is greater than a shorter one, so that decimal numbers are in the order of their values.
"""

from __future__ import annotations

from cedr.runtime.identity import TextIds
from cedr.runtime.text_kernels import greatest

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
        """Further IDs, those from a row on; whether each is greater than all before it.

        Of negative numbers this is never said.
        """
        if start == len(ids):
            return True
        rising, first, last = _seen(ids, start)
        rising = rising and first > self._greatest
        self._greatest = max(self._greatest, last)
        return rising


def _seen(ids: TextIds, start: int) -> tuple[bool, _Sized, _Sized]:
    """Whether they rise among themselves; the first, and the greatest."""
    numbers = ids.numbers(start)
    if numbers is not None:
        rises = bool(numbers[0] >= 0 and (numbers[1:] > numbers[:-1]).all())
        first, least, most = (str(number).encode() for number in (numbers[0], numbers.min(), numbers.max()))
        return rises, _sized(first), max(_sized(least), _sized(most))  # of negative ones the least is longest
    texts = ids.stored
    offsets = texts.offsets[start:]
    rises, best = greatest(texts.words, offsets)
    first, last = (texts.data[offsets[row] : offsets[row + 1]].tobytes() for row in (0, best))
    return rises, _sized(first), _sized(last)


def _sized(text: bytes) -> _Sized:
    return len(text), text
