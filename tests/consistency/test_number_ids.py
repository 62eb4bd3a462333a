"""IDs that are whole numbers mean what their texts mean, in whatever order they come.  Readings: R3, R8."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cedr.consistency.batch import EventBatch
from cedr.consistency.pipeline import Pipeline
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.stream import Guarantee, Message, Retract
from cedr.plan.compile import compile_text

PROGRAM = compile_text(
    "TYPE A (k INTEGER); TYPE B (k INTEGER);EVENT Q WHEN SEQUENCE(A AS a, B AS b, 10) WHERE {a.k = b.k} OUTPUT a.k AS k"
)
ROW = st.tuples(st.integers(-2, 12), st.integers(1, 20), st.integers(1, 2))
STEP = st.tuples(
    st.sampled_from("AB"),
    st.lists(ROW, max_size=5) | st.lists(ROW, max_size=5, unique_by=lambda row: row[0]).map(sorted),
    st.none() | st.integers(1, 20),
    st.booleans(),
)
"""A stream and its rows; whether the first of them is taken back; a guarantee; whether there is a restart."""


@given(st.lists(STEP, max_size=6), st.sampled_from([STRONG, MIDDLE]), st.booleans())
def test_numbers_are_their_texts(steps: list[Any], level: ConsistencyLevel, back: bool) -> None:
    said = [_run(steps, level, of, back=back) for of in (pa.int64(), pa.string())]
    assert said[0] == said[1]


def _run(steps: list[Any], level: ConsistencyLevel, of: pa.DataType, *, back: bool) -> list[Any]:
    pipeline, segments, found = _pipeline(level), dict[str, bytes](), []
    for number, (stream, rows, guarantee, restarts) in enumerate(steps, start=1):
        ids, times, keys = (pa.array([row[column] for row in rows], pa.int64()) for column in range(3))
        messages: list[Message | EventBatch] = [EventBatch(stream, ids.cast(of), times, payload={"k": keys})]
        if back and rows:
            messages.append(Retract(f"{stream}/{rows[0][0]}@{rows[0][1]}"))
        if guarantee is not None:
            messages.append(Guarantee(guarantee))
        (changes,) = pipeline.step(messages, number)
        found.append((changes.to_changes(), pipeline.take_dead_letters()))
        for name, segment in pipeline.state().items():
            segments.pop(name, None) if segment is None else segments.update({name: segment})
        if restarts:
            pipeline = _pipeline(level)
            pipeline.restore(segments)
    return found


def _pipeline(level: ConsistencyLevel) -> Pipeline:
    return Pipeline(PROGRAM.queries["Q"].plan, level, PROGRAM.types)
