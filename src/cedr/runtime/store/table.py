"""Tables: the rows of one node of the plan, as columns.

Paper: Section 3.3.1 (the header of an event).  A row is a number; it never changes once it is there.  A version that
gets another end is another row.  Which rows are *live* is for those who hold row numbers to say: a table only keeps
them, and drops what nobody holds when it is compacted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cedr.model.time import FOREVER
from cedr.runtime.ids.text_ids import MadeIds, TextIds
from cedr.runtime.store.columns import Columns
from cedr.runtime.store.holders import NONE, Holder
from cedr.runtime.store.implied_column import Derived
from cedr.runtime.values.constant import always, constant
from cedr.runtime.values.growable import Growable
from cedr.runtime.values.run_length import together

Rows = NDArray[np.int64]
"""Row numbers, or times."""
Mask = NDArray[np.bool_]


class Delta(NamedTuple):
    """What changed in a table: rows that are no longer part of it, and rows that now are."""

    removed: Rows = NONE
    added: Rows = NONE

    def __bool__(self) -> bool:
        return bool(len(self.removed) or len(self.added))


class Header(NamedTuple):
    """The header columns of some rows.  Paper: Section 3.3.1.

    ``plain``: the only version of its event, stated in time (Os <= Vs) and open (Oe = FOREVER).  Reading: R9.
    """

    vs: Rows
    ve: Rows
    os: Rows
    oe: Rows
    rt: Rows
    plain: Mask

    @property
    def rough(self) -> Rows:
        """The places of rows that are not plain."""
        alike = self.plain.strides == (0,) and len(self.plain) and bool(self.plain[0])
        return NONE if alike else np.flatnonzero(~self.plain)

    def take(self, rows: Rows | Mask) -> Header:
        """The header of some of the rows."""
        vs = self.vs[rows]
        os, rt = (vs if column is self.vs else column[rows] for column in (self.os, self.rt))
        return Header(vs, self.ve[rows], os, _taken(self.oe, rows), rt, _taken(self.plain, rows))


def _taken(column: NDArray[Any], rows: Rows | Mask) -> NDArray[Any]:
    """Some values of a column; of a constant one they stay constant."""
    taken = column[rows]
    return np.broadcast_to(column[0], taken.shape) if column.strides == (0,) and len(column) else taken


def plain_header(vs: Rows, ve: Rows, rt: Rows) -> Header:
    """The header of rows that one run of beliefs gives: Os = Vs, Oe = FOREVER.  Reading: R10."""
    return Header(vs, ve, vs, constant(FOREVER, len(vs)), rt, always(len(vs)))


def each_once(size: int, rows: Iterable[Rows]) -> Rows:
    """All of some row numbers below a size, each once, in order."""
    held = np.zeros(size, dtype=np.bool_)
    for some in rows:
        held[some] = True
    return np.flatnonzero(held)


def without(rows: Rows, others: Rows) -> Rows:
    """Row numbers, in their order, without some others."""
    if not len(rows) or not len(others):
        return rows
    low, high = int(rows.min()), int(rows.max())
    gone = np.zeros(high - low + 1, dtype=np.bool_)
    gone[others[(others >= low) & (others <= high)] - low] = True
    found: Rows = rows[~gone[rows - low]]
    return found


def picked(column: Growable | Derived, rows: Rows) -> Rows:
    """Values of a column; of a row that is -1 any value, also where the table has no rows at all."""
    found: Rows = column.view[rows] if len(column) else np.zeros(len(rows), dtype=np.int64)
    return found


class Table:
    """Rows with header, references to the rows they are made of, IDs and payload.

    ``targets``: the tables that a row refers to, one for each parameter of its operator; the reference is -1 where a
    parameter is left out.  ``ids``: texts of a provider, made by idgen, or None where a row has the ID of what its
    first reference names.
    """

    def __init__(self, ids: TextIds | MadeIds | None, targets: Sequence[Table] = ()) -> None:
        self.vs, self.ve = Growable(np.int64), Growable(np.int64)
        self.os, self.oe, self.rt = Derived(self.vs, np.int64), Derived(FOREVER, np.int64), Derived(self.vs, np.int64)
        self.plain = Derived(1, np.bool_)
        self.targets = tuple(targets)
        self.references = [Growable(np.int64) for _ in targets]
        self.ids = ids
        self.columns = Columns()
        self.holders: list[Holder] = []
        self.beside: list[Table] = []
        """Tables that nobody else leads to, though no row here refers to theirs."""

    def hold(self, holder: Holder) -> None:
        """From now on the rows of a holder stay, and the holder is told when they get other numbers."""
        self.holders.append(holder)

    def held(self) -> Rows:
        """The rows that some holder keeps, each once, in order."""
        return each_once(len(self), (holder.held() for holder in self.holders))

    @property
    def unheld(self) -> bool:
        """Whether no holder keeps a row."""
        return all(holder.empty for holder in self.holders)

    def __len__(self) -> int:
        return len(self.vs)

    def extend(self, header: Header, references: Sequence[Rows] = (), *, given: bool = False) -> Rows:
        """Append rows; their numbers.  IDs and payload are appended by the caller.

        ``given``: nobody else will change the arrays of Vs, Ve and references, and no two are the same.
        """
        first = len(self.vs)
        for column, values in zip((self.vs, self.ve, *self.references), (*header[:2], *references), strict=True):
            if given:
                column.adopt(values)
            else:
                column.extend(values)
        for derived, same in zip(self._derived, header[2:], strict=True):
            derived.extend(same, header.vs)
        return np.arange(first, len(self.vs), dtype=np.int64)

    def lend(self, n: int) -> tuple[Rows, ...]:
        """Room for references, Vs, Ve and Rt of rows that are appended next, as given."""
        return (*(column.lend(n) for column in (*self.references, self.vs, self.ve)), self.rt.lend(n))

    def extend_versions(self, rows: Rows, header: Header) -> Rows:
        """Append rows with the IDs and payloads of other rows of the table, and headers of their own."""
        if isinstance(self.ids, TextIds):
            self.ids.extend_rows(rows)
        self.columns.extend_rows(rows)
        return self.extend(header, [column.view[rows] for column in self.references])

    def header(self, rows: Rows) -> Header:
        """The header columns of some rows; valid until the next change."""
        at = together(rows)
        vs, ve = self.vs.view[at], self.ve.view[at]
        os, oe, rt, plain = (column.view if column.implicit else column.view[at] for column in self._derived)
        return Header(
            vs,
            ve,
            vs if self.os.implicit else os,
            constant(FOREVER, len(vs)) if self.oe.implicit else oe,
            vs if self.rt.implicit else rt,
            always(len(vs)) if self.plain.implicit else plain,
        )

    def keep(self, rows: Rows) -> None:
        """Drop all rows but these, which are numbered anew in this order."""
        for column in (self.vs, self.ve, *self.references):
            column.keep(rows)
        for derived in self._derived:
            derived.keep(rows)
        if isinstance(self.ids, TextIds):
            self.ids.keep(rows)
        self.columns.keep(rows)

    def clear(self) -> None:
        """Drop all rows, and what the holders know of them; the room stays."""
        for holder in self.holders:
            holder.clear()
        for column in self._all:
            column.truncate(0)
        if isinstance(self.ids, TextIds):
            self.ids.keep(NONE)
        self.columns.keep(NONE)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        own = sum(column.nbytes for column in self._all)
        return own + self.columns.nbytes + (self.ids.nbytes if isinstance(self.ids, TextIds) else 0)

    @property
    def _derived(self) -> tuple[Derived, ...]:
        return self.os, self.oe, self.rt, self.plain

    @property
    def _all(self) -> list[Growable | Derived]:
        return [self.vs, self.ve, *self._derived, *self.references]
