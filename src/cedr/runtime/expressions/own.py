"""Functions that users define, in whole columns.

Readings: R20, R21.  A function sees the rows in which no argument is NULL, all at once.  Columns are also asked where a
row would not be, behind AND or in a branch of CASE that is not taken; so what a function raises counts only if it
raises it row by row, which then says at which event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cedr.expression.own import OwnFailure
from cedr.expression.owned import Owned
from cedr.expression.signature import Parameter
from cedr.expression.tree import Call, Header, HeaderField, variables
from cedr.model.event import Value
from cedr.runtime.expressions.frame import Leaves
from cedr.runtime.expressions.vector import FLOATS, INTEGERS, Mask, kind_of, of_values, spread, to_values
from cedr.runtime.values.vector import Vector

Rows = NDArray[np.int64]
Quick = Callable[[Leaves], Vector | None]


def own_call(call: Call, own: Owned, arguments: Sequence[Callable[[Leaves], Vector]]) -> Quick:
    """The results of a function for all instances; None: ask row by row."""
    definition, names = own.definition, sorted(variables(call))
    parameters = definition.signature.parameters

    def run(leaves: Leaves) -> Vector | None:
        columns = [
            _Column(spread(argument(leaves), leaves.size), p) for argument, p in zip(arguments, parameters, strict=True)
        ]
        keep = np.logical_and.reduce([column.fits for column in columns])
        found: list[Value] = [None] * leaves.size
        here = np.flatnonzero(keep)
        if len(here):
            try:
                results = definition.apply([column.at(here) for column in columns])
            except OwnFailure as failure:
                if failure.code == "function-failed":
                    return None
                at = _event(leaves, names, int(here[failure.row]))
                raise failure.error(own.query, at) from failure.__cause__
            for row, value in zip(here.tolist(), results, strict=True):
                found[row] = value
        return of_values(found)

    return run


def _event(leaves: Leaves, names: Sequence[str], row: int) -> str:
    """The event at a row, as an error names it."""
    for name in names:
        found = leaves.values(Header(name, HeaderField.ID))[row]
        if isinstance(found, str):
            return f"the event {found} ({name})"
    return ""


class _Column:
    """An argument: its values, and in which rows the function takes them."""

    def __init__(self, vector: Vector, parameter: Parameter) -> None:
        self._vector = vector
        numbers = kind_of(vector) in (INTEGERS, FLOATS) and "number" in parameter.kinds and not parameter.integral
        self._values: list[Value] | None = None if numbers else to_values(vector)
        self.fits = self._which(parameter)

    def _which(self, parameter: Parameter) -> Mask:
        if self._values is None:
            whole = np.ones(len(self._vector.values), dtype=np.bool_)
            return whole if self._vector.valid is None else self._vector.valid
        taken = (value is not None and parameter.takes(value) for value in self._values)
        return np.fromiter(taken, np.bool_, len(self._values))

    def at(self, rows: Rows) -> Sequence[Value]:
        """The values of some rows."""
        if self._values is None:
            numbers: Any = self._vector.values[rows]
            return cast("Sequence[Value]", numbers)
        return [self._values[row] for row in rows.tolist()]
