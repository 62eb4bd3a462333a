"""What composites are called, and what they are made of, as texts.

Reading: R8.  Both follow from the same records of the same events, so that they are made in one go where both are
wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cedr.runtime.ids.text_ids import Recipe, TextIds, started, written
from cedr.runtime.kernels.naming import SLACK_WORDS, SPELLED, name_composites
from cedr.runtime.kernels.texts import total_size
from cedr.runtime.values.growable import Rows
from cedr.runtime.values.texts import LARGEST_32

Words = npt.NDArray[np.uint64]

_ROOMY = 64
"""Up to so many bytes for each ID there is room without counting."""
_NO_WORDS = np.empty(0, np.uint64)
_NO_OFFSETS = np.empty(0, np.int32)


def names(recipe: Recipe, rows: Sequence[Rows]) -> pa.Array:
    """The IDs of composites of some rows, none of them -1."""
    ids = np.empty(SPELLED * len(rows[0]), np.uint64)
    _name(recipe, rows, ids, _NO_WORDS, _NO_OFFSETS)
    return written(ids)


def contributors(ids: Sequence[TextIds], rows: Sequence[Rows]) -> pa.Array:
    """The IDs of the contributors of each composite, one behind the other."""
    return _contributors(Recipe("", [(0, 0)] * len(ids), ids), rows, _NO_WORDS)


def names_and_contributors(recipe: Recipe, rows: Sequence[Rows]) -> tuple[pa.Array, pa.Array]:
    """Both."""
    ids = np.empty(SPELLED * len(rows[0]), np.uint64)
    parts = _contributors(recipe, rows, ids)
    return written(ids), parts


def _contributors(recipe: Recipe, rows: Sequence[Rows], ids: Words) -> pa.Array:
    count, most = len(rows) * len(rows[0]), _most(recipe.ids, rows)
    small = most <= LARGEST_32
    out = np.empty(most // 8 + SLACK_WORDS, np.uint64)
    offsets = np.empty(count + 1, np.int32 if small else np.int64)
    size = _name(recipe, rows, ids, out, offsets)
    kind = pa.StringArray if small else pa.LargeStringArray
    return kind.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(out.view(np.uint8)[:size]))


def _most(ids: Sequence[TextIds], rows: Sequence[Rows]) -> int:
    """How many bytes the IDs of some rows take at most."""
    longest = max(each.longest for each in ids)
    if longest <= _ROOMY:
        return longest * len(rows) * len(rows[0])
    return sum(total_size(each.stored.offsets, some) for each, some in zip(ids, rows, strict=True))


def _name(recipe: Recipe, rows: Sequence[Rows], ids: Words, out: Words, offsets: npt.NDArray[Any]) -> int:
    start, streams = np.array(started(recipe.place), np.uint64), np.array(recipe.streams, np.uint64)
    texts = tuple((each.stored.words, each.stored.offsets) for each in recipe.ids)
    records = tuple(each.records for each in recipe.ids)
    return int(name_composites(start, streams, records, texts, tuple(rows), ids, out, offsets))
