"""Rows as events, and contributors as columns: where late materialisation ends.

Paper: Section 3.3.1.  Readings: R2, R23.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cedr.expression.tree import HeaderField
from cedr.model.event import Event
from cedr.runtime.ids import naming
from cedr.runtime.ids.text_ids import MadeIds, Recipe, TextIds
from cedr.runtime.store.relation import Hop, Reached, Relation
from cedr.runtime.store.table import Rows
from cedr.runtime.values.arrow_arrays import arrow, arrow_texts

_FEW = 8
"""Up to so many contributors are gathered at once."""


def events_of(relation: Relation, rows: Rows) -> list[Event]:
    """Rows as events, with the events they are made of."""
    if not len(rows):
        return []
    header = (column.tolist() for column in relation.header(rows)[:5])
    payloads = relation.payloads(rows)
    parts = _contributors(relation, rows)
    columns = zip(relation.id_values(rows), *header, payloads, parts, strict=True)
    return [
        Event(relation.stream, id_, vs, ve, os, oe, rt, contributors, payload)
        for id_, vs, ve, os, oe, rt, payload, contributors in columns
    ]


def _contributors(relation: Relation, rows: Rows) -> list[tuple[Event, ...]]:
    made: list[list[Event]] = [[] for _ in rows]
    for reach in relation.contributors:
        at = reach.rows(rows)
        some = np.flatnonzero(at >= 0)
        for place, event in zip(some.tolist(), events_of(reach.target, at[some]), strict=True):
            made[place].append(event)
    if not relation.ordered:
        for events in made:
            events.sort(key=lambda event: event.valid_start)
    return [tuple(events) for events in made]


def _leaves(relation: Relation, hops: tuple[Hop, ...] = ()) -> Iterator[tuple[tuple[Hop, ...], Relation]]:
    """The primitive events that a row is made of, in parameter order."""
    if not relation.contributors:
        yield hops, relation
    for reach in relation.contributors:
        yield from _leaves(reach.target, (*hops, *reach.hops))


def _sort_keys(relation: Relation, reached: Reached, hops: tuple[Hop, ...] = ()) -> Iterator[list[Rows]]:
    """What puts the primitive events of a row in the order of cbt[], nested ones flattened; the outermost key first.

    The contributors of an operator such as ALL go by (Vs, parameter), those of one such as SEQUENCE by parameter (R49).
    """
    if not relation.contributors:
        yield []
    for number, reach in enumerate(relation.contributors):
        way = (*hops, *reach.hops)
        own = [np.full(len(reached), number)]
        if not relation.ordered:
            own.insert(0, reach.target.times(HeaderField.VS, reached.along(way)))
        for keys in _sort_keys(reach.target, reached, way):
            yield [*own, *keys]


class Names:
    """IDs and contributors of some rows as columns; where one kernel gives both, it is asked once."""

    def __init__(self, relation: Relation, reached: Reached) -> None:
        self._relation, self._reached = relation, reached
        self._leaves = list(_leaves(relation))
        self._holders = [leaf.id_holder for _, leaf in self._leaves]
        self._parts: pa.Array | None = None

    @cached_property
    def _rows(self) -> list[Rows]:
        return [self._reached.along((*hops, *leaf.identity)) for hops, leaf in self._leaves]

    def ids(self, *, contributors: bool) -> pa.Array:
        """The rows' IDs; ``contributors``: these will be asked for too."""
        recipe = self._recipe()
        if recipe is None:
            return self._relation.id_holder.texts(self._reached.along(self._relation.identity))
        if not contributors:
            return naming.names(recipe, self._rows)
        found, self._parts = naming.names_and_contributors(recipe, self._rows)
        return found

    def _recipe(self) -> Recipe | None:
        """What the IDs are made of, if that is what the rows are made of."""
        relation = self._relation
        holder = relation.id_holder
        if not isinstance(holder, MadeIds) or holder.recipe is None or not self._together():
            return None
        table = relation.identity_table
        made_of = [(*relation.identity, (table, index)) for index in range(len(table.references))]
        return holder.recipe if [(*hops, *leaf.identity) for hops, leaf in self._leaves] == made_of else None

    def _together(self) -> bool:
        """Whether all contributors are events that are there, in parameter order.

        A row of UNION has one contributor of two, a row of LEFT JOIN may have one.
        """
        events = all(isinstance(ids, TextIds) for ids in self._holders)
        return events and self._ordered() and all((rows >= 0).all() for rows in self._rows)

    def _ordered(self) -> bool:
        return len(self._leaves) <= _FEW and _in_order(self._relation)

    def contributors(self) -> pa.Array:
        """The primitive contributors as lists of (type, id), in the order of cbt[], nested ones flattened."""
        leaves = [leaf for _, leaf in self._leaves]
        count, n = len(leaves), len(self._reached)
        if self._together():
            which, offsets = _alike(count, n)
            texts = self._parts
            if texts is None:
                texts = naming.contributors([ids for ids in self._holders if isinstance(ids, TextIds)], self._rows)
        else:
            present = np.stack([self._reached.along(hops) >= 0 for hops, _ in self._leaves], axis=1)
            keys = None if self._ordered() else list(_sort_keys(self._relation, self._reached))
            taken, ends = _placed(present, keys)
            offsets = ends.astype(np.int32)
            every = pa.concat_arrays([ids.texts(at) for ids, at in zip(self._holders, self._rows, strict=True)])
            which, texts = (taken // max(n, 1)).astype(np.int8), every.take(arrow(taken))
        streams = arrow_texts([leaf.stream for leaf in leaves])
        names = pa.DictionaryArray.from_arrays(arrow(which), streams)
        values = pa.StructArray.from_arrays([names, texts], ["type", "id"])
        return pa.ListArray.from_arrays(arrow(offsets), values)


def _alike(count: int, n: int) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
    """Which contributor is which, and where each row's begin, of rows with as many each: the same at every step."""
    which, offsets = _ALIKE.get(count, (np.empty(0, np.int8), np.empty(0, np.int32)))
    if len(offsets) <= n:
        which, offsets = np.tile(np.arange(count, dtype=np.int8), n), np.arange(n + 1, dtype=np.int32) * np.int32(count)
        if n <= _KEPT:
            _ALIKE[count] = which, offsets
    return which[: n * count], offsets[: n + 1]


_ALIKE: dict[int, tuple[NDArray[np.int8], NDArray[np.int32]]] = {}
_KEPT = 1 << 20


def _placed(present: NDArray[np.bool_], keys: list[list[Rows]] | None) -> tuple[Rows, Rows]:
    """Places of the contributors that are there, and where each row's begin.

    ``keys`` put the contributors of a row in order; without them parameter order is that of cbt[].
    """
    n, count = present.shape
    order: Rows = np.arange(count)[None, :] * n + np.arange(n)[:, None]
    if keys is not None:
        depth = max(map(len, keys))
        padded = [[*own, *[np.zeros(n, np.int64)] * (depth - len(own))] for own in keys]
        levels = [np.stack([own[level] for own in padded], axis=1) for level in range(depth)]
        sequence = np.lexsort([*reversed(levels), ~present], axis=1)
        order = np.take_along_axis(order, sequence, axis=1)
        present = np.take_along_axis(present, sequence, axis=1)
    offsets: Rows = np.append(0, np.cumsum(present.sum(axis=1)))
    return order[present], offsets


def _in_order(relation: Relation) -> bool:
    """Whether parameter order is that of cbt[] all the way down, nothing left out."""
    return relation.ordered and all(_in_order(reach.target) for reach in relation.contributors)
