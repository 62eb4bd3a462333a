"""Rows as JSON: what files of lines, topics and requests carry.

Times are ISO texts where the input has timestamps, else numbers; what is NULL is null.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from math import isnan
from typing import Any

import pyarrow as pa

Data = dict[str, Any]


def as_data(rows: pa.Table) -> Iterator[Data]:
    """Each row as a dictionary of what JSON has."""
    for batch in rows.to_batches(10_000):
        columns = [_plain_column(column) for column in batch.columns]
        names = batch.schema.names
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))


def as_line(row: Data) -> str:
    """A row as a line of JSON."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def _plain_column(column: pa.Array) -> list[Any]:
    values: list[Any] = column.to_pylist()
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_boolean(kind) or pa.types.is_list(kind):
        return values
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return None if isinstance(value, float) and isnan(value) else value  # NaN is no JSON
