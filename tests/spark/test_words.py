"""The words that describe events: the same for DataFrames and for files that workers read.  Readings: R1, R2, R50."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import cedr
from cedr.spark.api.infer_schema import csv_schema
from cedr.spark.plan.missing_guarantees import CedrWarning
from cedr.spark.sources.clocks import spark_pattern
from cedr.spark.sources.events import events as spark_events

PAIR = "EVENT Pair WHEN SEQUENCE(TX AS a, TX AS b, 5 minutes) WHERE {a.card = b.card} OUTPUT a.card AS card"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def found(events: cedr.Events, query: str = PAIR) -> list[tuple[Any, ...]]:
    """Rows by card and start since the epoch, dead letters by code."""
    rows = cedr.query(query, events, dead_letters=True).collect()
    shown = [(row["code"] or row["card"], _since(row["Vs"])) for row in rows]
    return sorted(shown, key=str)


def _since(time: Any) -> Any:
    return time.astimezone(UTC) - EPOCH if isinstance(time, datetime) else time


def put(spark: SparkSession, folder: Path, form: str, rows: list[tuple[Any, ...]], schema: str) -> cedr.Events | str:
    frame = spark.createDataFrame(rows, schema).coalesce(1)
    writer = frame.write.option("header", "true")
    getattr(writer, form)(str(folder / form))
    return str(folder / form)


SECOND = timedelta(seconds=1)
UNITS = {
    "s": [("c", 10, "1"), ("c", 20, "2"), ("d", 2**62, "3")],
    "ms": [("c", 10_000, "1"), ("c", 20_000, "2"), ("d", 2**62, "3")],
    "us": [("c", 10_000_000, "1"), ("c", 20_000_000, "2"), ("d", None, "3")],
    "ns": [("c", 10_000_000_000, "1"), ("c", 20_000_000_000, "2"), ("d", 1_500, "3")],
}
WRONG = {"s": "bad-time", "ms": "bad-time", "us": "null-time", "ns": "time-too-fine"}


@pytest.mark.parametrize("unit", UNITS)
def test_whole_numbers_have_a_unit(spark: SparkSession, tmp_path: Path, unit: str) -> None:
    """R50: by Spark and by the workers that read files; what is no time in microseconds is a dead letter."""
    schema = "card string, at long, no string"
    words: dict[str, Any] = {"type": "TX", "time": "at", "time_unit": unit, "id": "no"}
    expected = sorted([("c", 20 * SECOND), (WRONG[unit], None)], key=str)
    assert found(cedr.events(spark.createDataFrame(UNITS[unit], schema), **words)) == expected
    for form in ("csv", "parquet", "json"):
        path = put(spark, tmp_path, form, UNITS[unit], schema)
        by_workers = cedr.files(spark, path, schema, format=form, **words)
        assert by_workers.sources[0].files is not None
        assert found(by_workers) == expected


def test_nanoseconds_may_be_cut(spark: SparkSession, tmp_path: Path) -> None:
    schema = "card string, at long, no string"
    rows = [("c", -1_500, "1"), ("c", 2_999, "2")]
    words: dict[str, Any] = {"type": "TX", "time": "at", "time_unit": "ns", "id": "no", "truncate": True}
    expected = [("c", timedelta(microseconds=2))]
    assert found(cedr.events(spark.createDataFrame(rows, schema), **words)) == expected
    path = put(spark, tmp_path, "parquet", rows, schema)
    assert found(cedr.files(spark, path, format="parquet", **words)) == expected


def test_seconds_with_a_fraction(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("c", 10.5, "1"), ("c", 20.25, "2")], "card string, at double, no string")
    words: dict[str, Any] = {"type": "TX", "time": "at", "id": "no"}
    assert found(cedr.events(frame, time_unit="s", **words)) == [("c", timedelta(seconds=20.25))]
    with pytest.raises(cedr.StreamError, match='numbers with a fraction are times with time_unit="s" or "ms"'):
        cedr.events(frame, **words)


TEXTS = [("c", "05.01.1970 08:00", "1"), ("c", "5.1.1970 08:02", "2"), ("d", "soon", "3"), ("e", None, "4")]


def test_texts_in_a_format(spark: SparkSession, tmp_path: Path) -> None:
    """In a zone that is not the session's; one-digit days as strptime takes them."""
    schema = "card string, at string, no string"
    words: dict[str, Any] = {"type": "TX", "time": "at", "id": "no", "time_format": "%d.%m.%Y %H:%M"}
    expected = [("bad-time", None), ("c", timedelta(days=4, hours=8, minutes=2)), ("null-time", None)]
    assert found(cedr.events(spark.createDataFrame(TEXTS, schema), **words)) == expected
    path = put(spark, tmp_path, "csv", TEXTS, schema)
    by_workers = cedr.files(spark, path, schema, format="csv", **words)
    assert by_workers.sources[0].files is not None
    assert found(by_workers) == expected
    berlin = [expected[0], ("c", timedelta(days=4, hours=7, minutes=2)), expected[2]]
    for given in (
        cedr.events(spark.createDataFrame(TEXTS, schema), zone="Europe/Berlin", **words),
        cedr.files(spark, path, schema, format="csv", zone="Europe/Berlin", **words),
    ):
        assert found(given) == berlin


