"""The events of a batch as columns that filters read, and the pairs of filters and events that are verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.expression.tree import Expression, HeaderField
from cedr.runtime.expressions.compile import compile_vector
from cedr.runtime.expressions.vector import NULLS, TEXTS, Mask, kind_of, not_null, spread, taken
from cedr.runtime.values.arrow_arrays import numpy_of
from cedr.runtime.values.arrow_values import portion_of_arrow
from cedr.runtime.values.vector import Vector
from cedr.subscriptions.constants import Column, ListColumn
from cedr.subscriptions.forms import CONSTANTS

Rows = NDArray[np.int64]

_WITH_NULLS: Final = frozenset({"text", "nested", "object"})
"""Kinds of values that carry their NULLs themselves."""


class Encoded(NamedTuple):
    """Texts as places in an array of different ones; -1 where there is none."""

    places: Rows
    texts: pa.Array


class Events:
    """Events of one type: payload columns by attribute, and header columns by field, as Arrow arrays or numbers."""

    def __init__(self, size: int, payload: Mapping[str, Any], header: Mapping[HeaderField, Any]) -> None:
        self.size = size
        self._payload, self._header = payload, header
        self._leaves: dict[str | HeaderField, Vector] = {}
        self._values: dict[Expression, Vector] = {}
        self._encoded: dict[Expression, Encoded] = {}
        self._present: dict[Expression, Mask] = {}

    def __len__(self) -> int:
        return self.size

    def attribute(self, _variable: str, name: str) -> Vector:
        """An attribute of the payload, NULL where there is none."""
        if name not in self._leaves:
            column = self._payload.get(name)
            self._leaves[name] = spread(NULLS, self.size) if column is None else _vector(column)
        return self._leaves[name]

    def header(self, _variable: str, field: HeaderField) -> Vector:
        """A header field: texts for the ID, integers for the times."""
        if field not in self._leaves:
            column = self._header.get(field)
            if column is None:
                primary = f"a filter reads {field.value} of its events, and a table of attributes does not tell it"
                raise StreamError(Diagnostic("no-header", primary, hint="give an EventBatch, which has IDs and times"))
            if field is HeaderField.ID and not pa.types.is_string(column.type):
                column = column.cast(pa.string())
            self._leaves[field] = _vector(column)
        return self._leaves[field]

    def bound(self, _variable: str) -> Mask | None:
        """The event is always there."""
        return None

    def nullable(self, _variable: str) -> bool:
        """As it is always there, it never is."""
        return False

    def value(self, of: Expression) -> Vector:
        """An expression over the events, computed once."""
        if of not in self._values:
            self._values[of] = compile_vector(of)(self)
        return self._values[of]

    def present(self, of: Expression) -> Mask:
        """Where it is not NULL."""
        if of not in self._present:
            self._present[of] = np.ascontiguousarray(not_null(self.value(of)))
        return self._present[of]

    def encoded(self, of: Expression) -> Encoded:
        """Texts in places of an array of different ones; a column that came as a dictionary is not looked at."""
        if of not in self._encoded:
            given = self._dictionary(of)
            if given is None:
                texts: Any = self.value(of).values
                given = texts.dictionary_encode()
            array = given
            places = array.indices if array.indices.null_count == 0 else pc.fill_null(array.indices, -1)
            self._encoded[of] = Encoded(numpy_of(places), array.dictionary)
        return self._encoded[of]

    def kind(self, of: Expression) -> str:
        """What the values are."""
        return TEXTS if self._dictionary(of) is not None else kind_of(self.value(of))

    def _dictionary(self, of: Expression) -> pa.DictionaryArray | None:
        name = getattr(of, "name", None)
        column = self._payload.get(name) if type(of).__name__ == "Attribute" and name is not None else None
        if not isinstance(column, pa.DictionaryArray) or column.dictionary.null_count:
            return None
        return column if pa.types.is_string(column.type.value_type) else None


def _vector(column: Any) -> Vector:
    """A column as expressions take it."""
    if isinstance(column, Vector):
        return column
    if isinstance(column, np.ndarray):
        return Vector(column)
    if column.null_count == len(column):
        return spread(NULLS, len(column))
    kind, values, valid, _ = portion_of_arrow(column)
    return Vector(values, None if kind in _WITH_NULLS else valid)


class Pairs:
    """Events and filters of one form that may match them, as instances that the rest of the form is asked of."""

    def __init__(self, events: Events, constants: Sequence[Column | ListColumn], rows: Rows, filters: Rows) -> None:
        self._events, self._constants = events, constants
        self.rows, self.filters = rows, filters

    def __len__(self) -> int:
        return len(self.rows)

    def attribute(self, variable: str, name: str) -> Vector:
        """An attribute of the event, or a constant of the filter."""
        if variable == CONSTANTS:
            column = self._constants[int(name)]
            assert isinstance(column, Column)
            return column.vector(self.filters)
        return taken(self._events.attribute(variable, name), self.rows)

    def header(self, variable: str, field: HeaderField) -> Vector:
        """A header field of the event."""
        if variable == CONSTANTS:
            return spread(NULLS, len(self.rows))
        return taken(self._events.header(variable, field), self.rows)

    def bound(self, _variable: str) -> Mask | None:
        """Both are always there."""
        return None

    def nullable(self, _variable: str) -> bool:
        """As both are always there, neither is."""
        return False

    def some(self, chosen: Rows) -> Pairs:
        """Some of the pairs."""
        return Pairs(self._events, self._constants, self.rows[chosen], self.filters[chosen])
