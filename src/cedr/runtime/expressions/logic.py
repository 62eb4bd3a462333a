"""Three-valued logic on whole vectors: AND, OR, NOT, IS NULL, IN, CASE.

Reading: R20.  What is no truth value is unknown.  As in ``expressions_number``, None says that there is no exact way
in columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.expression.values import kind
from cedr.model.event import Value
from cedr.runtime.expressions.vector import (
    FLOATS,
    INTEGERS,
    NULLS,
    OBJECTS,
    OPAQUE,
    TEXTS,
    TRUTHS,
    Mask,
    always_null,
    both,
    from_arrow_truths,
    kind_of,
    not_null,
    spread,
)
from cedr.runtime.values.arrow_arrays import arrow, arrow_texts
from cedr.runtime.values.vector import Vector


def truth(vector: Vector) -> Mask:
    """Where a vector is TRUE: neither FALSE nor unknown passes.  Reading: R20."""
    if kind_of(vector) == OBJECTS:
        return np.fromiter((value is True for value in vector.values), np.bool_, len(vector.values))
    if kind_of(vector) != TRUTHS:
        return np.zeros(len(vector.values), np.bool_)
    values: Mask = vector.values
    return values if vector.valid is None else values & vector.valid


def negation(vector: Vector) -> Vector:
    """NOT."""
    if kind_of(vector) == OBJECTS:
        return _of_masks(_falsehood(vector), truth(vector))
    return Vector(~vector.values, vector.valid) if kind_of(vector) == TRUTHS else NULLS


def _falsehood(vector: Vector) -> Mask:
    if kind_of(vector) == OBJECTS:
        return np.fromiter((value is False for value in vector.values), np.bool_, len(vector.values))
    return truth(Vector(~vector.values, vector.valid)) if kind_of(vector) == TRUTHS else truth(vector)


def _of_masks(true: Mask, false: Mask) -> Vector:
    return Vector(true, true | false)


def logical(parts: Sequence[Vector], *, decisive: bool) -> Vector:
    """AND (decided by a false) or OR (decided by a true) of some vectors."""
    if all(kind_of(part) == TRUTHS and part.valid is None for part in parts):
        join = np.logical_or if decisive else np.logical_and
        return Vector(_folded(join, [part.values for part in parts], start=not decisive))
    true = _folded(np.logical_or if decisive else np.logical_and, [truth(part) for part in parts], start=not decisive)
    false = _folded(np.logical_and if decisive else np.logical_or, [_falsehood(part) for part in parts], start=decisive)
    return _of_masks(true, false)


def _folded(join: Callable[[Any, Any], Any], masks: Sequence[Mask], *, start: bool) -> Mask:
    result = masks[0] if masks else np.array([start])
    for mask in masks[1:]:
        result = join(result, mask)
    return result


def is_null(vector: Vector, *, negated: bool) -> Vector:
    """``IS [NOT] NULL``."""
    return Vector(not_null(vector) if negated else ~not_null(vector))


class Constants:
    """The constants of an IN, ready to be looked up."""

    def __init__(self, values: Sequence[Value], *, negated: bool) -> None:
        self.values = values
        self.negated = negated
        self._ready: dict[str, tuple[Any, bool]] = {}

    def hold(self, vector: Vector) -> Vector | None:
        """``vector [NOT] IN (constants)``: unknown where another kind or a NULL among them leaves it open."""
        letter = kind_of(vector)
        if letter in OPAQUE:
            return None
        if letter not in self._ready:
            self._ready[letter] = self._prepared(letter)
        wanted, open_ = self._ready[letter]
        if isinstance(vector.values, np.ndarray):
            found, valid = np.isin(vector.values, wanted), vector.valid
        else:
            looked_up = pc.is_in(vector.values, value_set=wanted.cast(vector.values.type))
            found, valid = from_arrow_truths(looked_up).values, not_null(vector) if vector.values.null_count else None
        return Vector(found ^ self.negated, both(valid, found) if open_ else valid)

    def _prepared(self, letter: str) -> tuple[Any, bool]:
        """The constants that a value of a kind can be equal to, and whether the others leave the answer open."""
        name = {INTEGERS: "number", FLOATS: "number", TRUTHS: "boolean", TEXTS: "text"}[letter]
        fitting: list[Any] = [value for value in self.values if value is not None and kind(value) == name]
        left_open = len(fitting) < len(self.values)
        if letter == TEXTS:
            return arrow_texts([text for text in fitting if _sayable(text)]), left_open
        to, dtype = {INTEGERS: (int, np.int64), FLOATS: (float, np.float64), TRUTHS: (bool, np.bool_)}[letter]
        return np.array([same for value in fitting if (same := _same(value, to)) is not None], dtype), left_open


def _sayable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _same(value: Any, to: type) -> Any:
    """A number in another type where it is exactly the same number, else None."""
    if to is int:
        if type(value) is Decimal and value.adjusted() > 20:
            return None
        return int(value) if value == int(value) and -(2**63) <= value < 2**63 else None
    try:
        return to(value) if to(value) == value else None
    except OverflowError:
        return None


def choice(size: int, conditions: Sequence[Mask], results: Sequence[Vector], default: Vector) -> Vector | None:
    """For each instance the first result whose condition is true, else the default."""
    kinds = {kind_of(part) for part in (*results, default) if not always_null(part)}
    if not kinds:
        return NULLS
    if len(kinds) > 1 or kinds & OPAQUE:
        return None
    masks = [np.broadcast_to(condition, size) for condition in conditions]
    return _chosen_texts(size, masks, results, default) if kinds == {TEXTS} else _chosen(masks, results, default)


def _chosen(masks: Sequence[Mask], results: Sequence[Vector], default: Vector) -> Vector:
    parts = [*results, default]
    dtype = next(part.values.dtype for part in parts if not always_null(part))
    filled = [np.zeros(1, dtype) if always_null(part) else part.values for part in parts]
    valid = [np.zeros(1, np.bool_) if always_null(part) else not_null(part) for part in parts]
    values, known = filled[-1], valid[-1]
    for mask, result, there in zip(reversed(masks), reversed(filled[:-1]), reversed(valid[:-1]), strict=True):
        values, known = np.where(mask, result, values), np.where(mask, there, known)
    return Vector(values, known)


def _chosen_texts(size: int, masks: Sequence[Mask], results: Sequence[Vector], default: Vector) -> Vector:
    found = _text(default)
    for mask, result in zip(reversed(masks), reversed(results), strict=True):
        found = pc.if_else(arrow(mask), _text(result), found)
    return spread(Vector(found if isinstance(found, pa.Array) else arrow_texts([found.as_py()])), size)


def _text(vector: Vector) -> Any:
    if always_null(vector):
        return arrow_texts([None])[0]
    return vector.values[0] if len(vector.values) == 1 else vector.values
