"""Few files of many: neighbours that were put together equally often become one, until it is large.

Retention is part of it: of what was said before the CEDR time from which answers are kept, the last word on each row is
enough, and rows that never were need none.  So every answer that may still be asked for stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from cedr.data.change_rows import RETRACT
from cedr.history.catalog import Catalog, Segment
from cedr.history.segments import file_of, last_of_each_row, read_segments, write_segment
from cedr.model.time import Time

_TOGETHER: Final = 8
"""So many neighbours of one size become one file."""
LARGE: Final = 2_000_000
"""A file with so many rows stays as it is."""


def compact(catalog: Catalog, files: Path, name: str, keep: Time | None = None) -> None:
    """Put together what should be, as often as there is anything."""
    while (neighbours := _neighbours(catalog.segments(name))) is not None:
        _put_together(catalog, files, name, neighbours, keep)


def compact_all(catalog: Catalog, files: Path, name: str, keep: Time | None = None) -> None:
    """Make one file of all, and forget what need not be kept."""
    segments = catalog.segments(name)
    if segments:
        _put_together(catalog, files, name, segments, keep)


def _neighbours(segments: Sequence[Segment]) -> list[Segment] | None:
    """The first neighbours of one size that are many enough."""
    for size, group in groupby(segments, key=lambda each: each.size if each.rows < LARGE else -1):
        found = list(group)
        if size >= 0 and len(found) >= _TOGETHER:
            return found[:_TOGETHER]
    return None


def _put_together(catalog: Catalog, files: Path, name: str, segments: Sequence[Segment], keep: Time | None) -> None:
    known = catalog.known(name)
    assert known is not None
    rows = read_segments(files, [each.file for each in segments], known.columns)
    since = known.since
    if keep is not None:
        since = max(since, max(each.last_cs for each in catalog.segments(name)) - keep)
        rows = _forgotten(rows, since)
        if len(segments) == len(catalog.segments(name)):  # nothing lies elsewhere that a removal would take away
            rows = rows.filter(
                pc.or_(pc.not_equal(rows.column("change"), RETRACT), pc.greater(rows.column("Cs"), since))
            )
    first, last = segments[0].first_batch, segments[-1].last_batch
    size = max(each.size for each in segments) + 1
    file = file_of(first, last, size)
    write_segment(files, file, rows, known.key)
    times = pc.min_max(rows.column("Cs")).as_py()
    with catalog.together():
        catalog.remove(name, [each.file for each in segments])
        catalog.add(name, Segment(file, size, first, last, times["min"] or 0, times["max"] or 0, rows.num_rows))
        if since != known.since:
            catalog.begins(name, since)
    for each in segments:
        (files / each.file).unlink(missing_ok=True)


def _forgotten(rows: pa.Table, since: Time) -> pa.Table:
    """The rows without what bears on no CEDR time from ``since`` on."""
    old = pc.less_equal(rows.column("Cs"), since)
    before = last_of_each_row(rows.filter(old))
    return pa.concat_tables([before, rows.filter(pc.invert(old))])
