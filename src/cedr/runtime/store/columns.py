"""The payloads of a table's rows: one column for each attribute.

Payloads come back equal to what went in: an attribute that an event does not have is no NULL, and is remembered as
absent, at no cost while every event has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from cedr.model.event import Payload, Value
from cedr.runtime.store.column import Column
from cedr.runtime.values.growable import Growable, Rows

__all__ = ["Column", "Columns"]

_ABSENT = object()


class Columns:
    """Columns of equal length, by name.

    >>> columns = Columns()
    >>> columns.extend_payloads([Payload({"a": 1}), Payload({"b": "x"})])
    >>> columns.payloads(np.array([1, 0]))
    [Payload(b='x'), Payload(a=1)]
    """

    __slots__ = ("_columns", "_length", "_present")

    def __init__(self) -> None:
        self._columns: dict[str, Column] = {}
        self._present: dict[str, Growable] = {}  # of the names that some row lacks
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def get(self, name: str) -> Column | None:
        """The column of a name, if a row ever had it."""
        return self._columns.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order in which they came."""
        return tuple(self._columns)

    @property
    def complete(self) -> bool:
        """Whether every row has every attribute; one that it lacks is no NULL."""
        return not self._present

    @property
    def nbytes(self) -> int:
        """Bytes taken, room included."""
        parts: list[Column | Growable] = [*self._columns.values(), *self._present.values()]
        return sum(part.nbytes for part in parts)

    def extend(self, n: int, arrays: Mapping[str, pa.Array | pa.ChunkedArray | list[Value]]) -> None:
        """Append ``n`` rows; names that are missing are absent from them.  A list holds what Arrow cannot."""
        for name, array in arrays.items():
            if len(array) != n:
                message = f'column "{name}" has {len(array)} rows, the batch {n}'
                raise ValueError(message)
        for name, array in arrays.items():
            if isinstance(array, list):
                self._column(name).extend_values(array)
            else:
                self._column(name).extend(array)
            if name in self._present:
                self._present[name].fill(n, value=True)
        for name in self._columns.keys() - arrays.keys():
            self._lack(name).fill(n, value=False)
            self._columns[name].extend_nulls(n)
        self._length += n

    def extend_payloads(self, payloads: Sequence[Payload]) -> None:
        """Append rows given as payloads."""
        names = dict.fromkeys(name for payload in payloads for name in payload)
        for name in names:
            self._extend_name(name, [payload.get(name, _ABSENT) for payload in payloads])
        for name in self._columns.keys() - names.keys():
            self._lack(name).fill(len(payloads), value=False)
            self._columns[name].extend_nulls(len(payloads))
        self._length += len(payloads)

    def _extend_name(self, name: str, values: list[object]) -> None:
        column = self._column(name)
        there = [value is not _ABSENT for value in values]
        if not all(there):
            self._lack(name).extend(there)
            values = [None if value is _ABSENT else value for value in values]
        elif name in self._present:
            self._present[name].extend(there)
        column.extend_values(values)  # type: ignore[arg-type]

    def _column(self, name: str) -> Column:
        """The column of a name, absent from all earlier rows if it is new."""
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = Column()
            column.extend_nulls(self._length)
            if self._length:
                self._present[name] = Growable(np.bool_)
                self._present[name].fill(self._length, value=False)
        return column

    def _lack(self, name: str) -> Growable:
        """The presence of a name that some row lacks; so far all had it."""
        if name not in self._present:
            self._present[name] = Growable(np.bool_)
            self._present[name].fill(self._length, value=True)
        return self._present[name]

    def extend_rows(self, rows: Rows) -> None:
        """Append copies of own rows."""
        for column in self._columns.values():
            column.extend_rows(rows)
        for present in self._present.values():
            present.extend(present.view[rows])
        self._length += len(rows)

    def keep(self, rows: Rows) -> None:
        """Only these rows remain, in this order."""
        for column in self._columns.values():
            column.keep(rows)
        for present in self._present.values():
            present.keep(rows)
        self._length = len(rows)

    def payloads(self, rows: Rows) -> list[Payload]:
        """The payloads of these rows, each with the attributes it had."""
        names, values = self.names, [column.values(rows) for column in self._columns.values()]
        if not self._present:
            rows_of_values = zip(*values, strict=True) if values else iter([()] * len(rows))
            return [Payload(zip(names, row, strict=True)) for row in rows_of_values]
        items: list[dict[str, Value]] = [{} for _ in range(len(rows))]
        for name, column in zip(names, values, strict=True):
            there = self._present[name].view[rows].tolist() if name in self._present else [True] * len(rows)
            for item, value, has in zip(items, column, there, strict=True):
                if has:
                    item[name] = value
        return [Payload(item) for item in items]
