"""Files that workers read themselves: the same as by way of Spark.  Readings: R1, R2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

import cedr
from cedr.spark.api import files
from cedr.spark.map_task.hashing import buckets_of
from tests.spark.streaming import Stream

SCHEMA = "kind string, machine {key}, ts timestamp, serial long, load double"
QUERY = """EVENT Q WHEN UNLESS(SEQUENCE(INSTALL AS x, SHUTDOWN AS y, 12 hours), RESTART AS z, 5 minutes)
WHERE CorrelationKey(machine, EQUAL) OUTPUT x.machine AS machine, y.load AS load, x.ts_seen AS seen"""


@pytest.mark.parametrize("buckets", [1, 2, 7])
def test_buckets_are_sparks(spark: SparkSession, buckets: int) -> None:
    numbers = [0, 1, -1, 2**40 + 3, -(2**63), 2**63 - 1, None]
    texts = ["", "a", "abcd", "Müller", "x" * 33, None, "日本語"]
    frame = spark.createDataFrame([*zip(numbers, texts, strict=True)], "n long, t string")
    rows = frame.select(*(F.pmod(F.hash(name), F.lit(buckets)).alias(name) for name in ("n", "t"))).collect()
    assert buckets_of(pa.array(numbers), buckets).tolist() == [row["n"] for row in rows]
    assert buckets_of(pa.array(texts), buckets).tolist() == [row["t"] for row in rows]


def written(spark: SparkSession, folder: Path, form: str, key: str, rows: Iterable[tuple[Any, ...]]) -> str:
    schema = SCHEMA.format(key=key).replace("ts timestamp", "ts string") + ", ts_seen string"
    frame = spark.createDataFrame([*rows], schema)
    typed = frame.withColumn("ts", F.to_timestamp("ts")).withColumn("ts_seen", F.to_timestamp("ts_seen"))
    zoned = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX" if form == "json" else "yyyy-MM-dd HH:mm:ss.SSSSSS"
    writer = typed.repartition(3).write.option("timestampFormat", zoned)
    getattr(writer, form)(str(folder / form))
    return str(folder / form)


def machine_rows(key: str) -> list[tuple[Any, ...]]:
    kinds = ("INSTALL", "SHUTDOWN", "RESTART", "OTHER", "INSTALL", "SHUTDOWN")
    rows: list[tuple[Any, ...]] = []
    for number in range(300):
        machine = number * 7 % 13
        ts = f"2026-0{1 + number // 150 * 2}-08 {number // 25:02}:{number % 60:02}:00.{number:06}"
        named: Any = machine if key == "long" else f"m{machine}"
        rows.append((kinds[number % 6], named, ts, number, number / 8, ts))
    rows[10] = (None, *rows[10][1:])
    rows[20] = (*rows[20][:2], None, *rows[20][3:])
    rows[30] = (rows[30][0], None, *rows[30][2:])
    rows[40] = (*rows[40][:4], None, None)
    return rows


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of files are made although the files are small."""
    monkeypatch.setattr(files, "_LEAST", 1_000)


@pytest.mark.usefixtures("split")
@pytest.mark.parametrize(("form", "key"), [("csv", "long"), ("json", "string"), ("parquet", "long"), ("csv", "string")])
def test_the_same_as_by_spark(spark: SparkSession, tmp_path: Path, form: str, key: str) -> None:
    """Also in a zone with daylight saving, with NULLs everywhere, and unknown types; each file in two parts."""
    path = written(spark, tmp_path, form, key, machine_rows(key))
    schema = SCHEMA.format(key=key) + ", ts_seen timestamp"
    header = {"type": "kind", "time": "ts", "id": "serial"}
    by_spark = cedr.events(spark.read.schema(schema).format(form).load(path), **header)
    by_workers = cedr.files(spark, path, schema, format=form, **header)
    parts = by_workers.sources[0].files.paths.collect()
    assert len(parts) == 6
    assert {(row["part"], row["parts"]) for row in parts} == {(0, 2), (1, 2)}
    found = [answer(cedr.query(QUERY, given, dead_letters=True)) for given in (by_spark, by_workers)]
    assert found[0] == found[1]
    assert len(found[0]) > 20
    assert {"null-time", "unknown-type"} <= {row["code"] for row in found[0]}


