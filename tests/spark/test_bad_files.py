"""Streams of files that are not what they should be: what cannot be used is a dead letter, and the stream goes on.

Readings: R2, R39, R41.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import cedr

TYPES = "TYPE A (key INTEGER, value INTEGER); TYPE B (key INTEGER, value INTEGER);"
ALERT = (
    TYPES + "EVENT Alert WHEN UNLESS(A AS a, B AS b, 10) WHERE {a.key = b.key} OUTPUT a.key AS key, a.value AS value"
)
SCHEMA = "kind string, id string, time long, key long, value long"
WHOLE = {"kind": pa.string(), "id": pa.string(), "time": pa.int64(), "key": pa.int64(), "value": pa.int64()}
OTHER = {"id": pa.string(), "kind": pa.string(), "time": pa.int64(), "key": pa.int32(), "more": pa.string()}
"""Columns in another order, one narrower, one missing, one that nobody asked for."""

GOOD = [("A", "a1", 1, 1, 10), ("B", "b1", 3, 1, 0), ("A", "a2", 2, 2, 20)]
CHANGED = [
    ("a3", "A", 4, 3, "x"),
    ("a4", "A", -86_400_000_000, 4, None),
    ("null key", "A", 5, None, "x"),
    ("null time", "A", None, 5, "x"),
    (None, "A", 6, 6, "x"),
    ("z", "Z", 6, 6, "x"),
    ("a2", "A", 2, 2, "x"),
]
LAST = [("A", "a9", 9, 9, 90), ("A", "a9", 9, 9, 90), ("B", "b3", 8, 3, 0)]


def put(folder: Path, number: int, types: Mapping[str, pa.DataType], rows: Sequence[Sequence[Any]]) -> None:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(column, of) for column, of in zip(columns, types.values(), strict=True)]
    _appear(folder, number, lambda path: pq.write_table(pa.Table.from_arrays(arrays, list(types)), path))


def _appear(folder: Path, number: int, write: Any) -> None:
    """Read in the order of age, which is data here."""
    hidden = folder / f".{number}"
    write(hidden)
    os.utime(hidden, (1_700_000_000 + number,) * 2)
    hidden.replace(folder / f"{number}.parquet")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    put(folder, 1, WHOLE, GOOD)
    put(folder, 2, OTHER, CHANGED)
    _appear(folder, 3, lambda path: path.write_bytes(b"PAR1 this is no Parquet file PAR1"))
    put(folder, 4, WHOLE, LAST)
    return folder


def run(spark: SparkSession, folder: Path, **options: str) -> DataFrame:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).options(**options)
    events = cedr.events(reader.parquet(str(folder)), type="kind", id="id")
    result = cedr.query(ALERT, events, dead_letters=True)
    writer = result.writeStream.format("parquet").option("path", str(folder.parent / "out"))
    query = writer.option("checkpointLocation", str(folder.parent / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    return spark.read.parquet(str(folder.parent / "out"))


@pytest.mark.slow
def test_bad_rows_and_a_schema_that_changes_are_taken_as_far_as_they_go(spark: SparkSession, files: Path) -> None:
    """A corrupt file stops the stream with its name; once Spark is told to pass it by, the stream goes on there."""
    with pytest.raises(StreamingQueryException, match=r"3\.parquet"):
        run(spark, files)
    rows = run(spark, files, ignoreCorruptFiles="true").collect()
    standing: dict[str, int | None] = {}
    for row in sorted(rows, key=lambda row: (row["Cs"], row["change"] == "insert")):
        if row["change"] == "insert":
            standing[row["id"]] = row["value"]
        elif row["change"] == "retract":
            del standing[row["id"]]
    assert standing == {"a2": 20, "a4": None, "null key": None, "a9": 90}
    letters = [(row["code"], bool(row["reason"] and row["message"])) for row in rows if row["change"] == "dead-letter"]
    assert sorted(letters) == [("key-reused", True), ("null-id", True), ("null-time", True), ("unknown-type", True)]
