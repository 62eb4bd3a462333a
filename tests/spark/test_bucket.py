"""Buckets without a JVM: tokens, heads, silence, the order of map tasks.  Readings: R33, R40."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import types as st

import cedr
from cedr.model.time import FOREVER
from cedr.spark.bounded.run import RunBounded
from cedr.spark.layout.layout import RETRACT, Layout
from cedr.spark.layout.tokens import partition, tokens
from cedr.spark.map_task.heads import Heads
from cedr.spark.map_task.pack import Pack
from cedr.spark.map_task.unpack import Packed
from cedr.spark.plan.planning import Options, plan
from cedr.spark.sources.events import Events, EventSource
from cedr.spark.step.bucket import Bucket

ALERT = "EVENT Alert WHEN UNLESS(A AS a, B AS b, 10) WHERE {a.key = b.key} OUTPUT a.key AS key"


@pytest.mark.parametrize("buckets", [1, 2, 3, 8, 64, 200])
def test_each_partition_gets_one_bucket(buckets: int) -> None:
    found = tokens(buckets)
    assert sorted(partition(token, buckets) for token in found) == list(range(buckets))
    assert found[0] == 0


def layout(**options: Any) -> Layout:
    """What the workers know of a query on one DataFrame with a column of types."""
    header = {"time": None, "id": None, "type": None}
    source = EventSource(None, None, header, {"time": st.LongType()}, {"key": st.LongType()}, **options)
    return plan(ALERT, Events((source,)), Options("STRONG", None, None, (), 2, changes=True, letters=True)).layout


def packed(of: Layout, rows: list[tuple[int, str, int, int]], time: int) -> list[list[Packed]]:
    """What one map task sends to each bucket: rows of code, ID, Vs and key."""
    codes, ids, starts, keys = zip(*rows, strict=True)
    columns = {
        "code": pa.array(codes, pa.int8()),
        "id": pa.array(ids),
        "vs": pa.array(starts, pa.int64()),
        "bucket": pa.array([key % 2 for key in keys], pa.int32()),
        "cedr": pa.array([time] * len(rows), pa.int64()),
        next(iter(of.types[0].slots.values())): pa.array(keys, pa.int64()),
    }
    found: list[list[Packed]] = [[] for _ in of.tokens]
    for sent in Pack(of)(iter([pa.record_batch(columns)])):
        row = sent.to_pylist()[0]
        found[of.tokens.index(row["token"])].append(Packed(row["task"], row["number"], row["head"], row["rows"]))
    return found


def test_every_bucket_hears_of_h_and_g() -> None:
    """R33: a bucket without rows has the guarantee of the batch, and can release."""
    of = layout(disorder=3)
    busy, idle = packed(of, [(0, "a", 1, 2), (1, "b", 50, 2)], 7)
    assert busy[0].rows
    assert idle[0].rows is None
    for each in (busy, idle):
        bucket = Bucket(of)
        (step,) = bucket.steps(each)
        assert step.time == 7
        assert bucket.pipeline.guarantee == [46]


def test_a_silent_source_has_sent_all_up_to_its_newest_event() -> None:
    of = layout(idle=1_000)
    bucket = Bucket(of)
    (first,) = bucket.steps(packed(of, [(0, "a", 5, 2)], 10_000)[0])
    assert not len(first.changes[0])
    head = json.dumps([{"time": 10_999, "highs": []}])
    (early,) = bucket.steps([Packed(0, 0, head, None)], first.time)
    assert early.changes[0].guarantee is None
    head = json.dumps([{"time": 11_000, "highs": []}])
    (late,) = bucket.steps([Packed(0, 0, head, None)], early.time)
    assert late.changes[0].guarantee == 4  # the UNLESS of "a" is not decided at 5
    assert bucket.pipeline._arrivals.guarantee == 5


def test_the_order_in_which_blobs_come_does_not_matter() -> None:
    """A replayed batch may fetch them in another order, and must say the same."""
    of = layout()
    sent = [
        each._replace(task=task)
        for task in range(3)
        for each in packed(of, [(0, f"a{task}", task, 2), (1, f"b{task}", task + 4, 4)], 1)[0]
    ]
    said = []
    for order in (sent, sent[::-1]):
        bucket = Bucket(of)
        (step,) = bucket.steps(order)
        (end,) = [bucket.finish(2)]
        said.append([end.changes[0].to_arrow().to_pylist(), step.changes[0].to_arrow().to_pylist()])
    assert said[0] == said[1]
    assert said[0][0]


def test_time_of_messages_that_cannot_be_used_does_not_count() -> None:
    """R33: dead letters do not move h."""
    of = layout(disorder=0)
    sent = packed(of, [(0, "a", 5, 2), (0, "far", FOREVER, 2)], 1)[0]
    bucket = Bucket(of)
    (step,) = bucket.steps(sent)
    assert bucket.pipeline._arrivals.high == 5
    assert [letter.code for letter in step.letters] == ["time-out-of-range"]


def test_a_removal_counts_by_its_insert_alone() -> None:
    """R33, R41: before its insert it waits, and must not move h; a shortening is taken to have its insert."""
    of = layout()
    ends: list[tuple[int | None, int | None]] = [(None, None), (9, None), (None, 9), (None, 30)]
    for (oe, ve), high in zip(ends, (None, None, None, 30), strict=True):
        columns = {
            "code": pa.array([0], pa.int8()),
            "id": ["a"],
            "vs": [9],
            "oe": pa.array([oe], pa.int64()),
            "ve": pa.array([ve], pa.int64()),
            "kind": pa.array([RETRACT], pa.int8()),
        }
        (entry,) = Heads(of, pa.table(columns)).entries()
        assert entry["highs"] == ([] if high is None else [[0, None, high]])


def test_a_query_knows_what_is_missing_before_it_starts() -> None:
    source = EventSource(None, None, {"time": None}, {"time": st.LongType()}, {"other": st.LongType()})
    options = Options(None, None, None, (), 2, changes=True, letters=False)
    with pytest.raises(cedr.CedrError, match="key"):
        plan(ALERT, Events((source,)), options)


@pytest.mark.parametrize("letters", [False, True])
def test_dead_letters_that_nobody_asked_for_are_in_the_log(letters: bool, caplog: pytest.LogCaptureFixture) -> None:
    header = {"time": None, "id": None, "type": None}
    source = EventSource(None, None, header, {"time": st.LongType()}, {"key": st.LongType()})
    of = plan(ALERT, Events((source,)), Options("STRONG", None, None, (), 2, changes=False, letters=letters)).layout
    columns = {
        "code": pa.array([0, 0, 0], pa.int8()),
        "id": pa.array(["a", None, None]),
        "vs": pa.array([1, 2, 3], pa.int64()),
        "bucket": pa.array([0, 0, 1], pa.int32()),
        next(iter(of.types[0].slots.values())): pa.array([7, 7, 8], pa.int64()),
    }
    rows = [row for batch in RunBounded(of)(Pack(of)(iter([pa.record_batch(columns)]))) for row in batch.to_pylist()]
    assert [row["key"] for row in rows if row["id"]] == [7]
    assert sum(row.get("code") == "null-id" for row in rows) == (2 if letters else 0)
    said = [] if letters else ["cedr: Alert: 2 dead letters (null-id: 2); dead_letters=True shows them"]
    assert [record.getMessage() for record in caplog.records] == said
