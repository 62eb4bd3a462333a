"""COUNT, SUM and AVG as columns of whole numbers that can be added up and taken away again, exactly.

Paper: Section 6.  Reading: R30.  The columns of a row: whether it is there, and for each argument whether it is not
NULL and its digits.  Floats are multiples of a power of two; a smaller one, or a larger value, makes more digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cedr.expression.tree import Aggregate, Expression
from cedr.model.schema import DataType
from cedr.plan.logical import AggregateColumn
from cedr.runtime.expressions.compile import compile_vector, to_values
from cedr.runtime.expressions.vector import INTEGERS, NUMBERS, kind_of, not_null
from cedr.runtime.kernels import exact_sums as kernels
from cedr.runtime.store.relation import Frame, Relation
from cedr.runtime.store.table import Rows
from cedr.runtime.values.vector import Vector

_SPARE = 2
"""Digits above the highest one that sums may need, and one into which a float's bits may reach."""
_NUMBERS = (DataType.INTEGER, DataType.FLOAT)


def in_sums(aggregates: Sequence[AggregateColumn]) -> bool:
    """Whether all aggregates can be computed from sums."""
    return all(_in_sums(column.aggregate, column.type) for column in aggregates)


def _in_sums(call: Aggregate, of: DataType) -> bool:
    name = call.function.upper()
    if call.distinct or call.own is not None:
        return False
    return name == "COUNT" or (name == "SUM" and of in _NUMBERS) or (name == "AVG" and of is DataType.FLOAT)


class _Argument:
    """What one expression contributes: its columns from ``first`` on."""

    def __init__(self, expression: Expression, *, summed: bool, whole: bool) -> None:
        self._vector = compile_vector(expression)
        self.summed, self.whole = summed, whole
        self.first = 0
        """The column that counts; the digits follow."""
        self.digits = 2 if summed and whole else 0
        self.lowest = 0
        """The exponent of the lowest digit's lowest bit."""

    @property
    def width(self) -> int:
        return 1 + self.digits

    def read(self, frame: Frame) -> Vector:
        """The values, numbers of one kind where they are summed."""
        found = self._vector(frame)
        return found if not self.summed or kind_of(found) in NUMBERS else _numbers(found)

    def write(self, vector: Vector, there: NDArray[np.bool_], into: Rows) -> None:
        """Write the columns of some rows."""
        into[:, self.first] = there
        if not self.digits:
            return
        if kind_of(vector) == INTEGERS:
            first = self.first + 1 - self.lowest // kernels.WIDTH
            kernels.integer_digits(np.ascontiguousarray(vector.values), there, into, first)
        else:
            kernels.float_digits(_bits(vector), there, self.lowest, into, self.first + 1)

    def make_room(self, vector: Vector, there: NDArray[np.bool_]) -> None:
        """Have digits for the smallest and the largest of some values."""
        if not self.summed or self.whole:
            return
        lowest, highest = (0, 64) if kind_of(vector) == INTEGERS else kernels.exponents(_bits(vector), there)
        if lowest <= highest:
            _widen(self, lowest, highest)


def _numbers(vector: Vector) -> Vector:
    """Numbers of a column that holds whole ones and others."""
    values, there = to_values(vector), not_null(vector)
    floats = [float(v) if t else 0.0 for v, t in zip(values, there.tolist(), strict=True)]  # type: ignore[arg-type]
    return Vector(np.array(floats, np.float64), there)


class Layout(NamedTuple):
    """Where the columns of before stand among those of now."""

    width: int
    places: Rows

    def of(self, sums: Rows) -> Rows:
        """Sums in the new columns."""
        found = np.zeros((len(sums), self.width), np.int64)
        found[:, self.places] = sums
        return found


