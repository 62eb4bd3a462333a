"""Buckets of bounded input that are worked on share by share, without a JVM.  Readings: R33, R41."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types

from cedr.spark.bounded import run as bounded
from cedr.spark.bounded.run import RunBounded
from cedr.spark.layout.layout import Layout
from cedr.spark.layout.read_faults import ReadFault
from cedr.spark.layout.tokens import partition, share_tokens, tokens
from cedr.spark.map_task.hashing import buckets_of
from cedr.spark.map_task.pack import Pack
from cedr.spark.map_task.partition_rows import partition_rows
from cedr.spark.plan.planning import Options, plan
from cedr.spark.sources.events import Events, EventSource
from tests.spark.test_bucket import ALERT

EVENTS = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 60), st.integers(0, 9)), min_size=1, max_size=40)
"""Code, Vs and key; a few IDs are NULL."""


@pytest.mark.parametrize("buckets", [1, 2, 3, 16])
@pytest.mark.parametrize("shares", [1, 4, 16])
def test_the_shares_of_a_bucket_meet_in_its_partition(buckets: int, shares: int) -> None:
    found = share_tokens(buckets, shares)
    assert len(set(found)) == buckets * shares
    assert set(tokens(buckets)) <= set(found)
    for share, token in enumerate(found):
        assert partition(token, buckets) == partition(found[share % buckets], buckets)
    assert len({partition(token, buckets) for token in found}) == buckets


@given(st.integers(), st.integers(1, 9), st.integers(1, 9))
def test_a_key_is_of_the_bucket_of_its_share(key: int, buckets: int, shares: int) -> None:
    share, bucket = (buckets_of(pa.array([str(key)]), count)[0] for count in (buckets * shares, buckets))
    assert share % buckets == bucket


def layout(shares: int, *, letters: bool) -> Layout:
    whole = types.LongType()
    source = EventSource(None, None, dict.fromkeys(("time", "id", "type")), {"time": whole}, {"key": whole})
    found = plan(ALERT, Events((source,)), Options("STRONG", None, None, (), 2, changes=False, letters=letters)).layout
    return replace(found, tokens=share_tokens(2, shares), shares=shares)


def result(of: Layout, events: list[tuple[int, int, int]]) -> list[dict[str, Any]]:
    """What two tasks say of what two map tasks sent."""
    codes, starts, keys = zip(*events, strict=True)
    ids = [None if number % 7 == 6 else f"{number}" for number in range(len(events))]
    columns = {
        "code": pa.array(codes, pa.int8()),
        "id": pa.array(ids, pa.string()),
        "vs": pa.array(starts, pa.int64()),
        "bucket": pa.array(buckets_of(pa.array(keys), len(of.tokens)), pa.int32()),
        next(iter(of.types[0].slots.values())): pa.array(keys, pa.int64()),
    }
    rows = pa.record_batch(columns)
    partitions: defaultdict[int, list[Any]] = defaultdict(list)
    for task, part in enumerate((rows.slice(0, len(ids) // 2), rows.slice(len(ids) // 2))):
        for sent in Pack(of, [ReadFault.of_file(f"{task}.csv", "is torn")])(iter([part])):
            sent = sent.set_column(1, "task", pa.array([task], pa.int32()))
            partitions[partition(sent.column("token")[0].as_py(), of.buckets)].append(sent)
    found = [row for sent in partitions.values() for batch in RunBounded(of)(iter(sent)) for row in batch.to_pylist()]
    return sorted(found, key=str)


@pytest.mark.parametrize("letters", [False, True])
@pytest.mark.parametrize("near", [0, 300, 1 << 22])
def test_shares_say_together_what_their_bucket_says(near: int, letters: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, some of them together, or all: the same rows, and the same dead letters, each once."""
    monkeypatch.setattr(bounded, "_TOGETHER", near)
    whole, shared = (layout(shares, letters=letters) for shares in (1, 8))

    @given(EVENTS)
    def same(events: list[tuple[int, int, int]]) -> None:
        assert result(shared, events) == result(whole, events)

    same()


VALUES = st.tuples(
    st.integers(-(2**63), 2**63 - 1), st.none() | st.integers(-5, 5), st.text(max_size=3), st.floats(allow_nan=False)
)


@given(st.lists(st.tuples(VALUES, st.integers(-1, 4))), st.integers(0, 5))
def test_rows_are_dealt_out_in_their_order(rows: list[tuple[tuple[Any, ...], int]], cut: int) -> None:
    kinds = (pa.int64(), pa.int8(), pa.string(), pa.float64())
    columns = [pa.array([values[at] for values, _ in rows], kind) for at, kind in enumerate(kinds)]
    table = pa.table([pa.chunked_array([each.slice(0, cut), each.slice(cut)]) for each in columns], names=list("abcd"))
    numbers = np.array([number for _, number in rows], np.int32)
    found, ends = partition_rows(table.replace_schema_metadata({"told": "something"}), numbers, 5)
    kept = sorted((row for row in enumerate(rows) if row[1][1] >= 0), key=lambda row: row[1][1])
    assert [tuple(row.values()) for row in found.to_pylist()] == [values for _, (values, _) in kept]
    assert ends == [sum(0 <= number <= most for _, number in rows) for most in range(5)]
    assert found.schema.metadata == {b"told": b"something"}
