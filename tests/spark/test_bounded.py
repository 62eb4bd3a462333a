"""Bounded DataFrames: the ideal result and the history.  Readings: R2, R10, R33, R40."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import cedr
from tests.spark.streaming import told

PAIR = """EVENT Pair WHEN SEQUENCE(INSTALL AS x, FIRST SHUTDOWN AS y, 10)
WHERE CorrelationKey(machine, EQUAL) OUTPUT x.machine AS machine, y.load AS load, y.load * 2 AS double"""
ALERT = """EVENT Alert WHEN UNLESS(INSTALL AS x, SHUTDOWN AS y, 10)
WHERE {x.machine = y.machine} AND {y.load > 5} AND {x.load < 100}"""
SCHEMA = "kind string, id string, time long, machine int, load short"


def machines(count: int = 400) -> list[tuple[Any, ...]]:
    """Events that are in no order of time."""
    kinds = ("INSTALL", "SHUTDOWN", "RESTART")
    return [(kinds[n % 7 % 3], f"e{n}", n * 37 % 211, n * 7 % 23, n % 13) for n in range(count)]


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(machines(), SCHEMA)


def table(result: DataFrame) -> list[str]:
    return sorted(str(row.asDict(recursive=True)) for row in result.collect())


def expected(query: str) -> list[tuple[Any, ...]]:
    """What the oracle says of the same events."""
    types = "TYPE INSTALL (machine INT, load INT); TYPE SHUTDOWN (machine INT, load INT); TYPE RESTART (machine INT);"
    messages = [
        {"insert": {"type": kind, "id": id_, "vs": time, "payload": {"machine": machine, "load": load}}}
        for kind, id_, time, machine, load in machines()
        if kind != "RESTART"
    ]
    found = cedr.evaluate(types + query, messages, host="oracle").to_dicts()
    return sorted((row["id"], row["vs"], *row["payload"].values()) for row in found)  # type: ignore[attr-defined]


@pytest.mark.parametrize("query", [PAIR, ALERT])
@pytest.mark.parametrize("buckets", [1, 2, 5])
def test_the_ideal_result_is_the_oracles(frame: DataFrame, query: str, buckets: int) -> None:
    result = cedr.query(query, cedr.events(frame, type="kind", id="id"), buckets=buckets)
    payload = [column for column in result.columns if column not in ("Ve", "Os", "Oe", "Rt", "contributors")]
    assert sorted(tuple(row) for row in result.select(*payload).collect()) == expected(query)


def test_the_answer_does_not_depend_on_partitions_and_order(frame: DataFrame) -> None:
    results = [
        table(cedr.query(PAIR, cedr.events(each, type="kind", id="id")))
        for each in (frame, frame.repartition(7, "load"), frame.orderBy(F.desc("id")).coalesce(1))
    ]
    assert results[0] == results[1] == results[2]
    assert results[0]


def test_payload_columns_keep_their_types(frame: DataFrame) -> None:
    schema = cedr.query(PAIR, cedr.events(frame, type="kind", id="id")).schema
    assert [(field.name, field.dataType.simpleString()) for field in schema][-3:] == [
        ("machine", "int"),
        ("load", "smallint"),
        ("double", "bigint"),
    ]


def test_timestamps_stay_timestamps_whatever_the_zone_of_the_session(spark: SparkSession) -> None:
    """R1.  "For ever" is NULL among timestamps."""
    moments = [datetime(2026, 3, 8, hour, 30, tzinfo=UTC) for hour in (5, 6, 7)]
    rows = [("A", 1, moments[0]), ("B", 1, moments[1]), ("B", 2, moments[2])]
    frame = spark.createDataFrame(rows, "kind string, key int, time timestamp")
    query = "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 2 hours) WHERE {a.key = b.key} OUTPUT a.key AS id, a.Vs AS since"
    (row,) = cedr.query(query, cedr.events(frame, type="kind")).collect()
    assert (row["payload_id"], len(row["id"])) == (1, 32)  # a name of the header stands beside it
    assert [row["Vs"].astimezone(UTC), row["since"].astimezone(UTC)] == [moments[1], moments[0]]
    assert (row["Ve"] - row["Vs"]).total_seconds() == 3600
    assert row["Oe"] is None


def test_a_frame_for_each_type(spark: SparkSession) -> None:
    """The same attribute may be of another Spark type in each; equal keys meet all the same."""
    installs = spark.createDataFrame([("i", 1, 5)], "name string, time long, machine int")
    shutdowns = spark.createDataFrame([("s", 3, 5), ("t", 3, 6)], "name string, time long, machine long")
    events = cedr.events({"INSTALL": installs, "SHUTDOWN": shutdowns}, id="name")
    query = "EVENT Q WHEN SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 10) WHERE CorrelationKey(machine, EQUAL)"
    (row,) = cedr.query(query, events, buckets=5, columns=["*", "contributor_types"]).collect()
    assert row["contributors"] == ["i", "s"]
    assert row["contributor_types"] == ["INSTALL", "SHUTDOWN"]
    assert (row["x_machine"], row["y_machine"]) == (5, 5)


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 2)",
        "SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 2 WITH TIES)",
        "ALL(INSTALL AS x, INSTALL AS y, 2 WITH TIES)",
        "SEQUENCE(INSTALL AS x, LAST SHUTDOWN AS y, 3)",
        "UNLESS(SEQUENCE(INSTALL AS x, RESTART AS z, 2), SHUTDOWN AS y, 1, 3)",
        "UNLESS(INSTALL AS x, ATLEAST(2, SHUTDOWN AS y, RESTART AS z, 1), 2)",
        "CANCEL-WHEN(SEQUENCE(INSTALL AS x, RESTART AS z, 2), SHUTDOWN AS y)",
    ],
)
def test_without_a_key_time_is_split(frame: DataFrame, pattern: str) -> None:
    """R11 to R18, R25: slices that overlap by as far as a row sees give what the whole gives."""
    events = cedr.events(frame, type="kind", id="id")
    query = f"EVENT Q WHEN {pattern} OUTPUT x.load AS load"
    result = cedr.query(query, events, buckets=5)
    assert table(result) == table(cedr.query(query, events, buckets=1)) != []
    without_clocks = cedr.query(query, events, buckets=5, columns=["load"])  # a slice knows its own rows by Vs
    assert sorted(without_clocks.collect()) == sorted(result.select("load").collect())
    assert "split by time, in slices that overlap by" in str(cedr.explain(result))


def test_without_key_and_bound_there_is_one_bucket(frame: DataFrame) -> None:
    query = "EVENT Q WHEN SEQUENCE(INSTALL AS x CONSUME, SHUTDOWN AS y CONSUME, 2) OUTPUT x.load AS load"
    result = cedr.query(query, cedr.events(frame, type="kind", id="id"), buckets=4)
    assert "one bucket: no equality" in str(cedr.explain(result))


def test_explain_says_how_a_frame_is_split(frame: DataFrame) -> None:
    text = str(cedr.explain(cedr.query(PAIR, cedr.events(frame, type="kind", id="id"), consistency="STRONG")))
    assert "Pair at STRONG" in text
    assert "split by INSTALL.machine, SHUTDOWN.machine into 2 buckets" in text


def test_the_history_of_what_was_said(spark: SparkSession) -> None:
    """R40: each arrival time is a batch; an alert is said, and taken back when its answer comes late."""
    rows = [("A", "a", 1, 1, 10), ("A", "b", 2, 2, 10), ("B", "c", 4, 1, 11), ("A", "d", 5, 1, 11)]
    frame = spark.createDataFrame(rows, "kind string, id string, time long, key int, arrived long")
    events = cedr.events(frame, type="kind", id="id", arrival="arrived")
    query = "EVENT Q WHEN UNLESS(A AS a, B AS b, 9) WHERE {a.key = b.key} OUTPUT a.key AS key"
    for buckets in (1, 3):
        result = cedr.query(query, events, changes=True, buckets=buckets)
        said = sorted((row["Cs"], row["change"], row["id"]) for row in result.where("id is not null").collect())
        assert said == [(10, "insert", "a"), (10, "insert", "b"), (11, "insert", "d"), (11, "retract", "a")]


def test_as_of_asks_for_what_stood_at_a_cedr_time(spark: SparkSession) -> None:
    """Reading: R24.  A row is said with its second event, and taken back when the third one comes."""
    rows = [
        ("A", "a1", 1, 7, 1),
        ("B", "b1", 2, 7, 2),
        ("C", "c1", 3, 7, 5),
        ("A", "a2", 1, 8, 6),
        ("B", "b2", 3, 8, 6),
    ]
    frame = spark.createDataFrame(rows, "kind string, id string, time long, key int, arrival long")
    events = cedr.events(frame, type="kind", id="id", arrival="arrival")
    text = "EVENT Q WHEN UNLESS(SEQUENCE(A x, B y, 10), C z, 3) WHERE CorrelationKey(key, EQUAL) OUTPUT y.key AS key"
    asked = {time: cedr.query(f"{text} CONSISTENCY MIDDLE AS OF {time}", events) for time in (1, 2, 4, 5, 6)}
    assert {time: [row["key"] for row in frame.collect()] for time, frame in asked.items()} == {
        1: [],
        2: [7],
        4: [7],
        5: [],
        6: [8],
    }
    both = cedr.query(f"{text} AS OF 4", events, consistency=["MIDDLE", "STRONG"])
    assert [(row["level"], row["key"]) for row in both.collect()] == [("MIDDLE", 7)]


def test_promises_in_a_column(spark: SparkSession) -> None:
    """R33, R39: in the order of arrival, by rows of any type; what breaks one is a dead letter, also in the result."""
    rows = [
        ("A", "a1", 1, 1, 10, None),
        ("A", "a2", 2, 2, 11, 1),
        ("B", "b2", 6, 2, 12, 5),
        ("C", "c", 20, 9, 13, 15),
        ("A", "late", 3, 3, 14, None),
    ]
    frame = spark.createDataFrame(rows, "kind string, id string, time long, key int, at long, promise long")
    events = cedr.events(frame, type="kind", id="id", arrival="at", guarantee="promise")
    query = "EVENT Q WHEN UNLESS(A AS a, B AS b, 10) WHERE {a.key = b.key} OUTPUT a.key AS key"
    options = {"consistency": "STRONG", "dead_letters": True, "buckets": 3}
    history = cedr.query(query, events, changes=True, **options).collect()
    said = [(row["Cs"], row["change"], row["id"], row["code"]) for row in history if row["change"] != "guarantee"]
    assert sorted(said) == [(13, "insert", "a1", None), (14, "dead-letter", None, "broken-guarantee")]
    told = sorted((row["K"], row["Cs"], row["Os"]) for row in history if row["change"] == "guarantee")
    assert {key: (time, g) for key, time, g in told} == {f"{number}/3": (13, 15) for number in (1, 2, 3)}
    table = cedr.query(query, events, **options).collect()
    assert sorted(str(row["id"] or row["code"]) for row in table) == ["a1", "broken-guarantee"]


def test_several_levels_from_one_state(frame: DataFrame) -> None:
    """R35: at the end STRONG has said what MIDDLE has."""
    events = cedr.events(frame.withColumn("at", F.col("time")), type="kind", id="id", arrival="at", disorder=0)
    result = cedr.query(ALERT, events, consistency=["STRONG", "MIDDLE"], changes=True).cache()
    ends = {}
    for level in ("STRONG", "MIDDLE"):
        own = result.where((F.col("level") == level) & (F.col("Os") <= 190)).drop("level")
        rows = told(own.collect())
        ends[level] = sorted(str(row[1:3]) for row in rows if row[0] == "insert")
        for row in rows:
            if row[0] == "retract":
                ends[level].remove(str(row[1:3]))
    assert ends["STRONG"] == ends["MIDDLE"] != []
    assert not result.where("level = 'STRONG' and change = 'retract'").count()
    result.unpersist()
