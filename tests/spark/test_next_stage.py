"""Stages without a JVM: buckets of one stage give to those of the next what one bucket would have said.

Readings: R32, R33 (all buckets share h), R36 (the smallest guarantee counts), R40.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import types as st

from cedr.expression.tree import Way
from cedr.spark.layout.layout import GUARANTEE, INSERT, RETRACT, UNREAD, Layout
from cedr.spark.map_task.hashing import buckets_of
from cedr.spark.map_task.pack import Pack, bucket_column
from cedr.spark.map_task.unpack import Packed
from cedr.spark.output.next_stage import pass_on, rows_for_next_stage, split_by_stage
from cedr.spark.output.step_output import StepOutput
from cedr.spark.plan.explanation import explain_layout
from cedr.spark.plan.planning import Options, Planned, plan
from cedr.spark.plan.stages import with_stages
from cedr.spark.sources.events import Events, EventSource
from cedr.spark.step.bucket import Bucket
from tests.properties.staged import shown

LINKED = "WHERE {a.k = b.k} AND {b.v = c.v}"
UNLESS = f"EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 9), C c, 5) {LINKED} OUTPUT a.v AS x, b.v AS y"
THREE = (
    "EVENT Q WHEN SEQUENCE(SEQUENCE(SEQUENCE(A a, B b, 9), C c, 9), D d, 9) "
    "WHERE {a.k = b.k} AND {b.v = c.v} AND {c.k = d.k} OUTPUT a.v AS x, c.v AS y"
)
BESIDE = (
    "EVENT Q WHEN UNLESS(SEQUENCE(A a, B b, 9), SEQUENCE(C c, D d, 9), 9) "
    "WHERE {a.k = b.k} AND {c.k = d.k} AND {b.v = c.v} OUTPUT a.v AS x, b.k AS y"
)

Row = tuple[str, str, int, int, int, int]
"""Type, ID, Vs, k, v and kind."""


def event(kind: str, number: int, time: int, k: int, v: int, change: int = INSERT) -> Row:
    return (kind, f"{kind.lower()}{number}", time, k, v, change)


def guarantee(time: int) -> Row:
    return ("A", "", time, 0, 0, GUARANTEE)


BATCHES: list[list[Row]] = [
    [event("A", 1, 1, 1, 7), event("A", 2, 2, 2, 8)],
    [event("B", 1, 4, 1, 1), event("B", 2, 5, 2, 2), event("B", 3, 6, 1, 3)],
    [event("C", 1, 8, 1, 1), event("C", 2, 9, 2, 3), event("D", 1, 10, 2, 0)],
    [event("D", 2, 12, 1, 0), event("A", 3, 3, 1, 9)],
    [event("A", 1, 1, 1, 7, RETRACT), guarantee(2)],
    [event("C", 1, 8, 1, 1, RETRACT)],
    [event("D", 3, 13, 1, 0)],
    [guarantee(11)],
    [guarantee(40)],
]


def planned(text: str, level: str = "MIDDLE", buckets: int = 3, changes: bool = True, **source: Any) -> Planned:
    header = source.pop("header", {"time": None, "id": None, "type": None})
    providers = source.pop("providers", ())
    given = EventSource(None, None, header, {"time": st.LongType()}, {"k": st.LongType(), "v": st.LongType()}, **source)
    events = Events((given,))
    options = Options(level, None, None, providers, buckets, changes=changes, letters=False)
    found = plan(text, events, options)
    return found if buckets == 1 else with_stages(found, events, options, streaming=changes, controlled=False)


@pytest.mark.parametrize("text", [UNLESS, THREE, BESIDE])
def test_a_layout_for_another_number_of_buckets_is_the_one_that_would_have_been_planned(text: str) -> None:
    """R38: a stream that goes on has the buckets of its checkpoint.  Also the names of buckets as providers."""
    for two, five in zip(planned(text, buckets=2).stages, planned(text, buckets=5).stages, strict=True):
        assert two != five
        assert two.with_buckets(5) == five
        assert two.with_buckets(2) is two


def packed(of: Layout, splits: Sequence[dict[str, Way]], rows: Sequence[Row], time: int) -> dict[int, list[Packed]]:
    """What a map task sends to each bucket of the first stage, by token."""
    names = [each.name for each in of.types]
    values = {"k": [row[3] for row in rows], "v": [row[4] for row in rows]}
    columns: dict[str, Any] = {
        "code": pa.array([names.index(row[0]) if row[0] in names else UNREAD for row in rows], pa.int8()),
        "id": pa.array([row[1] for row in rows]),
        "vs": pa.array([row[2] for row in rows], pa.int64()),
        "kind": pa.array([row[5] for row in rows], pa.int8()),
        "cedr": pa.array([time] * len(rows), pa.int64()),
    }
    for stage, split in enumerate(splits, 1):
        keys = pa.array(
            [values[split[row[0]][0]][n] if row[0] in split else 0 for n, row in enumerate(rows)], pa.int64()
        )
        columns[bucket_column(stage)] = pa.array(buckets_of(keys, of.buckets), pa.int32())
    for each in of.types:
        columns.update({slot: pa.array(values[name], pa.int64()) for name, slot in each.slots.items()})
    found: dict[int, list[Packed]] = {}
    for sent in Pack(of)(iter([pa.record_batch(columns)])):
        for row in sent.to_pylist():
            found.setdefault(row.pop("token"), []).append(Packed(**row))
    return found


class Chain:
    """The buckets of all stages."""

    def __init__(self, of: Planned) -> None:
        self._stages = of.stages or (of.layout,)
        self._splits = [dict(split.by) for split in (of.split, *of.later)] if of.stages else []
        self.buckets = [[Bucket(layout) for _ in layout.tokens] for layout in self._stages]

    def step(self, rows: Sequence[Row], time: int) -> list[StepOutput]:
        """What the buckets of the last stage say about a batch."""
        return self._stepped(packed(self._stages[0], self._splits, rows, time), time)

    def wake(self, time: int) -> list[StepOutput]:
        """The same where nothing came, and a timer woke the first stage."""
        head = json.dumps([{"time": time, "highs": []}])
        return self._stepped({token: [Packed(0, 0, head, None)] for token in self._stages[0].tokens}, time)

    def _stepped(self, arrived: dict[int, list[Packed]], time: int) -> list[StepOutput]:
        for layout, buckets in zip(self._stages, self.buckets, strict=True):
            assert set(arrived) == set(layout.tokens)  # all of them hear of each batch
            steps, following = [], dict[int, list[Packed]]()
            for number, (token, bucket) in enumerate(zip(layout.tokens, buckets, strict=True)):
                own, later = split_by_stage(arrived[token])
                (step,) = bucket.steps(own, time - 1)
                steps.append(step)
                if layout.destination is not None:
                    for each in (
                        *rows_for_next_stage(layout, step, number, bucket.pipeline.guarantee[0]),
                        *pass_on(later, layout),
                    ):
                        following.setdefault(each.token, []).append(Packed(*each[1:]))
            arrived = following
        return steps

    @property
    def guarantee(self) -> int:
        return min(bucket.pipeline.guarantee[0] for bucket in self.buckets[-1])


def said(steps: Sequence[StepOutput], *, times: bool = True) -> list[tuple[Any, ...]]:
    return shown([pa.Table.from_batches([step.changes[0].to_arrow()]) for step in steps], said=times)


ANNOUNCED = {"provider": "plant 1", "providers": ("plant 1",)}


@pytest.mark.parametrize("source", [{}, ANNOUNCED], ids=["no provider", "a provider"])
@pytest.mark.parametrize("text", [UNLESS, THREE, BESIDE], ids=["two", "three", "beside"])
@pytest.mark.parametrize("level", ["MIDDLE", "STRONG"])
def test_stages_say_what_one_bucket_says(text: str, level: str, source: dict[str, Any]) -> None:
    chain, whole = Chain(planned(text, level, **source)), Chain(planned(text, level, buckets=1, **source))
    assert (len(chain.buckets[0]), len(whole.buckets)) == (3, 1)
    found, expected = [], []
    for time, batch in enumerate(BATCHES, 1):
        found += said(chain.step(batch, time), times=level == "MIDDLE")
        expected += said(whole.step(batch, time), times=level == "MIDDLE")
        assert chain.guarantee == whole.guarantee
        if level == "MIDDLE":
            assert found == expected
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    assert expected


def test_the_last_stage_hears_of_h_and_of_all_guarantees() -> None:
    """R33, R36: also in a batch that says nothing, and from buckets that have no rows."""
    chain = Chain(planned(UNLESS, disorder=3))
    chain.step([event("A", 1, 50, 1, 1)], 1)
    for bucket in chain.buckets[1]:
        assert bucket.pipeline._arrivals.high == 50
        assert bucket.pipeline._arrivals.guarantee == 46


def test_silence_is_heard_in_all_stages() -> None:
    """R33: only the first stage has timers; what follows from silence goes on from there."""
    chain = Chain(planned(BESIDE, "STRONG", idle=1_000))
    chain.step([event("A", 1, 5, 1, 1), event("B", 1, 7, 1, 1)], 10_000)
    assert chain.guarantee < 7
    chain.wake(10_500)
    assert chain.guarantee < 7
    chain.wake(11_000)
    for bucket in chain.buckets[-1]:
        assert bucket.pipeline._arrivals.guarantee == 7


def test_an_explanation_tells_the_stages() -> None:
    of = planned(UNLESS)
    text = explain_layout(of.layout, of.stages).as_text()
    assert "on Spark: in 2 stages of 3 buckets" in text
    assert "stage 1: /UNLESS/1/SEQUENCE, split by A.k, B.k" in text
    assert "stage 2: Q, split by /UNLESS/1/SEQUENCE.b.v, C.v" in text
    assert "reads C (k, v)" in text


def test_a_checkpoint_knows_of_the_stages() -> None:
    first, last = planned(UNLESS).stages
    assert first.fingerprint["the key"] != last.fingerprint["the key"]
    for of in (first, last):
        assert of.fingerprint["the stages"] == "1 by A.k, B.k; 2 by /UNLESS/1/SEQUENCE.b.v, C.v"
        assert of.fingerprint["the level"] == "MIDDLE"


REASONS: dict[str, dict[str, Any]] = {
    "events may have several versions": {"header": {"time": None, "id": None, "type": None, "occurrence_start": None}},
    "the level WEAK waits or forgets": {"level": "WEAK"},
    "not all sources have providers that were announced": {"provider": "plant 1"},
}


@pytest.mark.parametrize("reason", REASONS)
def test_what_is_not_certain_is_not_run_in_stages(reason: str) -> None:
    of = planned(UNLESS, **REASONS[reason])
    assert not of.stages
    assert of.layout.buckets == 1
    assert f"; not in stages: {reason}" in of.layout.key
