"""What one step said at one level.

Paper: Section 4.  Readings: R7 and R40 (the order of Sync), R8 (K).  Rows stay numbers until somebody asks for events
or for columns.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.consistency.emission.columns import payload_column
from cedr.consistency.emission.frozen_rows import EmittedName, recalled_row, sync_of_retraction
from cedr.model.event import Event
from cedr.model.level import ConsistencyLevel
from cedr.model.stream import Change, Guarantee, Insert, Retract
from cedr.model.time import Time
from cedr.runtime.store.materialise import Names, events_of
from cedr.runtime.store.relation import Reached, Relation
from cedr.runtime.store.table import Header, Table
from cedr.runtime.values.arrow_arrays import arrow, arrow_texts

Rows = NDArray[np.int64]
KEPT = -(2**63) + 1
"""An end that a retraction does not name."""


_KINDS = arrow_texts(["insert", "retract"])


class Spoken(NamedTuple):
    """Inserts and retractions as columns, in the order of Sync.

    ``oe`` and ``ve`` are the ends as said: of an insert those with which it leaves, of a retraction those before it,
    where ``ve`` is ``KEPT`` if it is that of the row; ``new_oe`` and ``new_ve`` are what a retraction shortens them to,
    ``KEPT`` where it does not name one.
    """

    insert: NDArray[np.bool_]
    rows: Rows
    said: Rows
    oe: Rows
    ve: Rows
    new_oe: Rows
    new_ve: Rows
    sync: Rows


class _Said(NamedTuple):
    """One row of it."""

    insert: bool
    said: Time
    oe: Time
    ve: Time
    new_oe: Time
    new_ve: Time


_NONE = np.empty(0, dtype=np.int64)
NOTHING = Spoken(np.empty(0, dtype=np.bool_), *(_NONE,) * 7)


def in_order_of_sync(retractions: Spoken, inserts: Spoken) -> Spoken:
    """Retractions and inserts, each in the order of Sync, together; retractions first.  Readings: R7, R40."""
    count, total = len(retractions.sync), len(retractions.sync) + len(inserts.sync)
    if not count:
        return inserts
    if count == total:
        return retractions
    if retractions.sync[-1] <= inserts.sync[0]:
        return Spoken._make(np.concatenate(pair) for pair in zip(retractions, inserts, strict=True))
    back = np.zeros(total, dtype=np.bool_)
    back[np.searchsorted(inserts.sync, retractions.sync, side="left") + np.arange(count)] = True
    mixed = []
    for one, other in zip(retractions, inserts, strict=True):
        column = np.empty(total, dtype=one.dtype)
        column[back], column[~back] = one, other
        mixed.append(column)
    return Spoken._make(mixed)


class Changes:
    """What one step said at one level, in the order of Sync, and the guarantee that leaves with it.

    To be read before the next step: rows are numbers of tables that go on changing.
    """

    def __init__(  # noqa: PLR0917 - one for each part
        self,
        level: ConsistencyLevel,
        cedr_time: Time,
        relation: Relation,
        spoken: Spoken,
        guarantee: Time | None,
        recalled: Sequence[Change] = (),
        renamed: Mapping[EmittedName, str] | None = None,
    ) -> None:
        """``recalled``: retractions of rows that were said before a restart, and are rows of no table any more.

        ``renamed``: the IDs of rows that were emitted by a query that this one replaces (R44).
        """
        self._renamed = renamed or {}
        self.level, self.cedr_time, self.guarantee = level, cedr_time, guarantee
        self._relation, self._spoken, self._recalled = relation, spoken, recalled
        self.inserts = int(spoken.insert.sum())
        self.retractions = len(spoken.rows) - self.inserts + len(recalled)
        self.standing = not self.retractions and relation.table.oe.implicit
        """Whether nothing was said but inserts of rows whose Oe is FOREVER."""
        self._changes: list[Change] | None = None
        self._arrow: pa.RecordBatch | None = None
        self._read = self._past = False

    @property
    def level_name(self) -> str:
        """The level by its name."""
        return self.level.name

    def __len__(self) -> int:
        return self.inserts + self.retractions + (self.guarantee is not None)

    def keep(self) -> None:
        """Make events and columns now, unless somebody has read one of the two: the tables are about to change."""
        if self._changes is None and self._arrow is None and not (self._read or self._past):
            self.to_changes()
            self.to_arrow()
        self._past = True

    def _check(self) -> None:
        if self._past:
            message = "a step has followed: read what was said before the next one"
            raise RuntimeError(message)

    def to_changes(self) -> list[Change]:
        """As messages with their events."""
        if self._changes is None:
            self._check()
            self._changes = [*self._messages()]
            if self.guarantee is not None:
                self._changes.append(Change(Guarantee(self.guarantee), self.cedr_time))
        return self._changes

    def _messages(self) -> list[Change]:
        spoken = self._spoken
        events = events_of(self._relation, spoken.rows)
        columns = (spoken.insert, spoken.said, spoken.oe, spoken.ve, spoken.new_oe, spoken.new_ve)
        rows = map(_Said._make, zip(*(column.tolist() for column in columns), strict=True))
        found = [self._change(event, of) for event, of in zip(events, rows, strict=True)]
        if not self._recalled:
            return found
        both = [*self._recalled, *found]
        return [both[place] for place in self._order().tolist()]

    def _order(self) -> Rows:
        """The order of what was recalled, and then what was said: by Sync, retractions first."""
        syncs = np.array([*map(sync_of_retraction, self._recalled), *self._spoken.sync.tolist()], dtype=np.int64)
        return np.lexsort((np.append(np.zeros(len(self._recalled), np.bool_), self._spoken.insert), syncs))

    def _change(self, event: Event, of: _Said) -> Change:
        event = event if event.occurrence_end == of.oe else replace(event, occurrence_end=of.oe)
        event = event if of.ve == KEPT else replace(event, valid_end=of.ve)
        if self._renamed and not of.insert:
            named = self._renamed.get((event.id, event.occurrence_start, of.said))
            event = event if named is None else replace(event, id=named)
        key = f"{event.id}@{event.occurrence_start}/{of.said}"
        if of.insert:
            return Change(Insert(event, key), self.cedr_time, event)
        named_oe, named_ve = (None if end == KEPT else end for end in (of.new_oe, of.new_ve))
        return Change(Retract(key, named_oe, named_ve), self.cedr_time, event)

    def to_arrow(self, header: Container[str] | None = None) -> pa.RecordBatch:
        """Inserts and retractions as columns: change, id, said, Vs, Ve, Os, Oe, Cs, Rt, contributors, then the payload.

        An attribute with the name of one of these is ``payload_<name>``.  The guarantee that leaves is ``guarantee``.
        Of the columns before the payload those that are not in ``header`` are made as NULLs: IDs and contributors are
        the dear ones.
        """
        if self._arrow is None:
            self._check()
            found = self._columns(header)
            self._read = True
            if header is not None:
                return found
            self._arrow = found
        return self._arrow

    def ends_before(self) -> tuple[Rows, Rows]:
        """Ve and Oe of every row before its change, in the order of ``to_arrow``; of an insert those it leaves with."""
        self._check()
        ve = _own(self._relation.table.header(self._spoken.rows).ve)
        if self._spoken.ve.strides != (0,):  # else each is that of its row
            ve = np.where(self._spoken.ve == KEPT, ve, self._spoken.ve)
        oe = _own(self._spoken.oe)
        if not self._recalled:
            return ve, oe
        known = [change.event for change in self._recalled if change.event is not None]
        order = self._order()
        return (
            np.append([event.valid_end for event in known], ve).astype(np.int64)[order],
            np.append([event.occurrence_end for event in known], oe).astype(np.int64)[order],
        )

    def _columns(self, header_names: Container[str] | None) -> pa.RecordBatch:
        spoken, relation = self._spoken, self._relation
        rows, n = spoken.rows, len(spoken.rows)
        reached = Reached(rows)
        names = Names(relation, reached)
        wants_all = header_names is None or "contributors" in header_names
        times = _Times(relation.table, spoken)
        made: dict[str, Callable[[], pa.Array]] = {
            "change": lambda: pa.DictionaryArray.from_arrays(arrow((~spoken.insert).view(np.int8)), _KINDS),
            "id": lambda: names.ids(contributors=wants_all),
            "said": lambda: arrow(spoken.said),
            "Vs": lambda: arrow(times.vs),
            "Ve": lambda: arrow(times.ve),
            "Os": lambda: arrow(times.os),
            "Oe": lambda: arrow(times.oe),
            "Cs": lambda: arrow(np.full(n, self.cedr_time) if self.retractions else spoken.said),
            "Rt": lambda: arrow(times.rt),
            "contributors": names.contributors,
        }
        wanted = made if header_names is None else header_names
        columns = {name: make() if name in wanted else pa.nulls(n) for name, make in made.items()}
        if self._renamed and self.retractions:
            columns["id"] = self._renamed_ids(columns["id"], times.os)
        columns.update((payload_column(name), array) for name, array in relation.arrays(reached).items())
        batch = pa.RecordBatch.from_pydict(columns)
        if not self._recalled:
            return batch
        known = [recalled_row(change) for change in self._recalled]
        arrays = [
            pa.concat_arrays([_values(known, field), column])
            for field, column in zip(batch.schema, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=batch.schema).take(arrow(self._order()))

    def _renamed_ids(self, ids: pa.Array, starts: Rows) -> pa.Array:
        spoken, names = self._spoken, ids.to_pylist()
        for place in np.flatnonzero(~spoken.insert).tolist():
            known = names[place], int(starts[place]), int(spoken.said[place])
            names[place] = self._renamed.get(known, names[place])
        return pa.array(names, ids.type)


class _Times:
    """The times of what is said, each read when it is asked for: copies, as the table goes on changing."""

    def __init__(self, table: Table, spoken: Spoken) -> None:
        self._table, self._spoken = table, spoken

    @cached_property
    def _header(self) -> Header:
        return self._table.header(self._spoken.rows)

    @cached_property
    def vs(self) -> Rows:
        return _own(self._header.vs)

    @cached_property
    def os(self) -> Rows:
        return self.vs if self._header.os is self._header.vs else _own(self._header.os)

    @cached_property
    def rt(self) -> Rows:
        return self.vs if self._header.rt is self._header.vs else _own(self._header.rt)

    @cached_property
    def oe(self) -> Rows:
        """After each change; a row that is removed ends where it began."""
        spoken, back = self._spoken, self._back
        if not len(back):
            return np.ascontiguousarray(spoken.oe)
        oe, of = spoken.oe.copy(), spoken.oe[back]
        new_oe = spoken.new_oe[back]
        removed = (new_oe == KEPT) & (spoken.new_ve[back] == KEPT)
        oe[back] = np.where(removed, self.os[back], np.where(new_oe == KEPT, of, new_oe))
        return oe

    @cached_property
    def ve(self) -> Rows:
        """After each change."""
        ve, back = _own(self._header.ve), self._back
        if self._spoken.ve.strides != (0,):  # else each is that of its row
            ve = np.where(self._spoken.ve == KEPT, ve, self._spoken.ve)
        if len(back):
            new_ve = self._spoken.new_ve[back]
            ve[back] = np.where(new_ve == KEPT, ve[back], new_ve)
        return ve

    @cached_property
    def _back(self) -> Rows:
        """Which are retractions."""
        return np.flatnonzero(~self._spoken.insert)


def _values(rows: Sequence[Mapping[str, object]], field: pa.Field) -> pa.Array:
    """A column of some rows; of one that is not asked for there are NULLs only."""
    return pa.nulls(len(rows)) if pa.types.is_null(field.type) else pa.array([r[field.name] for r in rows], field.type)


def _own(column: Rows) -> Rows:
    """A column that stays as it is, whatever becomes of the table."""
    return column if column.flags.owndata else column.copy()
