"""Streams: what is said batch by batch, restarts, control, checkpoints.  Readings: R33, R35, R36, R38, R40."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession

import cedr
from cedr.consistency.pipeline import Pipeline
from cedr.model.stream import Guarantee, Message, Retract, default_key, insert
from cedr.plan.compile import compile_text
from tests.spark.streaming import Stream, told

SCHEMA = "kind string, id string, time long, key long, value long, change string, oe long"
TYPES = "TYPE A (key INTEGER, value INTEGER); TYPE B (key INTEGER, value INTEGER);"
ALERT = (
    TYPES + "EVENT Alert WHEN UNLESS(A AS a, B AS b, 10) WHERE {a.key = b.key} OUTPUT a.key AS key, a.value AS value"
)

Batch = Sequence[tuple[Any, ...]]


def event(
    kind: str, id_: str, time: int, key: int, change: str | None = None, oe: int | None = None
) -> tuple[Any, ...]:
    return (kind, id_, time, key, time * 10, change, oe)


def guarantee(time: int) -> tuple[Any, ...]:
    return (None, None, time, None, None, "guarantee", None)


BATCHES: list[Batch] = [
    [event("A", "a1", 1, 1), event("A", "a2", 2, 2), event("C", "c", 3, 1)],
    [event("B", "b2", 6, 2), event("A", "a3", 5, 3)],
    [event("A", "a1", 1, 1, "retract"), event("A", "a4", 14, 2), guarantee(4)],
    [event("B", "b3", 8, 3), event("A", "a5", 9, 4)],
    [guarantee(30)],
    [event("A", "a6", 31, 5)],
]


def messages(batch: Batch) -> list[Message]:
    """A batch as the local host takes it: inserts, retractions, guarantees."""
    found: list[tuple[int, Message]] = []
    for kind, id_, time, key, value, change, oe in batch:
        if change == "guarantee":
            found.append((2, Guarantee(time)))
            continue
        row = cedr.primitive(kind, id_, time, payload={"key": key, "value": value})
        found.append((1, Retract(default_key(row), oe)) if change else (0, insert(row)))
    return [message for _, message in sorted(found, key=lambda item: item[0])]


def locally(text: str, level: cedr.ConsistencyLevel, batches: Sequence[Batch]) -> list[tuple[Any, ...]]:
    """What one pipeline says of the same batches, in the form of ``told``."""
    program = compile_text(text)
    (query,) = program.queries.values()
    pipeline = Pipeline(query.plan, level, program.types)
    found = []
    for number, batch in enumerate(batches):
        (said,) = pipeline.step(messages(batch), number)
        rows = said.to_arrow().to_pylist()
        found += [(number, row["change"], row["id"], row["Vs"], row["Ve"], row["Os"], row["Oe"]) for row in rows]
    return sorted(found)


def shown(rows: Sequence[Row], batches: dict[int, int]) -> list[tuple[Any, ...]]:
    """What Spark said, with the number of the batch for its CEDR time."""
    header = ("change", "id", "Vs", "Ve", "Os", "Oe")
    said = [row for row in rows if row["change"] in ("insert", "retract")]
    return sorted((batches[row["Cs"]], *(row[name] for name in header)) for row in said)


def asked(stream: Stream, text: str = ALERT, **options: Any) -> DataFrame:
    events = cedr.events(stream.frame, type="kind", id="id", change="change", occurrence_end="oe")
    return cedr.query(text, events, **options)


def test_each_batch_says_what_the_local_host_says(spark: SparkSession, tmp_path: Path) -> None:
    """R33, R35, R40: at each of three levels on one state; idle buckets hear of h and g as busy ones do."""
    stream = Stream(spark, tmp_path, SCHEMA)
    for batch in BATCHES:
        stream.put([*batch, (None, "tick", None, None, None, "tick", None)])
    levels = (cedr.MIDDLE, cedr.STRONG, cedr.WEAK)
    stream.run(asked(stream, consistency=levels, dead_letters=True))
    rows = stream.written()
    batches = {time: number for number, time in enumerate(sorted({row["Cs"] for row in rows}))}
    for level in levels:
        own = [row for row in rows if row["level"] == level.name]
        assert shown(own, batches) == locally(ALERT, level, BATCHES)


def test_a_restart_goes_on_exactly(spark: SparkSession, tmp_path: Path) -> None:
    """What was said before and after a stop is what is said without one; state comes from the checkpoint."""
    whole, broken = Stream(spark, tmp_path / "whole", SCHEMA), Stream(spark, tmp_path / "broken", SCHEMA)
    for batch in BATCHES:
        whole.put(batch)
    whole.run(asked(whole))
    for number, batch in enumerate(BATCHES):
        broken.put(batch)
        if number in (2, 5):
            broken.run(asked(broken))
    assert told(whole.written(), cs=True) == told(broken.written(), cs=True)
    assert len(told(whole.written())) > 5


def test_a_level_switch_that_is_pending_survives_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    """R38: said while the query is down; from the next batch on STRONG waits for its guarantee."""
    stream, folder = Stream(spark, tmp_path, SCHEMA), tmp_path / "control"
    stream.put(BATCHES[0])
    control = cedr.Control(folder)
    stream.run(asked(stream, control=folder))
    assert len(told(stream.written())) == 2
    control.switch("STRONG")
    stream.put([event("A", "a7", 7, 7)])
    progress = stream.run(asked(stream, control=folder))
    assert [row[1] for row in told(stream.written())].count(("a7",)) == 0
    assert progress[-1]["observedMetrics"]["cedr Alert"]["level"] == "STRONG"
    stream.put([guarantee(20)])
    stream.run(asked(stream, control=folder))
    assert [row[1] for row in told(stream.written())].count(("a7",)) == 1


def test_a_checkpoint_of_another_query_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, SCHEMA)
    stream.put(BATCHES[0])
    stream.run(asked(stream))
    before = told(stream.written())
    stream.put(BATCHES[1])
    found = stream.refused(asked(stream, ALERT.replace("10", "11")))
    assert found.diagnostics[0].code == "checkpoint-changed"
    assert "the query changed" in str(found)
    assert "say buckets=2" in str(stream.refused(asked(stream, buckets=3)))
    assert told(stream.written()) == before


def test_a_checkpoint_goes_on_at_another_level(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, SCHEMA)
    stream.put(BATCHES[0])
    stream.run(asked(stream, consistency="STRONG"))
    assert told(stream.written()) == []
    stream.put([event("A", "a9", 3, 9)])
    (progress,) = stream.run(asked(stream, consistency="MIDDLE"))
    assert {row[1] for row in told(stream.written())} == {(name,) for name in ("a1", "a2", "a9")}
    metrics = progress["observedMetrics"]["cedr Alert"]
    assert (metrics["level"], metrics["inserts"], metrics["held"]) == ("MIDDLE", 3, 0)


def test_a_bound_on_disorder_makes_guarantees(spark: SparkSession, tmp_path: Path) -> None:
    """R33: no event is later than 5 behind the newest; one that is all the same is a dead letter (R39)."""
    stream = Stream(spark, tmp_path, SCHEMA)
    for batch in (
        [event("A", "a1", 1, 1)],
        [event("B", "b", 20, 2)],
        [event("A", "late", 2, 3), event("A", "ok", 16, 4)],
    ):
        stream.put(batch)
    events = cedr.events(stream.frame, type="kind", id="id", disorder=5)
    progress = stream.run(cedr.query(ALERT, events, consistency="STRONG", dead_letters=True))
    rows = stream.written()
    assert [row[1] for row in told(rows)] == [("a1",)]
    assert [each["observedMetrics"]["cedr Alert"]["late"] for each in progress][:3] == [0, 0, 2]
    assert max(row["Os"] for row in rows if row["change"] == "guarantee") == 14
    assert [(row["code"], '"late"' in row["message"]) for row in rows if row["change"] == "dead-letter"] == [
        ("broken-guarantee", True)
    ]


def test_a_batch_that_is_tried_again_says_the_same_at_the_same_time(spark: SparkSession, tmp_path: Path) -> None:
    """R40: with its CEDR time.  R33, R39: promises in a column of files that workers read."""
    stream = Stream(spark, tmp_path, "kind string, id string, time long, key long, value long, promise long")
    for batch in (
        [("A", "a1", 1, 1, 10, None), ("A", "a2", 2, 2, 20, 0)],
        [("B", "b2", 6, 2, 0, 5), ("B", "b9", 20, 9, 0, 15)],
        [("A", "late", 3, 3, 30, None), ("A", "a4", 31, 4, 40, 30), ("A", "a5", 18, 5, 50, None)],
    ):
        stream.put(batch)
    header = {"type": "kind", "id": "id", "guarantee": "promise"}
    how = {"format": "json", "streaming": True, "files_per_batch": 1}
    events = cedr.files(spark, tmp_path / "in", stream.schema, **how, **header)
    assert events.sources[0].files is not None
    result = cedr.query(ALERT, events, consistency="STRONG", dead_letters=True)
    seen: dict[int, list[list[Row]]] = {}

    def sink(frame: DataFrame, number: int) -> None:
        seen.setdefault(number, []).append(sorted(frame.collect(), key=str))
        if number > 0 and len(seen[number]) == 1:
            message = "not this time"
            raise RuntimeError(message)

    writer = result.writeStream.foreachBatch(sink).option("checkpointLocation", str(tmp_path / "checkpoint"))
    for _ in range(2):
        with pytest.raises(StreamingQueryException, match="not this time"):
            writer.trigger(availableNow=True).start().awaitTermination()
    writer.trigger(availableNow=True).start().awaitTermination()
    assert {number: len(tries) for number, tries in seen.items()} == {0: 1, 1: 2, 2: 2}
    assert all(first == second for first, second in (tries for tries in seen.values() if len(tries) > 1))
    rows = [row for tries in seen.values() for row in tries[-1]]
    assert len({row["Cs"] for row in rows}) == 3
    said = [(row["change"], row["id"] or row["code"]) for row in rows if row["change"] != "guarantee"]
    assert sorted(said) == [("dead-letter", "broken-guarantee"), ("insert", "a1"), ("insert", "a5")]
    assert max(row["Os"] for row in rows if row["change"] == "guarantee") == 30


def test_the_slowest_provider_counts(spark: SparkSession, tmp_path: Path) -> None:
    """R33: what is guaranteed is what every named provider has guaranteed."""
    stream = Stream(
        spark, tmp_path, "kind string, id string, time long, key long, value long, change string, who string"
    )
    stream.put([("A", "a", 1, 1, 1, None, "x"), (None, None, 50, None, None, "guarantee", "x")])
    stream.put([(None, None, 30, None, None, "guarantee", "y")])
    events = cedr.events(stream.frame, type="kind", id="id", change="change", provider="who")
    stream.run(cedr.query(ALERT, events, consistency="STRONG", providers=["x", "y"]))
    rows = stream.written()
    assert {(row["K"], row["Os"]) for row in rows if row["change"] == "guarantee"} == {("1/2", 30), ("2/2", 30)}
    assert [row[1] for row in told(rows)] == [("a",)]