@pytest.mark.usefixtures("split")
@pytest.mark.filterwarnings("ignore:warning.no-guarantee")
@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_streams(spark: SparkSession, tmp_path: Path, form: str) -> None:
    path = written(spark, tmp_path, form, "long", machine_rows("long"))
    schema = SCHEMA.format(key="long") + ", ts_seen timestamp"
    header = {"type": "kind", "time": "ts", "id": "serial"}
    bounded = cedr.query(QUERY, cedr.files(spark, path, schema, format=form, **header), columns=["machine", "seen"])
    given = cedr.files(spark, path, schema, format=form, streaming=True, files_per_batch=1, **header)
    assert given.sources[0].files is not None
    stream = Stream(spark, tmp_path, "x long")
    stream.run(cedr.query(QUERY, given, columns=["change", "machine", "seen"]))
    assert said(stream.written()) == Counter(answer(bounded))


@pytest.mark.parametrize("path", ["tx.csv", "*.csv"])
def test_a_path_begins_where_the_program_is(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """The JVM of a session keeps the folder in which it was started."""
    (tmp_path / "tx.csv").write_text("kind,n,v,at\nTX,1,a,2026-01-01 00:00:01\n")
    monkeypatch.chdir(tmp_path)
    given = cedr.files(spark, path, "kind string, n string, v string, at timestamp", type="kind", time="at", id="n")
    assert [row["a"] for row in cedr.query("EVENT Q WHEN ANY(TX AS x) OUTPUT x.v AS a", given).collect()] == ["a"]


def test_what_is_not_of_its_type_is_an_error_that_names_the_line(spark: SparkSession, tmp_path: Path) -> None:
    """With dead letters the rest is answered; in a folder and a file with names that need care."""
    folder = tmp_path / "a b%20#1"
    folder.mkdir()
    rows = [f"{kind},{key},2026-01-01 0{n}:00:00,{n},0.5" for n, (kind, key) in enumerate([*ROWS, ("SHUTDOWN", "x")])]
    (folder / "bad ü.csv").write_text("\n".join(rows))
    header = {"type": "kind", "time": "ts", "id": "serial"}
    given = cedr.files(spark, folder, SCHEMA.format(key="long"), format="csv", **header)
    assert given.sources[0].files is not None
    text = QUERY.replace(", x.ts_seen AS seen", "")
    with pytest.raises(Exception, match=r"unreadable-line.*bad ü\.csv, line 3, cannot be read"):
        cedr.query(text, given).collect()
    found = cedr.query(text, given, dead_letters=True).collect()
    assert sorted((row["code"] or "", row["machine"]) for row in found) == [("", 1), ("unreadable-line", None)]


ROWS = [("INSTALL", "1"), ("SHUTDOWN", "1")]


def test_what_cannot_be_meant_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    header = {"type": "kind", "time": "ts", "id": "serial"}
    with pytest.raises(cedr.StreamError, match="orc"):
        cedr.files(spark, tmp_path, SCHEMA.format(key="long"), format="orc", **header)
    with pytest.raises(cedr.StreamError, match="unknown-policy"):
        cedr.files(spark, tmp_path, SCHEMA.format(key="long"), format="csv", unreadable="ignore", **header)


def answer(frame: Any) -> list[Row]:
    return sorted(frame.collect(), key=str)


def said(rows: Iterable[Row]) -> Counter[Row]:
    """What was said and not taken back."""
    count: Counter[Row] = Counter()
    for row in rows:
        count[Row(machine=row["machine"], seen=row["seen"])] += {"insert": 1, "retract": -1}.get(row["change"], 0)
    return +count