def test_texts_without_a_format_are_iso(spark: SparkSession) -> None:
    rows = [
        ("c", "1970-01-05 08:00", "1"),
        ("c", "1970-01-05T09:02:00+01:00", "2"),
        ("d", "1970-01-05 08:00:00.1234567", "3"),
        ("e", "5.1.1970", "4"),
    ]
    frame = spark.createDataFrame(rows, "card string, at string, no string")
    expected = [("bad-time", None), ("c", timedelta(days=4, hours=8, minutes=2)), ("time-too-fine", None)]
    assert found(cedr.events(frame, type="TX", time="at", id="no")) == expected


def test_times_without_a_zone_are_in_one(spark: SparkSession, tmp_path: Path) -> None:
    texts = [("c", "1970-01-05 08:00:00", "1"), ("c", "1970-01-05 08:02:00", "2")]
    frame = spark.createDataFrame(texts, "card string, at string, no string").selectExpr(
        "card", "CAST(at AS timestamp_ntz) AS at", "no"
    )
    words: dict[str, Any] = {"type": "TX", "time": "at", "id": "no"}
    assert found(cedr.events(frame, **words)) == [("c", timedelta(days=4, hours=8, minutes=2))]
    expected = [("c", timedelta(days=4, hours=7, minutes=2))]
    assert found(cedr.events(frame, zone="Europe/Berlin", **words)) == expected
    (tmp_path / "tx.csv").write_text("card,at,no\n" + "".join(f"{','.join(row)}\n" for row in texts))
    for of in ("timestamp", "timestamp_ntz"):
        schema = f"card string, at {of}, no string"
        given = cedr.files(spark, tmp_path / "tx.csv", schema, zone="Europe/Berlin", **words)
        assert given.sources[0].files is not None
        assert found(given) == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"time_unit": "h"}, "error[bad-word]: time_unit= must be one of s, ms, us, ns, ticks, not 'h'"),
        ({"zone": "Mars"}, 'error[bad-word]: zone= must be a zone such as "UTC" or "Europe/Berlin", not \'Mars\''),
        (
            {"time_format": "%Q"},
            'error[bad-word]: time_format= has "%Q", which Spark cannot read\n'
            "    = it reads: %Y, %m, %d, %e, %H, %I, %M, %S, %j, %y, %b, %B, %p, %f, %z, %%, %T, %R, %F, %D",
        ),
    ],
)
def test_values_that_words_cannot_have(spark: SparkSession, words: dict[str, Any], message: str) -> None:
    with pytest.raises(cedr.StreamError) as caught:
        cedr.events(spark.range(1), type="TX", time="id", **words)
    assert str(caught.value) == message


