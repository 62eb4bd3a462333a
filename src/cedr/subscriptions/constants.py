"""The constants of many filters as columns: no Python object for each filter, as far as numbers and texts go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.expression.tree import Literal
from cedr.expression.values import kind, plain
from cedr.model.event import Value
from cedr.model.time import BEGINNING, FOREVER
from cedr.runtime.expressions.vector import of_values
from cedr.runtime.values.arrow_arrays import arrow, arrow_texts
from cedr.runtime.values.growable import Growable
from cedr.runtime.values.vector import Vector

Rows = NDArray[np.int64]

INTEGERS: Final = "integer"
FLOATS: Final = "float"
TEXTS: Final = "text"
NUMBERS: Final = "number"
"""Numbers that are neither 64-bit integers nor floats."""
_EXACT: Final = 2**53
"""Integers up to this are floats too."""
NUMERIC: Final[frozenset[str | None]] = frozenset({INTEGERS, FLOATS, NUMBERS})
_SINGLE: Final = frozenset({NUMBERS, "boolean", "date", "binary"})
"""Sorts of constants that are kept as single objects: few filters have them."""


def sort_of(literal: Literal) -> str | None:
    """How a constant is kept: two filters share columns only if theirs are kept alike; None: an index has no use of it.

    >>> from cedr.model.schema import DataType
    >>> sort_of(Literal(5, DataType.INTEGER)), sort_of(Literal(None, DataType.NULL))
    ('integer', None)
    """
    return sort_of_value(literal.value)


def sort_of_value(given: object) -> str | None:
    """The same of a value."""
    value = plain(given)
    if value is None:
        return None
    if type(value) is int and BEGINNING <= value <= FOREVER:
        return INTEGERS
    if type(value) is float:
        return FLOATS
    if type(value) is str:
        return TEXTS if not any("\ud800" <= character <= "\udfff" for character in value) else None
    found = kind(value)
    return found if found in _SINGLE else None


def common_sort(values: Iterable[object]) -> str | None:
    """How some constants can be kept alike: integers among floats as floats, where these are exactly the same.

    >>> common_sort([1, 2]), common_sort([1, 2.5]), common_sort([2**53 + 1, 2.5]), common_sort([1, "a"])
    ('integer', 'float', 'number', None)
    """
    given = list(values)
    sorts = {sort_of_value(value) for value in given}
    if len(sorts) == 1:
        return sorts.pop()
    if not sorts <= NUMERIC:
        return None
    exact = all(isinstance(value, int | float) and abs(value) <= _EXACT for value in given)
    return FLOATS if exact else NUMBERS


class Column:
    """One constant of each filter of a template."""

    def __init__(self, sort: str) -> None:
        self.sort = sort
        self._numbers = Growable(np.float64 if sort == FLOATS else np.int64)
        """Numbers, or the places of values in the pool."""
        self._pool: dict[Any, int] = {}
        self._pooled: list[Any] = []
        self._texts: pa.Array | None = None

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def numbers(self) -> NDArray[Any]:
        """The constants, where they are numbers of 64 bits; otherwise their places in the pool."""
        return self._numbers.view

    @property
    def pool(self) -> Sequence[Any]:
        """The different values that places stand for."""
        return self._pooled

    def extend(self, values: Iterable[Value]) -> None:
        """Append constants."""
        if self.sort in (INTEGERS, FLOATS):
            self._numbers.extend(list(values))  # type: ignore[arg-type]
            return
        places = []
        for value in values:
            key = (type(value), value)
            place = self._pool.get(key)
            if place is None:
                place = self._pool[key] = len(self._pooled)
                self._pooled.append(value)
            places.append(place)
        self._numbers.extend(places)

    def values(self, rows: Rows) -> list[Value]:
        """The constants of some filters as Python values."""
        found: list[Value] = self._numbers.view[rows].tolist()
        if self.sort in (INTEGERS, FLOATS):
            return found
        return [self._pooled[place] for place in found]  # type: ignore[index]

    def vector(self, rows: Rows) -> Vector:
        """The constants of some filters as expressions take them."""
        if self.sort in (INTEGERS, FLOATS):
            return Vector(self._numbers.view[rows])
        if self.sort == TEXTS:
            return Vector(self.texts.take(arrow(self._numbers.view[rows])))
        return of_values(self.values(rows))

    @property
    def texts(self) -> pa.Array:
        """The pool as an array of texts."""
        if self._texts is None or len(self._texts) < len(self._pooled):
            self._texts = arrow_texts(self._pooled)
        return self._texts

    @property
    def nbytes(self) -> int:
        """Bytes taken, but for the single objects of the pool."""
        return self._numbers.nbytes

    def kept(self, rows: Rows) -> Column:
        """A column of some of the filters only."""
        column = Column(self.sort)
        if self.sort in (INTEGERS, FLOATS):
            column._numbers.extend(self._numbers.view[rows])
        else:
            column.extend(self.values(rows))
        return column


class ListColumn:
    """One list of constants of each filter of a template: those of an IN."""

    def __init__(self, sort: str) -> None:
        self.sort = sort
        self.items = Column(sort)
        self._ends = Growable(np.int64)

    def __len__(self) -> int:
        return len(self._ends)

    def extend(self, lists: Iterable[Sequence[Value]]) -> None:
        """Append the lists of some filters."""
        end = len(self.items)
        for each in lists:
            self.items.extend(each)
            end += len(each)
            self._ends.extend([end])

    def places(self, first: int, last: int) -> tuple[Rows, Rows]:
        """The filters from one on up to another, each as often as it has constants, and the places of these."""
        ends = self._ends.view[first:last]
        begin = int(self._ends.view[first - 1]) if first else 0
        sizes = np.diff(ends, prepend=begin)
        return np.repeat(np.arange(first, last), sizes), np.arange(begin, int(ends[-1]) if len(ends) else begin)

    @property
    def nbytes(self) -> int:
        """Bytes taken."""
        return self._ends.nbytes + self.items.nbytes

    def kept(self, rows: Rows) -> ListColumn:
        """A column of some of the filters only."""
        column = ListColumn(self.sort)
        starts = np.append(0, self._ends.view)
        for row in rows.tolist():
            column.extend([self.items.values(np.arange(starts[row], starts[row + 1]))])
        return column
