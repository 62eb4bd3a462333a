"""What is given: many subscriptions at once, and events whose matches are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from cedr.consistency.batch import EventBatch
from cedr.data.frames import frame_of, frame_of_rows, is_frame
from cedr.data.opening import wrong_data
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import StreamError
from cedr.expression.tree import HeaderField
from cedr.model.schema import EventType
from cedr.subscriptions.frames import Events

COLUMNS = ("id", "where", "type")
"""The columns of a table of subscriptions; the type may be left out."""


def listed(given: Any) -> Iterator[tuple[str, Any, str | None]]:
    """Many subscriptions as ID, predicate and type, however they are given.  Raises ``StreamError``."""
    if isinstance(given, Mapping):
        yield from ((id_, where, None) for id_, where in given.items())
    elif is_frame(given) or (hasattr(given, "names") and hasattr(given, "read")):
        yield from _rows(given)
    elif isinstance(given, Iterable) and not isinstance(given, str | bytes):
        for each in given:
            if isinstance(each, Mapping):
                yield from _rows(frame_of_rows([each]))
            elif isinstance(each, tuple | list) and len(each) in (2, 3):
                yield each[0], each[1], each[2] if len(each) > 2 else None
            else:
                raise _wrong(each)
    else:
        raise _wrong(given)


def _wrong(given: object) -> StreamError:
    detail = "taken are: a mapping of predicates by ID, pairs of both, a table with the columns id and where"
    return StreamError(Diagnostic("bad-subscription", f"{given!r:.60} is no subscription", detail=detail))


def _rows(given: Any) -> Iterator[tuple[str, Any, str | None]]:
    frame = given if hasattr(given, "names") and hasattr(given, "read") else frame_of(given)
    names = frame.names()
    for name in COLUMNS[:2]:
        if name not in names:
            primary, detail = f'subscriptions have no column "{name}"', f"the columns are: {', '.join(names)}"
            raise StreamError(Diagnostic("unknown-column", primary, detail=detail))
    table = frame.read([name for name in COLUMNS if name in names]).table
    ids = table.column("id").cast(pa.string()).to_pylist()
    texts = table.column("where").to_pylist()
    types = table.column("type").to_pylist() if "type" in names else [None] * len(ids)
    for row, (id_, where, of) in enumerate(zip(ids, texts, types, strict=True), start=1):
        if not isinstance(where, str):
            raise StreamError(Diagnostic("bad-subscription", f"subscription {row} has no predicate"))
        yield id_, where, of


def columns_of(given: Any, of: EventType) -> Events:
    """Events as filters see them.  Raises ``StreamError`` where they are none, or lack an attribute."""
    if isinstance(given, EventBatch):
        times = {HeaderField.VS: given.vs, HeaderField.VE: given.ve, HeaderField.OS: given.os, HeaderField.OE: given.oe}
        root = given.vs if given.rt is None else given.rt
        return Events(len(given), given.payload, {HeaderField.ID: given.ids, HeaderField.RT: root, **times})
    if isinstance(given, list | tuple) and all(isinstance(row, Mapping) for row in given):
        frame = frame_of_rows(given)
    elif is_frame(given):
        frame = frame_of(given)
    else:
        raise wrong_data(given)
    names = frame.names()
    missing = [name for name in of.attributes if name not in names]
    if missing:
        primary = f'there is no column for the attribute "{missing[0]}" of {of.name}'
        raise StreamError(
            Diagnostic("unknown-column", primary, detail=f"the columns are: {', '.join(names) or 'none'}")
        )
    table = frame.read(list(of.attributes)).table
    return Events(table.num_rows, {name: _whole(table.column(name)) for name in of.attributes}, {})


def _whole(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    whole = column.combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