def test_patterns_of_spark() -> None:
    assert spark_pattern("%d/%b/%y %I:%M %p") == "d/MMM/yy h:m a"
    assert spark_pattern("%Y%m%dT%H%M%S.%f%z") == "yyyyMMdd'T'HHmmss.SSSSSS[XXX][XX][X]"
    assert spark_pattern("%F at o'clock %T") == "y-M-d' at o''clock 'H:m:s"


# -- units in the query -----------------------------------------------------------------------------------------------


TICKS = PAIR.replace("5 minutes", "5")


@pytest.mark.parametrize(
    ("words", "query", "message"),
    [
        (
            {},
            PAIR,
            'error[time-unit-missing]: "5 minutes" is a length of time, but the times of TX are whole numbers without '
            "a unit\n"
            "  --> <query>:1:44\n"
            "    |\n"
            f"  1 | {PAIR}\n"
            "    |                                            ^^^^^^^^^\n"
            '    = hint: say time_unit="s", "ms", "us" or "ns"',
        ),
        (
            {"time_unit": "s"},
            TICKS,
            'error[time-unit-unexpected]: "5" is a number of ticks, but the times of TX are points in time\n'
            "  --> <query>:1:44\n"
            "    |\n"
            f"  1 | {TICKS}\n"
            "    |                                            ^\n"
            "    = hint: write it with a unit: 10 minutes, 250 ms",
        ),
        (
            {"disorder": "1 hour"},
            TICKS,
            "error[time-unit-missing]: disorder= is a length of time, but the times of TX are whole numbers without a "
            'unit\n    = hint: say time_unit="s", "ms", "us" or "ns"',
        ),
        (
            {"disorder": 5, "time_unit": "ms"},
            PAIR,
            "error[time-unit-unexpected]: disorder=5 is a number of ticks, but the times of TX are points in time\n"
            "    = hint: write it with a unit: 10 minutes, 250 ms",
        ),
    ],
)
def test_units_must_agree(spark: SparkSession, words: dict[str, Any], query: str, message: str) -> None:
    """R50."""
    frame = spark.createDataFrame([("c", 1, "1")], "card string, time long, no string")
    with pytest.raises(cedr.StreamError) as caught:
        cedr.query(query, cedr.events(frame, type="TX", id="no", **words))
    assert str(caught.value) == message
    assert cedr.query(TICKS, cedr.events(frame, type="TX", id="no", time_unit="ticks")).count() == 0
    assert cedr.query(TICKS.replace("5", "FOREVER"), cedr.events(frame, type="TX", time_unit="s")).count() == 0


# -- types and columns ------------------------------------------------------------------------------------------------


def test_a_type_is_a_column_or_a_constant(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("c", 1, "TX"), ("c", 2, "TX")], "card string, time long, kind string")
    for given in ("kind", "KIND", "TX", "'TX'"):
        assert found(cedr.events(frame, type=given), TICKS) == [("c", 2)], given
    with pytest.raises(cedr.StreamError) as caught:
        cedr.query(TICKS, cedr.events(frame, type="sort"))
    assert str(caught.value) == (
        'error[no-event-type]: there is no DataFrame for the event type "TX"\n'
        "    = there are: sort\n"
        "    = hint: where type= is the name of no column, it is the event type of all rows"
    )


CSV = "no;card;amount;at;ok\n1;c;1.5;2026-01-05 08:00:00;true\n2;c;2;2026-01-05 08:01:00;false\n"


