"""From what changes in the belief of events to who is told.

Readings: R3 (an end only moves to earlier), R44 (a subscription counts from the step after it was added).  A
subscription is told of a row as long as its filter is true of it.  An attribute never changes within a row (R4: a
modification is a new one), but its ends may: so of a retraction the filters are asked before and after.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.consistency.emission.changes import Changes
from cedr.consistency.emission.columns import payload_column
from cedr.expression.tree import HeaderField
from cedr.model.schema import EventType
from cedr.runtime.expressions.vector import taken
from cedr.runtime.values.arrow_arrays import arrow, numpy_of
from cedr.runtime.values.vector import Vector
from cedr.subscriptions.book import Book
from cedr.subscriptions.frames import Events
from cedr.subscriptions.index import Pairing
from cedr.subscriptions.mixed import by_objects
from cedr.subscriptions.routed import INSERT, RETRACT, SHORTEN, Part
from cedr.subscriptions.templates import Failed

Rows = NDArray[np.int64]

_READ = frozenset({"change", "id", "said", "Vs", "Ve", "Os", "Oe", "Cs", "Rt"})
_FIELDS = {field: field.value if field is not HeaderField.ID else "id" for field in HeaderField}


def route(book: Book, of: EventType, changes: Changes, failed: Failed) -> Part | None:
    """Who is told of the changes in the belief of one event type; None where nobody is."""
    index = book.indexes[of.name]
    if not len(index) or not (changes.inserts or changes.retractions):
        return None
    try:
        batch, mixed = changes.to_arrow(_READ), dict[str, Vector]()
    except TypeError:  # an attribute of type ANY, with values of several kinds
        batch, mixed = by_objects(changes)
    events = _events(of, batch, mixed)
    if not changes.retractions:
        found = index.matches(events, failed)
        return _part(of, batch, found.rows, found.slots, np.zeros(len(found.rows), np.int8))
    inserts = numpy_of(pc.equal(batch.column("change").cast(pa.string()), "insert"))
    after = index.matches(events, failed)
    ve, oe = changes.ends_before()
    before = after
    if index.reads_ends:
        back = np.flatnonzero(~inserts)
        own_mixed = {name: taken(vector, back) for name, vector in mixed.items()}
        earlier = _events(of, batch.take(arrow(back)), own_mixed, (ve[back], oe[back]))
        own = index.matches(earlier, failed)
        keep = inserts[after.rows]
        before = Pairing(np.append(after.rows[keep], back[own.rows]), np.append(after.slots[keep], own.slots))
    return _part(of, batch, *_told(book, batch, inserts, before, after))


def _told(
    book: Book, batch: pa.RecordBatch, inserts: NDArray[np.bool_], before: Pairing, after: Pairing
) -> tuple[Rows, Rows, NDArray[np.int8]]:
    """The pairs, and what becomes of the event for each: by whether it matched before the change, and matches after.

    A row that was emitted before a subscription was added was never told to it.
    """
    width = max(int(book.since.size), 1)
    stays = numpy_of(batch.column("Oe")) > numpy_of(batch.column("Os"))
    then, now = before.rows * width + before.slots, after.rows * width + after.slots
    now = now[(inserts | stays)[after.rows]]
    pairs = np.union1d(then, now)
    rows, slots = np.divmod(pairs, width)
    matched, matches = np.isin(pairs, then), np.isin(pairs, now)
    kinds = np.where(matches, np.where(matched & ~inserts[rows], SHORTEN, INSERT), RETRACT).astype(np.int8)
    said = numpy_of(batch.column("said"))
    told = inserts[rows] | (said[rows] >= book.since[slots])
    return rows[told], slots[told], kinds[told]


def _part(of: EventType, batch: pa.RecordBatch, rows: Rows, slots: Rows, kinds: NDArray[np.int8]) -> Part | None:
    if not len(rows):
        return None
    new = np.append(True, rows[1:] != rows[:-1])
    used = rows[new]
    if 2 * len(used) < len(batch):
        batch, rows = batch.take(arrow(used)), np.cumsum(new) - 1
    return Part(of.name, batch, rows, slots, kinds)


def _events(
    of: EventType, batch: pa.RecordBatch, mixed: Mapping[str, Vector], ends: tuple[Rows, Rows] | None = None
) -> Events:
    """The rows as filters see them, with other ends (Ve and Oe) where they are given."""
    names = set(batch.schema.names)
    payload: dict[str, object] = {
        name: batch.column(own) for name in of.attributes if (own := payload_column(name)) in names
    }
    payload.update(mixed)
    header: dict[HeaderField, object] = {field: batch.column(name) for field, name in _FIELDS.items()}
    if ends is not None:
        header[HeaderField.VE], header[HeaderField.OE] = ends
    return Events(len(batch), payload, header)
