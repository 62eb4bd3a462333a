"""What expressions read: a frame of instances, and the way through it row by row.

Reading: R20.  The value of an expression for many instances at once is the one that ``cedr.expression.evaluate`` gives
for each.  Where there is no way to compute a part in whole columns, ``row_by_row`` asks exactly that, with a cursor in
the place of the events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa

from cedr.expression.evaluate import HEADER_NAMES, Evaluator, compile_expression
from cedr.expression.tree import Aggregate, Attribute, Call, Expression, Header, HeaderField, variables, walk
from cedr.model.event import Value
from cedr.runtime.expressions.nested import usable
from cedr.runtime.expressions.vector import (
    NULLS,
    TEXTS,
    Mask,
    kind_of,
    masked,
    of_values,
    spread,
    taken,
    to_values,
)
from cedr.runtime.values.arrow_arrays import numpy_of
from cedr.runtime.values.vector import Vector


class Frame(Protocol):
    """Some instances: for each, the events that the variables stand for.  The variable "" is the row itself."""

    def __len__(self) -> int: ...

    def attribute(self, variable: str, name: str) -> Vector:
        """An attribute of a variable's payload, NULL where there is none."""
        ...

    def header(self, variable: str, field: HeaderField) -> Vector:
        """A header field: texts for the ID, integers for the times."""
        ...

    def bound(self, variable: str) -> Mask | None:
        """The instances in which the variable is bound; None where it is in all."""
        ...

    def nullable(self, variable: str) -> bool:
        """Whether it is NULL to a condition where it is not bound; otherwise the condition does not apply."""
        ...


Leaf = Attribute | Header
Key = tuple[str, str | HeaderField]


def _key(leaf: Leaf) -> Key:
    return leaf.variable, leaf.name if isinstance(leaf, Attribute) else leaf.field


class Leaves:
    """The leaves of expressions on one frame, each read once."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.size = len(frame)
        self._bound: dict[str, Mask | None] = {}
        self._vectors: dict[Key, Vector] = {}
        self._lists: dict[Key, list[Value]] = {}

    def bound(self, variable: str) -> Mask | None:
        """The instances in which a variable is bound; None where it is in all."""
        if variable not in self._bound:
            self._bound[variable] = self.frame.bound(variable)
        return self._bound[variable]

    def vector(self, leaf: Leaf) -> Vector:
        """A leaf as expressions see it: NULL where the variable is not bound, no NaN, no infinity."""
        key = _key(leaf)
        found = self._vectors.get(key)
        if found is None:
            found = self._vectors[key] = self._read(leaf)
        return found

    def values(self, leaf: Leaf) -> list[Value]:
        """The same as Python values."""
        key = _key(leaf)
        found = self._lists.get(key)
        if found is None:
            found = self._lists[key] = to_values(spread(self.vector(leaf), self.size))
        return found

    def _read(self, leaf: Leaf) -> Vector:
        bound = self.bound(leaf.variable)
        if bound is not None and not bound.any():
            return NULLS
        if isinstance(leaf, Header):
            return masked(self.frame.header(leaf.variable, leaf.field), bound)
        return masked(usable(self.frame.attribute(leaf.variable, leaf.name)), bound)


class _Cursor:
    """Stands for the event of one variable: its payload and header at the current row."""

    __slots__ = ("attributes", "headers", "row")

    def __init__(self) -> None:
        self.attributes: dict[str, list[Value]] = {}
        self.headers: dict[str, list[Value]] = {}
        self.row = 0

    @property
    def payload(self) -> _Cursor:
        return self

    def get(self, name: str) -> Value:
        return self.attributes[name][self.row]

    def __getattr__(self, name: str) -> Value:
        return self.headers[name][self.row]


_FEW: Final = 4
"""A text that repeats at least so often, on average, is worth looking at once only."""


def row_by_row(expression: Expression) -> Callable[[Leaves], Vector]:
    """The value of an expression, computed for each instance on its own."""
    read = (*walk(expression), *_named(expression))
    leaves = tuple({_key(node): node for node in read if isinstance(node, Leaf)}.values())
    compiled: list[Evaluator] = []

    def run(frame: Leaves) -> Vector:
        if not compiled:
            compiled.append(compile_expression(expression))
        if not leaves:
            return of_values([compiled[0]({})])
        if len(leaves) == 1 and (found := _by_text(compiled[0], leaves[0], frame.vector(leaves[0]))) is not None:
            return found
        return of_values(_rows(compiled[0], {leaf: frame.values(leaf) for leaf in leaves}, frame.size))

    return run


def _named(expression: Expression) -> Iterator[Header]:
    """The IDs of the events that functions of users are asked about: their errors name one."""
    for part in walk(expression):
        if isinstance(part, Call | Aggregate) and part.own is not None:
            yield from (Header(name, HeaderField.ID) for name in sorted(variables(part)))


def _by_text(evaluator: Evaluator, leaf: Leaf, vector: Vector) -> Vector | None:
    """An expression of one text: computed once for each text that occurs, where texts repeat."""
    if kind_of(vector) != TEXTS or not isinstance(vector.values, pa.Array):
        return None
    encoded = vector.values.dictionary_encode(null_encoding="encode")
    texts = encoded.dictionary.to_pylist()
    if len(texts) * _FEW > len(vector.values):
        return None
    places = numpy_of(encoded.indices).astype(np.int64)
    return taken(of_values(_rows(evaluator, {leaf: texts}, len(texts))), places)


def _rows(evaluator: Evaluator, columns: Mapping[Leaf, list[Value]], size: int) -> list[Value]:
    cursors: dict[str, Any] = {leaf.variable: _Cursor() for leaf in columns}
    for leaf, values in columns.items():
        cursor = cursors[leaf.variable]
        if isinstance(leaf, Attribute):
            cursor.attributes[leaf.name] = values
        else:
            cursor.headers[HEADER_NAMES[leaf.field]] = values
    found: list[Value] = []
    for row in range(size):
        for cursor in cursors.values():
            cursor.row = row
        found.append(evaluator(cursors))
    return found