def test_columns_and_header_are_found_out(spark: SparkSession, tmp_path: Path) -> None:
    """One value that does not fit its column is a dead letter, and the column stays what it is."""
    lines = (
        CSV
        + "".join(f"{no};d;3.5;2026-01-06 0{no}:00:00;true\n" for no in range(3, 10)) * 2
        + "10;x;abc;2026-01-07;true\n"
    )
    words: dict[str, Any] = {"type": "TX", "time": "at", "id": "no", "separator": ";"}
    query = PAIR.replace("a.card AS card", "a.card AS card, a.amount AS amount")
    (tmp_path / "one.csv").write_text(lines)
    given = cedr.files(spark, tmp_path / "one.csv", **words)
    assert given.sources[0].files is not None
    rows = cedr.query(query, given, dead_letters=True).collect()
    assert sorted((row["code"] or row["card"], row["amount"]) for row in rows) == [
        ("c", 1.5),
        ("unreadable-line", None),
    ]
    schema = "no string, card string, amount string, at timestamp, ok string"
    body = "\n".join(CSV.splitlines()[1:])
    for text, how in ((CSV, {}), (CSV, {"header": True}), (body, {}), (body, {"header": False})):
        (tmp_path / "two.csv").write_text(text)
        assert [card for card, _ in found(cedr.files(spark, tmp_path / "two.csv", schema, **how, **words))] == ["c"]
        by_spark = cedr.files(spark, tmp_path / "two.csv", schema, **how, **{**words, "id": None})
        assert by_spark.sources[0].files is None
        assert [card for card, _ in found(by_spark)] == ["c"]


def test_json_columns_are_found_out(spark: SparkSession, tmp_path: Path) -> None:
    lines = (
        '{"no": 1, "card": "c", "at": "2026-01-05T08:00:00Z"}\n{"no": 2, "card": "c", "at": "2026-01-05T08:01:00Z"}\n'
    )
    (tmp_path / "tx.jsonl").write_text(lines)
    given = cedr.files(spark, tmp_path / "tx.jsonl", type="TX", time="at", id="no")
    assert given.sources[0].files is not None
    assert [card for card, _ in found(given)] == ["c"]
    with pytest.raises(cedr.StreamError, match=r'nothing at ".*none\.csv" tells what the columns are'):
        cedr.files(spark, tmp_path / "none.csv", type="TX", time="at", id="no")
    with pytest.raises(cedr.StreamError, match=r"does not tell the format(.|\n)*say format= one of csv, json, parquet"):
        cedr.files(spark, tmp_path, type="TX", time="at", id="no")


def test_types_of_columns() -> None:
    lines = ["a,b,c,d,e", "1,1.5,true,2026-01-05,", "2,2,false,2026-01-05 08:00:00Z,", "-3,1e3,TRUE,2026-1-5,"]
    found = csv_schema(lines, ",", header=True)
    assert found.simpleString() == "struct<a:bigint,b:double,c:boolean,d:timestamp,e:string>"


# -- said once --------------------------------------------------------------------------------------------------------


def test_a_stream_that_nothing_is_promised_about(spark: SparkSession, tmp_path: Path) -> None:
    stream = spark.readStream.schema("card string, time long, no string").json(str(tmp_path))
    hint = (
        'hint: say how late events may be: cedr.events(…, disorder="10 minutes"); or give guarantees: guarantee=, '
        "change="
    )
    bare = cedr.events(stream, type="TX", id="no")
    with pytest.warns(CedrWarning) as said:
        cedr.query(TICKS, bare)
    assert [str(each.message) for each in said] == [
        "warning[no-guarantee]: nothing guarantees that events have come: the state of the query grows for ever\n"
        f"    = {hint}"
    ]
    with pytest.warns(CedrWarning) as said:
        cedr.query(TICKS, bare, consistency=["MIDDLE", "STRONG"])
    assert [str(each.message) for each in said] == [
        "warning[no-guarantee]: nothing guarantees that events have come: at STRONG the query never emits a row\n"
        f"    = {hint}"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cedr.query(TICKS, bare, consistency="WEAK")
        cedr.query(TICKS, cedr.events(stream, type="TX", id="no", disorder=5))
        cedr.query(TICKS, cedr.events(stream, type="TX", id="no", guarantee="time"))


def test_data_that_are_not_sparks() -> None:
    import pandas as pd

    expected = (
        "error[wrong-data]: a {} is no DataFrame of Spark\n"
        "    = hint: spark.createDataFrame(…) makes one of a list, pandas or Arrow; cedr.evaluate takes such data "
        "without Spark"
    )
    for given, name in ((pd.DataFrame({"time": [1]}), "pandas DataFrame"), ([("c", 1)], "list")):
        with pytest.raises(cedr.StreamError) as caught:
            spark_events(given, type="TX")
        assert str(caught.value) == expected.format(name)
