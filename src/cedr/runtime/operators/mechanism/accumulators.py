"""Aggregates over rows that come and go.

Paper: Section 6.  Reading: R30.  What is accumulated can be taken out again, so that a group is followed forwards and
backwards in time.  The results are those of ``cedr.expression.aggregate``, to the type.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Protocol

from cedr.expression.aggregate import AGGREGATES, aggregate
from cedr.expression.evaluate import aggregated
from cedr.expression.tree import Aggregate
from cedr.expression.values import OPAQUE, kind
from cedr.model.event import Value

Values = tuple[Value, ...]
"""What the aggregates of a group take of one row, or what they amount to."""


class Accumulator(Protocol):
    """One aggregate over some values that are not NULL."""

    def add(self, value: Any) -> None:
        """A value more."""

    def remove(self, value: Any) -> None:
        """A value less: one that was added."""

    def value(self) -> Value:
        """What the values amount to."""

    def copy(self) -> Accumulator:
        """The same values, to go on with on their own."""


class Count:
    """How many values there are."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def add(self, value: Any) -> None:  # noqa: ARG002 - any one
        """A value more."""
        self._count += 1

    def remove(self, value: Any) -> None:  # noqa: ARG002 - as above
        """A value less."""
        self._count -= 1

    def value(self) -> Value:
        """The count."""
        return self._count

    def copy(self) -> Count:
        """The same count."""
        return copy(self)


class Extreme:
    """The smallest or largest value: all are looked at again only where that one has left.

    Values of several kinds have none (R23); of equal ones the one that is written first counts.
    """

    __slots__ = ("_best", "_call", "_counts", "_kinds", "_known")

    def __init__(self, call: Aggregate) -> None:
        self._call = call
        self._counts: dict[object, tuple[Value, int]] = {}
        self._kinds: dict[str, int] = {}
        self._best: Value = None
        self._known = True

    def add(self, value: Any) -> None:
        """A value more."""
        key = exactly(value)
        found = self._counts.get(key)
        if found is not None:
            self._counts[key] = (value, found[1] + 1)
            return
        self._counts[key] = (value, 1)
        kind_ = kind(value)
        self._kinds[kind_] = self._kinds.get(kind_, 0) + 1
        if not self._known:
            return
        if len(self._kinds) > 1 or (self._best is None and len(self._counts) > 1):
            self._known = False
        elif self._best is None or self._before(value):
            self._best = value if kind_ not in OPAQUE else None

    def _before(self, value: Any) -> bool:
        """Whether a value counts before the best one."""
        best: Any = self._best
        if value == best:
            return repr(value) < repr(best)
        smaller: bool = value < best
        return smaller if self._call.function.upper() == "MIN" else not smaller

    def remove(self, value: Any) -> None:
        """A value less."""
        key = exactly(value)
        _, count = self._counts[key]
        if count > 1:
            self._counts[key] = (value, count - 1)
            return
        del self._counts[key]
        kind_ = kind(value)
        self._kinds[kind_] -= 1
        if not self._kinds[kind_]:
            del self._kinds[kind_]
        if self._best is None or exactly(self._best) == key:
            self._known = False

    def value(self) -> Value:
        """The extreme."""
        if not self._known:
            self._best = aggregate(self._call.function, [value for value, _ in self._counts.values()])
            self._known = True
        return self._best

    def copy(self) -> Extreme:
        """The same values."""
        other = copy(self)
        other._counts, other._kinds = dict(self._counts), dict(self._kinds)
        return other


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

    def copy(self) -> Bag:
        """The same values."""
        other = copy(self)
        other._counts = dict(self._counts)
        return other


def exactly(value: Value) -> object:
    """What tells values apart that compare as equal but are written in another way: 1 and 1.0, 0.0 and -0.0."""
    if type(value) in (int, str, bool, bytes):
        return type(value), value
    return type(value), repr(value)


class Alive:
    """The rows of a group that are alive at some instant, as its aggregates see them."""

    __slots__ = ("_calls", "_parts", "count")

    def __init__(self, calls: Sequence[Aggregate]) -> None:
        self._calls = calls
        self._parts = [accumulator(call) for call in calls]
        self.count = 0

    def add(self, values: Values) -> None:
        """A row more."""
        self.count += 1
        for part, value in zip(self._parts, values, strict=True):
            if value is not None:
                part.add(value)

    def remove(self, values: Values) -> None:
        """A row less."""
        self.count -= 1
        for part, value in zip(self._parts, values, strict=True):
            if value is not None:
                part.remove(value)

    def values(self) -> Values | None:
        """What the aggregates amount to; None where no row is alive."""
        return tuple([part.value() for part in self._parts]) if self.count else None

    def copy(self) -> Alive:
        """The same rows, to go on with on their own."""
        other = Alive(self._calls)
        other.count, other._parts = self.count, [part.copy() for part in self._parts]
        return other


def accumulator(call: Aggregate) -> Accumulator:
    """What accumulates the values of an aggregate."""
    if call.star or (call.function.upper() == "COUNT" and not call.distinct):
        return Count()
    if call.own is None and call.function.upper() in ("MIN", "MAX"):
        return Extreme(call)
    return Bag(call)


def timed(call: Aggregate) -> bool:
    """Whether an aggregate asks for the Vs of rows: FIRST and LAST.  Reading: R45."""
    return call.own is None and AGGREGATES[call.function.upper()].timed


def _one_of_a_group() -> str:
    """Where an aggregate of a user's own fails: its values are of many events."""
    return "an event of its group"
