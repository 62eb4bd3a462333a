"""IDs of many rows: those that events came with, and those made by ``idgen``.

Reading: R8.  What ``cedr.model.identity`` makes of one row, in columns: a part of an ID is its digest, two words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cedr.model.identity import digest
from cedr.runtime.kernels.murmur import (
    SLACK,
    Words,
    absorb_chosen,
    absorb_each,
    absorb_part,
    digest_integers,
    digest_made,
    finish,
    make_in_order,
    spell_made,
)
from cedr.runtime.kernels.naming import RECORD, record_texts
from cedr.runtime.values.arrow_arrays import arrow, numpy_of
from cedr.runtime.values.growable import Growable, Rows
from cedr.runtime.values.texts import Texts

Digests = tuple[Words, Words]
"""The higher and the lower halves of digests."""

_MOST_SMALL = (2**31 - 1) // 32
_FEW = 4
"""So many times more rows are not worth a look for the sake of some."""


class TextIds:
    """IDs that are any texts, with their digests, and records of what is asked for most.

    Nothing is made before somebody asks: whole numbers stay numbers until their text is wanted, and records are made
    when a digest is.

    >>> ids = TextIds()
    >>> ids.extend(["b", "a", "b"])
    >>> ids.extend(pa.array([12]))
    >>> ids.ranks(np.arange(3)), ids.values(np.array([1, 3]))
    (array([1, 0, 1]), ['a', '12'])
    """

    __slots__ = ("_longest", "_numbers", "_records", "_texts")

    def __init__(self) -> None:
        self._texts = Texts()
        self._numbers = Growable(np.int64)
        """The IDs behind those whose text is there."""
        self._records = Growable(np.uint64, width=RECORD)
        """Of as many IDs as somebody asked for."""
        self._longest = 0

    def __len__(self) -> int:
        return len(self._texts) + len(self._numbers)

    @property
    def nbytes(self) -> int:
        """Bytes taken, room included."""
        return self._texts.nbytes + self._numbers.nbytes + self._records.nbytes

    @property
    def stored(self) -> Texts:
        """The IDs themselves."""
        if len(self._numbers):
            self._texts.extend(arrow(self._numbers.view).cast(pa.large_string()))
            self._numbers.truncate(0)
        return self._texts

    @property
    def longest(self) -> int:
        """Bytes of the longest ID that there has been."""
        _ = self.records
        return self._longest

    @property
    def records(self) -> Words:
        """Of each ID the halves of its digest, then its text if that is short; valid until the next change."""
        texts, start = self.stored, len(self._records)
        if start < len(texts):
            offsets = texts.offsets[start:]
            longest = int(np.diff(offsets).max(initial=0))
            self._longest = max(self._longest, longest)
            scratch = np.zeros((longest + SLACK + 15) // 16 * 16, np.uint8)
            record_texts(texts.data, offsets, scratch, self._records.grow(len(texts) - start))
        return self._records.view

    @property
    def high(self) -> Words:
        """The higher half of each ID's digest; valid until the next change."""
        return self.records[:, 0]

    def extend(self, ids: pa.Array | pa.ChunkedArray | Sequence[str]) -> None:
        """Append IDs; a NULL becomes the empty text."""
        if isinstance(ids, pa.ChunkedArray):
            for chunk in ids.chunks:
                self.extend(chunk)
        elif not isinstance(ids, pa.Array):
            self.stored.extend_encoded([text.encode("utf-8", "surrogatepass") for text in ids])
        elif pa.types.is_signed_integer(ids.type) and not ids.null_count:
            self._numbers.extend(numpy_of(ids))
        else:
            plain = pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)
            self.stored.extend(ids if plain else ids.cast(pa.large_string()))

    def extend_rows(self, rows: Rows) -> None:
        """Append copies of own rows."""
        if not len(self._texts):
            self._numbers.extend(self._numbers.view[rows])
            return
        recorded = len(self._records) == len(self)
        self.stored.extend_rows(rows)
        if recorded:
            self._records.extend(self._records.view[rows])

    def keep(self, rows: Rows) -> None:
        """Only these rows remain, given in their order."""
        if not len(self._texts):
            self._numbers.keep(rows)
            return
        self._records.keep(rows[rows < len(self._records)])
        self.stored.keep(rows)

    def recorded(self, rows: Rows) -> tuple[Words, Rows]:
        """Records, and which of them are these rows': of all rows, or where few are asked for, of these alone."""
        if _FEW * len(rows) >= len(self) - len(self._records):
            return self.records, rows
        some = TextIds()
        some.extend(self.texts(rows))
        return some.records, np.arange(len(rows), dtype=np.int64)

    def digests(self, rows: Rows) -> Digests:
        """The digests of these rows' IDs."""
        records, at = self.recorded(rows)
        return records[at, 0], records[at, 1]

    def given(self, rows: Rows) -> pa.Array:
        """The IDs of these rows as they are held: texts, or numbers."""
        return self.texts(rows) if len(self._texts) else arrow(self._numbers.view[rows])

    def numbers(self, start: int) -> Rows | None:
        """The IDs from a row on, if they are held as numbers; valid until the next change."""
        known = len(self._texts)
        return self._numbers.view[start - known :] if start >= known else None

    def texts(self, rows: Rows) -> pa.Array:
        """The IDs of these rows as Arrow strings; of row -1 NULL."""
        present = rows >= 0
        if len(self._texts) or not len(self._numbers):
            return self.stored.take(rows, None if present.all() else present)
        return arrow(self._numbers.view[rows], ~present).cast(pa.string())

    def values(self, rows: Rows) -> list[str]:
        """The IDs of these rows."""
        try:
            found: list[str] = self.texts(rows).to_pylist()
        except UnicodeDecodeError:  # half a surrogate pair
            return [text.decode("utf-8", "surrogatepass") for text in self._texts.encoded(rows)]
        return found

    def ranks(self, rows: Rows) -> Rows:
        """The rank of each row's ID among those of these rows, from 0, equal ones equal; in code point order."""
        if not len(rows):
            return np.empty(0, np.int64)
        ranks = pc.rank(self.texts(rows).cast(pa.large_binary()), tiebreaker="dense")
        return numpy_of(ranks).astype(np.int64) - 1


