"""Subscriptions and their clock as bytes: a table in Arrow's format, and a little JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import pyarrow as pa

from cedr.consistency.encoding import as_bytes, from_bytes
from cedr.diagnostics.diagnostic import Diagnostic
from cedr.diagnostics.exceptions import HostError
from cedr.model.time import Time
from cedr.subscriptions.book import Book, Subscription

_OWN: Final = "subscriptions/clock"
_BOOK: Final = "subscriptions/book"
_VERSION: Final = 1


class Saved(NamedTuple):
    """What was saved."""

    cedr_time: Time
    received: int
    guarantee: Time | None
    subscriptions: list[Subscription]
    since: list[Time]
    beliefs: dict[str, bytes]


def own_as_bytes(cedr_time: Time, received: int, guarantee: Time | None) -> dict[str, bytes]:
    """The clock, and how many messages were taken."""
    return {_OWN: as_bytes([_VERSION, cedr_time, received, guarantee])}


def book_as_bytes(book: Book) -> dict[str, bytes]:
    """The subscriptions."""
    sink = pa.BufferOutputStream()
    table = book.to_arrow()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return {_BOOK: sink.getvalue().to_pybytes()}


def restored(segments: Mapping[str, bytes]) -> Saved:
    """What was saved in some segments.  Raises ``HostError``."""
    missing = [name for name in (_OWN, _BOOK) if name not in segments]
    if missing:
        primary = f'the state has no segment "{missing[0]}"'
        raise HostError(Diagnostic("no-segment", primary, hint="keep every segment that state() gives, by its name"))
    version, cedr_time, received, guarantee = from_bytes(segments[_OWN])
    if version != _VERSION:
        primary = f"the subscriptions were stored in form {version}, and form {_VERSION} is known"
        raise HostError(Diagnostic("unknown-state-version", primary))
    table = pa.ipc.open_stream(segments[_BOOK]).read_all()
    rows = zip(*(table.column(name).to_pylist() for name in ("id", "type", "where")), strict=True)
    beliefs = {name: kept for name, kept in segments.items() if name not in (_OWN, _BOOK)}
    subscriptions = [Subscription(*row) for row in rows]
    return Saved(cedr_time, received, guarantee, subscriptions, table.column("since").to_pylist(), beliefs)
