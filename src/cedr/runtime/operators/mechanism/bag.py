"""Values that are looked at together: as often as each is there.

Paper: Section 6.  Readings: R30, R45.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Self

from cedr.expression.aggregate import AGGREGATES
from cedr.expression.evaluate import aggregated
from cedr.expression.tree import Aggregate
from cedr.model.event import Value


class Bag:
    """Any aggregate: every value is kept as often as it is there, and all are looked at when something has changed.

    Of an aggregate that asks for the Vs of rows a value comes with that (R45).
    """

    __slots__ = ("_call", "_counts", "_known", "_result")

    def __init__(self, call: Aggregate) -> None:
        self._call = call
        self._counts: dict[object, tuple[Value, int]] = {}
        self._known = False
        self._result: Value = None

    def add(self, value: Any) -> None:
        """A value more."""
        key = exactly(value)
        _, count = self._counts.get(key, (value, 0))
        self._counts[key] = (value, count + 1)
        self._known = False

    def remove(self, value: Any) -> None:
        """A value less."""
        key = exactly(value)
        _, count = self._counts[key]
        if count == 1:
            del self._counts[key]
        else:
            self._counts[key] = (value, count - 1)
        self._known = False

    def value(self) -> Value:
        """What the values amount to."""
        if not self._known:
            values: list[Any] = [each for value, count in self._counts.values() for each in [value] * count]
            starts: list[Value] = []
            if timed(self._call):
                starts, values = [start for start, _ in values], [value for _, value in values]
            self._result = aggregated(self._call, values, starts, _one_of_a_group)
            self._known = True
        return self._result

    def copy(self) -> Self:
        """The same values."""
        other = copy(self)
        other._counts = dict(self._counts)
        return other


def exactly(value: Value) -> object:
    """What tells values apart that compare as equal but are written in another way: 1 and 1.0, 0.0 and -0.0."""
    if type(value) in (int, str, bool, bytes):
        return type(value), value
    return type(value), repr(value)


def timed(call: Aggregate) -> bool:
    """Whether an aggregate asks for the Vs of rows: FIRST and LAST.  Reading: R45."""
    return call.own is None and AGGREGATES[call.function.upper()].timed


def _one_of_a_group() -> str:
    """Where an aggregate of a user's own fails: its values are of many events."""
    return "an event of its group"
