"""Aggregates over rows that come and go.

Paper: Section 6.  Reading: R30.  What is accumulated can be taken out again, so that a group is followed forwards and
backwards in time.  The results are those of ``cedr.expression.aggregate``, to the type.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from copy import copy
from typing import Any, Protocol

from cedr.expression.aggregate import aggregate
from cedr.expression.tree import Aggregate
from cedr.expression.values import OPAQUE, kind
from cedr.model.event import Value
from cedr.runtime.operators.mechanism.bag import exactly
from cedr.runtime.operators.mechanism.running_bags import IN_ORDER, bag_for

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
    """The smallest or largest value: the others are put in order only where that one has left, and stay so.

    Values of several kinds have none (R23); of equal ones the one that is written first counts.
    """

    __slots__ = ("_best", "_call", "_counts", "_kinds", "_known", "_ordered", "_types")

    def __init__(self, call: Aggregate) -> None:
        self._call = call
        self._counts: dict[object, tuple[Value, int]] = {}
        self._kinds: dict[str, int] = {}
        self._types: dict[type, int] = {}
        self._ordered: list[Any] | None = None
        """The different values in order, once an extreme has left, while all are of one type."""
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
        self._types[type(value)] = self._types.get(type(value), 0) + 1
        if self._ordered is not None and len(self._types) == 1:
            insort(self._ordered, value)
        else:
            self._ordered = None
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
        self._types[type(value)] -= 1
        if not self._types[type(value)]:
            del self._types[type(value)]
        if self._ordered is not None:
            del self._ordered[bisect_left(self._ordered, value)]
        if self._best is None or exactly(self._best) == key:
            self._known = False

    def value(self) -> Value:
        """The extreme."""
        if not self._known:
            self._best = self._among_all()
            self._known = True
        return self._best

    def _among_all(self) -> Value:
        """The extreme of all values: the first or last in order, unless zeros of both signs may be meant."""
        if self._ordered is None and len(self._types) == 1 and self._types.keys() <= IN_ORDER:
            self._ordered = sorted(value for value, _ in self._counts.values())
        if self._ordered:
            found: Value = self._ordered[0 if self._call.function.upper() == "MIN" else -1]
            if type(found) is not float or found != 0.0:
                return found
        return aggregate(self._call.function, [value for value, _ in self._counts.values()])

    def copy(self) -> Extreme:
        """The same values."""
        other = copy(self)
        other._counts, other._kinds, other._types = dict(self._counts), dict(self._kinds), dict(self._types)
        other._ordered = None if self._ordered is None else list(self._ordered)
        return other


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
    return bag_for(call)
