"""All that there ever is, said a stretch of time at a time, is what one step says.  Readings: R33, R40."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cedr.consistency import pipeline as module
from cedr.consistency.emission.time_cuts import stretches
from cedr.consistency.pipeline import Pipeline
from cedr.model.event import primitive
from cedr.model.level import MIDDLE, STRONG, ConsistencyLevel
from cedr.model.stream import Guarantee, Message, insert
from cedr.model.time import FOREVER
from cedr.plan.compile import compile_text

TYPES = "TYPE A (k INTEGER); TYPE B (k INTEGER); "
QUERIES = (
    "SEQUENCE(A AS x, B AS y, 3) WHERE CorrelationKey(k, EQUAL)",
    "SEQUENCE(A AS x, FIRST B AS y, 4)",
    "SEQUENCE(A AS x, LAST B AS y, 4)",
    "UNLESS(SEQUENCE(A AS x, B AS y, 3), A AS z, 2) WHERE CorrelationKey(k, EQUAL)",
    "UNLESS(A AS x, B AS y, 4)",
    "NOT(B AS z, SEQUENCE(A AS x, A AS y, 4))",
    "ATLEAST(2, A AS x, B AS y, A AS z, 4)",
    "ALL(A AS x CONSUME, B AS y CONSUME, 4)",
    "A AS x @ [2, 9]",
)
RELATIONS = (
    "A AS x WINDOW MOVING 4 GROUP BY x.k OUTPUT x.k AS k, COUNT(*) AS n",
    "A AS x WINDOW TUMBLING 3 GROUP BY x.k OUTPUT x.k AS k, COUNT(*) AS n",
    "A AS x WINDOW SESSION 2 GROUP BY x.k OUTPUT x.k AS k, COUNT(*) AS n",
    "A AS x WINDOW MOVING 5 GROUP BY x.k TOP 1 BY x.k",
    "A AS x WINDOW MOVING 5 OUTPUT DISTINCT x.k AS k",
    "(FROM A AS a WINDOW MOVING 4) AS x LEFT JOIN (FROM B AS b WINDOW MOVING 3) AS y ON x.k = y.k",
    "(FROM A AS a WINDOW MOVING 4) AS x EXCEPT (FROM B AS b WINDOW MOVING 3) AS y",
    "A AS x UNION B AS y",
)
Given = tuple[str, int, int, int]
LEVELS = st.sampled_from([STRONG, STRONG, MIDDLE])
EVENTS = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(0, 3), st.integers(0, 12), st.integers(0, 6)), max_size=12
)


def run(text: str, level: ConsistencyLevel, messages: list[Message], *, whole: bool) -> tuple[list[object], list[str]]:
    program = compile_text(f"{TYPES}EVENT Q {text}")
    pipeline = Pipeline(program.queries["Q"].plan, level, program.types)
    said = pipeline.whole(messages, 1) if whole else [pipeline.step(messages, 1)]
    changes: list[object] = []
    for (step,) in said:
        changes += [change.message for change in step.to_changes() if not isinstance(change.message, Guarantee)]
    return changes, [str(letter) for letter in pipeline.dead_letters()]


@pytest.mark.parametrize("text", QUERIES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=EVENTS, level=LEVELS)
def test_whole(text: str, events: list[Given], level: ConsistencyLevel, monkeypatch: pytest.MonkeyPatch) -> None:
    """IDs come again, with the same content or another: that is judged as in one batch."""
    compare(f"WHEN {text}", events, level, monkeypatch)


@pytest.mark.parametrize("text", RELATIONS)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=EVENTS, level=LEVELS)
def test_whole_relations(
    text: str, events: list[Given], level: ConsistencyLevel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are said before their end is known are said once, with their end."""
    compare(f"FROM {text}", events, level, monkeypatch)


def compare(text: str, events: list[Given], level: ConsistencyLevel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "stretches", partial(stretches, rows=2))
    messages: list[Message] = [
        insert(primitive(kind, str(name), time, payload={"k": key})) for kind, key, time, name in events
    ]
    messages.append(Guarantee(FOREVER - 1))
    assert run(text, level, messages, whole=True) == run(text, level, messages, whole=False)


def test_a_stretch_holds_about_as_many_rows() -> None:
    import numpy as np

    times = [np.arange(0, 10_000, 2), np.arange(1, 10_000, 2)]
    cuts = stretches(times, rows=1_000)
    held = np.diff([sum(int((column <= cut).sum()) for column in times) for cut in [-1, *cuts, 10_000]])
    assert len(cuts) == 9
    assert held.min() > 900
    assert held.max() < 1_100
