"""Which inserts may be the first and only thing said about an event: they need no looking at one by one.

Readings: R3 (the default key), R9 (plain events), R39.  A candidate is plain in itself: stated in time, open, with the
default key, after its provider's guarantee.  It is taken as a row if its event is new and nothing else in sight is
about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.consistency.admission.stream_rows import PlainRows
from cedr.consistency.batch import EventBatch
from cedr.model.stream import Insert, Retract
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.values.arrow_arrays import arrow, arrow_texts, numpy_of
from cedr.runtime.values.constant import always

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]
Placed = tuple[int, Insert | Retract]


def sorted_out(
    messages: Sequence[Placed], guarantees: Mapping[str | None, Time]
) -> tuple[dict[str, list[tuple[int, Insert]]], list[Placed]]:
    """The candidates among messages by stream, and all other messages."""
    candidates: dict[str, list[tuple[int, Insert]]] = {}
    others: list[Placed] = []
    for placed in messages:
        message = placed[1]
        if isinstance(message, Insert) and _candidate(message, guarantees[message.provider]):
            candidates.setdefault(message.event.stream, []).append((placed[0], message))
        else:
            others.append(placed)
    return candidates, others


def _candidate(message: Insert, guarantee: Time) -> bool:
    event = message.event
    start, valid = event.occurrence_start, event.valid_start
    return (
        guarantee < start <= valid <= event.valid_end <= FOREVER == event.occurrence_end
        and start > BEGINNING
        and valid < FOREVER
        and event.root_time == valid
        and not event.contributors
        and not event.bindings
        and message.lineage_key == f"{event.stream}/{event.id}@{start}"
    )


def rows_of_inserts(messages: Sequence[tuple[int, Insert]], codes: Mapping[str | None, int]) -> PlainRows:
    """Candidates as columns."""
    events = [message.event for _, message in messages]
    first, last = messages[0][0], messages[-1][0]
    following = last - first == len(messages) - 1  # they come in order
    return PlainRows(
        [event.id for event in events],
        np.array([event.valid_start for event in events], dtype=np.int64),
        np.array([event.valid_end for event in events], dtype=np.int64),
        np.array([event.occurrence_start for event in events], dtype=np.int64),
        [event.payload for event in events],
        range(first, last + 1) if following else np.array([position for position, _ in messages], dtype=np.int64),
        next(iter(codes.values()))
        if len(codes) == 1
        else np.array([codes[message.provider] for _, message in messages], dtype=np.int32),
    )


def candidates_in(batch: EventBatch, guarantee: Time) -> Mask:
    """Which rows of a batch are candidates."""
    vs, ve, os = batch.vs, batch.ve, batch.os
    if batch.bare and int(vs.min()) > max(guarantee, BEGINNING) and int(vs.max()) < FOREVER:
        return always(len(vs))
    found: Mask = (os > guarantee) & (vs < FOREVER) & (ve >= vs)
    if guarantee == BEGINNING:
        found &= os > BEGINNING
    if os is not vs:
        found &= os <= vs
    if batch.closes:
        found &= batch.oe == FOREVER
    if batch.unfit is not None:
        found &= ~batch.unfit
    if batch.keys is not None:
        found &= _default_keys(batch)
    return found


def _default_keys(batch: EventBatch) -> Mask:
    starts = arrow(batch.os).cast(pa.string())
    stream, at, nothing = arrow_texts([batch.stream + "/", "@", ""])
    keys = pc.binary_join_element_wise(stream, batch.ids.cast(pa.string()), at, starts, nothing)
    same = pc.equal(keys, batch.keys)
    return numpy_of(pc.or_kleene(same, same.is_null()))  # no key given is the default one


def taken(rows: PlainRows, chosen: Mask) -> PlainRows:
    """Some of the rows."""
    if chosen.all():
        return rows
    places = np.flatnonzero(chosen)
    names = rows.ids
    ids: Any = names.take(arrow(places)) if isinstance(names, pa.Array) else [names[i] for i in places.tolist()]
    payload = rows.payload
    of_rows: Any = (
        {name: column.take(arrow(places)) for name, column in payload.items()}
        if isinstance(payload, Mapping)
        else [payload[i] for i in places.tolist()]
    )
    codes = rows.providers if isinstance(rows.providers, int) else rows.providers[places]
    times = (rows.vs[places], rows.ve[places], rows.os[places])
    at = rows.positions
    positions = places + at.start if isinstance(at, range) else at[places]
    rt = None if rows.rt is None else rows.rt[places]
    return PlainRows(ids, *times, of_rows, positions, codes, rt)