class MadeIds:
    """IDs made by ``idgen``: 128 bits each, written as 32 hexadecimal digits.

    They follow from what a row is made of, so they are not kept but made when somebody asks: most rows that come and go
    within a scope are never asked for.  ``make`` gives the halves of the IDs of some rows, high and low; ``recipe``
    says what they are made of, where all of that are events.
    """

    __slots__ = ("_make", "recipe")

    def __init__(self, make: Callable[[Rows], Digests], recipe: Recipe | None = None) -> None:
        self._make, self.recipe = make, recipe

    def digests(self, rows: Rows) -> Digests:
        """The digests of these rows' IDs, as parts of other IDs."""
        return made_digests(*self._make(rows))

    def texts(self, rows: Rows) -> pa.Array:
        """The IDs of these rows as Arrow strings; of row -1 NULL."""
        present = rows >= 0
        if present.all():
            return made_texts(*self._make(rows))
        known = np.flatnonzero(present)
        places = np.full(len(rows), -1, np.int64)
        places[known] = np.arange(len(known))
        found = made_texts(*self._make(rows[known]))
        return found.take(arrow(places, ~present))

    def values(self, rows: Rows) -> list[str]:
        """The IDs of these rows."""
        found: list[str] = self.texts(rows).to_pylist()
        return found

    def ranks(self, rows: Rows) -> Rows:
        """The rank of each row's ID among those of these rows, from 0, equal ones equal; in the order of the text."""
        high, low = self._make(rows)
        order = np.lexsort((low, high))
        high, low = high[order], low[order]
        steps = np.zeros(len(rows), np.int64)
        steps[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
        ranks = np.empty(len(rows), np.int64)
        ranks[order] = np.cumsum(steps)
        return ranks


class GivenIds:
    """IDs that stand somewhere else: ``texts`` gives those of some rows as Arrow strings, of row -1 NULL."""

    __slots__ = ("texts",)

    def __init__(self, texts: Callable[[Rows], pa.Array]) -> None:
        self.texts = texts

    def digests(self, rows: Rows) -> Digests:
        """The digests of these rows' IDs, as parts of other IDs."""
        return self._known(rows).digests(np.arange(len(rows)))

    def values(self, rows: Rows) -> list[str]:
        """The IDs of these rows."""
        found: list[str] = self.texts(rows).to_pylist()
        return found

    def ranks(self, rows: Rows) -> Rows:
        """The rank of each row's ID among those of these rows, from 0, equal ones equal; in code point order."""
        return self._known(rows).ranks(np.arange(len(rows)))

    def _known(self, rows: Rows) -> TextIds:
        ids = TextIds()
        ids.extend(self.texts(rows))
        return ids


class Recipe(NamedTuple):
    """What the IDs of composites are made of: the operator's place, then stream and ID of one event after the other."""

    place: str
    streams: Sequence[tuple[int, int]]
    ids: Sequence[TextIds]


Ids = TextIds | MadeIds | GivenIds


class Making:
    """IDs of composites in the making: stream and ID of one contributor after the other.  Reading: R8.

    >>> from cedr.model.identity import idgen
    >>> ids = TextIds()
    >>> ids.extend(["a", "b"])
    >>> making = Making("Q/0", 1)
    >>> making.take_in(digest("A"), ids, np.array([1]))
    >>> making_high, making_low = making.finish()
    >>> f"{int(making_high[0]):016x}{int(making_low[0]):016x}" == idgen("Q/0", "A", "b")
    True
    """

    __slots__ = ("_high", "_low", "_parts")

    def __init__(self, place: str, rows: int) -> None:
        start_high, start_low = started(place)
        self._high, self._low = np.full(rows, start_high, np.uint64), np.full(rows, start_low, np.uint64)
        self._parts = 1

    def take_in(self, stream: tuple[int, int], ids: Ids, rows: Rows) -> None:
        """The next contributor of every row: the digest of its stream, and where its ID is."""
        of_stream = np.array(stream, np.uint64)
        if isinstance(ids, TextIds):
            absorb_chosen(self._high, self._low, of_stream, *ids.recorded(rows))
        else:
            digests = np.stack(ids.digests(rows), axis=1)
            absorb_chosen(self._high, self._low, of_stream, digests, np.arange(len(rows)))
        self._parts += 2

    def take_in_part(self, part: tuple[int, int]) -> None:
        """One more part, the same for every row, given as its digest."""
        absorb_part(self._high, self._low, np.uint64(part[0]), np.uint64(part[1]))
        self._parts += 1

    def take_in_each(self, parts: Digests) -> None:
        """One more part, a row's own, given as its digest."""
        absorb_each(self._high, self._low, *parts)
        self._parts += 1

    def finish(self) -> Digests:
        """The halves of the IDs."""
        finish(self._high, self._low, np.uint64(16 * self._parts))
        return self._high, self._low


def made_in_order(
    place: str,
    streams: Sequence[str],
    highs: Words,
    lows: Words,
    order: npt.NDArray[np.int64],
) -> Digests:
    """The halves of ``idgen_of`` for composites whose contributors come in an order of each row's own.  Reading: R8.

    ``highs[k, r]`` and ``lows[k, r]`` are the digest of the ID that parameter k has in row r, ``streams[k]`` is its
    stream, and ``order[r, j]`` the parameter that comes j-th; -1 ends the row.
    """
    start = np.array(started(place), np.uint64)
    of_streams = np.array([digest(stream) for stream in streams], np.uint64).reshape(-1, 2)
    ids = np.empty((2, len(order)), np.uint64)
    make_in_order(start, of_streams, highs, lows, order, ids)
    return ids[0], ids[1]


@lru_cache(maxsize=1 << 10)
def started(place: str) -> tuple[int, int]:
    """The state of the hash after an operator's place; the same few come again and again."""
    first, second = digest(place)
    state = np.zeros((2, 1), np.uint64)
    absorb_part(state[0], state[1], np.uint64(first), np.uint64(second))
    return int(state[0, 0]), int(state[1, 0])


def made_digests(high: Words, low: Words) -> Digests:
    """The digests of the texts of IDs made by ``idgen``."""
    digests = np.empty((2, len(high)), np.uint64)
    digest_made(high, low, digests[0], digests[1])
    return digests[0], digests[1]


def made_texts(high: Words, low: Words) -> pa.Array:
    """The texts of IDs made by ``idgen``: 32 hexadecimal digits, as Arrow strings."""
    out = np.empty(4 * len(high), np.uint64)
    spell_made(high, low, out)
    return written(out)


def written(spelled: Words) -> pa.Array:
    """Texts of 32 bytes, four words each."""
    n = len(spelled) // 4
    small = n <= _MOST_SMALL
    offsets = np.arange(n + 1, dtype=np.int32 if small else np.int64) * 32
    kind = pa.StringArray if small else pa.LargeStringArray
    return kind.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(spelled))


def integer_digests(values: npt.NDArray[np.int64]) -> Digests:
    """The digests of integers, such as the Vs that is part of an aggregate's ID.  Reading: R8."""
    digests = np.empty((2, len(values)), np.uint64)
    digest_integers(np.ascontiguousarray(values, np.int64), np.zeros(SLACK, np.uint8), digests[0], digests[1])
    return digests[0], digests[1]
