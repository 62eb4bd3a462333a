"""Rows of a part as batches of inserts, and as retractions.  Readings: R2, R3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow.compute as pc

from cedr.consistency.batch import EventBatch
from cedr.data.instants import mask
from cedr.data.loading import Part, Rows
from cedr.model.stream import Retract
from cedr.model.time import BEGINNING, FOREVER, Time
from cedr.runtime.values.arrow_arrays import arrow


def batch_of(part: Part, rows: Rows | None, provider: str | None) -> EventBatch:
    """Rows of a part as a batch; None: all.  A run of rows is cut out, not copied."""
    start, contiguous = 0, rows is None
    if rows is not None and len(rows) and int(rows[-1]) - int(rows[0]) + 1 == len(rows):
        start, contiguous = int(rows[0]), True
    count = len(part) if rows is None else len(rows)
    taken = None if contiguous or rows is None else arrow(rows)

    def cut(column: Any) -> Any:
        if isinstance(column, np.ndarray):
            return column[start : start + count] if contiguous else column[rows]
        return column.slice(start, count) if contiguous else column.take(taken)

    clocks = {word: cut(times) for word, times in part.clocks.items()}
    os = clocks.get("occurrence_start")
    return EventBatch(
        part.type.name,
        cut(part.ids),
        clocks["time"],
        clocks.get("valid_end"),
        None if os is None else np.where(os == BEGINNING, clocks["time"], os),
        clocks.get("occurrence_end"),
        keys=None if part.keys is None else cut(part.keys),
        payload={name: cut(column) for name, column in part.payload.items()},
        provider=provider,
    )


def retractions_of(part: Part, rows: Rows, provider: str | None) -> Iterator[Retract]:
    """Rows of a part that are retractions."""
    ids = part.ids.take(arrow(rows)).cast("string").to_pylist()
    keys = [None] * len(rows) if part.keys is None else part.keys.take(arrow(rows)).to_pylist()
    times = part.clocks["time"][rows]
    stated = part.clocks["occurrence_start"][rows] if "occurrence_start" in part.clocks else times
    starts = np.where(stated == BEGINNING, times, stated).tolist()
    ends = [_ends(part, word, rows) for word in ("occurrence_end", "valid_end")]
    for id_, key, start, oe, ve in zip(ids, keys, starts, *ends, strict=True):
        yield Retract(key or f"{part.type.name}/{id_}@{start}", oe, ve, provider)


def _ends(part: Part, word: str, rows: Rows) -> list[Time | None]:
    """The end that each retraction names; none where it is FOREVER, which was left out."""
    if word not in part.clocks:
        return [None] * len(rows)
    return [None if end == FOREVER else end for end in part.clocks[word][rows].tolist()]


def by_provider(providers: Any, rows: Rows) -> Iterator[tuple[str | None, Rows]]:
    """Some rows, apart by who provides them: a column of names, or the name of the only one."""
    if providers is None or isinstance(providers, str):
        yield providers, rows
        return
    column = providers.take(arrow(rows))
    for name in sorted(column.unique().to_pylist(), key=str):
        same = mask(column.is_null() if name is None else pc.equal(column, name))
        yield name, rows[same]
