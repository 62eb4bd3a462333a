"""Rows that cost nothing to make, as many and as wide as those of a query: what Spark alone takes to receive them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

_PAIR = "machine long, install long, shutdown long, load double"
_CLOCKS = "Vs timestamp, Ve timestamp, Os timestamp, Oe timestamp, Rt timestamp"
_PARTS = "contributors array<string>"
PAIRS = {False: _PAIR, True: f"change string, {_PAIR}"}
"""What the queries say of a match, of a bounded input and of a stream."""
ALL = {
    False: f"id string, {_CLOCKS}, {_PARTS}, {_PAIR}",
    True: f"change string, id string, K string, {_CLOCKS}, Cs timestamp, {_PARTS}, {_PAIR}, final boolean",
}
"""The same with all columns."""

_EXAMPLES: dict[str, Any] = {
    "change": "insert",
    "id": "0123456789abcdef0123456789abcdef",
    "K": "0123456789abcdef0123456789abcdef@1767225600000000/1767225600000000",
    "contributors": ["1234567", "1234567"],
    "load": 0.5,
    "final": True,
}
_CHUNK = 65_536
"""So many rows are handed to Spark at a time, as by us."""


def as_many(
    seen: Callable[[Iterator[Any]], Iterator[Any]], rows: int, columns: str
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """After what was seen, a row that says as its machine how much that was, and others up to a number."""
    examples, chunk = _EXAMPLES, _CHUNK
    schema = to_arrow_schema(StructType.fromDDL(columns), timezone="UTC")

    def emit(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        def made(machine: int, count: int) -> Any:
            row = {**{name: 1_767_225_600_000_000 for name in schema.names}, **examples, "machine": machine}
            arrays = [pa.array([row[field.name]] * count, _read_as(field.type)).cast(field.type) for field in schema]
            return pa.RecordBatch.from_arrays(arrays, schema=schema)

        def _read_as(of: Any) -> Any:
            return pa.int64() if pa.types.is_timestamp(of) else of

        yield made(sum(sum(batch.column("seen").to_pylist()) for batch in seen(batches)), 1)
        ready = made(0, chunk)
        for low in range(1, rows, chunk):
            yield ready.slice(0, min(chunk, rows - low))

    return emit
