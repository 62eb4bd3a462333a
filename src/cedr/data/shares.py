"""Rows dealt out by their key, so that a query can be evaluated on one share after the other.

A query whose events meet only where their keys are equal gives, share by share, what it gives on all rows.  What it
holds is then a share's, and what it touches stays in the caches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cedr.data.loading import Part, taken
from cedr.expression.tree import Way
from cedr.runtime.ids.monotone_ids import Rising
from cedr.runtime.ids.text_ids import TextIds
from cedr.runtime.values.arrow_arrays import numpy_of

Numbers = NDArray[np.uint8]
ROWS = 1 << 18
"""About so many rows are a share."""
MOST = 250
_PIECE = 1 << 18
"""Of a whole column so many rows are looked at at a time: what is made for that is let go of again."""
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""Fibonacci hashing: keys that count up are spread evenly."""


def shares_of(parts: Sequence[Part], ways: Mapping[str, Way]) -> tuple[list[Numbers], int] | None:
    """The share of every row of every part, and how many there are; None where the rows must stay together.

    ``ways``: the key of each type, an attribute or the way to a field inside of it; none where each event stands for
    itself.
    """
    count = min(MOST, round(sum(map(len, parts)) / ROWS))
    if count < 2 or any(part.keys is not None for part in parts):
        return None
    numbers = _by_key(parts, ways, count) if ways else [_by_row(len(part), count) for part in parts]
    return None if numbers is None or not _apart(parts, numbers) else (numbers, count)


def dealt_out(parts: Sequence[Part], numbers: Sequence[Numbers], count: int) -> list[list[Part]]:
    """The parts of each share.  The parts themselves are emptied, column by column: both would be twice as much."""
    shares: list[list[Part]] = [[] for _ in range(count)]
    for part, own in zip(parts, numbers, strict=True):
        order = np.argsort(own, kind="stable")
        places = np.split(order, np.cumsum(np.bincount(own, minlength=count))[:-1])
        made = [Part(part.type, at if part.rows is None else part.rows[at], None, {}, {}) for at in places]
        for share, at in zip(made, places, strict=True):
            share.ids, share.providers = taken(part.ids, at), taken(part.providers, at)
        part.ids = None
        for columns in ("clocks", "payload"):
            held = getattr(part, columns)
            for name in [*held]:
                column = held.pop(name)
                for share, at in zip(made, places, strict=True):
                    getattr(share, columns)[name] = taken(column, at)
                del column
                pa.default_memory_pool().release_unused()
        for of_share, mine in zip(shares, made, strict=True):
            of_share.append(mine)
    return shares


def _by_row(rows: int, count: int) -> Numbers:
    """Where each event stands for itself: one piece after the other."""
    return (np.arange(rows) * count // max(rows, 1)).astype(np.uint8)


def _key(part: Part, way: Way | None) -> Any:
    if way is None or way[0] not in part.payload:
        return None
    column = part.payload[way[0]]
    return pc.struct_field(column, list(way[1:])) if len(way) > 1 else column


def _by_key(parts: Sequence[Part], ways: Mapping[str, Way], count: int) -> list[Numbers] | None:
    """A number below the count for each value, the same for the same one; a NULL meets nothing and is anywhere."""
    keys = [_key(part, ways.get(part.type.name)) for part in parts]
    if any(key is None for key in keys):
        return None
    if all(pa.types.is_integer(key.type) for key in keys):
        return [_spread(key, count) for key in keys]
    if all(pa.types.is_string(key.type) for key in keys):
        numbers = (np.maximum(_codes(keys), 0) % count).astype(np.uint8)
        return np.split(numbers, np.cumsum([len(key) for key in keys])[:-1])
    return None


def _spread(key: Any, count: int) -> Numbers:
    """A number below the count for each whole number of a column; piece by piece, so that little is held beside it."""
    found = np.empty(len(key), np.uint8)
    for start in range(0, len(key), _PIECE):
        piece = pc.fill_null(key.slice(start, _PIECE).cast(pa.int64()), 0)
        spread = numpy_of(piece).view(np.uint64) * _SPREAD >> np.uint64(40)
        found[start : start + _PIECE] = spread % np.uint64(count)
    return found


def _codes(texts: Sequence[Any]) -> NDArray[np.int32]:
    """A number for each text of all columns, the same for the same one; -1 for NULL."""
    coded = pa.chunked_array(texts).dictionary_encode()
    return np.concatenate([numpy_of(pc.fill_null(chunk.indices, -1)) for chunk in coded.chunks])


def _apart(parts: Sequence[Part], numbers: Sequence[Numbers]) -> bool:
    """Whether no ID is in two shares: rows of one ID are judged together.  Readings: R3, R9."""
    for name in dict.fromkeys(part.type.name for part in parts):
        own = [(part, shares) for part, shares in zip(parts, numbers, strict=True) if part.type.name == name]
        if _differ([part.ids for part, _ in own]):
            continue
        codes = _codes([part.ids.cast(pa.string()) for part, _ in own])
        shares = np.concatenate([each for _, each in own])[codes >= 0]
        codes = codes[codes >= 0]
        last = np.empty(int(codes.max(initial=0)) + 1, np.uint8)
        last[codes] = shares
        if (last[codes] != shares).any():
            return False
    return True


def _differ(columns: Sequence[Any]) -> bool:
    """Whether the IDs rise, and so are known to differ; anything else takes longer to find out."""
    rising = Rising()
    for column in columns:
        if column.null_count:
            return False
        piece = len(column) if pa.types.is_integer(column.type) else _PIECE  # numbers may come in any order
        for start in range(0, len(column), piece):
            ids = TextIds()
            ids.extend(column.slice(start, piece))
            if not rising.takes(ids, 0):
                return False
    return True
