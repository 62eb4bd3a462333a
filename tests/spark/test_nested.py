"""Struct, array and map columns of DataFrames: fields and elements as on the other hosts.  Readings: R20 to R22."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as st

import cedr
from cedr.diagnostics.exceptions import StreamError
from cedr.model.time import parse_timestamp
from cedr.spark.plan.planning import Options, plan

CARD = "struct<no: string, limit: double, since: timestamp, owner: struct<n: int, name: string>>"
SCHEMA = f"kind string, id string, time long, card {CARD}, items array<string>, more map<string, int>, unread string"
TYPES = """TYPE TX (card STRUCT(no STRING, limit FLOAT, since TIMESTAMP, owner STRUCT(n INTEGER, name STRING)),
  items LIST(STRING), more STRUCT); TYPE TY (card STRUCT(no STRING, limit FLOAT, owner STRUCT(n INTEGER)),
  items LIST(STRING), more STRUCT);"""
QUERIES = {
    "pairs by a field": """EVENT Q WHEN SEQUENCE(TX AS a, TY AS b, 9)
        WHERE {a.card.no = b.card.no} AND {a.card.limit > 1}
        OUTPUT a.card.no AS no, b.items[-1] AS last, a.card.owner.n AS n, a.card.limit * 2 AS twice""",
    "a key two levels down": """EVENT Q WHEN UNLESS(TX AS a, TY AS b, 5) WHERE CorrelationKey(card.owner.n, EQUAL)
        OUTPUT a.card.owner.n AS n, a.items[1] AS first""",
    "a map": """EVENT Q WHEN SEQUENCE(TX AS a, TY AS b, 9) WHERE {a.more['k'] = b.more['k']} AND [card.no EQUAL 'c1']
        OUTPUT a.more['k'] AS k, a.card.since AS since""",
    "single events": """EVENT Q FROM TX AS a WHERE a.card.no = 'c2' AND card.owner.n BETWEEN 1 AND 2
        OUTPUT a.card.no AS no, a.items[2] AS second, a.more['k'] AS k, a.card.owner.n AS n""",
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def given() -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for n in range(200):
        owner = None if n % 11 == 0 else {"n": n % 3, "name": f"o{n % 3}"}
        since = None if n % 5 == 0 else datetime(2026, 1, 1 + n % 28, tzinfo=UTC)
        card = (
            None if n % 13 == 0 else {"no": f"c{n // 2 % 6}", "limit": n // 2 % 4 / 2, "since": since, "owner": owner}
        )
        items = None if n % 7 == 0 else [f"i{k}" for k in range(n % 3)]
        more = None if n % 17 == 0 else {"k": n // 2 % 3} if n % 5 else {}
        rows.append(("TX" if n % 2 else "TY", f"e{n}", n * 37 % 211, card, items, more, "x"))
    return rows


def expected(query: str) -> list[str]:
    """What the oracle says of the same events as messages."""
    messages = []
    for kind, id_, time, card, items, more, _ in given():
        dated = None if card is None else dict(card)
        if dated and dated["since"] is not None:
            dated["since"] = parse_timestamp(dated["since"].isoformat())
        payload = {"card": dated, "items": items, "more": more}
        messages.append({"insert": {"type": kind, "id": id_, "vs": time, "payload": payload}})
    found: Any = cedr.evaluate(TYPES + query, messages, host="oracle").to_dicts()
    return sorted(str((row["id"], row["vs"], row["payload"])) for row in found)


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(given(), SCHEMA)


def found(result: DataFrame) -> list[str]:
    names = [name for name in result.columns if name not in ("id", "Vs", "Ve", "Os", "Oe", "Rt", "contributors")]
    rows = []
    for row in result.collect():
        payload = {name: row[name] for name in names}
        since = payload.get("since")
        if since is not None:
            payload["since"] = (since.astimezone(UTC) - EPOCH).days * 86_400_000_000
        rows.append(str((row["id"], row["Vs"], payload)))
    return sorted(rows)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("buckets", [1, 3])
def test_the_rows_are_the_oracles(frame: DataFrame, name: str, buckets: int) -> None:
    result = cedr.query(QUERIES[name], cedr.events(frame, type="kind", id="id"), buckets=buckets)
    assert found(result) == expected(QUERIES[name]) != []


def test_a_declared_type_and_a_frame_for_each_type_give_the_same(frame: DataFrame) -> None:
    query = QUERIES["pairs by a field"]
    frames = {kind: frame.where(f"kind = '{kind}'").drop("kind") for kind in ("TX", "TY")}
    assert found(cedr.query(TYPES + query, cedr.events(frames, id="id"), buckets=3)) == expected(query)


def _planned(query: str, frame: DataFrame) -> Any:
    return plan(query, cedr.events(frame, type="kind", id="id"), Options(None, None, None, (), 3, False, False))


def test_a_field_is_the_partition_key_and_only_what_is_read_travels(frame: DataFrame) -> None:
    planned = _planned(QUERIES["pairs by a field"], frame)
    assert str(planned.split) == "TX.card.no, TY.card.no"
    assert planned.layout.buckets == 3
    assert sorted(of.simpleString() for of in planned.slots.types.values()) == [
        "array<string>",
        "struct<no:string,limit:double,owner:struct<n:int>>",
    ]


def test_whole_structs_travel_whole_and_keep_their_type(frame: DataFrame) -> None:
    output = "OUTPUT a.card AS card, a.items, a.more"
    query = f"EVENT Q WHEN SEQUENCE(TX AS a, TY AS b, 9) WHERE {{a.card.no = b.card.no}} {output}"
    result = cedr.query(query, cedr.events(frame, type="kind", id="id"), buckets=2)
    assert result.schema["card"].dataType == frame.schema["card"].dataType
    assert result.schema["items"].dataType.simpleString() == "array<string>"
    assert result.schema["more"].dataType.simpleString() == "map<string,int>"
    cards = {str(row["card"]) for row in result.collect()}
    assert cards <= {str(row["card"]) for row in frame.collect()}
    assert cards


def test_a_field_of_another_type_than_declared_is_refused(frame: DataFrame) -> None:
    query = "TYPE TX (card STRUCT(no INTEGER)); EVENT Q FROM TX AS a OUTPUT a.card.no AS no"
    with pytest.raises(StreamError) as error:
        cedr.query(query, cedr.events(frame, type="kind", id="id"))
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "wrong-column-type"
    assert diagnostic.primary.endswith("TX declares it as STRUCT(no INTEGER)")


def test_fields_of_different_types_are_no_key(spark: SparkSession) -> None:
    schema = st.StructType.fromDDL("id string, time long, card struct<no: bigint>")
    other = st.StructType.fromDDL("id string, time long, card struct<no: double>")
    frames = {
        "TX": spark.createDataFrame([("x", 1, {"no": 1})], schema),
        "TY": spark.createDataFrame([("y", 2, {"no": 1.0})], other),
    }
    query = "EVENT Q WHEN SEQUENCE(TX AS a, TY AS b, 9) WHERE {a.card.no = b.card.no} OUTPUT a.ID AS a, b.ID AS b"
    assert [(row["a"], row["b"]) for row in cedr.query(query, cedr.events(frames, id="id"), buckets=4).collect()] == [
        ("x", "y")
    ]


def test_a_stream_with_structs_goes_on_from_its_checkpoint(
    spark: SparkSession, frame: DataFrame, tmp_path: Path
) -> None:
    query = QUERIES["pairs by a field"]
    parts = [frame.where(f"hash(id) % 2 {sign} 0") for sign in ("=", "<>")]
    source, out, checkpoint = (str(tmp_path / name) for name in ("in", "out", "checkpoint"))
    for part in parts:
        part.coalesce(1).write.mode("append").parquet(source)
        stream = spark.readStream.schema(SCHEMA).parquet(source)
        result = cedr.query(query, cedr.events(stream, type="kind", id="id", disorder=1000), buckets=2)
        writing = result.writeStream.format("parquet").option("checkpointLocation", checkpoint).outputMode("append")
        writing.trigger(availableNow=True).start(out).awaitTermination()
    rows = spark.read.parquet(out)
    inserted = {row["id"] for row in rows.where("change = 'insert'").collect()}
    ideal = {row["id"] for row in cedr.query(query, cedr.events(frame, type="kind", id="id")).collect()}
    assert inserted == ideal