class Sums:
    """The columns of the aggregates of a group-by."""

    def __init__(self, aggregates: Sequence[AggregateColumn], relation: Relation) -> None:
        self._relation, self._aggregates = relation, aggregates
        self._arguments: dict[Expression, _Argument] = {}
        for column in aggregates:
            call = column.aggregate
            if call.star:
                continue
            summed = call.function.upper() != "COUNT"
            whole = column.type is DataType.INTEGER
            known = self._arguments.get(call.arguments[0])
            if known is None or (summed and not known.summed):
                self._arguments[call.arguments[0]] = _Argument(call.arguments[0], summed=summed, whole=whole)
            elif summed and known.whole and not whole:
                continue  # the mean of whole numbers is made of their digits, too
        self._place()

    @property
    def width(self) -> int:
        """How many columns there are."""
        return 1 + sum(argument.width for argument in self._arguments.values())

    def _place(self) -> None:
        first = 1
        for argument in self._arguments.values():
            argument.first = first
            first += argument.width

    # -- rows in ------------------------------------------------------------------------------------------------------

    def of(self, rows: Rows) -> tuple[Rows, Layout | None]:
        """The columns of some rows of the input; where there are more columns than before, how to write others."""
        frame = Frame([(self._relation, rows)])
        read = [(argument, argument.read(frame)) for argument in self._arguments.values()]
        there = [_there(vector, len(rows)) for _, vector in read]
        layout = self._widened([(a, v, t) for (a, v), t in zip(read, there, strict=True)])
        found = np.zeros((len(rows), self.width), np.int64)
        found[:, 0] = 1
        for (argument, vector), known in zip(read, there, strict=True):
            argument.write(vector, known, found)
        return found, layout

    def _widened(self, read: Sequence[tuple[_Argument, Vector, NDArray[np.bool_]]]) -> Layout | None:
        """Make room for values that are smaller or larger than all before."""
        before = {id(a): (a.first, a.digits, a.lowest) for a, _, _ in read}
        for argument, vector, there in read:
            argument.make_room(vector, there)
        self._place()
        if all((a.first, a.digits, a.lowest) == before[id(a)] for a, _, _ in read):
            return None
        places = [0]
        for argument, _, _ in read:
            _, digits, lowest = before[id(argument)]
            up = (lowest - argument.lowest) // kernels.WIDTH if digits else 0
            places.append(argument.first)
            places.extend(range(argument.first + 1 + up, argument.first + 1 + up + digits))
        return Layout(self.width, np.array(places, np.int64))

    # -- values out ---------------------------------------------------------------------------------------------------

    def values(self, sums: Rows) -> list[Vector]:
        """What the aggregates amount to."""
        return [self._value(column, sums) for column in self._aggregates]

    def _value(self, column: AggregateColumn, sums: Rows) -> Vector:
        call = column.aggregate
        if call.star:
            return Vector(np.ascontiguousarray(sums[:, 0]))
        argument = self._arguments[call.arguments[0]]
        counts = np.ascontiguousarray(sums[:, argument.first])
        name, digits = call.function.upper(), argument.first + 1
        if name == "COUNT":
            return Vector(counts)
        fits = np.ones(len(sums), np.bool_)
        if name == "SUM" and argument.whole:
            whole = np.empty(len(sums), np.int64)
            kernels.to_integers(sums, digits, argument.digits, whole, fits)
            return Vector(whole, fits & (counts > 0))
        means = np.maximum(counts, 1) if name == "AVG" else np.ones(len(sums), np.int64)
        floats = np.empty(len(sums), np.float64)
        kernels.to_floats(sums, digits, argument.digits, argument.lowest, means, floats, fits)
        return Vector(floats, fits & (counts > 0))


def _there(vector: Vector, size: int) -> NDArray[np.bool_]:
    found = np.broadcast_to(not_null(vector), (size,))
    if isinstance(vector.values, np.ndarray) and vector.values.dtype.kind == "f":
        found = found & np.isfinite(vector.values)
    return np.ascontiguousarray(found)


def _bits(vector: Vector) -> Rows:
    found: Rows = np.ascontiguousarray(vector.values, np.float64).view(np.int64)
    return found


def _widen(argument: _Argument, lowest: int, highest: int) -> None:
    """So that bits from one exponent to below another have digits."""
    floor = lowest - lowest % kernels.WIDTH
    if not argument.digits:
        argument.lowest = floor
    top = max(argument.lowest + kernels.WIDTH * max(0, argument.digits - _SPARE), highest)
    argument.lowest = min(argument.lowest, floor)
    needed = -(-(top - argument.lowest) // kernels.WIDTH) + _SPARE
    argument.digits = max(needed, argument.digits)
