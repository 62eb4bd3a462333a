"""One attribute of many rows, typed as what it holds.

Reading: R20.  A column starts without a kind, takes that of its first values, and becomes one of objects where
something arrives that does not fit: no value ever changes by being kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cedr.model.event import Value
from cedr.runtime.kernels.gather import gather
from cedr.runtime.values.arrow_arrays import bitmap
from cedr.runtime.values.arrow_values import (
    DTYPES,
    Portion,
    arrow_of_objects,
    objects,
    portion_of_arrow,
    portion_of_values,
    restored,
)
from cedr.runtime.values.growable import Growable, Rows
from cedr.runtime.values.nested import Nested, nested_values
from cedr.runtime.values.texts import Texts
from cedr.runtime.values.vector import Vector

Mask = npt.NDArray[np.bool_]

_FEW = 64
"""Fewer rows than this are not worth a compiled loop."""


class Column:
    """An append-only column of values; row -1, where rows are chosen, is NULL.

    >>> column = Column()
    >>> column.extend_values([3, None, 5])
    >>> column.kind, column.values(np.array([2, 1, -1]))
    ('integer', [5, None, None])
    """

    __slots__ = ("_kind", "_length", "_store", "_type", "_typed", "_valid")

    def __init__(self) -> None:
        self._kind: str | None = None
        self._store: Growable | Texts | Nested | None = None
        self._valid: Growable | None = None  # none while no NULL was seen
        self._type: pa.DataType | None = None  # the Arrow type of the values, where they had one
        self._typed = False  # whether values have come, hence their type or the lack of it counts
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def kind(self) -> str:
        """One of integer, float, boolean, text, nested, object; object while there are only NULLs."""
        return self._kind or "object"

    @property
    def type(self) -> pa.DataType | None:
        """The Arrow type the values came as; None where they came as Python values or as several types."""
        return self._type

    @property
    def nbytes(self) -> int:
        """Bytes taken, room included; of objects their references only."""
        return sum(store.nbytes for store in (self._store, self._valid) if store is not None)

    @property
    def texts(self) -> Texts:
        """The texts of a text column; a NULL is empty there."""
        assert isinstance(self._store, Texts)
        return self._store

    @property
    def numbers(self) -> npt.NDArray[Any]:
        """The values of a column that is not text; what stands for a NULL means nothing."""
        if self._store is None:
            return np.full(self._length, None, np.object_)
        assert isinstance(self._store, Growable)
        return self._store.view

    @property
    def valid(self) -> Mask | None:
        """Which rows are not NULL; None: all of them."""
        if self._store is None:
            return np.zeros(self._length, np.bool_)
        return None if self._valid is None else self._valid.view

    # ------------------------------------------------------------ appending

    def extend(self, array: pa.Array | pa.ChunkedArray) -> None:
        """Append an Arrow array."""
        if isinstance(array, pa.ChunkedArray):
            for chunk in array.chunks:
                self.extend(chunk)
        elif array.null_count == len(array):
            self.extend_nulls(len(array))
            if not self._typed and not pa.types.is_null(array.type):
                self._type = array.type  # NULLs of a type, in case nothing else comes
        else:
            self._append(portion_of_arrow(array), len(array))

    def extend_values(self, values: Sequence[Value]) -> None:
        """Append Python values; None is NULL."""
        portion = portion_of_values(values)
        if portion is None:
            self.extend_nulls(len(values))
        else:
            self._append(portion, len(values))

    def extend_nulls(self, n: int) -> None:
        """Append ``n`` NULLs."""
        if n and self._store is not None:
            self._mark(None, 0)
            self._pad(n)
            assert self._valid is not None
            self._valid.fill(n, value=False)
        self._length += n

    def extend_rows(self, rows: Rows) -> None:
        """Append copies of own rows."""
        if self._store is not None:
            present = self._present(rows)
            self._mark(present, len(rows))
            if isinstance(self._store, Texts | Nested):
                self._store.extend_rows(rows)
            else:
                self._store.extend(self._store.view[rows] if len(self) else np.zeros(len(rows)))
        self._length += len(rows)

    def _append(self, portion: Portion, n: int) -> None:
        if self._store is None:
            self._begin(portion)
        elif portion.kind != self._kind or (isinstance(self._store, Nested) and self._store.type != portion.type):
            self._promote()
        self._type = portion.type if not self._typed else _united(self._type, portion.type, self._kind)
        self._typed = True
        self._mark(portion.valid, n)
        store = self._store
        if isinstance(store, Texts | Nested):
            store.extend(portion.values)
        elif store is not None:
            store.extend(portion.values if portion.kind == self._kind else _as_objects(portion))
        self._length += n

    def _begin(self, portion: Portion) -> None:
        """The first values come, perhaps behind NULLs."""
        self._kind = kind = portion.kind
        if kind == "nested":
            self._store = Nested(portion.type)
        else:
            self._store = Texts() if kind == "text" else Growable(DTYPES[kind])
        if self._length:
            self._pad(self._length)
            self._valid = Growable(np.bool_)
            self._valid.fill(self._length, value=False)

    def _pad(self, n: int) -> None:
        if isinstance(self._store, Texts | Nested):
            self._store.extend_empty(n)
        elif self._store is not None:
            self._store.fill(n, None if self._kind == "object" else 0)

    def _promote(self) -> None:
        """The column becomes one of objects."""
        if self._kind == "object":
            return
        held = objects(self.values(np.arange(self._length)))
        self._kind, self._store = "object", Growable(np.object_)
        self._store.extend(held)

    def _mark(self, valid: Mask | None, n: int) -> None:
        """Append to the validity, which begins with the first NULL; without a mask ``n`` valid ones."""
        if self._valid is None and (valid is not None or not n):
            self._valid = Growable(np.bool_)
            self._valid.fill(self._length, value=True)
        if self._valid is not None:
            self._valid.extend(np.ones(n, np.bool_) if valid is None else valid)

    def keep(self, rows: Rows) -> None:
        """Only these rows remain, in this order."""
        for store in (self._store, self._valid):
            if store is not None:
                store.keep(rows)
        self._length = len(rows)

    # ------------------------------------------------------------ reading

    def _present(self, rows: Rows) -> Mask | None:
        """Which of these rows are there and not NULL; None: all."""
        given: Mask | None = None if not len(rows) or rows.min() >= 0 else rows >= 0
        if self._store is None:
            return np.zeros(len(rows), np.bool_)
        if self._valid is None:
            return given
        valid: Mask = self._valid.view[rows] if self._length else np.zeros(len(rows), np.bool_)
        return valid if given is None else valid & given

    def _gathered(self, rows: Rows) -> npt.NDArray[Any]:
        numbers = self.numbers
        if not len(numbers):
            return np.zeros(len(rows), numbers.dtype)
        if numbers.dtype == np.object_ or len(rows) < _FEW:
            return numbers[rows]
        out = np.empty(len(rows), numbers.dtype)
        gather(numbers, rows, out)
        return out

    def take(self, rows: Rows) -> pa.Array:
        """These rows as an Arrow array, of the type they came as."""
        present = self._present(rows)
        if isinstance(self._store, Texts):
            array = self._store.take(rows, present)
            wanted = pa.string() if self._type is None else self._type
            return array if array.type == wanted else array.cast(wanted) if len(array) else pa.nulls(0, wanted)
        if isinstance(self._store, Nested):
            return self._store.take(rows)
        if self.kind == "object":
            return arrow_of_objects(self.values(rows), self._type)
        values = self._gathered(rows)
        nulls = None if present is None else bitmap(present)
        if self._kind == "boolean":
            return pa.Array.from_buffers(pa.bool_(), len(rows), [nulls, bitmap(values)])
        of = self._type or (pa.int64() if self._kind == "integer" else pa.float64())
        exact = restored(values, of) if self._kind == "integer" else values.astype(of.to_pandas_dtype(), copy=False)
        return pa.Array.from_buffers(of, len(rows), [nulls, pa.py_buffer(exact)])

    def values(self, rows: Rows) -> list[Value]:
        """These rows as Python values, as a payload holds them; instants and durations as microseconds."""
        if isinstance(self._store, Nested):
            return nested_values(self._store.take(rows))
        present = self._present(rows)
        if isinstance(self._store, Texts):
            texts: list[Value] = self._store.take(rows, present).to_pylist()
            return texts
        found: list[Value] = self._gathered(rows).tolist()
        if present is None:
            return found
        return [value if there else None for value, there in zip(found, present.tolist(), strict=True)]

    def vector(self, rows: Rows) -> Vector:
        """These rows as expressions take them."""
        if isinstance(self._store, Nested):
            return Vector(self._store.take(rows))
        present = self._present(rows)
        if isinstance(self._store, Texts):
            return Vector(self._store.take(rows, present))
        values = self._gathered(rows)
        if self.kind == "object" and present is not None:
            values[~present] = None
        return Vector(values, present)


def _as_objects(portion: Portion) -> npt.NDArray[np.object_]:
    if portion.kind == "text":
        return objects(portion.values.to_pylist())
    if portion.kind == "nested":
        return objects(nested_values(portion.values))
    plain = objects(portion.values.tolist())
    if portion.valid is not None:
        plain[~portion.valid] = None
    return plain


def _united(one: pa.DataType | None, other: pa.DataType | None, kind: str | None) -> pa.DataType | None:
    """The type of a column that has held values of two types, None being that of Python values."""
    if one == other:
        return one
    if kind == "integer" and None in (one, other):  # integers of Python on instants or durations are such
        known = one or other
        return known if pa.types.is_timestamp(known) or pa.types.is_duration(known) else None
    return None
