"""What is wrong is said before the start where it can be, else it is a dead letter and the rest goes on.

Readings: R2, R39, R41.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import cedr
from cedr.spark.output.failures import describe_failures, failure
from tests.spark.test_bucket import layout

TYPES = "TYPE A (key INTEGER); TYPE B (key INTEGER);"
ALERT = "EVENT Alert WHEN UNLESS(A AS a, B AS b, 10) WHERE {a.key = b.key} OUTPUT a.key AS key"
SCHEMA = "kind string, id string, time long, key int, change string"


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([("A", "a", 1, 1, None)], SCHEMA).selectExpr("*", "key > 0 AS flag")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"type": "kind", "time": "at"}, 'no column "at".*kind, id, time, key'),
        ({"type": "kind", "time": "flag"}, 'column "flag" for time= is boolean, neither timestamps, whole numbers nor'),
        ({"type": "key"}, 'column "key" for type= is int, not text'),
        ({"type": "kind", "attributes": ["key", "load"]}, 'no column "load"'),
        ({"type": "kind", "disorder": "some minutes"}, '"some minutes" is not a length of time'),
        ({}, "no column tells the type"),
    ],
)
def test_columns_that_cannot_be_what_they_are_given_for(
    frame: DataFrame, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(cedr.StreamError, match=f"(?s){message}"):
        cedr.events(frame, **{"id": "id", **options})


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("TYPE A (key INTEGER, load FLOAT); TYPE B (key INTEGER);" + ALERT, 'no column for the attribute "load" of A'),
        ("TYPE A (key STRING); TYPE B (key STRING);" + ALERT, 'column "key" is int, A declares it as STRING'),
        (ALERT.replace("a.key AS key", "a.load AS load"), "load"),
        (ALERT + " CONSISTENCY STRONG AS OF 5", "."),
    ],
)
def test_queries_that_do_not_fit_are_refused_before_they_start(frame: DataFrame, query: str, message: str) -> None:
    with pytest.raises(cedr.CedrError, match=message):
        cedr.query(query, cedr.events(frame, type="kind", id="id", change="change"))


def test_a_type_without_a_frame(frame: DataFrame) -> None:
    with pytest.raises(cedr.CedrError, match="B"):
        cedr.query(ALERT, cedr.events({"A": frame}, id="id"))


def test_rows_that_cannot_be_used_are_dead_letters_and_the_rest_goes_on(spark: SparkSession) -> None:
    rows = [
        ("A", "good", 1, 1, None),
        ("A", "before 1970", -5_000_000, 2, None),
        ("A", "null key", 3, None, None),
        ("A", None, 4, 3, None),
        ("A", "null time", None, 4, None),
        ("A", "twice", 6, 5, None),
        ("A", "twice", 6, 5, None),
        ("A", "other", 7, 6, None),
        ("Z", "unknown type", 8, 1, None),
        (None, "no type", 8, 1, None),
        ("A", "strange", 9, 7, "upsert"),
        ("B", "never", 9, 8, "retract"),
    ]
    events = cedr.events(spark.createDataFrame(rows, SCHEMA), type="kind", id="id", change="change")
    result = cedr.query(TYPES + ALERT, events, dead_letters=True).cache()
    said = [row["id"] for row in result.where("code is null").collect()]
    assert sorted(said) == ["before 1970", "good", "null key", "other", "twice"]
    letters = cedr.dead_letters(result).collect()
    assert sorted(letter["code"] for letter in letters) == [
        "null-id",
        "null-time",
        "retraction-without-insert",
        "unknown-message",
        "unknown-type",
        "unknown-type",
    ]
    assert all(letter["reason"] and letter["message"] for letter in letters)
    result.unpersist()


def test_one_key_with_two_contents_is_a_dead_letter(spark: SparkSession) -> None:
    """R41: the same ID and Os with other content."""
    rows = [("A", "a", 1, 1, 5), ("A", "a", 1, 1, 6)]
    frame = spark.createDataFrame(rows, "kind string, id string, time long, key int, load int").coalesce(1)
    query = ALERT.replace("a.key AS key", "a.key AS key, a.load AS load")
    result = cedr.query(query, cedr.events(frame, type="kind", id="id"), dead_letters=True)
    found = result.collect()
    assert sorted(str(row["code"]) for row in found) == ["None", "key-reused"]


def test_without_declared_types_other_types_are_left_alone(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("A", "a", 1, 1, None), ("Z", "z", 1, 1, None)], SCHEMA)
    result = cedr.query(ALERT, cedr.events(frame, type="kind", id="id"), dead_letters=True)
    assert [(row["id"], row["code"]) for row in result.collect()] == [("a", None)]


def test_a_corrupt_file_among_good_ones(spark: SparkSession, tmp_path: Path) -> None:
    """Spark is asked to go on; what the good files hold is answered.  To Spark a line that is no JSON is NULLs."""
    frame = spark.createDataFrame([("A", f"a{n}", n, n, None) for n in range(20)], SCHEMA)
    frame.coalesce(1).write.mode("append").parquet(str(tmp_path / "in"))
    (tmp_path / "in" / "part-broken.parquet").write_bytes(b"PAR1 this is no Parquet file PAR1")
    read = spark.read.schema(SCHEMA).option("ignoreCorruptFiles", "true").parquet(str(tmp_path / "in"))
    assert cedr.query(ALERT, cedr.events(read, type="kind", id="id")).count() == 20
    (tmp_path / "x.json").write_text('{"kind": "A", "id": "a", "time": 1, "key": 1}\n{"kind": "A", "id"\n')
    lines = cedr.events(spark.read.schema(SCHEMA).json(str(tmp_path / "x.json")), type="kind", id="id")
    found = cedr.query(ALERT, lines, dead_letters=True).collect()
    assert sorted(row["id"] or row["code"] for row in found) == ["a", "unknown-type"]


def test_a_failure_in_a_worker_says_which_query_first() -> None:
    def fail() -> None:
        with describe_failures(layout(), 1):
            message = "out of luck"
            raise RuntimeError(message)

    with pytest.raises(cedr.HostError) as caught:
        fail()
    assert 'query "Alert" failed in bucket 2 of 2' in str(caught.value)
    assert "RuntimeError: out of luck" in str(caught.value)
    name = f"{type(caught.value).__module__}.{type(caught.value).__name__}"
    shown = failure(RuntimeError(f"Job aborted\n{name}: {caught.value}\n\tat org"))
    assert shown is not None
    assert shown.diagnostics[0].code == "worker-failed"
