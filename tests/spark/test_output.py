"""What was said as columns of the result, without a JVM.  Readings: R8 (K), R36 (what is final)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import types as st

import cedr
from cedr.consistency.emission.columns import SAID
from cedr.model.time import FOREVER
from cedr.spark.output import rows as output
from cedr.spark.output.rows import EmittedColumns, result_rows
from cedr.spark.plan.planning import Options, Planned, plan
from cedr.spark.sources.events import Events, EventSource

PAIR = "EVENT Q WHEN SEQUENCE(A AS a, B AS b, 10) WHERE {a.key = b.key} OUTPUT a.key AS key"
PARTS = pa.list_(pa.struct([("type", pa.dictionary(pa.int8(), pa.string())), ("id", pa.string())]))


def planned(*columns: str, changes: bool = True, letters: bool = False, time: Any = None) -> Planned:
    """A query on one DataFrame with a column of types."""
    header = {"time": None, "id": None, "type": None}
    source = EventSource(None, None, header, {"time": time or st.LongType()}, {"key": st.LongType()})
    options = Options("STRONG", None, None, (), 2, changes=changes, letters=letters, columns=columns or None)
    scope = "10" if time is None else "10 seconds"
    return plan(PAIR.replace("10", scope), Events((source,)), options)


def rows(*parts: list[tuple[str, str]]) -> pa.RecordBatch:
    """Inserts that are made of these, one after the other in time."""
    count = len(parts)
    numbers = {name: pa.array(range(1, count + 1), pa.int64()) for name in ("said", "Vs", "Os", "Cs", "Rt")}
    named = [[{"type": of, "id": id_} for of, id_ in each] for each in parts]
    columns: dict[str, Any] = {
        **numbers,
        "change": pa.array(["insert"] * count, pa.string()).dictionary_encode(),
        "id": pa.array([f"q{number}" for number in range(count)], pa.string()),
        "Ve": pa.array([FOREVER] * count, pa.int64()),
        "Oe": pa.array([FOREVER] * count, pa.int64()),
        "contributors": pa.array(named, PARTS),
    }
    return pa.record_batch({**{name: columns[name] for name in SAID}, "key": pa.array([7] * count, pa.int64())})


def shown(of: Planned, told: pa.RecordBatch, guarantee: int | None = None) -> list[dict[str, Any]]:
    batches = result_rows(of.layout, EmittedColumns("STRONG", 9, guarantee, told), 2, "1/2")
    return [row for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("at_once", [1, 2, 65_536])
def test_rows_come_a_few_at_a_time_and_then_the_guarantee(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_ROWS", at_once)
    told = rows([("A", "a1"), ("B", "b1")], [("A", "a2"), ("B", "b2")], [("A", "a1"), ("B", "b3")])
    *inserts, guarantee = shown(planned("*", "contributor_types"), told, guarantee=2)
    assert [row["contributors"] for row in inserts] == [["a1", "b1"], ["a2", "b2"], ["a1", "b3"]]
    assert {tuple(row["contributor_types"]) for row in inserts} == {("A", "B")}
    assert [row["K"] for row in inserts] == ["q0@1/1", "q1@2/2", "q2@3/3"]
    assert [row["final"] for row in inserts] == [True, True, False]
    assert (guarantee["change"], guarantee["K"], guarantee["Os"], guarantee["id"]) == ("guarantee", "1/2", 2, None)


def test_only_events_of_the_input_are_contributors() -> None:
    """An aggregate is made of none that it could name; the others of its row stay."""
    told = rows([("A", "a1"), ("Total", "t1")], [("Total", "t2")], [], [("Total", "t3"), ("B", "b1")])
    found = shown(planned("contributors", "contributor_types"), told)
    assert [row["contributors"] for row in found] == [["a1"], [], [], ["b1"]]
    assert [row["contributor_types"] for row in found] == [["A"], [], [], ["B"]]


def test_what_cannot_be_null_is_told() -> None:
    table = planned(changes=False, time=st.TimestampType()).schema
    assert [field.name for field in table if field.nullable] == ["Ve", "Oe", "key"]
    whole_numbers = planned(changes=False).schema
    assert [field.name for field in whole_numbers if field.nullable] == ["key"]
    for with_rows_of_others in (planned(), planned(changes=False, letters=True)):
        assert all(field.nullable for field in with_rows_of_others.schema)


def test_a_column_is_asked_for_once_and_by_its_name() -> None:
    assert planned("key", "*", "key").schema.names[:3] == ["key", "change", "id"]
    with pytest.raises(cedr.HostError, match='no column "kee"'):
        planned("*", "kee")
