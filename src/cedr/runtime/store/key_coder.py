"""Codes of key values: small integers instead of values, so that equality is a comparison of integers.

Reading: R20.  Two values have one code if and only if ``cedr.expression.values.equal`` says TRUE of them, whatever
columns they are from; a NULL, and what counts as one, has no code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cedr.expression.values import kind, plain
from cedr.model.event import Value
from cedr.runtime.store.column import Column
from cedr.runtime.store.key_tables import IntegerCodes, TextCodes
from cedr.runtime.values.arrow_arrays import arrow, arrow_texts, present_in
from cedr.runtime.values.arrow_values import LARGEST, SMALLEST
from cedr.runtime.values.growable import Rows
from cedr.runtime.values.nested import is_nested, nested_values
from cedr.runtime.values.texts import text_buffers
from cedr.runtime.values.vector import Vector

_BEYOND = 2.0**63


class KeyCoder:
    """Gives values the codes 0, 1, 2 … in the order in which it meets them, within a kind.

    >>> column, coder = Column(), KeyCoder()
    >>> column.extend_values(["x", "y", None, "x"])
    >>> coder.codes(column, np.arange(4))
    array([ 0,  1, -1,  0])
    """

    __slots__ = ("_integers", "_others", "_size", "_texts")

    def __init__(self) -> None:
        self._integers = IntegerCodes()
        self._texts = TextCodes()
        self._others: dict[tuple[str, Value], int] = {}  # booleans, fractions, large numbers, dates …
        self._size = 0

    @property
    def size(self) -> int:
        """How many codes there are."""
        return self._size

    @property
    def nbytes(self) -> int:
        """Bytes taken, room included; of the rare kinds an estimate."""
        return self._integers.nbytes + self._texts.nbytes + 200 * len(self._others)

    def codes(self, source: Column | Vector, rows: Rows | None = None) -> Rows:
        """The codes of a column's values at these rows, or of a vector's; -1 for NULL, NaN and infinities."""
        if isinstance(source, Vector):
            return self._of_vector(source if rows is None else _chosen(source, rows))
        rows = np.arange(len(source)) if rows is None else rows
        if source.kind != "text":
            return self._of_vector(source.vector(rows))
        valid, texts = source.valid, source.texts
        if valid is not None and len(valid):
            rows = np.where(valid[rows], rows, -1)
        return self._of_texts(texts.data, texts.offsets, rows)

    def _of_vector(self, vector: Vector) -> Rows:
        values, valid = vector
        if isinstance(values, pa.Array) and is_nested(values.type):
            return self._of_objects(nested_values(values), None)
        if isinstance(values, pa.Array):
            offsets, data = text_buffers(values)
            rows = np.arange(len(values))
            present = np.where(present_in(values), rows, -1) if values.null_count else rows
            return self._of_texts(data, offsets, present)
        if values.dtype == np.int64:
            return self._of_integers(values, valid)
        if values.dtype == np.float64:
            return self._of_floats(values, valid)
        return self._of_objects(values.tolist(), valid)

    def _of_integers(self, values: npt.NDArray[np.int64], valid: npt.NDArray[np.bool_] | None) -> Rows:
        out = np.zeros(len(values), np.int64) if valid is None else valid.astype(np.int64) - 1
        self._size = self._integers.assign(np.ascontiguousarray(values), out, self._size)
        return out

    def _of_texts(self, data: npt.NDArray[np.uint8], offsets: Rows, rows: Rows) -> Rows:
        out = np.empty(len(rows), np.int64)
        self._size = self._texts.assign((data, offsets), rows, out, self._size)
        return out

    def _of_floats(self, values: npt.NDArray[np.float64], valid: npt.NDArray[np.bool_] | None) -> Rows:
        """Whole numbers are coded as integers are; of the others each different one once."""
        numbers = np.isfinite(values) if valid is None else np.isfinite(values) & valid
        whole = numbers & (values >= -_BEYOND) & (values < _BEYOND)
        whole[whole] = values[whole] == np.floor(values[whole])
        codes = self._of_integers(np.where(whole, values, 0).astype(np.int64), whole)
        broken = np.flatnonzero(numbers & ~whole)
        different, which = np.unique(values[broken], return_inverse=True)
        found = [self._of_other("number", value) for value in different.tolist()]
        codes[broken] = np.array(found, np.int64)[which.reshape(-1)]
        return codes

    def _of_objects(self, values: list[Any], valid: npt.NDArray[np.bool_] | None) -> Rows:
        codes = np.full(len(values), -1, np.int64)
        integers: dict[int, int] = {}
        texts: dict[int, str] = {}
        for row, raw in enumerate(values):
            value = plain(raw) if valid is None or valid[row] else None
            if value is None:
                continue
            of = kind(value)
            if of == "number" and SMALLEST <= value <= LARGEST and value == int(value):  # type: ignore[operator, arg-type]
                integers[row] = int(value)  # type: ignore[arg-type]
            elif of == "text" and _encodes(value):
                texts[row] = value  # type: ignore[assignment]
            else:
                codes[row] = self._of_other(of, value)
        if integers:
            codes[list(integers)] = self._of_integers(np.array(list(integers.values()), np.int64), None)
        if texts:
            codes[list(texts)] = self._of_vector(Vector(arrow_texts(list(texts.values()), large=True)))
        return codes

    def _of_other(self, of: str, value: Value) -> int:
        try:
            code = self._others.setdefault((of, value), self._size)
        except TypeError:  # a signalling NaN deep inside equals nothing
            return -1
        self._size += code == self._size
        return code

    def restart(self, live_codes: Rows) -> Rows:
        """Forgets all codes but these, which are counted anew in their order; the new code of each old one, or -1."""
        renamed = np.full(self._size, -1, np.int64)
        live = np.unique(live_codes[live_codes >= 0])
        renamed[live] = np.arange(len(live))
        self._integers.rename(renamed)
        self._texts.rename(renamed)
        self._others = {key: int(renamed[code]) for key, code in self._others.items() if renamed[code] >= 0}
        self._size = len(live)
        return renamed


def _chosen(vector: Vector, rows: Rows) -> Vector:
    values, valid = vector
    if isinstance(values, pa.Array):
        return Vector(values.take(arrow(rows, rows < 0)))
    present = rows >= 0 if valid is None else valid[rows] & (rows >= 0)
    return Vector(values[rows], present)


def _encodes(text: Value) -> bool:
    """Whether a text has no half of a surrogate pair, hence can be in a column of texts."""
    try:
        str(text).encode()
    except UnicodeEncodeError:
        return False
    return True
