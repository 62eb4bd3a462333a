"""Converts times to microseconds in workers that read files: whole numbers of a unit, and texts in a format.

Readings: R1, R50.  A value that is no time, or lies between two microseconds, is marked as in ``sources.clocks``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cedr.model.time import FOREVER
from cedr.spark.layout.layout import BAD_TIME, TOO_FINE
from cedr.spark.map_task.formats.values import zoned

WHOLE: Final = ("tinyint", "smallint", "int", "bigint")
_SIZES: Final = {"s": 1_000_000, "ms": 1_000}


def counted(column: Any, unit: str | None, *, truncate: bool) -> Any:
    """Convert whole numbers of a unit to microseconds.

    >>> counted(pa.array([1_500, 2_000, None]), "ns", truncate=True).to_pylist()
    [1, 2, None]
    >>> counted(pa.array([1_500, 2_000]), "ns", truncate=False).to_pylist() == [TOO_FINE, 2]
    True
    """
    if unit not in ("s", "ms", "ns"):
        return column
    missing = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
    numbers = pc.fill_null(column, 0).to_numpy(zero_copy_only=False)
    if unit == "ns":
        found = numbers // 1_000
        if not truncate:
            found = np.where(numbers % 1_000 != 0, TOO_FINE, found)
    else:
        size = _SIZES[unit]
        found = np.where(np.abs(numbers) > FOREVER // size, BAD_TIME, numbers * size)
    return pa.array(found, mask=missing)


def formatted(texts: Any, form: str, zone: str) -> Any:
    """Convert texts in a strptime format and a zone to microseconds."""
    trimmed = pc.utf8_trim_whitespace(texts)
    given = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)
    found = zoned(pc.strptime(given, format=form, unit="us", error_is_null=True), zone).cast(pa.int64())
    wrong = pc.and_(given.is_valid(), found.is_null())
    return pc.if_else(wrong, pa.scalar(BAD_TIME, pa.int64()), found)


def checked_times(times: Mapping[str, Any]) -> dict[str, Any]:
    """The clocks of rows; a row with a bad clock is marked by its Vs."""
    found = {}
    vs = times["vs"]
    for part, column in times.items():
        bad = pc.and_(pc.greater_equal(column, TOO_FINE), pc.less_equal(column, BAD_TIME))
        if part == "vs" or not pc.any(bad).as_py():
            found[part] = column
            continue
        vs = pc.if_else(pc.fill_null(bad, False), column, vs)  # noqa: FBT003 - Arrow's
        found[part] = pc.if_else(bad, pa.scalar(None, pa.int64()), column)
    return {**found, "vs": vs}
