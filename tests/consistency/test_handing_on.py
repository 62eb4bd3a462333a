"""What one pipeline said is taken in by another: Rt, contributors, keys.  Readings: R2, R3, R8, R32."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE
from cedr.model.schema import DataType, EventType, EventTypes
from cedr.model.stream import Guarantee
from cedr.model.time import FOREVER
from cedr.plan.logical import Contributor, Made, Project, Query

TYPE = EventType("/SEQUENCE", {"a.ID": DataType.STRING, "a.Vs": DataType.TIMESTAMP, "v": DataType.INTEGER})
MADE = Made(TYPE, contributors=(Contributor("A", "a.ID", "a.Vs"), Contributor("B", "a.ID", "a.Vs")), scope=9)
PLAN = Query("Q", Project(MADE, ()), EventType("Q"))
CATALOG = EventTypes({TYPE.name: TYPE})


def row(id_: str, start: int, said: int, change: str = "insert") -> dict[str, Any]:
    end = FOREVER if change == "insert" else start
    header = {"change": change, "id": id_, "said": said, "Vs": start, "Ve": start + 5, "Os": start, "Oe": end}
    return {**header, "Rt": start - 2, "a.ID": "a" + id_, "a.Vs": start - 2, "v": start}


def step(pipeline: Pipeline, time: int, *tables: list[dict[str, Any]]) -> list[dict[str, Any]]:
    said = [(f"bucket {number}", pa.Table.from_pylist(table)) for number, table in enumerate(tables)]
    (changes,) = pipeline.step(pipeline.said_elsewhere(said, MADE), time)
    found: list[dict[str, Any]] = changes.to_arrow().to_pylist()
    return found


def test_a_row_brings_its_id_root_and_contributors() -> None:
    (found,) = step(Pipeline(PLAN, MIDDLE, CATALOG), 1, [row("x", 7, 1)])
    assert (found["id"], found["Vs"], found["Ve"], found["Os"], found["Rt"]) == ("x", 7, 12, 7, 5)
    assert found["contributors"] == [{"type": "A", "id": "ax"}, {"type": "B", "id": "ax"}]


def test_a_row_goes_and_comes_back() -> None:
    """R8: under the K with which it was said; also by way of a saved state, and of another bucket."""
    pipeline = Pipeline(PLAN, MIDDLE, CATALOG)
    step(pipeline, 1, [row("x", 7, 1), row("y", 8, 1)])
    assert [(r["change"], r["id"]) for r in step(pipeline, 2, [row("x", 7, 1, "retract")])] == [("retract", "x")]
    fresh = Pipeline(PLAN, MIDDLE, CATALOG)
    fresh.restore({name: segment for name, segment in pipeline.state().items() if segment is not None})
    (again,) = step(fresh, 3, [row("x", 7, 3)])
    assert (again["change"], again["id"], again["Rt"]) == ("insert", "x", 5)
    both = step(fresh, 4, [{**row("x", 7, 4), "v": 0}], [row("x", 7, 3, "retract"), row("y", 8, 1, "retract")])
    assert sorted((r["change"], r["id"]) for r in both) == [("retract", "y")]  # what is shown of x is the same
    assert not fresh.take_dead_letters()
    assert [r["id"] for r in step(fresh, 5, [row("x", 7, 4, "retract")])] == ["x"]


def test_rows_are_taken_in_by_columns() -> None:
    """They have the default key the first time, so that none is looked at by itself."""
    pipeline = Pipeline(PLAN, MIDDLE, CATALOG)
    step(pipeline, 1, [row("x", 7, 1), row("y", 8, 1)])
    source = pipeline._arrivals.ledger.source(TYPE.name)
    assert (source.plain, len(source.stories)) == (2, 0)


def test_guarantees_forget_them() -> None:
    pipeline = Pipeline(PLAN, MIDDLE, CATALOG)
    step(pipeline, 1, [row("x", 7, 1)])
    pipeline.step([Guarantee(20)], 2)
    assert pipeline.guarantee == [20]
    assert pipeline._arrivals.rows_held == 0
