"""Streams of files that are not what they should be: what cannot be used is a dead letter, and the stream goes on.

Readings: R2, R39, R41.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

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


def by_spark(spark: SparkSession, folder: Path, **options: str) -> cedr.Events:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).options(**options)
    return cedr.events(reader.parquet(str(folder)), type="kind", id="id")


def by_workers(spark: SparkSession, folder: Path, **options: str) -> cedr.Events:
    found = cedr.files(
        spark,
        folder,
        SCHEMA,
        format="parquet",
        streaming=True,
        files_per_batch=1,
        type="kind",
        id="id",
        **options,
    )
    assert found.sources[0].files is not None
    return found


def run(folder: Path, events: cedr.Events) -> list[Any]:
    result = cedr.query(ALERT, events, dead_letters=True)
    writer = result.writeStream.format("parquet").option("path", str(folder.parent / "out"))
    query = writer.option("checkpointLocation", str(folder.parent / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    return list(query.recentProgress)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:warning.no-guarantee")
@pytest.mark.parametrize(
    ("read", "first", "then", "bad"),
    [
        (by_spark, {}, {"ignoreCorruptFiles": "true"}, []),
        (by_workers, {"unreadable": "fail"}, {}, [("unreadable-file", True)]),
    ],
)
def test_bad_rows_and_a_schema_that_changes_are_taken_as_far_as_they_go(
    spark: SparkSession, files: Path, read: Any, first: dict[str, str], then: dict[str, str], bad: list[Any]
) -> None:
    """A corrupt file stops the stream with its name; once it may be passed by, the stream goes on there.

    Spark passes it by without a word; workers tell which it was, once, with the dead letters of the batch.
    """
    with pytest.raises((StreamingQueryException, cedr.StreamError), match=r"3\.parquet"):
        run(files, read(spark, files, **first))
    progress = run(files, read(spark, files, **then))
    counts = [each["observedMetrics"]["cedr Alert"]["dead_letters"] for each in progress if each["observedMetrics"]]
    assert sum(count or 0 for count in counts) == len(bad)
    rows = spark.read.parquet(str(files.parent / "out")).collect()
    standing: dict[str, int | None] = {}
    for row in sorted(rows, key=lambda row: (row["Cs"], row["change"] == "insert")):
        if row["change"] == "insert":
            standing[row["id"]] = row["value"]
        elif row["change"] == "retract":
            del standing[row["id"]]
    assert standing == {"a2": 20, "a4": None, "null key": None, "a9": 90}
    letters = [(row["code"], bool(row["reason"] and row["message"])) for row in rows if row["change"] == "dead-letter"]
    expected = [("key-reused", True), ("null-id", True), ("null-time", True), *bad, ("unknown-type", True)]
    assert sorted(letters) == sorted(expected)
    assert all("3.parquet" in row["reason"] for row in rows if row["code"] == "unreadable-file")


TEXTS = WHOLE | {"key": pa.string()}


def test_bad_files_among_good_ones_in_a_bounded_result(spark: SparkSession, files: Path) -> None:
    """One has a column of another type, which is converted value by value; one has it of a type that cannot be."""
    put(files, 5, TEXTS, [("A", "a7", 7, "7", 70), ("A", "a8", 8, "eight", 80)])
    put(files, 6, WHOLE | {"value": pa.list_(pa.int64())}, [("A", "a10", 10, 10, [1])])
    header = {"type": "kind", "id": "id"}
    given = cedr.files(spark, files, SCHEMA, format="parquet", **header)
    assert given.sources[0].files is not None
    rows = cedr.query(ALERT, given, dead_letters=True, columns=["id"]).collect()
    assert sorted(row["id"] for row in rows if row["code"] is None) == ["a2", "a4", "a7", "a9", "null key"]
    reasons = {row["code"]: row["reason"] for row in rows if (row["code"] or "").startswith("unreadable")}
    letters = Counter(row["code"] for row in rows if row["code"] is not None)
    assert letters == {
        "unreadable-file": 2,
        "unreadable-line": 1,
        "key-reused": 1,
        "null-id": 1,
        "null-time": 1,
        "unknown-type": 1,
    }
    assert (
        "5.parquet, row 2, cannot be read: column \"key\": 'eight' is not of type bigint" in reasons["unreadable-line"]
    )
    with pytest.raises(Exception, match=r"unreadable-(file|line).*\.parquet"):
        cedr.query(ALERT, given, columns=["id"]).collect()
