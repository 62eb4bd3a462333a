"""Queries that need several keys, in stages on Spark: the same rows as one bucket gives, bounded and as a stream.

Paper: Section 3.3.2 (operators compose).  Readings: R8, R32, R33, R36, R40.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import cedr
from cedr.consistency.pipeline import Pipeline
from cedr.model.stream import Guarantee, Message, Retract, default_key, insert
from cedr.plan.compile import compile_text
from tests.spark.flow import batches as numbered
from tests.spark.streaming import Stream, told

SCHEMA = "kind string, id string, time long, machine long, rack string, change string"
TYPES = "".join(f"TYPE {name} (machine INTEGER, rack STRING); " for name in "ABCD")
LINKED = "WHERE {a.machine = b.machine} AND {b.rack = c.rack}"
SHOWN = "OUTPUT a.machine AS machine, b.rack AS rack"
TWO = f"{TYPES} EVENT Alert WHEN UNLESS(SEQUENCE(A a, B b, 10), C c, 5) {LINKED} {SHOWN}"
THREE = (
    f"{TYPES} EVENT Alert WHEN SEQUENCE(SEQUENCE(SEQUENCE(A a, B b, 10), C c, 5), D d, 9) "
    f"{LINKED} AND {{c.machine = d.machine}} {SHOWN}"
)
BOTH = f"{TYPES} EVENT Alert WHEN SEQUENCE(SEQUENCE(A a, B b, 10), A c, 5) {LINKED} {SHOWN}"
"""A type that two stages read, each by an attribute of its own."""

Batch = Sequence[tuple[Any, ...]]


def event(kind: str, number: int, time: int, machine: int, rack: str, change: str | None = None) -> tuple[Any, ...]:
    return (kind, f"{kind.lower()}{number}", time, machine, rack, change)


def guarantee(time: int) -> tuple[Any, ...]:
    return (None, None, time, None, None, "guarantee")


BATCHES: list[Batch] = [
    [event("A", 1, 1, 1, ""), event("A", 2, 2, 2, ""), event("A", 3, 3, 1, "")],
    [event("B", 1, 4, 1, "x"), event("B", 2, 5, 2, "y"), event("B", 3, 6, 3, "x")],
    [event("C", 1, 7, 1, "y"), event("D", 1, 9, 1, "")],
    [event("A", 1, 1, 1, "", "retract"), guarantee(3)],
    [event("C", 1, 7, 1, "y", "retract"), event("B", 4, 8, 1, "y")],
    [event("C", 2, 9, 2, "x")],
    [guarantee(30)],
    [event("A", 9, 31, 5, "")],
]


def messages(batch: Batch) -> list[Message]:
    """A batch as the local host takes it: inserts, retractions, guarantees."""
    found: list[tuple[int, Message]] = []
    for kind, id_, time, machine, rack, change in batch:
        if change == "guarantee":
            found.append((2, Guarantee(time)))
            continue
        row = cedr.primitive(kind, id_, time, payload={"machine": machine, "rack": rack})
        found.append((1, Retract(default_key(row))) if change else (0, insert(row)))
    return [message for _, message in sorted(found, key=lambda item: item[0])]


def locally(text: str, level: cedr.ConsistencyLevel, batches: Sequence[Batch] = BATCHES) -> list[tuple[Any, ...]]:
    """What one pipeline says of some batches."""
    program = compile_text(text)
    (query,) = program.queries.values()
    pipeline = Pipeline(query.plan, level, program.types)
    found = []
    for number, batch in enumerate(batches):
        (said,) = pipeline.step(messages(batch), number)
        found += [_shown(row, number) for row in said.to_arrow().to_pylist()]
    return sorted(found)


def _shown(row: Any, number: int) -> tuple[Any, ...]:
    names = ("change", "id", "Vs", "Ve", "Os", "Oe", "Rt", "machine", "rack")
    return (number, *(row[name] for name in names), _parts(row))


def _parts(row: Any) -> tuple[Any, ...]:
    """Types and IDs; in one process they stand side by side."""
    if isinstance(row, Row):
        return tuple(zip(row["contributor_types"], row["contributors"], strict=True))
    return tuple((part["type"], part["id"]) for part in row["contributors"])


def asked(stream: Stream, text: str = TWO, **options: Any) -> DataFrame:
    events = cedr.events(stream.frame, type="kind", id="id", change="change")
    return cedr.query(text, events, columns=["*", "contributor_types"], **options)


@pytest.mark.parametrize("text", [TWO, THREE, BOTH], ids=["two", "three", "both"])
def test_a_bounded_query_gives_what_one_bucket_gives(spark: SparkSession, text: str) -> None:
    """IDs, times, roots, contributors and payload."""
    rows = [event("A", 8, 8, 7, "x"), *(row for batch in BATCHES for row in batch if row[-1] is None)]
    events = cedr.events(spark.createDataFrame(rows, SCHEMA).drop("change"), type="kind", id="id")
    staged, whole = cedr.query(text, events), cedr.query(text, events, buckets=1)
    assert "stages of 2 buckets" in str(cedr.explain(staged))
    assert "one bucket" in str(cedr.explain(whole))
    found, expected = (sorted(map(str, each.collect())) for each in (staged, whole))
    assert found == expected
    assert found


def test_each_batch_says_what_the_local_host_says(spark: SparkSession, tmp_path: Path) -> None:
    """R33, R40: late, retracted and idle; two runs of the query, the second from the checkpoint of the first."""
    stream = Stream(spark, tmp_path, SCHEMA)
    for number, batch in enumerate(BATCHES):
        stream.put(batch)
        if number in (2, len(BATCHES) - 1):
            stream.run(asked(stream))
    rows, numbers = stream.written(), numbered(tmp_path)
    said = [row for row in rows if row["change"] in ("insert", "retract")]
    assert sorted(_shown(row, numbers[row["Cs"]]) for row in said) == locally(TWO, cedr.MIDDLE)
    assert max(row["Os"] for row in rows if row["change"] == "guarantee") == 30


def test_three_stages_say_what_is_final(spark: SparkSession, tmp_path: Path) -> None:
    """R35, R36: at STRONG; each bucket of a stage is a provider of the next."""
    stream = Stream(spark, tmp_path, SCHEMA)
    promised = [row for batch in BATCHES[:3] for row in batch], [guarantee(40)]
    for batch in promised:
        stream.put(batch)
    stream.run(asked(stream, THREE, consistency="STRONG"))
    found = sorted(_shown(row, 0) for row in stream.written() if row["change"] == "insert")
    assert found == [(0, *row[1:]) for row in locally(THREE, cedr.STRONG, promised)]
    assert len(found) == 1


def test_a_checkpoint_of_other_stages_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    stream = Stream(spark, tmp_path, SCHEMA)
    stream.put(BATCHES[0])
    stream.run(asked(stream))
    before = told(stream.written())
    stream.put(BATCHES[1])
    found = stream.refused(asked(stream, consistency="STRONG"))
    assert "the level changed" in str(found)
    assert told(stream.written()) == before


def test_what_the_first_stages_measure_is_told_by_the_last(spark: SparkSession, tmp_path: Path) -> None:
    """Dead letters above all: what no stage can use must not vanish."""
    stream = Stream(spark, tmp_path, SCHEMA)
    stream.put([*BATCHES[0], ("A", None, 4, 1, "", None)])  # only the first stage reads these
    stream.put(BATCHES[1])
    progress = stream.run(asked(stream, THREE))
    first, second = (each["observedMetrics"]["cedr Alert"] for each in progress if each["observedMetrics"])
    assert (first["dead_letters"], second["dead_letters"]) == (1, 0)
    assert first["received"] == 4
    assert first["state_rows"] >= 3
    assert second["state_rows"] > first["state_rows"]
    assert first["state_bytes"] > 0
